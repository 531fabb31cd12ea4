// Every CUDA kernel that is generated for an example compiles for every architecture, and spills on none, in no type.
// Those of random graphs compile, too, and those of ops that take more registers than any example do not spill.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <future>
#include <map>
#include <optional>

#include "act/act.h"
#include "base/text.h"
#include "device/cuda/compile.h"
#include "example_profiles.h"
#include "ir/random/random_graph.h"
#include "ir/text/print.h"
#include "kernel/expression.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"

namespace kw::test {
namespace {

using ir::DType;

device::cuda::Nvrtc& nvrtc() {
  static const std::unique_ptr<device::cuda::Nvrtc> kNvrtc = [] {
    auto found = device::cuda::Nvrtc::open();
    KW_ASSERT(found, "the tests need NVRTC: tools/make_venv.sh installs it");
    return *std::move(found);
  }();
  return *kNvrtc;
}

// The type that users have; in the slow tests all others, and mixtures of two.
std::vector<kernel::TypeBinding> type_choices(const kernel::Manifest& manifest) {
  std::vector<DType> types = {DType::BF16};
  if (slow_tests()) types.insert(types.end(), {DType::F32, DType::F16, DType::F64});
  std::vector<kernel::TypeBinding> choices;
  for (const DType type : types)
    for (const DType other : types) {
      if (type != other && manifest.types.size() < 2) continue;
      kernel::TypeBinding& binding = choices.emplace_back();
      for (const auto& [name, dtypes] : manifest.types) binding[name] = binding.empty() ? type : other;
    }
  return choices;
}

struct Built {
  std::string what;  // "sm_90, T = bf16"
  Result<std::vector<device::CompiledFile>> kernels;
};

using Wanted = std::function<bool(const kernel::Pass&, const kernel::Entry&)>;

Built build(const act::Generated& generated, const kernel::TypeBinding& types, const std::string& architecture,
            const Wanted& wanted) {
  std::vector<const kernel::Entry*> entries;
  for (const kernel::Pass& pass : generated.manifest.passes)
    for (const kernel::Step& step : pass.steps)
      for (const kernel::Entry& entry : step.entries)
        if (wanted(pass, entry)) entries.push_back(&entry);
  const device::Cache cache(std::string(KW_BINARY_DIR) + "/kernel_cache");
  const auto compile = [&]() -> Result<std::vector<device::CompiledFile>> {
    KW_TRY(const device::CompiledSet set,
           device::cuda::compile_when_called(generated.manifest, generated.files, types, architecture, nvrtc(), cache));
    return set.find(entries);
  };
  return {architecture + ", " + kernel::text(types), compile()};
}

// All architectures at once.
std::vector<Built> build(const act::Generated& generated) {
  std::vector<std::future<std::vector<Built>>> architectures;
  for (const std::string architecture : {"sm_80", "sm_90", "sm_100"})
    architectures.push_back(std::async(std::launch::async, [&, architecture] {
      std::vector<Built> all;
      for (const kernel::TypeBinding& types : type_choices(generated.manifest))
        all.push_back(build(generated, types, architecture, [](const auto&, const auto&) { return true; }));
      return all;
    }));
  std::vector<Built> all;
  for (auto& architecture : architectures)
    for (Built& one : architecture.get()) all.push_back(std::move(one));
  return all;
}

// Whether no guard forbids it, of those that ask for types alone.
bool can_have(const kernel::TypeBinding& types, const kernel::Pass& pass, const kernel::Entry& entry) {
  kernel::Facts facts;
  for (const kernel::Buffer& buffer : pass.buffers) {
    const auto dtype = kernel::dtype_of(buffer.type, types);
    if (dtype) facts.tensors[buffer.name].dtype = *dtype;
  }
  return std::all_of(entry.guards.begin(), entry.guards.end(), [&](const std::string& guard) {
    const auto condition = kernel::Expression::parse(guard, kernel::Expression::Kind::Condition);
    if (!condition || !condition->size_names().empty() || guard.find("bytes(") == std::string::npos) return true;
    const auto holds = condition->holds(facts);
    return !holds || *holds;
  });
}

// Blocks of 256 threads have all registers that a thread can name.
bool is_always_small(const kernel::Entry& entry) {
  const auto threads = parse_integer(entry.launch.block[0]);
  return threads && *threads <= 256;
}

// In the other types that users have, for the architecture that is measured: kernels that can have them, but for those
// of small blocks, and those that need so few registers in bf16 that they have enough in the other type. f16 takes
// hardly more than bf16.
std::vector<Built> build_in_other_types(const act::Generated& generated, const std::vector<Built>& built) {
  const std::string kArchitecture = "sm_90";
  std::map<std::string, int> registers;  // in bf16
  for (const Built& one : built)
    if (one.kernels && one.what.starts_with(kArchitecture + ","))
      for (const device::CompiledFile& file : *one.kernels)
        for (const device::KernelReport& report : file.reports) registers[report.symbol] = report.registers;
  std::vector<Built> all;
  for (const auto& [type, enough] : {std::pair{DType::F32, 60}, {DType::F16, 68}}) {
    kernel::TypeBinding types;
    for (const auto& [name, dtypes] : generated.manifest.types) types[name] = type;
    const auto wanted = [&, most = enough](const kernel::Pass& pass, const kernel::Entry& entry) {
      return registers[entry.symbol] > most && !is_always_small(entry) && can_have(types, pass, entry);
    };
    all.push_back(build(generated, types, kArchitecture, wanted));
  }
  return all;
}

void expect_no_spill(const std::vector<Built>& built) {
  for (const Built& one : built) {
    ASSERT_TRUE(one.kernels) << one.what << ": " << render(one.kernels.error());
    for (const device::CompiledFile& file : *one.kernels)
      for (const device::KernelReport& report : file.reports)
        EXPECT_FALSE(report.spills()) << report.symbol << " for " << one.what << ": " << report.registers
                                      << " registers, " << report.spill_store_bytes << " bytes stored and "
                                      << report.spill_load_bytes << " loaded";
  }
}

class CudaExamples : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaExamples, CompileForEveryArchitecture) {
  const auto generated = act::act(example_profile(GetParam()), {}, kernel::Target::Cuda);
  ASSERT_TRUE(generated) << render(generated.error());
  for (const Built& one : build(*generated)) {
    ASSERT_TRUE(one.kernels) << one.what << ": " << render(one.kernels.error());
    for (const device::CompiledFile& file : *one.kernels) {
      ASSERT_EQ(file.reports.size(), 1u) << file.file << ": each kernel has a cubin of its own";
      EXPECT_EQ(file.reports[0].architecture, one.what.substr(0, one.what.find(',')));
    }
  }
}

TEST_P(CudaExamples, KeepAllThatAThreadHoldsInRegistersOnEveryArchitecture) {
  const auto generated = act::act(example_profile(GetParam()), {}, kernel::Target::Cuda);
  ASSERT_TRUE(generated) << render(generated.error());
  const std::vector<Built> built = build(*generated);
  expect_no_spill(built);
  if (!slow_tests()) expect_no_spill(build_in_other_types(*generated, built));
}

INSTANTIATE_TEST_SUITE_P(All, CudaExamples, ::testing::ValuesIn(generated_examples()),
                         [](const auto& info) { return info.param; });

// As `kw` reads math, decides and generates; nothing where a rule refuses it.
std::optional<act::Generated> kernels_of(const std::string& name, const std::string& math) {
  const auto located = understand::locate_source("", math);
  const auto reading = located ? understand::read_source(*located, {}) : Failure(located.error());
  EXPECT_TRUE(reading) << name << ": " << render(reading.error());
  if (!reading) return std::nullopt;
  const auto profile = understand::decide(*reading, name, {.kind = located->kind}, {});
  EXPECT_TRUE(profile) << name << ": " << render(profile.error());
  if (!profile) return std::nullopt;
  auto generated = act::act(*profile, {}, kernel::Target::Cuda);
  if (!generated) return std::nullopt;
  return *std::move(generated);
}

std::optional<act::Generated> random_kernels(uint64_t seed) {
  const ir::Graph graph = ir::random_graph(seed, {.operations = 8, .highest_tier = 2, .differentiable = seed % 2 == 0});
  return kernels_of("g" + std::to_string(seed), ir::text::print(graph));
}

// g++, which compiles them for the emulation, has other vectors and takes other words.
TEST(CudaRandomGraphs, Compile) {
  int compiled = 0;
  const uint64_t count = slow_tests() ? 40 : 8;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const std::optional<act::Generated> generated = random_kernels(seed);
    if (!generated) continue;
    kernel::TypeBinding types;
    const DType type = seed % 3 == 0 ? DType::F16 : seed % 3 == 1 ? DType::BF16 : DType::F32;
    for (const auto& [name, dtypes] : generated->manifest.types) types[name] = type;
    const Built built = build(*generated, types, "sm_90", [](const auto&, const auto&) { return true; });
    const bool has_no_type =
        !built.kernels && built.kernels.error().message.find("no element type") != std::string::npos;
    EXPECT_TRUE(built.kernels || has_no_type) << seed << ", " << built.what << ": " << render(built.kernels.error());
    compiled += built.kernels ? 1 : 0;
  }
  EXPECT_GT(compiled, static_cast<int>(count) / 2);  // the others need a scan, or have numbers of 8 bits
}

