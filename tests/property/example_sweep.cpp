#include "example_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <utility>

#include "../unit/act/loop_agreement.h"
#include "act/package/op_form.h"
#include "act/package/partial_backward.h"
#include "base/text.h"
#include "example_profiles.h"
#include "ir/random/dice.h"
#include "verify/reach.h"

namespace kw::test {
namespace {

using act::test::Sizes;
using ir::DType;

// A multiple of a number, where the math asks for one: some of the sizes are few in a small range.
void draw_multiples(const ir::Graph& graph, ir::random::Dice& dice, Sizes& sizes) {
  for (const ir::SizeConstraint& c : graph.constraints) {
    const auto whole = c.left.as_symbol();
    const auto of = c.right.evaluate([](ir::SymbolId) { return std::optional<int64_t>(); });
    if (c.kind == ir::SizeConstraint::Kind::Equal || !whole || !of) continue;
    int64_t& size = sizes.at(graph.symbols[static_cast<size_t>(*whole)].name);
    if (size != 0) size = *of * dice.pick(std::vector<int64_t>{1, 2, 3, 5, 8});
  }
}

// Sizes that kernels trip over: nothing, one, primes, beside powers of two, beside the tile. None twice.
Sizes draw_sizes(const ir::Graph& graph, ir::random::Dice& dice, size_t number, const SweepOptions& options,
                 const std::set<Sizes>& before) {
  const std::vector<int64_t> kFew = {1, 2, 3, 32}, kSmall = {1, 2, 3, 5, 7, 8, 13},
                             kLarge = {17, 31, 33, 64, 127, 129, 257, 1023, 1025, 2049};
  for (int tries = 0;; ++tries) {
    constexpr int kMostTries = 1000;  // for a long dimension that a constraint does not admit
    const bool is_long = (number == 3 || number == 4) && options.longest > 0 && tries < kMostTries;
    const int64_t longest = number == 3 ? options.longest : options.longest / 4;
    const int64_t most = is_long ? 2 * longest : options.most;
    Sizes sizes;
    int64_t product = 1;
    // Rows are long, or mostly; of many short ones a few thousand will do.
    const bool rows = number == 4 || dice.chance(0.7);
    const auto long_one = rows ? graph.symbols.size() - 1 : static_cast<size_t>(dice.below(std::ssize(graph.symbols)));
    for (const ir::Symbol& symbol : graph.symbols) {
      int64_t n = dice.pick(dice.chance(0.4) ? kLarge : kSmall);
      if (is_long) n = sizes.size() != long_one ? dice.pick(kFew) : rows ? longest : longest / 32;
      if (number < 2) n = static_cast<int64_t>(number);
      if (number == 2 && dice.chance(0.4)) n = 0;
      sizes[symbol.name] = n;
    }
    if (number >= 2) draw_multiples(graph, dice, sizes);
    for (const auto& [name, n] : sizes) product *= std::max<int64_t>(1, n);
    auto value = [&](ir::SymbolId s) -> std::optional<int64_t> {
      return sizes.at(graph.symbols[static_cast<size_t>(s)].name);
    };
    const bool fits = std::all_of(graph.constraints.begin(), graph.constraints.end(), [&](const ir::SizeConstraint& c) {
      const auto left = c.left.evaluate(value), right = c.right.evaluate(value);
      if (!left || !right) return false;
      return c.kind == ir::SizeConstraint::Kind::Equal ? *left == *right : *right != 0 && *left % *right == 0;
    });
    if (fits && product <= most && !before.contains(sizes)) return sizes;
    if (number < 3) number = 3;  // sizes of nothing or one that a constraint does not admit
  }
}

std::string text(const Sizes& sizes, const Types& types) {
  std::string out;
  for (const auto& [name, n] : sizes) out += " " + name + "=" + std::to_string(n);
  for (const auto& [name, type] : types) out += " " + name + "=" + std::string(ir::info(type).name);
  return out;
}

std::vector<Types> type_choices(const ir::Graph& graph, TypeChoice choice) {
  const bool all = choice == TypeChoice::All;
  const DType kAll[] = {DType::F32, DType::BF16, DType::F16, DType::F64};
  const std::pair<DType, DType> kMixed[] = {
      {DType::BF16, DType::F32}, {DType::F16, DType::BF16}, {DType::F32, DType::F64}, {DType::F64, DType::F16}};
  std::vector<Types> choices;
  for (DType type : kAll) {
    if (!all && type != DType::F32 && type != DType::BF16) continue;
    Types& types = choices.emplace_back();
    for (const ir::TypeParameter& parameter : graph.type_parameters) types[parameter.name] = type;
  }
  for (const auto& [first, second] : kMixed) {
    if (graph.type_parameters.size() < 2) break;
    Types& types = choices.emplace_back();
    for (size_t i = 0; i < graph.type_parameters.size(); ++i)
      types[graph.type_parameters[i].name] = i % 2 ? second : first;
    if (!all) break;
  }
  if (choice == TypeChoice::One) choices = {choices.back()};
  if (choice == TypeChoice::Two) choices = {choices.front(), choices.back()};
  return choices;
}

// The passes of an op, each shape put to them in every one of the types.
class Sweep {
 public:
  Sweep(const act::OpMath& op, KernelPass& kernels, std::vector<Types> choices)
      : op_(op), kernels_(kernels), choices_(std::move(choices)) {}

