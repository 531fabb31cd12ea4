#include "verify/builds.h"

#include <algorithm>

namespace kw::verify {

Builds::Builds(device::Device& device, const kernel::Manifest& manifest, const device::Sources& files,
               std::vector<kernel::TypeBinding> mixtures)
    : mixtures_(std::move(mixtures)), promises_(mixtures_.size()), waited_(mixtures_.size()) {
  for (auto& promise : promises_) built_.push_back(promise.get_future().share());
  const std::size_t count = std::min<std::size_t>(std::max(1u, std::thread::hardware_concurrency()), mixtures_.size());
  for (std::size_t i = 0; i < count; ++i)
    threads_.emplace_back([this, &device, &manifest, &files] {
      for (std::size_t at = next_++; at < mixtures_.size(); at = next_++)
        promises_[at].set_value(device.compile_when_called(manifest, files, mixtures_[at]));
    });
}

Builds::~Builds() {
  next_ = mixtures_.size();
  for (std::thread& thread : threads_) thread.join();
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
