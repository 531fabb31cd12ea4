// The loop form: what a kernel computes, element by element, between the schedule and the text of a target. It speaks
// of axes, stages and values, not of threads, warps, vectors or barriers: each target lowers a stage and its reductions
// in its own way.
//
//   kernel rms_norm_forward
//     parallel rows
//     stage 1 over cols                        # one pass over the row
//       x  = load x[rows, cols]                # kept for stage 2 (resident)
//       xf = f32(x)
//       q  = xf * xf
//       ms = mean q                            # reduce: known after the stage, once per row
//     after: rstd = rsqrt(ms + eps); store rstd[rows]
//     stage 2 over cols
//       w  = load w[cols]
//       store y[rows, cols] = T(xf * rstd) * (offset + w)
//
// A kernel runs its stages once for every point of its parallel axes. A stage runs its body for every point of its own
// loop axes (within that parallel point), then finishes its reductions; values that depend on parallel axes alone, or
// on finished reductions, are computed between stages (`after`). Addresses are index expressions, so a slice, a split
// axis, a reversed or a gathered access is a load like any other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace kw::act {

using LoopAxisId = int32_t;
using ValueId = int32_t;
using BufferId = int32_t;
inline constexpr ValueId kNoValue = -1;

// One axis of iteration: graph axes that every tensor has next to each other, in one order, walked as one where they
// are dense.
struct LoopAxis {
  std::string name;               // "rows"
  ir::Size size;                  // product of its parts
  std::vector<ir::AxisId> parts;  // outermost first
};

// An integer expression over loop axes and sizes: an index into a dimension, or the operand of a comparison that guards
// it.
struct Index {
  // FloorDiv and Mod round down: -1 // 2 is -1, -1 % 2 is 1.
  enum class Kind : uint8_t { Axis, Size, Value, Add, Sub, Mul, FloorDiv, Mod } kind = Kind::Size;
  LoopAxisId axis = -1;         // Axis
  ir::Size size;                // Size: a number known at launch
  ValueId value = kNoValue;     // Value: an integer that the kernel itself loaded (gather)
  std::vector<Index> operands;  // of the arithmetic kinds: two
  friend bool operator==(const Index&, const Index&) = default;
};

// A buffer's dimensions after axes were collapsed: the program is for tensors that are dense across each group.
struct CollapsedShape {
  std::vector<ir::Size> tensor_shape;      // as the interface has it
  std::vector<std::vector<int32_t>> dims;  // per dimension of the buffer, those of the tensor, outermost first; one of
                                           // size one is in none
};

// A tensor of the pass's interface, or a buffer between two of its kernels.
struct Buffer {
  enum class Role : uint8_t { Input, Output, Workspace } role;
  std::string name;  // an identifier, unique among buffers and scalars
  ir::Type type;
  std::vector<ir::Size> shape;  // positional, with 1 for unit dimensions
  std::string tensor = {};      // its name in the pass's interface ("norm.weight"); empty for workspace
  std::optional<CollapsedShape> collapsed = {};  // where `shape` is not the tensor's own
};

// What a value is. All but Load are pure functions of other values at the same point.
struct Load {
  BufferId buffer;
  std::vector<Index> at;     // one per dimension of the buffer
  ValueId guard = kNoValue;  // bool: where false, the buffer is not read and the value is `otherwise`
  ValueId otherwise = kNoValue;
};
struct Map {  // a pointwise primitive (Cast carries its type in Value::type)
  ir::Op op;
  std::vector<ValueId> args;
};
struct Number {
  ir::Literal literal;
};
struct Scalar {  // a run-time scalar of the interface: one of LoopProgram::scalars
  std::string name;
};
struct IndexValue {  // an index expression as an i64 value (iota, positions, sizes)
  Index index;
};
// Part `part` of what an associative combine makes of a tuple of values. It need not commute: terms are combined in the
// row-major order of the reduced axes.
struct Combined {
  int32_t combine;            // index into LoopProgram::combines
  std::vector<ValueId> args;  // the tuple
  int32_t part = 0;
};
struct Reduced {  // the result of a reduction of a stage: known after it
  ir::Op op;      // Sum, Mean, Prod, ReduceMax, ReduceMin, Any, All, LogSumExp, ArgMax, ArgMin, Reduce
  ValueId arg;
  std::vector<LoopAxisId> over;
  Index position = {};  // ArgMax, ArgMin: what the result counts; of equal values the one with the least wins, and NaN
                        // is more extreme than any number
  std::optional<Combined> combined = {};  // Reduce: arg is the first of its args
};

