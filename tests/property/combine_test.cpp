// Reductions by a combine of the op's own: several coupled values, which need not commute, along every axis of a
// tensor. Kernels join the terms in order, whatever the number of threads, and agree with the oracle.
#include <gtest/gtest.h>

#include "../unit/act/loop_agreement.h"
#include "device/cuda/compile.h"
#include "example_profiles.h"
#include "ir/text/parse.h"
#include "kernel_pass.h"

namespace kw::test {
namespace {

struct CombineCase {
  std::string name;
  std::string body;  // of the combine, and what follows from it: y is the result
};

const CombineCase kCases[] = {
    {"welford", R"(
  combine welford(mean_a: real, m2_a: real, n_a: real, mean_b: real, m2_b: real, n_b: real) from (0, 0, 0)
    apart = mean_b - mean_a
    n     = n_a + n_b
    mean  = mean_a + apart * (n_b / n)
    m2    = m2_a + m2_b + apart * apart * (n_a * n_b / n)
  return mean, m2, n
  h = f32(x)
  m = reduce(welford, h, h * 0, h * 0 + 1, AXIS)
  v = reduce(welford, h, h * 0, h * 0 + 1, AXIS, part = 1)
  y = m * rsqrt(v + 1))"},
    {"logsumexp_pairs", R"(
  combine rescaled(max_a: real, sum_a: real, max_b: real, sum_b: real) from (-inf, 0)
    top   = max(max_a, max_b)
    total = sum_a * exp(max_a - top) + sum_b * exp(max_b - top)
  return top, total
  h = f32(x)
  y = reduce(rescaled, h, h * 0 + 1, AXIS) + log(reduce(rescaled, h, h * 0 + 1, AXIS, part = 1)))"},
    {"argmax_pairs", R"(
  combine later(best_a: real, at_a: i64, best_b: real, at_b: i64) from (-inf, -1)
    holds = best_a > best_b
    best  = select(holds, best_a, best_b)
    at    = select(holds, at_a, at_b)
  return best, at
  y = reduce(later, f32(x), iota(AXIS), AXIS, part = 1))"},
    {"affine_maps", R"(
  combine affine(a0: real, b0: real, a1: real, b1: real) from (1, 0)
    a = a0 * a1
    b = a1 * b0 + b1
  return a, b
  y = reduce(affine, sigmoid(f32(x)), f32(x), AXIS, part = 1))"},
    {"narrow_parts", R"(
  combine last(a: real, b: real) from (0)
    y = 0.5 * a + b - 0.5 * a
  return y
  y = reduce(last, x, AXIS))"},
    {"used_again_per_element", R"(
  combine affine(a0: f32, b0: f32, a1: f32, b1: f32) from (1, 0)
    a = a0 * a1
    b = a1 * b0 + b1
  return a, b
  h = reduce(affine, sigmoid(f32(x)), f32(x), AXIS, part = 1)
  y = sum(f32(x) * h, AXIS) + reduce(affine, sigmoid(f32(x)), f32(x), AXIS))"},
};

struct Along {
  const char* shape;
  const char* axis;
  std::vector<act::test::Sizes> sizes;
};
std::vector<act::test::Sizes> sizes_of(std::initializer_list<std::pair<int, int>> all) {
  std::vector<act::test::Sizes> out;
  for (const auto& [rows, cols] : all) {
    act::test::Sizes& sizes = out.emplace_back();
    if (rows >= 0) sizes["rows"] = rows;
    sizes["cols"] = cols;
  }
  return out;
}

std::vector<Along> axes(Where where) {
  const bool slow = where != Where::Cpu;
  std::vector<Along> all = {
      {"rows, cols", "cols", sizes_of({{3, 1}, {5, 7}, {1, 64}, {7, 130}, {2, 1025}, {4, 0}})},
      {"rows, cols", "rows", sizes_of({{1, 3}, {7, 5}, {64, 1}, {130, 7}, {1025, 2}, {0, 4}})},
      {"cols", "cols", sizes_of({{-1, 1}, {-1, 5}, {-1, 1000}, {-1, slow ? 9001 : 300001}, {-1, 0}})},
  };
  if (slow)
    all[0].sizes.push_back({{"rows", 1}, {"cols", 20001}});
  else
    all[0].sizes.push_back({{"rows", 2}, {"cols", 100003}}), all[1].sizes.push_back({{"rows", 9001}, {"cols", 3}});
  return all;
}

std::string text_of(const CombineCase& c, const Along& along) {
  std::string text = "op " + c.name + "(x: T[" + along.shape + "])" + c.body + "\nreturn y\n";
  for (size_t at = text.find("AXIS"); at != std::string::npos; at = text.find("AXIS")) text.replace(at, 4, along.axis);
  return text;
}

class Combines : public ::testing::TestWithParam<std::tuple<Where, size_t>> {};

TEST_P(Combines, JoinTheirTermsInOrder) {
  const auto& [where, which] = GetParam();
  const CombineCase& c = kCases[which];
  for (const Along& along : axes(where)) {
    const auto graph = ir::text::parse(text_of(c, along), "test");
    ASSERT_TRUE(graph) << render(graph.error());
    auto kernels = KernelPass::make(c.name, *graph, where);
    ASSERT_TRUE(kernels) << render(kernels.error());
    kernels->compile_for({Types{}});
    for (const act::test::Sizes& sizes : along.sizes) {
      const ir::Environment call = act::test::inputs_for(*graph, sizes, 1);
      for (const Layout layout : {Layout::Dense, Layout::Gaps, Layout::EverySecond}) {
        std::string what = c.name + " along " + along.axis;
        for (const auto& [name, n] : sizes) what += " " + name + "=" + std::to_string(n);
        kernels->expect_oracle(what, {}, call, layout);
        if (HasFatalFailure()) {
          for (const auto& [file, source] : kernels->generated().files) std::cerr << source;
          return;
        }
      }
    }
  }
}

TEST(CombinesOnAGpu, CompileForEveryArchitecture) {
  auto nvrtc = device::cuda::Nvrtc::open();
  ASSERT_TRUE(nvrtc) << "the tests need NVRTC: tools/make_venv.sh installs it";
  const device::Cache cache(std::string(KW_BINARY_DIR) + "/kernel_cache");
  for (const CombineCase& c : kCases)
    for (const Along& along : axes(Where::Emulation)) {
      if (!slow_tests() && c.name != "welford" && c.name != "argmax_pairs") continue;
      const auto graph = ir::text::parse(text_of(c, along), "test");
      ASSERT_TRUE(graph) << render(graph.error());
      const auto made = act::generate({c.name, *graph, {}, {}, {}, {}, {}}, kernel::Target::Cuda);
      ASSERT_TRUE(made) << render(made.error());
      for (const char* architecture : {"sm_90", "sm_80", "sm_100"}) {
        if (!slow_tests() && std::string_view(architecture) != "sm_90") continue;
        const auto kernels =
            device::cuda::compile(made->manifest, made->files, {{"T", ir::DType::F32}}, architecture, **nvrtc, cache);
        ASSERT_TRUE(kernels) << c.name << " along " << along.axis << ": " << render(kernels.error());
      }
    }
}

std::string name_of_case(const ::testing::TestParamInfo<std::tuple<Where, size_t>>& info) {
  return kCases[std::get<1>(info.param)].name + (std::get<0>(info.param) == Where::Cpu ? "_cpu" : "_emulation");
}
INSTANTIATE_TEST_SUITE_P(Devices, Combines,
                         ::testing::Combine(::testing::Values(Where::Cpu, Where::Emulation),
                                            ::testing::Range(size_t{0}, std::size(kCases))),
                         name_of_case);

}  // namespace
}  // namespace kw::test
