// How kernels are laid out on a GPU: the machine models, what the formulas start from, and moves.
#include "schedule/cuda_parameters.h"

#include <gtest/gtest.h>

#include "base/file.h"

namespace kw::schedule {
namespace {

TEST(CudaMachine, EveryModelOfTheRepositoryIsRead) {
  for (const char* name : {"a100", "b200", "h200"}) {
    const std::string file = std::string("machines/") + name + ".yaml";
    const Result<std::string> text = read_text(std::string(KW_SOURCE_DIR) + "/" + file);
    ASSERT_TRUE(text) << file;
    const Result<CudaMachine> machine = cuda_machine_from_yaml(*text, file);
    ASSERT_TRUE(machine) << render(machine.error());
    EXPECT_EQ(machine->name, name);
  }
}

TEST(CudaMachine, AModelThatLacksAFigureIsRefused) {
  const Result<CudaMachine> machine =
      cuda_machine_from_yaml("schema: 1\nname: x\nkind: cuda\narchitecture: sm_90\n", "x.yaml");
  ASSERT_FALSE(machine);
  EXPECT_NE(render(machine.error()).find("x.yaml"), std::string::npos);
}

TEST(CudaParameters, WhatAThreadHoldsFitsItsRegisters) {
  const CudaMachine& machine = h200();
  for (int64_t held = 1; held <= 6; ++held)
    for (int64_t sums = 0; sums <= 3; ++sums) {
      const CudaParameters p =
          start_parameters(machine, {.held = held, .narrow_held = held + 1, .loads = held, .column_sums = sums});
      const auto registers = [&](int64_t threads) { return machine.registers / threads; };
      if (p.row_elements > 8) {
        EXPECT_LT(held * p.row_elements, registers(p.row_threads * p.row_blocks));
      }
      if (p.sum_elements > 8) {
        EXPECT_LT((held + sums) * p.sum_elements, registers(p.sum_threads));
      }
      if (p.long_elements > 8) {
        EXPECT_LT((held + p.long_keeps) * p.long_elements / 2, registers(2 * p.long_threads)) << "of two bytes each";
      }
      EXPECT_EQ(p.element_elements % 8, 0) << "whole vectors of the narrowest type";
    }
}

// Of what can be less, and of nothing more.
void expect_no_more(const CudaParameters& some, const CudaParameters& usual) {
  const auto before = to_moves(usual), after = to_moves(some);
  for (const auto& [name, value] : after) EXPECT_LE(std::stoll(value), std::stoll(before.at(name))) << name;
  EXPECT_TRUE(with_moves(usual, after)) << "each is in its range";
}

TEST(CudaParameters, AStageThatTakesManyRegistersHasFewerThreads) {
  for (int64_t held = 1; held <= 6; ++held)
    for (int64_t sums = 0; sums <= 4; ++sums) {
      const CudaKernelFacts usual = {.held = held, .narrow_held = held, .loads = held, .column_sums = sums};
      CudaKernelFacts busy = usual;
      busy.busy = 40;
      const CudaParameters before = start_parameters(h200(), usual), after = start_parameters(h200(), busy);
      expect_no_more(after, before);
      EXPECT_LT(after.stream_threads, before.stream_threads);
      EXPECT_LT(after.sum_threads, before.sum_threads);
      busy.beside = 3;
      expect_no_more(start_parameters(h200(), busy), after);
    }
}

TEST(CudaParameters, PartsOfRowsHaveFewerThreadsTheMoreAStageTakes) {
  CudaKernelFacts facts = {.held = 2, .narrow_held = 2, .loads = 2, .stages = 1, .in_parts = true};
  const CudaParameters usual = start_parameters(h200(), facts);
  facts.busy = 20;
  const CudaParameters busy = start_parameters(h200(), facts);
  facts.at_once = true;
  const CudaParameters tight = start_parameters(h200(), facts);
  EXPECT_EQ(usual.stream_threads, 1024);
  EXPECT_EQ(busy.stream_threads, 768);
  EXPECT_EQ(tight.stream_threads, 640);
  EXPECT_EQ(busy.narrow_part_elements, usual.narrow_part_elements);
  EXPECT_LT(tight.narrow_part_elements, usual.narrow_part_elements);
  facts.scalar_sums = 2;
  EXPECT_EQ(start_parameters(h200(), facts).stream_threads, 1024) << "they have fewer for their sums";
}

TEST(CudaParameters, TruthValuesTakeARegisterEach) {
  const CudaKernelFacts usual = {.held = 2, .narrow_held = 2, .loads = 2};
  CudaKernelFacts truths = usual;
  truths.truths = 1;
  const CudaParameters before = start_parameters(h200(), usual), after = start_parameters(h200(), truths);
  expect_no_more(after, before);
  EXPECT_LT(after.narrow_part_elements, before.narrow_part_elements);
}

TEST(CudaParameters, ColumnsOfManyTensorsOrOfMuchWorkHaveFewerWarps) {
  EXPECT_EQ(start_parameters(h200(), {.loads = 4}).column_warps, 16);
  EXPECT_EQ(start_parameters(h200(), {.loads = 5}).column_warps, 8);
  EXPECT_EQ(start_parameters(h200(), {.loads = 4, .work = 40}).column_warps, 8);
}

TEST(CudaParameters, MovesReplaceWhatTheFormulasStartFrom) {
  const CudaParameters start = start_parameters(h200(), {.held = 2, .narrow_held = 2, .column_sums = 1});
  const Result<CudaParameters> moved = with_moves(start, {{"row_elements", "16"}, {"sum_threads", "256"}});
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->row_elements, 16);
  EXPECT_EQ(moved->sum_threads, 256);
  EXPECT_EQ(moved->element_threads, start.element_threads);
  EXPECT_EQ(*with_moves(CudaParameters(), to_moves(*moved)), *moved);
}

// Of nothing more, and of what a thread holds less wherever that can be.
TEST(CudaParameters, LeanOnesAreNeverLargerThanTheFormulas) {
  for (int64_t held = 1; held <= 40; ++held)
    for (const int64_t work : {0, 20}) {
      const CudaParameters start = start_parameters(
          h200(), {.held = held, .narrow_held = held, .loads = held, .column_sums = held % 4, .work = work});
      const auto lean = with_moves(start, {{"lean", "1"}});
      ASSERT_TRUE(lean) << render(lean.error());
      const auto before = to_moves(start), after = to_moves(*lean);
      for (const auto& [name, value] : after) {
        if (name == "lean") continue;
        EXPECT_LE(std::stoll(value), std::stoll(before.at(name))) << name << ", held " << held;
      }
      EXPECT_LT(lean->row_elements * lean->row_threads * lean->row_blocks,
                start.row_elements * start.row_threads * start.row_blocks);
      EXPECT_TRUE(with_moves(start, after)) << "what is lean is in its range";
    }
}

TEST(CudaParameters, AnUnknownMoveAndAValueOutOfItsRangeAreRefused) {
  const Result<CudaParameters> unknown = with_moves({}, {{"row_element", "16"}});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("no parameter 'row_element'"), std::string::npos);
  for (const char* value : {"0", "2048", "many", "", "77"})
    EXPECT_FALSE(with_moves({}, {{"row_threads", value}})) << value;
}

TEST(CudaParameters, ElementsThatAreNoWholeVectorsAreRefused) {
  for (const char* name : {"long_elements", "sum_elements", "stream_elements"}) {
    const Result<CudaParameters> odd = with_moves({}, {{name, "12"}});
    ASSERT_FALSE(odd) << name;
    EXPECT_EQ(odd.error().hint, "a multiple of 8 from 8 to 128") << name;
    EXPECT_TRUE(with_moves({}, {{name, "24"}})) << name;
  }
}

}  // namespace
}  // namespace kw::schedule
