// The innermost loop of a stage: what is declared before it, what one element does, and what follows. Terms of sums are
// added up tile by tile, results that are larger than the cache are written in a block and streamed out.
#pragma once

#include "act/emit/cpp/combines.h"
#include "act/emit/cpu/accumulators.h"
#include "act/emit/cpu/scopes.h"
#include "act/loop/index.h"

namespace kw::act::cpu {

struct InnerLoop {
  Lines before, body, after;
  Lines declared, added;             // before and after all loops of the stage: what rides along, of one point
  std::vector<std::string> clauses;  // of its pragma
  bool by_lanes = false;
  bool by_wide_lanes = false;
};

// A reduction by a combine: the terms of a tile are gathered, and joined in order.
struct Ordered {
  Combination combination;
  std::string terms, total;  // variables
};

// An element that a later stage wants too: it stays in an array of all that a stage runs over.
struct Kept {
  ValueId value;
  std::string array;
};

// What a stage's loop computes: the arguments of its reductions, what it stores and what it adds up.
std::vector<ValueId> roots_of(const Stage& stage, const LoopKernel& kernel);

class InnerLoopWriter {
 public:
  InnerLoopWriter(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest, CppTypes& types,
                  KernelNames& names, Scopes& scopes)
      : program_(program),
        kernel_(kernel),
        nest_(nest),
        types_(types),
        names_(names),
        scopes_(scopes),
        combines(program, kernel, types) {}

  std::vector<Accumulator> accumulators(const Stage& stage);
  std::vector<Ordered> ordered(const Stage& stage);

  // `at` is the index into arrays of accumulators; empty where these are scalars of the loop. `alone`: the loop has
  // nothing else in it.
  InnerLoop write(const Stage& stage, const std::vector<Accumulator>& sums, const std::vector<Ordered>& combined,
                  const std::string& at, const std::vector<Store>& stores, const std::vector<Kept>& kept = {},
                  bool alone = true);
  // The loop itself, over [first, last).
  Lines loop(const InnerLoop& inner, const std::string& first, const std::string& last) const;

  std::string stored_text(const Store& store);
  Axes reduced_axes() const;                    // of a kernel along rows: those that a stage runs over
  std::string element(const Kept& keep) const;  // of its array
  std::string in_tile() const;                  // the index of an element into the arrays of its tile
  static std::string array(const std::string& type, const std::string& name) { return type + " " + name + "[kTile]"; }

 private:
  // Accumulations whose place does not move along the innermost axis: they are reduced along it first.
  int64_t sums_inside(const Stage& stage) const;
  bool moves(const Accumulate& sum) const;
  // Accumulations that a stage's loop goes over: each takes as many terms of one point as the loop is long.
  bool is_in_loop(const Accumulate& sum) const;
  void accumulate(const Accumulate& sum, const std::string& lanes, InnerLoop& out);
  bool goes_by_lanes(const Stage& stage, const std::vector<Accumulator>& sums, const std::vector<ValueId>& roots,
                     const std::vector<Store>& stores) const;
  void declare_lanes(bool wide);
  bool is_long() const;
  // Results as large as the iteration space, along the innermost axis.
  bool is_streamed(const Store& store) const;
  std::string stream_flag(const Store& store, const std::string& lanes);

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  const Nest& nest_;
  CppTypes& types_;
  KernelNames& names_;
  Scopes& scopes_;
  std::map<BufferId, std::string> stream_flags_;
  bool declared_lanes_ = false;

 public:
  Combines combines;
};

}  // namespace kw::act::cpu
