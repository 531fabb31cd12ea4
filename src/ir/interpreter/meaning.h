// What each primitive means: one row per op. A row is pointwise (a function on tiles of elements), a fold (a reduction
// that takes its operand tile by tile), a view (other addresses of the same elements) or whole (a function on complete
// operands).
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>

#include "ir/interpreter/accuracy.h"
#include "ir/interpreter/interpreter.h"
#include "ir/interpreter/rounding.h"
#include "ir/interpreter/running.h"
#include "ir/interpreter/sizes.h"
#include "ir/interpreter/storage.h"
#include "ir/op.h"

namespace kw::ir {
namespace interpreter {

// ---- pointwise ----
struct TileOperand {
  const double* values = nullptr;
  const double* bounds = nullptr;  // null: exact
  int64_t step = 1;                // 0: one value for the whole tile
};

struct PointwiseCall {
  std::array<TileOperand, 3> in;
  double* out = nullptr;      // the exact values, not rounded yet
  double* spreads = nullptr;  // how far inexact operands may move them; not null while bounds are tracked
  int64_t n = 0;
  DType type = DType::Real;      // of the result
  bool divided_by_zero = false;  // set by an integer division, for which PyTorch raises
};

// ---- folds ----
struct FoldRun {
  double* states;  // of the first element of the run
  int64_t stride;  // in states: 0 when the whole run falls into one
  const double* values;
  const double* bounds;  // null: exact
  int64_t n;
};

struct FoldResult {
  const double* states;
  double* values;
  double* spreads;  // null: bounds are not tracked
  int64_t outputs;
  int64_t terms;  // that fell into each output
  SumModel model;
};

struct FoldMode {
  int64_t width;  // of one output's state, in doubles
  void (*start)(double* states, int64_t n);
  void (*fold)(const FoldRun&);
  void (*finish)(const FoldResult&);
};

struct Folding {
  FoldMode real;
  FoldMode rounded;
};

// ---- whole ----
struct Context;  // context.h
struct WholeCall {
  Context& context;
  NodeId id;
  const Node& node;
  std::span<const View> args;
  Store result;  // allocated, not initialised: exact values and spreads, rounded by the caller
};

// ---- views ----
struct ViewCall {
  Context& context;
  NodeId id;
  const Node& node;
  const View& operand;
  View result;  // starts as the operand
};

}  // namespace interpreter

struct Meaning {
  void (*values)(interpreter::PointwiseCall&) = nullptr;
  void (*spreads)(const interpreter::PointwiseCall&) = nullptr;
  interpreter::Ulps ulps = nullptr;
  const interpreter::Folding* folding = nullptr;
  Status (*whole)(interpreter::WholeCall&) = nullptr;
  Status (*view)(interpreter::ViewCall&) = nullptr;
  interpreter::Exactness exactness = interpreter::Exactness::Correct;
};

// The row of `op`, or the one that replaces it.
const Meaning& meaning_of(Op op, const InterpretOptions& options);

}  // namespace kw::ir
