#include "verify/launches.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "device/program.h"
#include "verify/reach.h"
#include "verify/shapes.h"

namespace kw::verify {
namespace {

constexpr int kLongest = 27;  // 2^27 elements along an axis: a grid may have a block or more for each
constexpr std::int64_t kMostElements = std::int64_t{1} << 36;  // more than the largest GPU holds

std::string text_of(const kernel::Sizes& sizes) {
  std::vector<std::string> parts;
  for (const auto& [name, size] : sizes) parts.push_back(name + "=" + std::to_string(size));
  return join(parts, " ");
}

}  // namespace

std::vector<Finding> launches_too_large(const Subject& subject, const kernel::TypeBinding& types,
                                        const kernel::Machine& machine) {
  std::vector<Finding> findings;
  std::set<std::string> told;
  for (int power = 8; power <= kLongest; ++power)
    for (const std::string& symbol : symbols_of_shapes(subject))
      for (const std::int64_t others : {1, 37}) {
        const kernel::Sizes sizes = fitted(subject, symbol, (std::int64_t{1} << power) + 1, others);
        if (!admits(subject, sizes, kMostElements)) continue;
        for (const kernel::Pass& pass : subject.manifest.passes)
          for (const PlannedLaunch& planned : planned_launches(subject, pass, sizes, types, machine)) {
            const Status possible = planned.shape ? device::check_launch(*planned.entry, *planned.shape)
                                                  : Status(Failure(planned.shape.error()));
            if (possible || !told.insert(planned.entry->symbol).second) continue;
            findings.push_back(
                {Gate::Runs, fmt::format("{}: {} where {}", pass.name, possible.error().message, text_of(sizes))});
          }
      }
  return findings;
}

}  // namespace kw::verify
