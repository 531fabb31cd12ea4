// Every invariant of the loop form, broken once: the checker says which.
#include "act/loop/check.h"

#include <gtest/gtest.h>

#include <functional>

#include "act/loop/index.h"
#include "act/loop/interpret.h"
#include "act/loop/kernels.h"
#include "ir/text/parse.h"
#include "loop_agreement.h"
#include "loop_cases.h"

namespace kw::act::test {
namespace {

// The backward of rms_norm: kernel 0 runs over rows with two stages over cols and a sum that rides along, kernel 1 adds
// its slices.
LoopProgram sound_program() {
  for (const LoopCase& c : op_cases())
    if (c.name == "rms_norm_gemma") return *make_program("norm", passes_of(c)[2].graph);
  ADD_FAILURE();
  return {};
}

struct Break {
  std::string name;
  std::string message;  // a part of what the checker says
  std::function<void(LoopProgram&)> apply;
};

void PrintTo(const Break& b, std::ostream* out) { *out << b.name; }

Stage& looped(LoopProgram& p, size_t n) {  // the n-th stage with a loop
  for (Stage& stage : p.kernels[0].stages)
    if (!stage.loop.empty() && n-- == 0) return stage;
  ADD_FAILURE() << "there are fewer stages";
  return p.kernels[0].stages[0];
}

template <class T>
Value& first(LoopProgram& p) {
  for (Value& value : p.kernels[0].values)
    if (std::holds_alternative<T>(value.what)) return value;
  ADD_FAILURE() << "there is no such value";
  return p.kernels[0].values[0];
}

BufferId buffer_named(const LoopProgram& p, const std::string& name) {
  for (size_t b = 0; b < p.buffers.size(); ++b)
    if (p.buffers[b].name == name) return static_cast<BufferId>(b);
  ADD_FAILURE() << "there is no buffer " << name;
  return 0;
}

Store& store_of(LoopProgram& p) {
  for (Stage& stage : p.kernels[0].stages)
    if (!stage.stores.empty()) return stage.stores[0];
  ADD_FAILURE() << "nothing is stored per element";
  return p.kernels[0].stages[0].stores[0];
}

Accumulate& sum_of(LoopProgram& p) {
  for (Stage& stage : p.kernels[0].stages)
    if (!stage.accumulates.empty()) return stage.accumulates[0];
  ADD_FAILURE() << "nothing rides along";
  return p.kernels[0].stages[0].accumulates[0];
}

const std::vector<Break>& breaks() {
  static const std::vector<Break> all = {
      // names
      {"two_axes_of_one_name", "two axes are named rows", [](LoopProgram& p) { p.axes[1].name = p.axes[0].name; }},
      {"an_axis_that_is_no_identifier", "`my rows` of axes is no identifier",
       [](LoopProgram& p) { p.axes[0].name = "my rows"; }},
      {"a_size_that_is_a_keyword", "`for` of sizes is no identifier",
       [](LoopProgram& p) { p.symbols[0].name = "for"; }},
      {"a_buffer_named_as_a_scalar", "two buffers or scalars are named x",
       [](LoopProgram& p) {
         p.scalars.emplace_back("x", ir::DType::Real), p.scalar_sources.push_back({"x", {}});
       }},
      {"a_scalar_without_a_source", "does not say which input",
       [](LoopProgram& p) { p.scalars.emplace_back("s", ir::DType::Real); }},
      {"two_kernels_of_one_name", "two kernels are named norm", [](LoopProgram& p) { p.kernels[1].name = "norm"; }},
      {"two_values_of_one_name", "two values are named",
       [](LoopProgram& p) { p.kernels[0].values[1].name = p.kernels[0].values[0].name; }},
      {"a_value_that_is_a_keyword", "`lambda` is no identifier",
       [](LoopProgram& p) { p.kernels[0].values[1].name = "lambda"; }},
      // values
      {"an_operand_that_comes_later", "uses a value that comes later",
       [](LoopProgram& p) {
         std::get<Map>(first<Map>(p).what).args[0] = static_cast<ValueId>(p.kernels[0].values.size() - 1);
       }},
      {"a_load_of_another_rank", "has 1 indices for",
       [](LoopProgram& p) {
         for (Value& value : p.kernels[0].values)
           if (Load* load = std::get_if<Load>(&value.what); load && load->at.size() == 2) {
             load->at.pop_back();
             return;
           }
       }},
      {"a_load_of_no_buffer", "names a buffer that is not there",
       [](LoopProgram& p) { std::get<Load>(first<Load>(p).what).buffer = 99; }},
      {"a_load_of_another_type", "has another type than", [](LoopProgram& p) { first<Load>(p).type = ir::DType::I32; }},
      {"an_index_with_no_axis", "names an axis that is not there",
       [](LoopProgram& p) { std::get<Load>(first<Load>(p).what).at[0].axis = 17; }},
      {"an_index_by_a_float", "is not an integer",
       [](LoopProgram& p) {
         for (size_t v = 1; v < p.kernels[0].values.size(); ++v)
           if (Load* load = std::get_if<Load>(&p.kernels[0].values[v].what)) {
             load->at[0] = value_index(static_cast<ValueId>(v - 1));
             return;
           }
       }},
      {"an_index_divided_by_an_axis", "divided by a size alone",
       [](LoopProgram& p) {
         Index& at = std::get<Load>(first<Load>(p).what).at[0];
         at = Index{Index::Kind::FloorDiv, -1, {}, kNoValue, {at, axis_index(0)}};
       }},
      {"a_guard_without_a_fill", "has a guard without a value in its stead",
       [](LoopProgram& p) {
         for (size_t v = 1; v < p.kernels[0].values.size(); ++v)
           if (Load* load = std::get_if<Load>(&p.kernels[0].values[v].what)) {
             load->guard = 0;
             return;
           }
       }},
      {"a_guard_that_is_no_bool", "the guard of",
       [](LoopProgram& p) {
         for (size_t v = 1; v < p.kernels[0].values.size(); ++v)
           if (Load* load = std::get_if<Load>(&p.kernels[0].values[v].what)) {
             load->guard = load->otherwise = 0;
             return;
           }
       }},
      {"a_map_of_a_reduction", "which is not pointwise",
       [](LoopProgram& p) { std::get<Map>(first<Map>(p).what).op = ir::Op::Sum; }},
      {"a_map_with_too_many_operands", "operands for",
       [](LoopProgram& p) {
         Map& map = std::get<Map>(first<Map>(p).what);
         map.args.insert(map.args.end(), 3, map.args[0]);
       }},
      {"an_unknown_scalar", "which the program has not",
       [](LoopProgram& p) { first<Map>(p).what = Scalar{"nothing"}; }},
      {"axes_that_a_value_has_not", "depends on", [](LoopProgram& p) { first<Map>(p).axes.clear(); }},
      {"a_reduction_of_nothing", "reduces over nothing",
       [](LoopProgram& p) { std::get<Reduced>(first<Reduced>(p).what).over.clear(); }},
      {"a_sum_that_counts", "counts positions",
       [](LoopProgram& p) {
         Reduced& reduced = std::get<Reduced>(first<Reduced>(p).what);
         reduced.position = axis_index(reduced.over[0]);
       }},
      {"an_argmax_that_counts_nothing", "does not say what it counts",
       [](LoopProgram& p) { std::get<Reduced>(first<Reduced>(p).what).op = ir::Op::ArgMax; }},
      {"a_reduce_without_a_combine", "has a combine and is no reduce",
       [](LoopProgram& p) { std::get<Reduced>(first<Reduced>(p).what).op = ir::Op::Reduce; }},
      {"a_combine_that_is_not_there", "names a combine that is not there",
       [](LoopProgram& p) {
         Reduced& reduced = std::get<Reduced>(first<Reduced>(p).what);
         reduced.op = ir::Op::Reduce;
         reduced.combined = Combined{3, {reduced.arg}, 0};
       }},
      {"a_combine_with_no_results", "does not make one tuple of two",
       [](LoopProgram& p) {
         p.combines.push_back({"c", {0.0}, {}, {}});
       }},
      // stages
      {"an_axis_both_parallel_and_looped", "is both a parallel and a loop axis",
       [](LoopProgram& p) {
         looped(p, 0).loop = {0, 1};
       }},
      {"a_body_without_a_loop", "a body without a loop", [](LoopProgram& p) { looped(p, 0).loop.clear(); }},
      {"a_body_out_of_order", "is not known there",
       [](LoopProgram& p) {
         std::vector<ValueId>& body = looped(p, 0).body;
         std::reverse(body.begin(), body.end());
       }},
      {"a_value_computed_twice", "is computed twice",
       [](LoopProgram& p) { looped(p, 0).body.push_back(looped(p, 0).body.back()); }},
      {"a_value_computed_nowhere", "is computed in no stage",
       [](LoopProgram& p) {
         Value value = first<Map>(p);
         value.name = "lonely";
         p.kernels[0].values.push_back(value);
       }},
      {"a_value_that_waits_for_a_later_stage", "is not known there",
       [](LoopProgram& p) {
         // Everything of the last stage already in the first.
         looped(p, 0).body = looped(p, 1).body;
       }},
      {"a_row_value_in_the_body", "does not depend on the loop",
       [](LoopProgram& p) {
         const ValueId r = looped(p, 0).reductions[0];
         const Value& reduced = p.kernels[0][r];
         p.kernels[0].values.push_back({Map{ir::Op::Neg, {r}}, reduced.type, reduced.axes, "row_value", {}});
         looped(p, 1).body.push_back(static_cast<ValueId>(p.kernels[0].values.size() - 1));
       }},
      {"a_reduction_over_other_axes_than_its_stage", "in a stage over",
       [](LoopProgram& p) { std::get<Reduced>(first<Reduced>(p).what).over.push_back(2); }},
      {"a_reduction_listed_twice", "is reduced twice",
       [](LoopProgram& p) { looped(p, 0).reductions.push_back(looped(p, 0).reductions[0]); }},
      {"something_else_listed_as_a_reduction", "is listed as a reduction, but is none",
       [](LoopProgram& p) { looped(p, 0).reductions.push_back(looped(p, 0).body[0]); }},
      // memory
      {"a_store_to_an_input", "the input", [](LoopProgram& p) { store_of(p).buffer = buffer_named(p, "x"); }},
      {"two_stores_to_one_buffer", "is written by two stores",
       [](LoopProgram& p) {
         for (Stage& stage : p.kernels[0].stages)
           if (!stage.stores.empty()) return stage.stores.push_back(stage.stores[0]);
       }},
      {"an_output_that_is_never_written", "is never written",
       [](LoopProgram& p) {
         for (Stage& stage : p.kernels[0].stages) stage.stores.clear();
       }},
      {"a_store_over_a_part", "is not written at every index once",
       [](LoopProgram& p) { store_of(p).at[1] = size_index(0); }},
      {"a_store_that_repeats", "dimension 1 of grad_x is not written at every index once by rows",
       [](LoopProgram& p) { store_of(p).at[1] = store_of(p).at[0]; }},
      {"a_store_of_a_square_that_repeats", "is written over {rows, rows} at every point of {rows, cols}",
       [](LoopProgram& p) {
         store_of(p).at[1] = store_of(p).at[0];
         p.constraints.push_back({ir::SizeConstraint::Kind::Equal, p.axes[0].size, p.axes[1].size});
       }},
      {"a_store_shifted_by_one", "is not written at every index once",
       [](LoopProgram& p) { store_of(p).at[1] = IndexArithmetic(p.axes).add(store_of(p).at[1], size_index(1)); }},
      {"a_store_of_another_type", "has a value of another type",
       [](LoopProgram& p) { p.buffers[static_cast<size_t>(store_of(p).buffer)].type = ir::DType::I64; }},
      {"workspace_read_before_it_is_written", "which no earlier kernel wrote",
       [](LoopProgram& p) { std::swap(p.kernels[0], p.kernels[1]); }},
      {"a_sum_without_slices", "has no slice for every worker",
       [](LoopProgram& p) { p.buffers[static_cast<size_t>(sum_of(p).buffer)].shape[0] = ir::Size(1); }},
      {"a_sum_that_adds_nothing", "adds nothing up",
       [](LoopProgram& p) {
         Buffer& slices = p.buffers[static_cast<size_t>(sum_of(p).buffer)];
         slices.shape.insert(slices.shape.begin() + 1, p.axes[0].size);
         sum_of(p).at.insert(sum_of(p).at.begin(), axis_index(0));
       }},
  };
  return all;
}

class LoopCheckOfBrokenPrograms : public ::testing::TestWithParam<Break> {};

TEST(LoopCheck, AcceptsTheProgramThatTheOthersBreak) {
  Status sound = check(sound_program());
  EXPECT_TRUE(sound) << sound.error().message;
}

TEST_P(LoopCheckOfBrokenPrograms, SaysWhatIsWrong) {
  LoopProgram program = sound_program();
  GetParam().apply(program);
  Status status = check(program);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find(GetParam().message), std::string::npos) << status.error().message;
  EXPECT_EQ(status.error().kind, ErrorKind::Internal);
}

INSTANTIATE_TEST_SUITE_P(Invariants, LoopCheckOfBrokenPrograms, ::testing::ValuesIn(breaks()),
                         [](const auto& info) { return info.param.name; });

LoopProgram program_of(const std::string& text) {
  Result<ir::Graph> graph = ir::text::parse(text);
  EXPECT_TRUE(graph) << render(graph.error());
  return *make_program("f", *graph);
}

TEST(LoopCheck, RefusesWhatRestsOnAReductionOfEverythingInTheSameKernel) {
  LoopProgram program = program_of("op f(x: f32[n])\n  s = sum(x, n)\nreturn s\n");
  LoopKernel& kernel = program.kernels[0];
  Stage& stage = kernel.stages.back();
  // y[n] = x * s in a second stage of the kernel that sums.
  const ValueId x = stage.body[0], s = stage.reductions[0];
  kernel.values.push_back({Map{ir::Op::Mul, {x, s}}, ir::DType::F32, {0}, "scaled", {}});
  program.buffers.push_back({Buffer::Role::Output, "y", ir::DType::F32, {program.axes[0].size}, "y"});
  Stage second;
  second.loop = stage.loop;
  second.body = {x, static_cast<ValueId>(kernel.values.size() - 1)};
  second.stores = {{static_cast<BufferId>(program.buffers.size() - 1), {axis_index(0)}, second.body[1]}};
  kernel.stages.push_back(second);
  Status status = check(program);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("known only when the kernel is over"), std::string::npos)
      << status.error().message;
}

