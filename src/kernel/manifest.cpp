#include "kernel/manifest.h"

#include <algorithm>

namespace kw::kernel {
namespace {

template <class Items>
auto* find_named(const Items& items, std::string_view name) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

template <std::size_t N>
std::string_view row(const std::array<std::string_view, N>& names, auto value) {
  const auto index = static_cast<std::size_t>(value);
  KW_ASSERT(index < N, "an enumerator without a name");
  return names[index];
}

constexpr std::array<std::string_view, 3> kTargets = {"cpu", "cuda", "triton"};
constexpr std::array<std::string_view, 4> kRoles = {"input", "output", "saved", "workspace"};
constexpr std::array<std::string_view, 7> kArguments = {"read", "write",  "update",  "stride",
                                                        "size", "scalar", "constant"};

}  // namespace

const Buffer* Pass::find(std::string_view buffer) const { return find_named(buffers, buffer); }
const Pass* Manifest::find(std::string_view pass) const { return find_named(passes, pass); }

std::vector<std::string> Manifest::files() const {
  std::vector<std::string> found;
  for (const Pass& pass : passes)
    for (const Step& step : pass.steps)
      for (const Entry& entry : step.entries)
        if (std::find(found.begin(), found.end(), entry.file) == found.end()) found.push_back(entry.file);
  return found;
}

std::string_view name_of(Target target) { return row(kTargets, target); }
std::string_view name_of(Role role) { return row(kRoles, role); }
std::string_view name_of(Argument::Kind kind) { return row(kArguments, kind); }

}  // namespace kw::kernel
