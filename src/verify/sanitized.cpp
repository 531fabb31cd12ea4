#include "verify/sanitized.h"

#include <algorithm>
#include <numeric>

namespace kw::verify {

Result<device::RunOutcome> SanitizedDevice::run(const std::vector<device::Program>& programs, device::Arena& arena,
                                                const device::RunOptions&) {
  KW_TRY(const std::optional<std::string> complaint, device_->sanitize(programs, arena, check_));
  device::RunOutcome outcome;
  if (complaint) outcome.fault = device::Fault{device::Fault::Kind::Sanitized, "", *complaint};
  return outcome;
}

Status has_sanitizer(device::Device& device) {
  device::Arena nothing;
  KW_CHECK(nothing.allocate());
  if (const auto complaint = device.sanitize({}, nothing, device::Device::Check::Memory); !complaint)
    return Failure(complaint.error());
  return {};
}

std::vector<std::size_t> calls_that_reach_all(const std::vector<std::set<std::string>>& reached, std::size_t most) {
  std::vector<std::size_t> chosen;
  std::set<std::string> seen;
  while (chosen.size() < most) {
    std::size_t best = 0, gain = 0;
    for (std::size_t i = 0; i < reached.size(); ++i) {
      const auto adds = static_cast<std::size_t>(std::count_if(
          reached[i].begin(), reached[i].end(), [&](const std::string& name) { return !seen.contains(name); }));
      if (adds > gain) best = i, gain = adds;
    }
    if (gain == 0) break;
    chosen.push_back(best);
    seen.insert(reached[best].begin(), reached[best].end());
  }
  return chosen;
}

std::vector<std::size_t> smallest_calls_that_reach_all(const std::vector<std::set<std::string>>& reached,
                                                       const std::vector<std::int64_t>& elements) {
  std::vector<std::size_t> order(reached.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return elements[a] < elements[b]; });
  std::vector<std::size_t> chosen;
  std::set<std::string> seen;
  for (const std::size_t i : order) {
    if (elements[i] == 0) continue;  // nothing is touched in it
    const std::size_t before = seen.size();
    seen.insert(reached[i].begin(), reached[i].end());
    if (seen.size() > before) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace kw::verify