TEST(LoopCheck, KnowsSizesThatAConstraintMakesEqual) {
  LoopProgram program = program_of(
      "op f(x: f32[c])\n  where c % 4 == 0\n  y = merge(split(x, c -> (g = c//4, k = 4)) * 2, (g, k) -> c)\nreturn "
      "y\n");
  Status sound = check(program);
  EXPECT_TRUE(sound) << sound.error().message;
  program.constraints.clear();
  EXPECT_FALSE(check(program));
}

// ---- what the interpreter watches while it runs ----
std::string run_error(const LoopProgram& program, ir::Environment call) {
  Result<std::vector<ir::Array>> result = interpret(program, std::move(call));
  return result ? "" : result.error().message;
}

TEST(LoopInterpreter, RefusesAnAccessOutsideABuffer) {
  LoopProgram program = program_of("op f(x: f32[n])\n  y = x * 2\nreturn y\n");
  std::get<Load>(program.kernels[0].values[0].what).at[0] =
      IndexArithmetic(program.axes).add(axis_index(0), size_index(1));
  EXPECT_NE(run_error(program, {{{"x", {{3}, {1, 2, 3}}}}, {}}).find("x is accessed at 3 in dimension 0, which has 3"),
            std::string::npos);
}

TEST(LoopInterpreter, RefusesAnElementWrittenTwice) {
  LoopProgram program = program_of("op f(x: f32[n, m])\n  y = x * 2\nreturn y\n");
  program.kernels[0].stages[0].after_stores[0].at[0] = size_index(0);
  EXPECT_NE(run_error(program, {{{"x", {{2, 2}, {1, 2, 3, 4}}}}, {}}).find("written twice"), std::string::npos);
}

