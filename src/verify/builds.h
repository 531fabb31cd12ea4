// Compiles kernels for several mixtures of types at once, on all cores, while the judge already tries the first. A
// device that compiles single kernels (cuda) does so when a case calls them.
#pragma once

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "device/device.h"

namespace kw::verify {

class Builds {
 public:
  // Begins at once, in the order of the mixtures. `device` outlives this.
  Builds(device::Device& device, const kernel::Manifest& manifest, const device::Sources& files,
         std::vector<kernel::TypeBinding> mixtures);
  ~Builds();  // what has begun is waited for, what has not is dropped
  Builds(const Builds&) = delete;
  Builds& operator=(const Builds&) = delete;

  // Waits for it.
  const Result<device::CompiledSet>& of(const kernel::TypeBinding& types);
  double seconds();  // that compilers ran, over all that was waited for

 private:
  std::vector<kernel::TypeBinding> mixtures_;
  std::vector<std::promise<Result<device::CompiledSet>>> promises_;
  std::vector<std::shared_future<Result<device::CompiledSet>>> built_;
  std::vector<bool> waited_;
  std::atomic<std::size_t> next_{0};
  std::vector<std::thread> threads_;
};

}  // namespace kw::verify
