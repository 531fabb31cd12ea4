// The primitives. Nothing composite has a row here: softmax, norms, losses and attention are graphs of these.
//
// An op is described by tables, one per aspect (inference in infer.cpp, meaning in interpreter/, derivative in
// derivative/, torch spelling in understand/reference/). Each is an `OpTable`, which does not compile until every op
// has exactly one row.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace kw::ir {

// KW_OP(enumerator, text name, kind, fewest operands, most operands)
#define KW_OPS(KW_OP)                                                                                                \
  /* leaves */                                                                                                       \
  KW_OP(Input, "input", Leaf, 0, 0)   /* a tensor or run-time scalar of the interface: InputRef */                   \
  KW_OP(Const, "const", Leaf, 0, 0)   /* a number, weakly typed: Literal */                                          \
  KW_OP(SizeOf, "size", Leaf, 0, 0)   /* a symbolic size as a weak integer: SizeAttr */                              \
  KW_OP(Iota, "iota", Leaf, 0, 0)     /* 0, 1, … along its one axis, i64: AxisList */                              \
  KW_OP(Random, "random", Leaf, 2, 2) /* f32 in [0,1) from Philox 4x32-10 (seed, offset), counted row-major          \
                                         over its ordered axes: AxisList */                                          \
  /* pointwise, one operand */                                                                                       \
  KW_OP(Neg, "neg", Pointwise, 1, 1)                                                                                 \
  KW_OP(Abs, "abs", Pointwise, 1, 1)                                                                                 \
  KW_OP(Sign, "sign", Pointwise, 1, 1)                                                                               \
  KW_OP(Floor, "floor", Pointwise, 1, 1)                                                                             \
  KW_OP(Ceil, "ceil", Pointwise, 1, 1)                                                                               \
  KW_OP(Round, "round", Pointwise, 1, 1) /* half to even */                                                          \
  KW_OP(Trunc, "trunc", Pointwise, 1, 1)                                                                             \
  KW_OP(Sqrt, "sqrt", Pointwise, 1, 1)                                                                               \
  KW_OP(Rsqrt, "rsqrt", Pointwise, 1, 1)                                                                             \
  KW_OP(Exp, "exp", Pointwise, 1, 1)                                                                                 \
  KW_OP(Exp2, "exp2", Pointwise, 1, 1)                                                                               \
  KW_OP(Expm1, "expm1", Pointwise, 1, 1)                                                                             \
  KW_OP(Log, "log", Pointwise, 1, 1)                                                                                 \
  KW_OP(Log2, "log2", Pointwise, 1, 1)                                                                               \
  KW_OP(Log1p, "log1p", Pointwise, 1, 1)                                                                             \
  KW_OP(Sin, "sin", Pointwise, 1, 1)                                                                                 \
  KW_OP(Cos, "cos", Pointwise, 1, 1)                                                                                 \
  KW_OP(Tan, "tan", Pointwise, 1, 1)                                                                                 \
  KW_OP(Asin, "asin", Pointwise, 1, 1)                                                                               \
  KW_OP(Acos, "acos", Pointwise, 1, 1)                                                                               \
  KW_OP(Atan, "atan", Pointwise, 1, 1)                                                                               \
  KW_OP(Sinh, "sinh", Pointwise, 1, 1)                                                                               \
  KW_OP(Cosh, "cosh", Pointwise, 1, 1)                                                                               \
  KW_OP(Tanh, "tanh", Pointwise, 1, 1)                                                                               \
  KW_OP(Asinh, "asinh", Pointwise, 1, 1)                                                                             \
  KW_OP(Acosh, "acosh", Pointwise, 1, 1)                                                                             \
  KW_OP(Atanh, "atanh", Pointwise, 1, 1)                                                                             \
  KW_OP(Erf, "erf", Pointwise, 1, 1)                                                                                 \
  KW_OP(Erfc, "erfc", Pointwise, 1, 1)                                                                               \
  KW_OP(Erfinv, "erfinv", Pointwise, 1, 1)                                                                           \
  KW_OP(Sigmoid, "sigmoid", Pointwise, 1, 1)                                                                         \
  KW_OP(Not, "not", Pointwise, 1, 1) /* logical on bool, bitwise on integers */                                      \
  KW_OP(StopGradient, "stop_gradient", Pointwise, 1, 1)                                                              \
  KW_OP(Cast, "cast", Pointwise, 1, 1) /* rounds to CastAttr's type */                                               \
  /* pointwise, two or three operands; operands of different types are promoted as PyTorch does */                   \
  KW_OP(Add, "add", Pointwise, 2, 2)                                                                                 \
  KW_OP(Sub, "sub", Pointwise, 2, 2)                                                                                 \
  KW_OP(Mul, "mul", Pointwise, 2, 2)                                                                                 \
  KW_OP(Div, "div", Pointwise, 2, 2) /* true division: integers give f32 (weak: Real) */                             \
  KW_OP(FloorDiv, "floor_div", Pointwise, 2, 2)                                                                      \
  KW_OP(Mod, "mod", Pointwise, 2, 2) /* the sign of the divisor, as Python */                                        \
  KW_OP(Pow, "pow", Pointwise, 2, 2)                                                                                 \
  KW_OP(Atan2, "atan2", Pointwise, 2, 2)                                                                             \
  KW_OP(Max, "max", Pointwise, 2, 2) /* NaN wins */                                                                  \
  KW_OP(Min, "min", Pointwise, 2, 2)                                                                                 \
  KW_OP(Lt, "lt", Pointwise, 2, 2)                                                                                   \
  KW_OP(Le, "le", Pointwise, 2, 2)                                                                                   \
  KW_OP(Eq, "eq", Pointwise, 2, 2)                                                                                   \
  KW_OP(Ne, "ne", Pointwise, 2, 2)                                                                                   \
  KW_OP(And, "and", Pointwise, 2, 2) /* logical on bool, bitwise on integers */                                      \
  KW_OP(Or, "or", Pointwise, 2, 2)                                                                                   \
  KW_OP(Xor, "xor", Pointwise, 2, 2)                                                                                 \
  KW_OP(Shl, "shl", Pointwise, 2, 2)                                                                                 \
  KW_OP(Shr, "shr", Pointwise, 2, 2)                                                                                 \
  KW_OP(Select, "select", Pointwise, 3, 3) /* select(condition, then, else) */                                       \
  /* reductions over AxisList; floating sums accumulate in opmath of the result and round once */                    \
  KW_OP(Sum, "sum", Reduction, 1, 1)                                                                                 \
  KW_OP(Mean, "mean", Reduction, 1, 1)                                                                               \
  KW_OP(Prod, "prod", Reduction, 1, 1)                                                                               \
  KW_OP(ReduceMax, "reduce_max", Reduction, 1, 1)                                                                    \
  KW_OP(ReduceMin, "reduce_min", Reduction, 1, 1)                                                                    \
  KW_OP(Any, "any", Reduction, 1, 1)                                                                                 \
  KW_OP(All, "all", Reduction, 1, 1)                                                                                 \
  KW_OP(LogSumExp, "logsumexp", Reduction, 1, 1)                                                                     \
  KW_OP(ArgMax, "argmax", Reduction, 1, 1) /* over one axis; the first of equal values; i64 */                       \
  KW_OP(ArgMin, "argmin", Reduction, 1, 1)                                                                           \
  KW_OP(Reduce, "reduce", Reduction, 1, 8) /* any associative combine over one axis: CombineAttr */                  \
  /* scans along one axis: ScanAttr */                                                                               \
  KW_OP(CumSum, "cumsum", Scan, 1, 1)                                                                                \
  KW_OP(CumProd, "cumprod", Scan, 1, 1)                                                                              \
  KW_OP(CumMax, "cummax", Scan, 1, 1)                                                                                \
  KW_OP(CumMin, "cummin", Scan, 1, 1)                                                                                \
  KW_OP(CumLogSumExp, "cumlogsumexp", Scan, 1, 1)                                                                    \
  KW_OP(Scan, "scan", Scan, 1, 8) /* any associative combine: CombineAttr */                                         \
  /* indexed access. Axes that data and index share are a batch; the indexed axis of the data never is. */           \
  KW_OP(Gather, "gather", Indexed, 2, 2)              /* gather(data, index): data at index along AxisList's axis */ \
  KW_OP(ScatterAdd, "scatter_add", Indexed, 3, 3)     /* scatter_add(base, index, value) along AxisList's axis */    \
  KW_OP(ScatterSet, "scatter_set", Indexed, 3, 3)     /* likewise; of equal indices the last in order wins */        \
  KW_OP(SegmentIndex, "segment_index", Indexed, 1, 1) /* offsets[segments + 1] → which segment a row is in */      \
  KW_OP(SegmentSum, "segment_sum", Indexed, 2, 2)     /* (rows, offsets) → per segment: SegmentAttr */             \
  KW_OP(SegmentMax, "segment_max", Indexed, 2, 2)     /* an empty run gives -inf */                                  \
  KW_OP(SegmentMin, "segment_min", Indexed, 2, 2)                                                                    \
  /* views: no arithmetic, only addresses. Permutation needs no op: axes have identity, order is the interface's. */ \
  KW_OP(Broadcast, "broadcast", View, 1, 1) /* adds AxisList's axes */                                               \
  KW_OP(Rename, "rename", View, 1, 1)       /* other identities of the same sizes: RenameAttr */                     \
  KW_OP(Slice, "slice", View, 1, 1)         /* SliceAttr */                                                          \
  KW_OP(Pad, "pad", View, 2, 2)             /* pad(x, fill): SliceAttr read backwards */                             \
  KW_OP(Concat, "concat", View, 1, 64)      /* ConcatAttr */                                                         \
  KW_OP(Split, "split", View, 1, 1)         /* one axis into outer and inner: SplitAttr */                           \
  KW_OP(Merge, "merge", View, 1, 1)         /* outer and inner into one: SplitAttr */                                \
  KW_OP(Window, "window", View, 2, 2)       /* window(x, fill): sliding windows along one axis: WindowAttr */        \
  KW_OP(Fold, "fold", Indexed, 1, 1)        /* sums the windows back: the transpose of Window */                     \
  /* order along one axis; stable */                                                                                 \
  KW_OP(Sort, "sort", Order, 1, 1) /* SortAttr */                                                                    \
  KW_OP(ArgSort, "argsort", Order, 1, 1)                                                                             \
  KW_OP(TopK, "topk", Order, 1, 1) /* TopKAttr; sorted, the first of equal values first */                           \
  KW_OP(ArgTopK, "argtopk", Order, 1, 1)                                                                             \
  /* Σ over AxisList of a·b, accumulated in opmath of the result and rounded once */                               \
  KW_OP(Contract, "contract", Contraction, 2, 2)

