// The functions of runtime/cpu/math.h, as kernels have them: compiled with the flags of kernels, for this processor and
// for one without fused multiply-add. Their error is measured against the C library's double functions, over floats of
// every exponent and sign; a loop over each of them becomes vector instructions.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/subprocess.h"
#include "base/text.h"
#include "device/cpu/shim.h"
#include "kernel_case.h"

namespace kw::device {
namespace {

using Doubles = double (*)(double);

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

// The inverse of erf, by Newton's steps on whichever of erf and erfc loses nothing.
double erfinv(double x) {
  const double a = std::fabs(x);
  if (!(a <= 1)) return std::numeric_limits<double>::quiet_NaN();
  if (a == 1) return std::copysign(std::numeric_limits<double>::infinity(), x);
  double y = a < 0.5 ? a * 0.8862269254527580 : std::sqrt(-std::log((1 - a) * (1 + a)));
  for (int i = 0; i < 60; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step = error / (1.1283791670955126 * std::exp(-y * y));
    y -= step / (1 + y * step);
    if (std::fabs(step) <= 1e-16 * y) break;
  }
  return std::copysign(y, x);
}

struct Function {
  const char* name;
  Doubles exact;
  double ulps;           // no more than this, in units in the last place of the result; measured, and a little room
  double oracle;         // what ir/interpreter/accuracy.h grants a kernel
  bool flushes = false;  // subnormal results may be 0, as the oracle grants too
};

// The oracle grants exp and sigmoid more where x is large, and erf more everywhere.
const Function kFunctions[] = {
    {"exp", std::exp, 1.05, 2, true},    {"exp2", std::exp2, 1.05, 2},   {"expm1", std::expm1, 1.5, 2},
    {"log", std::log, 0.95, 1.5},        {"log2", std::log2, 1.45, 1.5}, {"log1p", std::log1p, 1.0, 1.5},
    {"tanh", std::tanh, 1.45, 2},        {"sinh", std::sinh, 2.3, 3},    {"cosh", std::cosh, 1.5, 3},
    {"asinh", std::asinh, 1.85, 3},      {"acosh", std::acosh, 2.0, 4},  {"atanh", std::atanh, 2.15, 3},
    {"erf", std::erf, 6.8, 13},          {"erfc", std::erfc, 3.9, 4},    {"erfinv", erfinv, 3.7, 5},
    {"sin", std::sin, 1.65, 4},          {"cos", std::cos, 1.65, 4},     {"tan", std::tan, 3.2, 4},
    {"asin", std::asin, 1.6, 2},         {"acos", std::acos, 1.0, 2},    {"atan", std::atan, 1.35, 2},
    {"sigmoid", sigmoid, 2.45, 3, true},
};
constexpr std::size_t kPow = std::size(kFunctions), kAtan2 = kPow + 1, kNarrow = kPow + 2, kByLanes = kNarrow + 4;

// What bodies of loops do by lanes: of the rows u and v of floats, b and h of 16-bit floats.
const char* const kBodies[] = {
    "w[i] = kw::exp(u[i]);",
    "w[i] = kw::sigmoid(u[i]);",
    "w[i] = kw::tanh(u[i]);",
    "w[i] = kw::rsqrt(u[i]);",
    "w[i] = kw::sqrt(kw::abs(v[i]));",
    "w[i] = kw::maximum(u[i], v[i]) - kw::minimum(u[i], 2.0f);",
    "w[i] = -kw::cube(u[i]) / (kw::square(v[i]) + 1);",
    "w[i] = kw::choose((u[i] < v[i]) & !(u[i] == 0.0f) | (v[i] != v[i]), u[i], 0.0f);",
    "w[i] = kw::to<float>(u[i] <= 1.0f) * v[i];",
    "w[i] = kw::round_to<kw::bf16>(u[i]);",
    "w[i] = kw::round_to<kw::f16>(u[i]);",
    "w[i] = kw::round_own<kw::bf16>(kw::to<float>(b[i]) * kw::to<float>(b[i]));",
    "w[i] = kw::round_own<kw::bf16>(kw::to<float>(b[i]) * kw::to<float>(b[i + 1]));",
    "w[i] = kw::round_ties_down<kw::bf16>(kw::to<float>(b[i]) * kw::to<float>(b[i]));",
    "w[i] = kw::round_ties_down<kw::bf16>(kw::sqrt(kw::to<float>(b[i])));",
    "w[i] = kw::round_ties_down<kw::bf16>(kw::rsqrt(kw::to<float>(b[i])));",
    "w[i] = kw::round_ties_down<kw::f16>(kw::to<float>(h[i]) * kw::to<float>(h[i]));",
    "w[i] = kw::round_via<kw::f16, kw::bf16>(u[i]) + kw::round_before<kw::bf16, kw::f16>(v[i]);",
    "w[i] = kw::round_via<kw::bf16, kw::bf16>(u[i]) - kw::round_via<kw::f16, kw::f16>(v[i]);",
    "w[i] = kw::to<float>(h[i]) - kw::to<float>(b[i]);",
    "w[i] = u[i] / by;",
    "w[i] = kw::sign(u[i]) * v[i];",
    "w[i] = kw::round_multiple<kw::f16>(2.0f * kw::to<float>(h[i])) + "
    "kw::round_multiple<kw::bf16>(kw::to<float>(b[i]));",
    "w[i] = kw::choose((u[i] >= v[i]) ^ (u[i] > 1.0f), kw::round_own<kw::f16>(u[i]), -v[i]);",
    "w[i] = kw::round_between<kw::bf16>(kw::to<float>(b[i]) + 3.0f, 0.0f, 6.0f);",
    "w[i] = kw::round_between<kw::f16>(kw::to<float>(h[i]) + 3.0f, 0.0f, 6.0f);",
    "w[i] = kw::round_between<kw::f16>(kw::to<float>(h[i]) - 1.0f, 0.0f, 57344.0f);",
    "w[i] = kw::round_between<kw::f16>(kw::to<float>(h[i]) + 0.0f, 0.0f, 57344.0f);",
    "w[i] = kw::round_between<kw::bf16>(kw::to<float>(b[i]) + 0.0f, 0.0f, 57344.0f);",
    "w[i] = kw::round_between<float>(u[i] + v[i], 0.5f, 57344.0f);",
    "w[i] = kw::keep(kw::exceeds(u[i], -1.0f) & kw::reaches(4.0f, u[i]), v[i]);",
    "w[i] = kw::keep_own<kw::f16>(kw::exceeds(u[i], -1.0f) & kw::reaches(2.0f, v[i]), u[i]);",
    "w[i] = kw::keep_own<kw::bf16>(kw::exceeds(u[i], -1.0f), kw::to<float>(b[i]) * kw::to<float>(b[i]));",
    "w[i] += u[i];",
};

constexpr std::size_t kRsqrt = 3;  // whose lanes go another way

double ulp_of(double value) {
  const double magnitude = std::fabs(value);
  if (magnitude < std::numeric_limits<float>::min()) return std::numeric_limits<float>::denorm_min();
  return std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

float from_bits(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }

// y[i] = f(x[i]), or f(x[i], z[i]).
class Compiled {
 public:
  explicit Compiled(const std::vector<std::string>& flags) {
    using kernel::Argument;
    kernel::Manifest manifest;
    manifest.name = "math";
    manifest.sizes = {"n", "which"};
    kernel::Entry entry{"math", "math.cpp", {}, {}, {}};
    entry.arguments = {{Argument::Kind::Read, "x"},
                       {Argument::Kind::Read, "z"},
                       {Argument::Kind::Write, "y"},
                       {Argument::Kind::Size, "n", 0, "i64"},
                       {Argument::Kind::Size, "which", 0, "i64"}};
    manifest.passes = {{"forward",
                        {{"x", kernel::Role::Input, "f32", {"n"}},
                         {"z", kernel::Role::Input, "f32", {"n"}},
                         {"y", kernel::Role::Output, "f32", {"n"}}},
                        {{kernel::Step::Kind::Kernel, {entry}}}}};
    std::string source =
        "#include <cstdint>\n#include \"kw/math.h\"\n#include \"kw/narrow.h\"\n"
        "#include \"kw/reduction.h\"\n#include \"kw/stream.h\"\n#include \"kw/tensor.h\"\n"
        "extern \"C\" void math(const float* x, const float* z, float* y, std::int64_t n, std::int64_t which) {\n";
    const auto add = [&](std::size_t which, const std::string& call) {
      source += "  if (which == " + std::to_string(which) +
                ")\n#pragma omp simd\n    for (std::int64_t i = 0; i < n; ++i) y[i] = kw::" + call + ";\n";
    };
    for (std::size_t f = 0; f < std::size(kFunctions); ++f) add(f, std::string(kFunctions[f].name) + "(x[i])");
    add(kPow, "pow(x[i], z[i])");
    add(kAtan2, "atan2(x[i], z[i])");
    std::size_t which = kNarrow;
    for (const std::string type : {"kw::bf16", "kw::f16"})
      for (const std::string call : {"kw::narrow(to, x, n);", "for (std::int64_t i = 0; i < n; ++i) to[i] = T(x[i]);"})
        source += "  if (which == " + std::to_string(which++) + ") { using T = " + type +
                  "; T* to = reinterpret_cast<T*>(y); " + call + " }\n";
    which = kByLanes;
    const std::string fit = "kw::kByLanes<true, float>";
    for (const std::string body : kBodies)
      for (const std::string& loop :
           {"for_lanes<" + fit, std::string("for_lanes<false"), "for_wide_lanes<" + fit + ", true"}) {
        source += "  if (which == " + std::to_string(which++) +
                  ") {\n    const kw::Row<const float, true> u{x, 1}, v{z, 1};\n"
                  "    const kw::Row<const kw::bf16, true> b{reinterpret_cast<const kw::bf16*>(x), 1};\n"
                  "    const kw::Row<const kw::f16, true> h{reinterpret_cast<const kw::f16*>(z), 1};\n"
                  "    const kw::Divisor<float> by(3.0f);\n    const kw::Row<float, true> to{y, 1};\n";
        // Two lanes are only ever written to a tile of the output.
        const bool wide = loop.find("wide") != std::string::npos, adds = body.find("+=") != std::string::npos;
        source += wide && !adds ? "    kw::OutputTile<float, true, 64, " + fit + "> tile(to, 0, false);\n" : "";
        source += wide && !adds ? "    const auto w = tile.row();\n" : "    const auto w = to;\n";
        source += "    kw::" + (wide && adds ? "for_lanes<" + fit : loop) + ">(0, n, [&](auto i) KW_INLINE { " + body +
                  " });\n  }\n";
      }
    cpu::CompileOptions options;
    options.flags = flags;
    const auto set =
        cpu::compile(manifest, {{"math.cpp", source + "}\n"}}, {}, test_compiler(), shared_cache(), options);
    EXPECT_TRUE(set) << set.error().message;
    if (!set) return;
    void* library = ::dlopen(set->files[0].library.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr) << ::dlerror();
    shim_ = reinterpret_cast<void (*)(const void*)>(::dlsym(library, cpu::shim_symbol("math").c_str()));
  }

  std::vector<float> operator()(std::size_t which, const std::vector<float>& x,
                                const std::vector<float>& z = {}) const {
    std::vector<float> y(x.size());
    const void* const slots[] = {x.data(), z.data(), y.data(), reinterpret_cast<const void*>(x.size()),
                                 reinterpret_cast<const void*>(which)};
    shim_(slots);
    return y;
  }

 private:
  void (*shim_)(const void*) = nullptr;
};

struct Processor {
  const char* name;
  bool plain;  // without fused multiply-add
};

class MathTest : public testing::TestWithParam<Processor> {
 protected:
  const Compiled& compiled() const {
    std::vector<std::string> flags = cpu::kernel_flags();
    if (GetParam().plain)
      std::replace(flags.begin(), flags.end(), std::string("-march=native"), std::string("-mno-fma"));
    static std::map<std::string, Compiled> kAll;
    return kAll.try_emplace(GetParam().name, flags).first->second;
  }
};

// Whether y is what `exact` says, and how far from it; zeros, infinities and NaN must be what they are.
void judge(float y, double exact, double& worst, const std::string& what) {
  if (std::isnan(exact)) {
    ASSERT_TRUE(std::isnan(y)) << what << " = " << y;
    return;
  }
  ASSERT_FALSE(std::isnan(y)) << what << " should be " << exact;
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::isinf(exact) || std::fabs(exact) > kLargest * (1 + 1e-6)) {
    ASSERT_EQ(y, static_cast<float>(std::copysign(INFINITY, exact))) << what;
    return;
  }
  if (exact == 0) {
    ASSERT_EQ(y, 0) << what;
    ASSERT_EQ(std::signbit(y), std::signbit(exact)) << what;
  }
  if (std::isinf(y)) {
    ASSERT_GT(std::fabs(exact), kLargest * (1 - 1e-6)) << what;
    return;
  }
  worst = std::max(worst, std::fabs(y - exact) / ulp_of(exact));
}

std::vector<float> dense_sample() {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 9941) x.push_back(from_bits(bits));
  for (const float edge : {0.0f, 1.0f, 0.5f, 0.6f, 0.65f, 88.7228f, 88.72284f, 89.41598f, -87.33655f, -103.97208f,
                           128.0f, -149.0f, 10.05f, 1.17549435e-38f, 1e-45f, 3.4028235e38f, INFINITY, NAN}) {
    for (const float one : {edge, std::nextafter(edge, 0.0f), std::nextafter(edge, INFINITY)}) {
      x.push_back(one);
      x.push_back(-one);
    }
  }
  return x;
}

TEST_P(MathTest, EveryFunctionStaysWithinItsUlps) {
  const std::vector<float> x = dense_sample();
  for (std::size_t f = 0; f < std::size(kFunctions); ++f) {
    const Function& function = kFunctions[f];
    const std::vector<float> y = compiled()(f, x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = function.exact(x[i]);
      if (function.flushes && y[i] == 0 && std::fabs(exact) < std::numeric_limits<float>::min()) continue;
      judge(y[i], exact, worst, std::string(function.name) + "(" + number_text(x[i]) + ")");
      if (HasFatalFailure()) return;
    }
    EXPECT_LE(worst, function.ulps) << function.name;
    EXPECT_GT(worst, 0.4) << function.name << ": nothing was measured";
    EXPECT_LT(function.ulps, function.oracle) << function.name;
  }
}

// Pairs of special values, and of random ones of like and unlike size.
void pairs(std::vector<float>& a, std::vector<float>& b) {
  constexpr float kSpecial[] = {0,     1,        2,        0.5f,     3,    INFINITY,    NAN,  1e-45f,
                                3e38f, 16777215, 16777216, 16777218, 1e9f, 0.99999994f, 2.5f, 1.0000001f};
  for (const float p : kSpecial)
    for (const float q : kSpecial)
      for (const float s : {1.0f, -1.0f})
        for (const float t : {1.0f, -1.0f}) {
          a.push_back(s * p);
          b.push_back(t * q);
        }
  std::uint64_t state = 1;
  const auto next = [&] { return state = state * 6364136223846793005u + 1442695040888963407u; };
  for (int i = 0; i < 200'000; ++i) {
    const float whole = static_cast<float>(static_cast<int>(next() >> 33) % 60);
    a.push_back(i % 3 == 0 ? 1 + std::ldexp(static_cast<float>(static_cast<int>(next() >> 33) % 100'000), -18)
                           : from_bits(next() >> 32));
    b.push_back(i % 2 == 0 ? whole - 30 : from_bits(next() >> 32));
  }
}

TEST_P(MathTest, PowersAndAnglesOfPairsStayWithinTheirUlps) {
  std::vector<float> a, b;
  pairs(a, b);
  const std::vector<float> power = compiled()(kPow, a, b), angle = compiled()(kAtan2, a, b);
  double worst_power = 0, worst_angle = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string of = "(" + number_text(a[i]) + ", " + number_text(b[i]) + ")";
    judge(power[i], std::pow(static_cast<double>(a[i]), static_cast<double>(b[i])), worst_power, "pow" + of);
    judge(angle[i], std::atan2(static_cast<double>(a[i]), static_cast<double>(b[i])), worst_angle, "atan2" + of);
    if (HasFatalFailure()) return;
  }
  EXPECT_LE(worst_power, 0.51);
  EXPECT_LE(worst_angle, 1.6);
}

TEST_P(MathTest, ARunOfValuesIsRoundedAsEachIsAlone) {
  const std::vector<float> x = dense_sample();
  for (const auto& [which, infinity] : {std::pair(kNarrow, 0x7f80), std::pair(kNarrow + 2, 0x7c00)}) {
    const std::vector<float> run = compiled()(which, x), each = compiled()(which + 1, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::uint16_t got = 0, expected = 0;
      std::memcpy(&got, reinterpret_cast<const char*>(run.data()) + 2 * i, 2);
      std::memcpy(&expected, reinterpret_cast<const char*>(each.data()) + 2 * i, 2);
      if (std::isnan(x[i]))
        ASSERT_GT(got & 0x7fff, infinity);
      else
        ASSERT_EQ(got, expected) << x[i];
    }
  }
}

TEST_P(MathTest, LanesGiveTheBitsOfSingleElements) {
  std::vector<float> x = dense_sample(), z = x;
  std::reverse(z.begin(), z.end());
  while (x.size() % 64 != 37) {  // the last lane is not whole
    x.push_back(1.5f);
    z.push_back(-2.5f);
  }
  for (std::size_t body = 0; body < std::size(kBodies); ++body) {
    if (body == kRsqrt) continue;
    const std::vector<float> lanes = compiled()(kByLanes + 3 * body, x, z);
    const std::vector<float> each = compiled()(kByLanes + 3 * body + 1, x, z);
    const std::vector<float> wide = compiled()(kByLanes + 3 * body + 2, x, z);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]), std::bit_cast<std::uint32_t>(lanes[i]))
          << kBodies[body] << " of " << x[i] << " and " << z[i];
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(std::isnan(lanes[i]), std::isnan(each[i])) << kBodies[body] << " of " << x[i] << " and " << z[i];
      if (std::isnan(each[i])) continue;
      // Where one element's exponential is taken for 0, a lane's may be the subnormal number that it is.
      if (each[i] == 0 && body < kRsqrt && std::fabs(lanes[i]) < std::numeric_limits<float>::min()) continue;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(lanes[i]), std::bit_cast<std::uint32_t>(each[i]))
          << kBodies[body] << " of " << x[i] << " and " << z[i];
      numbers += each[i] != 0;
    }
    EXPECT_GT(numbers, x.size() / 8) << kBodies[body];
  }
}

