// How each primitive is written in the text form: one table that the parser and the printer share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/op.h"

namespace kw::ir::text {

// The shape of an op's text. Unless said otherwise an op is a call by its own name.
enum class Form : uint8_t {
  Value,     // Input and Const: a name or a number, never a call
  Size,      // size(2*half + 1)
  Plain,     // exp(x), select(c, a, b)
  Prefix,    // -x, ~x
  Infix,     // a + b
  Compare,   // a < b; no chains; the greater side may come first
  Multiply,  // a * b, and x^2 for a value times itself
  Power,     // x^y; x to the literal integer 2 is a multiplication, so that one power is pow(x, 2)
  Cast,      // f32(x), T(x), wide(x), cast(x, T|f32)
  Axes,      // sum(x, rows, cols), gather(data, index, vocab): operands, then axes
  NewAxes,   // iota(k = 3), broadcast(x, cols), random(seed, offset, rows, cols): likewise, and an axis may be new
  Scan,      // cumsum(x, cols, reverse, exclusive)
  Combine,   // reduce(online, m, s, cols, part = 1): the combine, its operands, the axis
  Segment,   // segment_sum(x, offsets, rows -> runs by bounds), segment_index(offsets, runs -> rows)
  Rename,    // rename(x, i -> j, j -> i)
  Slice,     // slice(x, cols -> half = cols//2, start = 1, step = 2), pad(x, 0, half -> cols, start = 1)
  Concat,    // concat(a: left, b: right -> both)
  Split,     // split(x, c -> (g, k = 4))
  Merge,     // merge(x, (g, k) -> c)
  Window,    // window(x, 0, h -> (oh, kh = 3), stride = 2, dilation = 1, pad = 1, input_dilation = 1)
  Fold,      // fold(x, (oh, kh) -> h = n, stride = 2)
  Sort,      // sort(x, cols, descending)
  TopK,      // topk(x, cols -> k = 8, smallest)
};

// Binding strength, weakest first.
enum class Precedence : uint8_t { Any, Or, And, Compare, Shift, Sum, Product, Unary, Power, Primary };

struct Spelling {
  Form form = Form::Plain;
  std::string_view symbol = {};                 // of Prefix, Infix, Compare, Multiply, Power
  Precedence precedence = Precedence::Primary;  // of its text
};

const Spelling& spelling(Op op);

// The op written between two operands as `symbol`, if any. `>` and `>=` are not here: they swap their operands.
struct InfixOp {
  Op op;
  Precedence precedence;
};
const InfixOp* infix_op(std::string_view symbol);

// Words that begin a line or stand for a number, and so are no plain names.
bool is_reserved(std::string_view word);

// `name` as it is typed: itself, or between backquotes where it is no plain name (`where`, `two words`). Characters
// that cannot stand between backquotes become "_".
std::string quoted_if_needed(std::string_view name);
bool is_name_start(char c);
bool is_name_character(char c);

// "_1", "_2", …: lines that the printer had to name; the parser does not keep these names.
bool is_generated_name(std::string_view name);

}  // namespace kw::ir::text
