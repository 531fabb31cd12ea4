#include "verify/builds.h"

#include <algorithm>

namespace kw::verify {

Builds::Builds(device::Device& device, const kernel::Manifest& manifest, const device::Sources& files,
               std::vector<kernel::TypeBinding> mixtures)
    : manifest_(manifest), mixtures_(std::move(mixtures)), promises_(mixtures_.size()), waited_(mixtures_.size()) {
  for (auto& promise : promises_) built_.push_back(promise.get_future().share());
  for (std::size_t i = 0; i < cores_for(mixtures_.size()); ++i)
    threads_.emplace_back([this, &device, &manifest, &files] {
      for (std::size_t at = next_++; at < mixtures_.size(); at = next_++)
        promises_[at].set_value(device.compile_when_called(manifest, files, mixtures_[at]));
    });
}

Builds::~Builds() {
  next_foreseen_ = foreseen_.size();
  // Who waits for what is dropped must not wait for ever.
  for (std::size_t at = next_.exchange(mixtures_.size()); at < mixtures_.size(); ++at)
    promises_[at].set_value(fail(ErrorKind::Internal, "nobody wants it any more"));
  for (std::thread& thread : threads_) thread.join();
}

std::size_t Builds::cores_for(std::size_t jobs) const {
  return std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), jobs);
}

void Builds::foresee(const std::set<std::string>& symbols) {
  const Result<device::CompiledSet>& first = built_.front().get();
  if (!foreseen_.empty() || !first || !first->late) return;
  for (std::size_t i = 0; i < mixtures_.size(); ++i)
    for (const kernel::Pass& pass : manifest_.passes)
      for (const kernel::Step& step : pass.steps)
        for (const kernel::Entry& entry : step.entries)
          if (symbols.contains(entry.symbol)) foreseen_.push_back({i, &entry});
  for (std::size_t i = 0; i < cores_for(foreseen_.size()); ++i)
    threads_.emplace_back([this] {
      for (std::size_t at = next_foreseen_++; at < foreseen_.size(); at = next_foreseen_++) {
        const Result<device::CompiledSet>& built = built_[foreseen_[at].mixture].get();
        const kernel::Entry* const one[] = {foreseen_[at].entry};
        if (built && built->late) (void)built->find(one);  // one that does not compile fails the call that needs it
      }
    });
}

const Result<device::CompiledSet>& Builds::of(const kernel::TypeBinding& types) {
  const auto found = std::find(mixtures_.begin(), mixtures_.end(), types);
  KW_ASSERT(found != mixtures_.end(), "every mixture of the plan is built");
  const auto at = static_cast<std::size_t>(found - mixtures_.begin());
  waited_[at] = true;
  return built_[at].get();
}

double Builds::seconds() {
  double sum = 0;
  for (std::size_t i = 0; i < built_.size(); ++i)
    if (waited_[i] && built_[i].get()) sum += built_[i].get()->seconds();
  return sum;
}

}  // namespace kw::verify