struct Value {
  std::variant<Load, Map, Number, Scalar, IndexValue, Reduced> what;
  ir::Type type;
  std::vector<LoopAxisId> axes;  // ascending: those it depends on
  std::string name;              // the op's own name for it, unique in the kernel; a valid identifier
  ir::Origin origin;             // the source line, for the comment
  bool is_named = false;         // the math has this name for it; else it is made up, and best written where it is used
};

std::vector<ValueId> operands_of(const Value& value);  // with those inside its indices

struct Store {
  BufferId buffer;
  std::vector<Index> at;
  ValueId value;
};

// A sum over parallel axes that rides along (a weight gradient): every parallel point adds `value` at `at`; the buffer
// is workspace with one slice per worker, or the output itself where a second kernel is not needed. How many workers
// there are is the schedule's choice; a later kernel of the program adds the slices in a fixed order.
struct Accumulate {
  BufferId buffer;
  std::vector<Index> at;  // without the slice dimension, which is the buffer's first
  ValueId value;
};

struct Stage {
  std::vector<LoopAxisId> loop;     // empty only for what is computed once per parallel point
  std::vector<ValueId> body;        // in order; each may be used by later stages too
  std::vector<ValueId> reductions;  // Reduced values that this stage finishes
  std::vector<Store> stores;
  std::vector<Accumulate> accumulates;
  std::vector<ValueId> after;  // once per parallel point, when the reductions are known
  std::vector<Store> after_stores;
};

// The function of a Reduce: the tuple that follows from a left and a right one. What has the weak type Real computes in
// the type that PyTorch works in for the reduction's result.
struct CombineFunction {
  std::string name;
  std::vector<double> identity;  // the neutral tuple: what a reduction of nothing gives
  std::vector<Value> values;     // Number, Map, and first, as Scalar, the parts of the left tuple and of the right one
  std::vector<ValueId> results;  // one per part
  size_t arity() const { return identity.size(); }
};

struct LoopKernel {
  std::string name;
  std::vector<LoopAxisId> parallel;
  std::vector<Stage> stages;
  std::vector<Value> values;
  const Value& operator[](ValueId id) const { return values[static_cast<size_t>(id)]; }
};

struct ScalarSource {
  std::string input;  // its name in the pass's interface
  std::optional<ir::Literal> default_value;
};

// A pass: kernels in order over buffers. Names of axes, of symbols, of buffers and scalars together, and of the values
// of one kernel are each unique identifiers.
struct LoopProgram {
  std::string name;  // rms_norm_forward
  std::vector<ir::Symbol> symbols;
  std::vector<ir::TypeParameter> type_parameters;
  std::vector<LoopAxis> axes;
  std::vector<Buffer> buffers;
  std::vector<std::pair<std::string, ir::Type>> scalars;
  std::vector<LoopKernel> kernels;
  std::vector<ScalarSource> scalar_sources;     // parallel to `scalars`
  std::vector<ir::SizeConstraint> constraints;  // what the pass relies on; a launch that breaks one is refused
  std::vector<CombineFunction> combines;
  std::optional<ir::SymbolId> workers;  // how many slices an accumulation has, if there is one
  bool plain = false;                   // only kernels for any strides: nothing is specialised
  bool atomic = false;  // workers may add to one slice, in any order: two runs need not agree to the bit
};

}  // namespace kw::act
