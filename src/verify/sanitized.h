// compute-sanitizer as a judge: the calls that reach every kernel once more on the GPU, first under its check of
// memory, then under its check of races. It sees what fences of whole pages cannot, a read one element past the end,
// and what two runs that happen to agree do not show.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "device/device.h"

namespace kw::verify {

// A device whose every run is one under the sanitizer; what that complains of is a fault.
class SanitizedDevice final : public device::Device {
 public:
  SanitizedDevice(std::unique_ptr<device::Device> device, Check check) : device_(std::move(device)), check_(check) {}

  kernel::Target target() const override { return device_->target(); }
  std::string name() const override { return device_->name(); }
  kernel::Machine machine() const override { return device_->machine(); }
  std::uint64_t cache_bytes() const override { return device_->cache_bytes(); }
  Status can_run() const override { return device_->can_run(); }
  std::vector<std::string> architectures() const override { return device_->architectures(); }
  Result<device::CompiledSet> compile(const kernel::Manifest& manifest, const device::Sources& sources,
                                      const kernel::TypeBinding& types, const std::string& architecture) override {
    return device_->compile(manifest, sources, types, architecture);
  }
  Result<device::Program> prepare(const kernel::Pass& pass, const device::CompiledSet& kernels,
                                  const kernel::Facts& facts) override {
    return device_->prepare(pass, kernels, facts);
  }
  Result<device::RunOutcome> run(const std::vector<device::Program>& programs, device::Arena& arena,
                                 const device::RunOptions& options) override;

 private:
  std::unique_ptr<device::Device> device_;
  Check check_;
};

// Does it work here? MissingTool, with the reason, where it does not.
Status has_sanitizer(device::Device& device);

// Of calls, each with the kernels that it reaches: the fewest that together reach as many as `most` calls can, by their
// positions, in the order in which each adds the most.
std::vector<std::size_t> calls_that_reach_all(const std::vector<std::set<std::string>>& reached, std::size_t most);

// The same, without a limit, and of the calls that reach a kernel the one with the fewest elements.
std::vector<std::size_t> smallest_calls_that_reach_all(const std::vector<std::set<std::string>>& reached,
                                                       const std::vector<std::int64_t>& elements);

}  // namespace kw::verify
