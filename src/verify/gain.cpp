#include "verify/gain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace kw::verify {
namespace {

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.empty() ? 0 : samples[samples.size() / 2];
}

Verdict skipped(std::string why) { return {Gate::Gain, Outcome::Skipped, std::move(why), {}}; }

PeerCost cost_of(const std::map<std::string, TorchCost>& passes, const std::string& pass) {
  const auto found = passes.find(pass);
  if (found == passes.end()) return {};
  return {1e3 * median(found->second.seconds), found->second.bytes};
}

}  // namespace

Verdict judge_gain(const Subject& subject, const std::optional<TorchSource>& source, const kernel::TypeBinding& types,
                   const std::vector<PassSpeed>& speeds, const GainOptions& options, std::vector<SpeedRow>& rows) {
  if (speeds.empty()) return skipped("nothing was timed");
  if (!source) return skipped("there is no PyTorch source to time");
  const std::optional<std::string> python = find_python_with_torch();
  if (!python) return skipped("no Python here has torch: pip install torch");
  auto process = TorchProcess::start(*python);
  if (!process) return skipped(process.error().message);
  std::map<kernel::Sizes, TorchTimes> known;  // passes are mostly timed at one shape
  std::vector<std::string> gains, none;
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    const kernel::Sizes sizes(speeds[i].sizes.begin(), speeds[i].sizes.end());
    if (!known.contains(sizes)) {
      const auto timed =
          process->time(subject, *source, types, sizes, subject.manifest.target, options.threads, options.compile);
      if (!timed) return skipped("PyTorch was not timed: " + timed.error().message);
      if (!timed->unable.empty())
        return skipped("PyTorch could not run the source: " + timed->unable.substr(0, timed->unable.find('\n')));
      known[sizes] = *timed;
    }
    const TorchTimes& times = known.at(sizes);
    SpeedRow& row = rows[i];
    row.eager = cost_of(times.eager, speeds[i].pass);
    row.compiled = cost_of(times.compiled, speeds[i].pass);
    if (row.milliseconds <= 0) continue;
    for (const auto& [who, peer] : {std::pair("eager", row.eager), std::pair("torch.compile", row.compiled)}) {
      if (peer.milliseconds <= 0) continue;
      const double gain = peer.milliseconds / row.milliseconds;
      gains.push_back(fmt::format("{} {:.2f} times as fast as {}", row.pass, gain, who));
      if (gain <= 1)
        none.push_back(fmt::format("over {}: {} takes {:.3f} ms, and there {:.3f} ms, at {}", who, row.pass,
                                   row.milliseconds, peer.milliseconds, row.sizes));
    }
    if (!times.uncompiled.empty() && i == 0) gains.push_back("torch.compile could not: " + times.uncompiled);
  }
  if (gains.empty()) return skipped("PyTorch was not timed: the source gives nothing to compare");
  if (none.empty()) return {Gate::Gain, Outcome::Passed, join(gains, ", "), {}};
  return {Gate::Gain, Outcome::Flagged, "no gain " + none.front(), none};
}

}  // namespace kw::verify