// What the formula of a schedule counts beside the rows that a thread holds: an op for each, and an architecture, a
// type and a pass for which its kernels would spill if that were not counted.
struct ManyRegisters {
  const char *name, *math, *architecture;
  DType type;
  const char* pass;
};
const ManyRegisters kManyRegisters[] = {
    {"VectorsBesideTheFirstStage",
     "op bias_sum(x: T[rows, cols], bias: parameter W[cols])\n  y = sum(sigmoid(x + bias), cols)\nreturn y", "sm_90",
     DType::F32, "forward"},
    {"ALastStageThatWritesNothingOfTheRow",
     "op spread(x: T[rows, cols])\n  d = x - mean(x, cols)\n  y = reduce_max(d * rsqrt(mean(d^2, cols) + 1e-5), rows)\n"
     "return y",
     "sm_90", DType::F32, "forward"},
    {"PositionsOf64Bits", "op place(x: T[rows, cols])\n  a = atan(x)\n  p = argmax(x, cols)\nreturn p, a", "sm_80",
     DType::F32, "forward"},
    {"TruthValues",
     "op channel_relu(x: T[batch, channels, width], bias: parameter W[channels], shift: parameter W[channels])\n"
     "  a = x + bias\n  y = select(a <= 0, 0, a) + shift\nreturn y[batch, channels, width]",
     "sm_80", DType::BF16, "backward"},
    {"FunctionsOfManyElementsAtOnce",
     "op channel_gelu(x: T[batch, channels, width], scale: parameter W[channels], bias: parameter W[channels])\n"
     "  a = x * scale + bias\n  y = a * 0.5 * (1 + erf(a * 0.7071067811865475))\nreturn y[batch, channels, width]",
     "sm_100", DType::BF16, "backward"},
    {"ResultsThatAreKeptBesideSums",
     "op gelu_softmax(x: T[rows, cols], bias: parameter W[cols])\n  a = x + bias\n"
     "  g = a * 0.5 * (1 + erf(a * 0.7071067811865475))\n  e = exp(g - reduce_max(g, cols))\n  y = e / sum(e, cols)\n"
     "return y",
     "sm_90", DType::F32, "backward"},
    {"ManySumsOfColumns",
     "op five_biases(x: T[rows, cols], a: parameter W[cols], b: parameter W[cols], c: parameter W[cols],\n"
     "               d: parameter W[cols], e: parameter W[cols])\n"
     "  y = (((x * a + b) * c + x) * d + x) * e\nreturn y",
     "sm_100", DType::F32, "backward"},
};

class CudaOpsOfManyRegisters : public ::testing::TestWithParam<ManyRegisters> {};

TEST_P(CudaOpsOfManyRegisters, DoNotSpill) {
  const ManyRegisters& op = GetParam();
  const std::optional<act::Generated> generated = kernels_of("op", op.math);
  ASSERT_TRUE(generated);
  kernel::TypeBinding types;
  for (const auto& [name, dtypes] : generated->manifest.types) types[name] = op.type;
  const auto wanted = [&](const kernel::Pass& pass, const kernel::Entry& entry) {
    return pass.name == op.pass && !is_always_small(entry) && can_have(types, pass, entry);
  };
  expect_no_spill({build(*generated, types, op.architecture, wanted)});
}

INSTANTIATE_TEST_SUITE_P(All, CudaOpsOfManyRegisters, ::testing::ValuesIn(kManyRegisters),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kw::test
