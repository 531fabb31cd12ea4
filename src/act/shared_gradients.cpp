#include "act/shared_gradients.h"

#include <algorithm>

namespace kw::act {

std::map<std::string, std::string> share_gradients(ir::Graph& backward) {
  std::map<std::string, std::string> shared;
  std::vector<ir::Output> kept;
  for (const ir::Output& output : backward.outputs) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const ir::Output& other) {
      return other.node == output.node && other.dims == output.dims;
    });
    if (same == kept.end())
      kept.push_back(output);
    else
      shared[output.name] = same->name;
  }
  if (shared.empty()) return shared;
  backward.outputs = std::move(kept);
  backward = ir::GraphBuilder(backward).finish();
  return shared;
}

}  // namespace kw::act