TEST(LoopInterpreter, RefusesAnElementThatIsNeverWritten) {
  LoopProgram program = program_of("op f(x: f32[n])\n  y = x * 2\nreturn y\n");
  program.kernels[0].stages[0].after_stores.clear();
  EXPECT_NE(run_error(program, {{{"x", {{3}, {1, 2, 3}}}}, {}}).find("is never written"), std::string::npos);
}

TEST(LoopInterpreter, RefusesAnElementReadBeforeItIsWritten) {
  LoopProgram program = program_of("op f(x: f32[n])\n  y = x / sum(x, n)\nreturn y\n");
  ASSERT_EQ(program.kernels.size(), 2u);
  std::swap(program.kernels[0], program.kernels[1]);
  EXPECT_NE(run_error(program, {{{"x", {{3}, {1, 2, 3}}}}, {}}).find("is read before it is written"),
            std::string::npos);
}

TEST(LoopInterpreter, RefusesTheLargestOfNothing) {
  LoopProgram program = program_of("op f(x: f32[n, m])\n  y = argmax(x, m)\nreturn y\n");
  EXPECT_NE(run_error(program, {{{"x", {{2, 0}, {}}}}, {}}).find("the extreme of nothing"), std::string::npos);
}

TEST(LoopInterpreter, RefusesShapesThatContradictEachOther) {
  LoopProgram program = program_of("op f(x: f32[n], w: f32[n])\n  y = x * w\nreturn y\n");
  EXPECT_NE(run_error(program, {{{"x", {{3}, {1, 2, 3}}}, {"w", {{2}, {1, 2}}}}, {}}), "");
}

TEST(LoopInterpreter, RefusesSizesThatBreakAConstraint) {
  LoopProgram program = program_of(
      "op f(x: f32[c])\n  where c % 4 == 0\n  y = merge(split(x, c -> (g = c//4, k = 4)) * 2, (g, k) -> c)\nreturn "
      "y\n");
  EXPECT_NE(run_error(program, {{{"x", {{3}, {1, 2, 3}}}}, {}}), "");
}

TEST(LoopInterpreter, RefusesACallWithoutAnInput) {
  LoopProgram program = program_of("op f(x: f32[n]; a: real)\n  y = x * a\nreturn y\n");
  EXPECT_NE(run_error(program, {{{"x", {{1}, {1}}}}, {}}).find("a is missing"), std::string::npos);
}

}  // namespace
}  // namespace kw::act::test
