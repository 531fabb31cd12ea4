// A kernel with its manifest, compiled and run over small buffers, for tests.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "base/file.h"
#include "device/arena.h"
#include "device/cpu/compile.h"
#include "device/program.h"
#include "device/worker.h"
#include "kernel/layout.h"

namespace kw::device {

// A cache that is empty at first and gone at the end.
class FreshCache {
 public:
  FreshCache() : folder_(*TemporaryDirectory::make()), cache_(folder_.path()) {}
  const Cache& operator*() const { return cache_; }

 private:
  TemporaryDirectory folder_;
  Cache cache_;
};

const cpu::Compiler& test_compiler();
const Cache& shared_cache();  // one per test program: tests that do not look at caching share it

// y[i] = what `body` makes of x[i], for n elements of type T, in a kernel named `act`.
kernel::Manifest pointwise_manifest();
std::string pointwise_source(const std::string& body);

struct PointwiseRun {
  RunOutcome outcome;
  std::vector<float> y;
};
struct PointwiseOptions {
  kernel::DType dtype = kernel::DType::F32;
  Limits limits{std::chrono::milliseconds(20'000), std::uint64_t{256} << 20, 2};
  RunOptions run;
  Arena::Placement placement;
};

// Runs the source over x; y starts as a pattern that no result has.
PointwiseRun run_pointwise(const std::string& source, const std::vector<float>& x,
                           const PointwiseOptions& options = {});

std::vector<float> floats(std::span<const std::byte> bytes, kernel::DType dtype);
void put_floats(std::span<std::byte> bytes, kernel::DType dtype, const std::vector<float>& values);

}  // namespace kw::device