enum class Op : uint8_t {
#define KW_ENUMERATOR(name, ...) name,
  KW_OPS(KW_ENUMERATOR)
#undef KW_ENUMERATOR
};

#define KW_COUNT(...) +1
inline constexpr int kOpCount = 0 KW_OPS(KW_COUNT);
#undef KW_COUNT

enum class OpKind : uint8_t { Leaf, Pointwise, Reduction, Scan, Indexed, View, Order, Contraction };

struct OpInfo {
  Op op;
  std::string_view name;
  OpKind kind;
  int min_operands;
  int max_operands;
};

const OpInfo& info(Op op);
std::optional<Op> op_from_name(std::string_view name);
bool is_commutative(Op op);

// A table with exactly one row per op. Its construction fails to compile if a row is missing or written twice:
//
//   constexpr auto kRules = OpTable<Rule>{{{Op::Input, rule_input}, …}};
template <class Row>
class OpTable {
 public:
  using Entry = std::pair<Op, Row>;
  template <size_t N>
  consteval OpTable(const Entry (&entries)[N]) {
    static_assert(N == kOpCount, "an op table needs one row for every op");
    std::array<bool, kOpCount> seen{};
    for (const Entry& entry : entries) {
      size_t i = static_cast<size_t>(entry.first);
      if (seen[i]) throw "an op has two rows";
      seen[i] = true;
      rows_[i] = entry.second;
    }
  }
  constexpr const Row& operator[](Op op) const { return rows_[static_cast<size_t>(op)]; }
  // The table with another row for one op: to show that a wrong row is caught.
  OpTable with(Op op, Row row) const {
    OpTable changed = *this;
    changed.rows_[static_cast<size_t>(op)] = row;
    return changed;
  }

 private:
  std::array<Row, kOpCount> rows_{};
};

}  // namespace kw::ir
