// Compiles kernels for several mixtures of types at once, on all cores, while the judge already tries the first. A
// device that compiles single kernels (cuda) does so when a case calls them.
#pragma once

#include <atomic>
#include <future>
#include <set>
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

  // Other mixtures will call these kernels too: where they are compiled only when they are called, that begins now.
  void foresee(const std::set<std::string>& symbols);

 private:
  struct Job {
    std::size_t mixture = 0;
    const kernel::Entry* entry = nullptr;
  };
  std::size_t cores_for(std::size_t jobs) const;

  const kernel::Manifest& manifest_;
  std::vector<kernel::TypeBinding> mixtures_;
  std::vector<std::promise<Result<device::CompiledSet>>> promises_;
  std::vector<std::shared_future<Result<device::CompiledSet>>> built_;
  std::vector<bool> waited_;
  std::vector<Job> foreseen_;
  std::atomic<std::size_t> next_{0}, next_foreseen_{0};
  std::vector<std::thread> threads_;
};

}  // namespace kw::verify