TEST_P(MathTest, RootsAndExponentialsByLanesStayWithinTheirUlps) {
  struct {
    std::size_t body;
    Doubles exact;
    double ulps, oracle;
    bool flushes;
  } const functions[] = {{0, std::exp, 1.05, 2, true},
                         {1, sigmoid, 2.45, 3, true},
                         {2, std::tanh, 1.45, 2, false},
                         {kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 1.5, 2, false}};
  const std::vector<float> x = dense_sample();
  for (const auto& function : functions) {
    const std::vector<float> y = compiled()(kByLanes + 3 * function.body, x, x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = function.exact(x[i]);
      if (function.flushes && y[i] == 0 && std::fabs(exact) < std::numeric_limits<float>::min()) continue;
      judge(y[i], exact, worst, kBodies[function.body] + (" of " + number_text(x[i])));
      if (HasFatalFailure()) return;
    }
    EXPECT_LE(worst, function.ulps) << kBodies[function.body];
    EXPECT_GT(worst, 0.4) << kBodies[function.body] << ": nothing was measured";
    EXPECT_LT(function.ulps, function.oracle) << kBodies[function.body];
  }
}

INSTANTIATE_TEST_SUITE_P(All, MathTest, testing::Values(Processor{"ThisOne", false}, Processor{"WithoutFma", true}),
                         [](const auto& row) { return std::string(row.param.name); });

