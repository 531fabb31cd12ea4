#include "act/package/partial_backward.h"

#include <algorithm>

#include "ir/graph.h"

namespace kw::act {
namespace {

using Names = std::vector<std::string>;

PartialBackward with_gradients(const OpMath& math, std::string suffix, const Names& outputs) {
  std::replace(suffix.begin(), suffix.end(), '.', '_');
  OpMath some = math;
  some.name = math.name + "_" + suffix;
  std::erase_if(some.backward->outputs, [&](const ir::Output& output) {
    return std::find(outputs.begin(), outputs.end(), output.name) == outputs.end();
  });
  some.backward = ir::GraphBuilder(*some.backward).finish();
  return {suffix, some};
}

}  // namespace

std::vector<PartialBackward> partial_backwards(const OpMath& math, const profile::Profile& profile) {
  std::vector<PartialBackward> partial;
  if (!math.backward) return partial;
  Names tensors, weights;
  for (const ir::Output& output : math.backward->outputs) {
    const bool summed = std::any_of(profile.plan.weight_gradients.begin(), profile.plan.weight_gradients.end(),
                                    [&](const auto& weight) { return output.name == "grad_" + weight.input; });
    (summed ? weights : tensors).push_back(output.name);
  }
  const auto of = [](const std::string& gradient) { return gradient.substr(5); };  // grad_x is of x
  constexpr std::size_t kMost = 3;
  if (weights.empty() && tensors.size() > 1 && tensors.size() <= kMost)
    for (const std::string& output : tensors) partial.push_back(with_gradients(math, of(output), {output}));
  if (!tensors.empty() && !weights.empty())
    partial.push_back(with_gradients(math, tensors.size() == 1 ? of(tensors[0]) : "tensors", tensors));
  return partial;
}

}  // namespace kw::act