  void expect_shape(const Sizes& sizes, size_t number) {
    ir::Environment call = act::test::inputs_for(op_.forward, sizes, number + 1);
    if (number % 2)  // distributions and the like: between 0 and 1
      for (auto& [name, array] : call.inputs)
        for (double& value : array.values) value = (value + 2.001) / 4.002;
    if (number % 3 == 1)
      for (const ir::Input& input : op_.forward.inputs)
        if (input.kind == ir::InputKind::Scalar && input.type.floating() && input.default_value)
          call.inputs[input.name] = ir::Array::scalar(input.default_value->number() * 1.25);
    const Layout layout = kLayouts[(number + 2) % std::size(kLayouts)];  // the long one is dense
    if (layout == Layout::Dense) dense_.push_back(sizes);
    for (const Types& types : choices_) {
      expect_call(call, sizes, types, layout, number);
      if (!testing::Test::HasFatalFailure()) continue;
      for (const auto& [file, source] : kernels_.generated().files) std::cerr << source;
      return;
    }
  }

  // A dense call for every kernel that no dense call has chosen, where one of so many elements does.
  void expect_reached(int64_t most) {
    const verify::Subject subject =
        verify::subject_of(op_.forward, kernels_.generated().manifest, kernels_.generated().files);
    const std::vector<Types> all = std::exchange(choices_, {});
    const std::vector<Sizes> dense = dense_;
    for (const Types& types : all) {
      choices_ = {types};
      for (const Sizes& sizes : verify::shapes_that_reach(subject, dense, with_defaults(op_.forward, types),
                                                          device_of(kernels_.where()).machine(), most)) {
        expect_shape(sizes, kDense);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }

 private:
  static constexpr size_t kDense = 3;  // a number of a shape whose layout is dense

  void expect_call(const ir::Environment& call, const Sizes& sizes, const Types& types, Layout layout, size_t number) {
    const std::string what = op_.name + text(sizes, types);
    // The backward takes what the forward saved.
    const ir::Graph bound = ir::bind_types(op_.forward, with_defaults(op_.forward, types));
    const ir::Environment rounded_call = rounded(op_.forward, types, call);
    auto saved = ir::interpret(bound, rounded_call, {.semantics = ir::Semantics::Rounded});
    ASSERT_TRUE(saved) << what << render(saved.error());
    kernels_.expect_oracle(what + " forward", types, call, layout, 0);
    if (testing::Test::HasFatalFailure() || !op_.backward) return;
    ir::Environment backward = act::test::inputs_for(*op_.backward, sizes, 100 + number);
    for (size_t i = 0; i < bound.outputs.size(); ++i)
      if (backward.inputs.contains(bound.outputs[i].name)) backward.inputs[bound.outputs[i].name] = (*saved)[i];
    for (auto& [name, array] : backward.inputs)
      if (auto given = rounded_call.inputs.find(name); given != rounded_call.inputs.end()) array = given->second;
    for (const ir::Input& input : op_.backward->inputs)
      if (auto given = call.inputs.find(input.name); given != call.inputs.end())
        backward.inputs.try_emplace(input.name, given->second);
    kernels_.expect_oracle(what + " backward", types, backward, layout, 1);
  }

  const act::OpMath& op_;
  KernelPass& kernels_;
  std::vector<Types> choices_;
  std::vector<Sizes> dense_;  // shapes that were
};

void expect_op(const act::OpMath& op, const SweepOptions& options,
               const std::vector<profile::ScheduleRow>& schedules = {}) {
  auto kernels = KernelPass::make(op, options.where, schedules);
  ASSERT_TRUE(kernels) << render(kernels.error());
  const std::vector<Types> choices = type_choices(op.forward, options.types);
  kernels->compile_for(choices);  // once; no shape compiles again
  uint64_t seed = 1;
  for (char c : op.name) seed = seed * 31 + static_cast<unsigned char>(c);
  ir::random::Dice dice(seed);
  Sweep sweep(op, *kernels, choices);
  std::set<Sizes> shapes;
  for (size_t number = 0; number < options.shapes; ++number) {
    const Sizes sizes = draw_sizes(op.forward, dice, number, options, shapes);
    shapes.insert(sizes);
    sweep.expect_shape(sizes, number);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(shapes.size(), options.shapes);
  if (options.most_to_reach == 0) return;
  sweep.expect_reached(options.most_to_reach);
  // Those for tensors of more than 2^31 elements the judge runs (large_entries_test.cpp). Others are for a range of
  // sizes or a layout of one tensor alone that no shape here has.
  std::vector<std::string> left = kernels->uncalled();
  std::erase_if(left, [](const std::string& symbol) { return symbol.ends_with("_large"); });
  EXPECT_LE(left.size(), options.most_unreached) << join(left, ", ");
}

}  // namespace

void expect_example(const std::string& name, const SweepOptions& options) {
  profile::Profile profile = example_profile(name);
  if (!options.family.empty()) take_family(profile, options.family);
  const auto math = act::math_of(profile);
  ASSERT_TRUE(math) << render(math.error());
  std::vector<profile::ScheduleRow> schedules;
  for (const char* pass : {"forward", "backward"})
    if (!options.parameters.empty())
      schedules.push_back({.target = std::string(kernel::name_of(device_of(options.where).target())),
                           .pass = pass,
                           .parameters = options.parameters});
  expect_op(*math, options, schedules);
}

void expect_packaged_example(const std::string& name, const SweepOptions& options) {
  const profile::Profile profile = example_profile(name);
  const auto math = act::math_of(profile);
  ASSERT_TRUE(math) << render(math.error());
  const std::vector<profile::ScheduleRow> schedules = act::packaged_schedules({});
  expect_op(*math, options, schedules);
  for (const act::PartialBackward& some : act::partial_backwards(*math, profile))
    expect_op(some.math, options, schedules);
}

}  // namespace kw::test
