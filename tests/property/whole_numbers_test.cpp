// Quotients, rests, powers and roundings of whole numbers are exact in every type, at the ends of its range too.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/text/parse.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

const char* const kBody = R"(
  quotient = x // z
  of_seven = 7 // z
  rest     = x % z
  of_three = x % 3
  product  = x * z
  power    = x ^ z
  fourth   = x ^ 4
  threes   = 3 ^ z
  sum      = floor(x) + ceil(z)
  greatest = max(round(x), trunc(z))
return quotient, of_seven, rest, of_three, product, power, fourth, threes, sum, greatest
)";

class WholeNumbers : public ::testing::TestWithParam<Where> {};

// Every pair of numbers that are at an end of the type's range or small, the second not zero: nothing is divided by it.
ir::Environment pairs_of(ir::DType dtype) {
  const int bits = std::min(8 * ir::info(dtype).bytes, 50);  // the oracle's numbers are doubles
  const bool is_signed = dtype != ir::DType::U8;
  const double beyond = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  std::vector<double> numbers = {0, 1, 2, 3, 10, beyond - 2, beyond - 1};
  if (is_signed) numbers.insert(numbers.end(), {-1, -2, -3, -10, -beyond, 1 - beyond});
  ir::Array x, z;
  for (const double a : numbers)
    for (const double b : numbers) {
      if (b == 0) continue;
      x.values.push_back(a);
      z.values.push_back(b);
    }
  const auto count = static_cast<std::int64_t>(x.values.size());
  x.shape = z.shape = {count};
  ir::Environment call;
  call.sizes["count"] = count;
  call.inputs = {{"x", x}, {"z", z}};
  return call;
}

TEST_P(WholeNumbers, AreExactAtTheEndsOfTheirRange) {
  using ir::DType;
  for (const DType dtype : {DType::U8, DType::I8, DType::I16, DType::I32, DType::I64}) {
    const std::string type(ir::info(dtype).name);
    const auto graph = ir::text::parse("op f(x: " + type + "[count], z: " + type + "[count])" + kBody, "test");
    ASSERT_TRUE(graph) << render(graph.error());
    auto kernels = KernelPass::make("f", *graph, GetParam());
    ASSERT_TRUE(kernels) << render(kernels.error());
    kernels->expect_oracle(type, {}, pairs_of(dtype), Layout::Dense);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, WholeNumbers, ::testing::Values(Where::Cpu, Where::Emulation),
                         [](const auto& info) { return info.param == Where::Cpu ? "Cpu" : "Emulation"; });

}  // namespace
}  // namespace kw::test
