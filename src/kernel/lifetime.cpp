#include "kernel/lifetime.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernel/layout.h"

namespace kw::kernel {
namespace {

bool uses(const Step& step, const std::string& buffer) {
  if (step.kind == Step::Kind::Fill) return step.buffer == buffer;
  return std::any_of(step.entries.begin(), step.entries.end(), [&](const Entry& entry) {
    return std::any_of(entry.arguments.begin(), entry.arguments.end(),
                       [&](const Argument& argument) { return is_pointer(argument.kind) && argument.of == buffer; });
  });
}

Result<std::int64_t> bytes_of(const Buffer& buffer, const TypeBinding& types, const Facts& facts) {
  const auto given = facts.tensors.find(buffer.name);
  Tensor tensor;
  if (given != facts.tensors.end()) {
    tensor = given->second;
  } else {
    KW_TRY(tensor, describe(buffer, types, facts));
  }
  const std::optional<std::int64_t> elements = storage_elements(tensor);
  std::int64_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, ir::info(tensor.dtype).bytes, &bytes))
    return bad_input(fmt::format("{} is larger than any memory", buffer.name));
  return bytes;
}

}  // namespace

std::vector<Lifetime> lifetimes(const Pass& pass) {
  std::vector<Lifetime> found;
  const int end = std::max(static_cast<int>(pass.steps.size()) - 1, 0);
  for (const Buffer& buffer : pass.buffers) {
    Lifetime life{buffer.name, 0, end};
    if (buffer.role == Role::Workspace) {
      const auto step_uses = [&](const Step& step) { return uses(step, buffer.name); };
      const auto first = std::find_if(pass.steps.begin(), pass.steps.end(), step_uses);
      const auto last = std::find_if(pass.steps.rbegin(), pass.steps.rend(), step_uses);
      if (first != pass.steps.end()) {
        life.first = static_cast<int>(first - pass.steps.begin());
        life.last = static_cast<int>(pass.steps.rend() - last) - 1;
      }
    }
    found.push_back(std::move(life));
  }
  return found;
}

Result<MemoryUse> memory_use(const Pass& pass, const TypeBinding& types, const Facts& facts) {
  MemoryUse use;
  const std::vector<Lifetime> lives = lifetimes(pass);
  std::vector<std::int64_t> workspace(std::max<std::size_t>(pass.steps.size(), 1), 0);
  for (std::size_t i = 0; i < pass.buffers.size(); ++i) {
    const Buffer& buffer = pass.buffers[i];
    KW_TRY(const std::int64_t bytes, bytes_of(buffer, types, facts));
    switch (buffer.role) {
      case Role::Input:
        use.inputs += bytes;
        break;
      case Role::Output:
        if (buffer.alias.empty()) use.outputs += bytes;
        break;
      case Role::Saved:
        use.saved += bytes;
        break;
      case Role::Workspace:
        for (int step = lives[i].first; step <= lives[i].last; ++step)
          workspace[static_cast<std::size_t>(step)] += bytes;
        break;
    }
  }
  use.workspace = *std::max_element(workspace.begin(), workspace.end());
  return use;
}

}  // namespace kw::kernel
