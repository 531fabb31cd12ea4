#include "loop_agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "act/loop/interpret.h"
#include "act/loop/print.h"
#include "ir/interpreter/compare.h"

namespace kw::act::test {
namespace {

// Real semantics is fp64, and sums are taken in different orders: nothing else may differ. The inputs are around 1, and
// so are the largest terms of any sum.
void expect_same_numbers(const std::string& what, const ir::Array& expected, const ir::Array& got) {
  ASSERT_EQ(expected.shape, got.shape) << what;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const double e = expected.values[i], g = got.values[i];
    if ((std::isnan(e) && std::isnan(g)) || e == g) continue;
    ASSERT_NEAR(e, g, 1e-10 * std::max(1.0, std::fabs(e))) << what << " at element " << i;
  }
}

void expect_agreement_in(const std::string& what, const ir::Graph& pass, const LoopProgram& program,
                         const ir::Environment& call, const LoopInterpretOptions& options) {
  const bool rounded = options.semantics == ir::Semantics::Rounded;
  const ir::Graph bound = rounded ? ir::bind_types(pass, options.types) : pass;
  Result<std::vector<ir::Array>> expected =
      ir::interpret(bound, call, {.semantics = options.semantics, .track_bounds = rounded});
  ASSERT_TRUE(expected) << what << ": " << render(expected.error());
  for (int64_t workers : {1, 3, 7}) {
    LoopInterpretOptions with_workers = options;
    with_workers.workers = workers;
    Result<std::vector<ir::Array>> got = interpret(program, call, with_workers);
    ASSERT_TRUE(got) << what << ": " << render(got.error()) << "\n" << print(program);
    ASSERT_EQ(expected->size(), got->size()) << what;
    for (size_t i = 0; i < got->size(); ++i) {
      const std::string name = what + ", " + pass.outputs[i].name + ", " + std::to_string(workers) + " workers";
      if (!rounded) {
        expect_same_numbers(name, (*expected)[i], (*got)[i]);
      } else {
        ASSERT_EQ((*expected)[i].shape, (*got)[i].shape) << name;
        const ir::DType type = bound[bound.outputs[i].node].type.floor();
        const ir::ErrorReport report = ir::compare((*expected)[i], (*got)[i].values, type);
        ASSERT_TRUE(report.within()) << name << ": " << describe(report) << "\n" << print(program);
      }
    }
    if (!program.workers) break;  // nothing is dealt
  }
}

}  // namespace

ir::Environment inputs_for(const ir::Graph& pass, const Sizes& sizes, uint64_t seed) {
  ir::Environment call;
  call.sizes = sizes;
  std::mt19937_64 engine(seed);
  auto size_of = [&](ir::SymbolId id) -> std::optional<int64_t> {
    auto known = sizes.find(pass.symbols[static_cast<size_t>(id)].name);
    return known == sizes.end() ? std::nullopt : std::optional(known->second);
  };
  for (const ir::Input& input : pass.inputs) {
    if (input.kind == ir::InputKind::Scalar) continue;
    ir::Array array;
    int64_t count = 1;
    for (ir::AxisId a : input.dims) {
      array.shape.push_back(a == ir::kUnit ? 1 : pass.axis(a).size.evaluate(size_of).value_or(1));
      count *= array.shape.back();
    }
    for (int64_t i = 0; i < count; ++i) {
      const auto draw = static_cast<double>(engine() % 4001) / 1000 - 2;
      array.values.push_back(input.type.floating()  ? draw
                             : input.type.boolean() ? static_cast<double>(draw > 0)
                                                    : std::floor(4 + 2 * draw));
    }
    call.inputs[input.name] = std::move(array);
  }
  return call;
}

void expect_agreement(const std::string& what, const ir::Graph& pass, const LoopProgram& program,
                      const ir::Environment& call) {
  expect_agreement_in(what + ", real", pass, program, call, {});
  if (::testing::Test::HasFatalFailure()) return;
  expect_agreement_in(what + ", rounded", pass, program, call, {.semantics = ir::Semantics::Rounded, .types = {}});
  if (::testing::Test::HasFatalFailure() || pass.type_parameters.empty()) return;
  LoopInterpretOptions single{.semantics = ir::Semantics::Rounded, .types = {}};
  for (const ir::TypeParameter& parameter : pass.type_parameters) single.types[parameter.name] = ir::DType::F32;
  expect_agreement_in(what + ", rounded f32", pass, program, call, single);
}

}  // namespace kw::act::test