#if defined(__x86_64__)
// What the compiler says of a loop over `call`.
std::string vectorizer_says(const std::string& call) {
  const auto folder = TemporaryDirectory::make();
  const std::string path = folder->path() + "/loop.cpp";
  EXPECT_TRUE(write_file_atomically(path, "#include <cstdint>\n#include \"" KW_SOURCE_DIR "/runtime/cpu/math.h\"\n"
                                          "void loop(const float* __restrict__ x, const float* __restrict__ z, float* "
                                          "__restrict__ y, std::int64_t n) {\n"
                                          "  for (std::int64_t i = 0; i < n; ++i) y[i] = " +
                                              call + ";\n}\n"));
  Command command;
  command.argv = {test_compiler().path};
  for (const std::string& flag : cpu::kernel_flags())
    if (flag != "-shared") command.argv.push_back(flag == "-march=native" ? "-march=x86-64-v3" : flag);
  for (const char* word : {"-fopt-info-vec-optimized", "-c", "-o", "/dev/null"}) command.argv.emplace_back(word);
  command.argv.push_back(path);
  const auto finished = run(command);
  return finished ? finished->errors : finished.error().message;
}

TEST(MathLoopTest, ALoopOverAnyFunctionBecomesVectorInstructions) {
  if (test_compiler().version.find("clang") != std::string::npos) GTEST_SKIP() << "GCC's words are read here";
  EXPECT_EQ(vectorizer_says("x[i] < 0 ? *new float(x[i]) : z[i]").find("loop vectorized"), std::string::npos);
  std::string calls = "kw::pow(x[i], z[i]) + kw::atan2(x[i], z[i])";
  EXPECT_NE(vectorizer_says(calls).find("loop vectorized"), std::string::npos) << calls;
  calls = "kw::rsqrt(x[i])";
  for (std::size_t f = 0; f < std::size(kFunctions); ++f) {
    calls += std::string(" + kw::") + kFunctions[f].name + "(x[i])";
    if (f % 6 != 5 && f + 1 != std::size(kFunctions)) continue;  // a few to a loop
    EXPECT_NE(vectorizer_says(calls).find("loop vectorized"), std::string::npos) << calls;
    calls = "x[i]";
  }
}
#endif

}  // namespace
}  // namespace kw::device
