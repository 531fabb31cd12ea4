#include "kernel_case.h"

#include "../../../runtime/cpu/element.h"

namespace kw::device {

using kernel::DType;

const cpu::Compiler& test_compiler() {
  static const cpu::Compiler kCompiler = [] {
    auto found = cpu::find_compiler();
    KW_ASSERT(found, "the tests need a compiler");
    return *found;
  }();
  return kCompiler;
}

const Cache& shared_cache() {
  static const FreshCache kCache;
  return *kCache;
}

kernel::Manifest pointwise_manifest() {
  using kernel::Argument;
  kernel::Manifest manifest;
  manifest.name = "act";
  manifest.sizes = {"n"};
  manifest.types = {{"T", {"bf16", "f16", "f32", "f64"}}};
  kernel::Entry entry{"act", "act.cpp", {}, {}, {}};
  entry.arguments = {{Argument::Kind::Read, "x"}, {Argument::Kind::Write, "y"}, {Argument::Kind::Size, "n", 0, "i64"}};
  manifest.passes = {{"forward",
                      {{"x", kernel::Role::Input, "T", {"n"}}, {"y", kernel::Role::Output, "T", {"n"}}},
                      {{kernel::Step::Kind::Kernel, {entry}}}}};
  return manifest;
}

std::string pointwise_source(const std::string& body) {
  return R"(#include <cstdint>
#include <cstdlib>
#include <vector>
#include "kw/element.h"

using T = KW_T;

extern "C" void act(const T* x, T* y, std::int64_t n) {
  )" + body +
         "\n}\n";
}

std::vector<float> floats(std::span<const std::byte> bytes, DType dtype) {
  std::vector<float> values;
  const auto size = static_cast<std::size_t>(ir::info(dtype).bytes);
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    std::uint64_t raw = 0;
    std::memcpy(&raw, bytes.data() + at, size);
    if (dtype == DType::F64) {
      values.push_back(static_cast<float>(std::bit_cast<double>(raw)));
    } else if (dtype == DType::F32) {
      values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(raw)));
    } else if (dtype == DType::BF16) {
      bf16 half;
      half.bits = static_cast<std::uint16_t>(raw);
      values.push_back(half);
    } else {
      f16 half;
      half.bits = static_cast<std::uint16_t>(raw);
      values.push_back(half);
    }
  }
  return values;
}

void put_floats(std::span<std::byte> bytes, DType dtype, const std::vector<float>& values) {
  const auto size = static_cast<std::size_t>(ir::info(dtype).bytes);
  KW_ASSERT(bytes.size() == values.size() * size, "as many values as elements");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t raw = *element_bits(dtype, values[i]);
    std::memcpy(bytes.data() + i * size, &raw, size);
  }
}

PointwiseRun run_pointwise(const std::string& source, const std::vector<float>& x, const PointwiseOptions& options) {
  const kernel::Manifest manifest = pointwise_manifest();
  PointwiseRun result;
  const auto set =
      cpu::compile(manifest, {{"act.cpp", source}}, {{"T", options.dtype}}, test_compiler(), shared_cache());
  EXPECT_TRUE(set) << set.error().message;
  if (!set) return result;
  const auto n = static_cast<std::int64_t>(x.size());
  Arena arena;
  const kernel::Tensor tensor{options.dtype, {n}, {1}, 0};
  EXPECT_TRUE(arena.add("x", tensor, Arena::Access::Read, options.placement));
  EXPECT_TRUE(arena.add("y", tensor, Arena::Access::Write, options.placement));
  EXPECT_TRUE(arena.allocate());
  put_floats(arena.bytes("x"), options.dtype, x);
  arena.poison("y", 0xAB);
  kernel::Facts facts;
  facts.sizes = {{"n", n}};
  facts.tensors = arena.tensors();
  const auto program = prepare(manifest.passes[0], *set, facts);
  EXPECT_TRUE(program) << program.error().message;
  Worker worker(options.limits);
  auto outcome = worker.run({*program}, arena, options.run);
  EXPECT_TRUE(outcome) << outcome.error().message;
  if (!outcome) return result;
  result.outcome = std::move(*outcome);
  result.y = floats(arena.bytes("y"), options.dtype);
  return result;
}

}  // namespace kw::device
