// The attributes of views, segments, windows and combines: `axis -> axis` and what follows it.
#include <algorithm>

#include "ir/text/block_parser.h"

namespace kw::ir::text {

Result<Attr> BlockParser::rename_attribute() {
  RenameAttr rename;
  do {
    const Token at = peek();
    KW_TRY(const AxisId from, known_axis());
    KW_CHECK(expect("->", "the axis"));
    KW_TRY(const AxisSyntax to, axis_syntax());
    KW_TRY(const AxisId id, resolve(to, size_of(from)));
    for (const auto& pair : rename.pairs) {
      if (pair.first == from) return error(at, "the axis '" + std::string(at.text) + "' is renamed twice");
    }
    rename.pairs.emplace_back(from, id);
  } while (accept(","));
  std::sort(rename.pairs.begin(), rename.pairs.end());
  return rename;
}

Result<Attr> BlockParser::slice_attribute() {
  SliceAttr slice{};
  slice.step = 1;
  KW_TRY(slice.from, known_axis());
  KW_CHECK(expect("->", "the axis"));
  KW_TRY(const AxisSyntax to, axis_syntax());
  KW_TRY(slice.to, resolve(to));
  KW_CHECK(options("start and step", [&](const Token& word) -> Result<bool> {
    if (word.text != "start" && word.text != "step") return false;
    KW_CHECK(expect("=", "'" + std::string(word.text) + "'"));
    if (word.text == "step") {
      KW_TRY(slice.step, small_integer("a step"));
    } else {
      KW_TRY(const SizeValue start, size_expression());
      KW_TRY(const SizeValue fitting, checked(start, word));
      slice.start = fitting.size;
    }
    return true;
  }));
  return slice;
}

Result<Attr> BlockParser::concat_attribute(std::vector<NodeId>& args) {
  ConcatAttr concat{};
  SizeValue total = SizeValue::constant(0);
  do {
    if (args.size() == 64) return error(peek(), "concat joins at most 64 values", "join the rest in a second step");
    KW_TRY(const NodeId arg, expression());
    if (!peek().is(":")) {
      return error(peek(), "':' and the joined axis are expected after an operand of concat, not " + describe(peek()),
                   "for example concat(a: left, b: right -> both)");
    }
    take();
    KW_TRY(const AxisId from, known_axis());
    args.push_back(arg);
    concat.from.push_back(from);
    total = total + size_of(from);
  } while (accept(","));
  KW_CHECK(expect("->", "the operands of concat"));
  KW_TRY(const AxisSyntax to, axis_syntax());
  KW_TRY(concat.to, resolve(to, total));
  return concat;
}

// split: whole -> (outer, inner); merge: (outer, inner) -> whole. Of the two parts one size may follow from the other.
Result<Attr> BlockParser::split_attribute(Op op) {
  SplitAttr split{};
  if (op == Op::Merge) {
    KW_TRY(const Token open, expect("(", "the operand"));
    KW_TRY(split.outer, known_axis());
    KW_CHECK(expect(",", "the outer axis"));
    KW_TRY(split.inner, known_axis());
    KW_CHECK(close(open));
    KW_CHECK(expect("->", "the merged axes"));
    KW_TRY(const AxisSyntax whole, axis_syntax());
    KW_TRY(split.whole, resolve(whole, size_of(split.outer) * size_of(split.inner)));
    return split;
  }
  KW_TRY(split.whole, known_axis());
  KW_CHECK(expect("->", "the axis"));
  KW_TRY(const Token open, expect("(", "'->'"));
  KW_TRY(const AxisSyntax outer, axis_syntax());
  KW_CHECK(expect(",", "the outer axis"));
  KW_TRY(const AxisSyntax inner, axis_syntax());
  KW_CHECK(close(open));
  if (outer.name.text == inner.name.text) return error(inner.name, "the two parts are two axes");
  std::optional<SizeValue> outer_size, inner_size;
  const auto other_part = [&](const AxisSyntax& known) -> Result<SizeValue> {
    KW_TRY(const SizeValue part, size_of(known));
    if (part.size == Size(0)) return error(known.name, "an axis is not split into parts of size 0");
    return floor_div(size_of(split.whole), part);
  };
  if (!has_size(outer) && has_size(inner)) {
    KW_TRY(outer_size, other_part(inner));
  } else if (has_size(outer) && !has_size(inner)) {
    KW_TRY(inner_size, other_part(outer));
  }
  KW_TRY(split.outer, resolve(outer, outer_size));
  KW_TRY(split.inner, resolve(inner, inner_size));
  return split;
}

// window: axis -> (out, tap); fold: (out, tap) -> axis. Of a window, the size of `out` follows where the padding is the
// same on both sides.
Result<Attr> BlockParser::window_attribute(Op op) {
  WindowAttr window{};
  window.stride = window.dilation = window.input_dilation = 1;
  AxisSyntax axis, out, tap;
  if (op == Op::Window) {
    KW_TRY(axis, axis_syntax());
    KW_CHECK(expect("->", "the axis"));
  }
  KW_TRY(const Token open, expect("(", op == Op::Window ? "'->'" : "the operand"));
  KW_TRY(out, axis_syntax());
  KW_CHECK(expect(",", "the axis of positions"));
  KW_TRY(tap, axis_syntax());
  KW_CHECK(close(open));
  if (op == Op::Fold) {
    KW_CHECK(expect("->", "the window's axes"));
    KW_TRY(axis, axis_syntax());
  }
  if (out.name.text == tap.name.text) return error(tap.name, "a window's positions and its taps are two axes");
  SizeValue pad;
  KW_CHECK(options("stride, dilation, pad and input_dilation", [&](const Token& word) -> Result<bool> {
    int64_t* number = word.text == "stride"           ? &window.stride
                      : word.text == "dilation"       ? &window.dilation
                      : word.text == "input_dilation" ? &window.input_dilation
                                                      : nullptr;
    if (!number && word.text != "pad") return false;
    KW_CHECK(expect("=", "'" + std::string(word.text) + "'"));
    if (number) {
      const Token at = peek();
      KW_TRY(*number, small_integer("this option"));
      if (*number < 1) return error(at, "stride and dilations are at least 1");
    } else {
      KW_TRY(const SizeValue padding, size_expression());
      KW_TRY(pad, checked(padding, word));
      window.pad_before = pad.size;
    }
    return true;
  }));
  std::optional<SizeValue> out_size;
  if (op == Op::Window && !has_size(out)) {
    KW_TRY(const SizeValue whole, size_of(axis));
    KW_TRY(const SizeValue taps, size_of(tap));
    const SizeValue one = SizeValue::constant(1), two = SizeValue::constant(2);
    const SizeValue padded = (whole - one) * SizeValue::constant(window.input_dilation) + one + two * pad;
    const SizeValue span = (taps - one) * SizeValue::constant(window.dilation) + one;
    KW_TRY(const SizeValue free, checked(padded - span, out.name));
    out_size = floor_div(free, SizeValue::constant(window.stride)) + one;
  }
  if (op == Op::Window) {
    KW_TRY(window.axis, resolve(axis));
  }
  KW_TRY(window.out, resolve(out, out_size));
  KW_TRY(window.tap, resolve(tap));
  if (op == Op::Fold) {
    KW_TRY(window.axis, resolve(axis));
  }
  return window;
}

// segment_sum(x, offsets, rows -> runs), segment_index(offsets, runs -> rows). Offsets with several axes say which one
// lists the bounds: `by bounds`.
Result<Attr> BlockParser::segment_attribute(Op op, const std::vector<NodeId>& args) {
  SegmentAttr segment{};
  const Token at = peek();
  KW_TRY(const AxisSyntax from, axis_syntax());
  KW_CHECK(expect("->", "the axis"));
  KW_TRY(const AxisSyntax to, axis_syntax());
  const std::vector<AxisId>& axes = builder_[args.back()].axes;
  if (peek().is_word("by")) {
    take();
    KW_TRY(segment.offsets, known_axis());
  } else if (axes.size() == 1) {
    segment.offsets = axes.front();
  } else {
    return error(
        at, "the offsets have " + std::to_string(axes.size()) + " axes",
        axes.empty() ? "they are a list: offsets[bounds]" : "say which lists the bounds: rows -> runs by bounds");
  }
  const SizeValue runs = size_of(segment.offsets) - SizeValue::constant(1);
  if (op == Op::SegmentIndex) {
    KW_TRY(segment.segments, resolve(from, runs));
    KW_TRY(segment.rows, resolve(to));
  } else {
    KW_TRY(segment.rows, resolve(from));
    KW_TRY(segment.segments, resolve(to, runs));
  }
  return segment;
}

Result<Attr> BlockParser::combine_attribute(std::vector<NodeId>& args) {
  CombineAttr attr;
  KW_TRY(const Token combine, expect_name("a combine"));
  auto known = combines_.find(combine.text);
  if (known == combines_.end()) {
    return error(combine, "there is no combine '" + std::string(combine.text) + "'",
                 advice(combine, names_in(combines_),
                        "define it above: combine " + std::string(combine.text) + "(a: real, b: real) from (0)"));
  }
  attr.combine = known->second;
  for (int i = 0; i < attr.combine->arity(); ++i) {
    KW_CHECK(expect(",", "the combine or an operand"));
    KW_TRY(const NodeId arg, expression());
    args.push_back(arg);
  }
  KW_CHECK(expect(",", "the last of the " + std::to_string(attr.combine->arity()) + " operands"));
  KW_TRY(attr.axis, known_axis());
  KW_CHECK(options("part, reverse and exclusive", [&](const Token& word) -> Result<bool> {
    if (word.text == "reverse") return attr.reverse = true;
    if (word.text == "exclusive") return attr.exclusive = true;
    if (word.text != "part") return false;
    KW_CHECK(expect("=", "'part'"));
    const Token at = peek();
    KW_TRY(const int64_t part, small_integer("a part"));
    if (part < 0 || part >= attr.combine->arity()) {
      return error(at, "the combine '" + std::string(combine.text) + "' has the parts 0 to " +
                           std::to_string(attr.combine->arity() - 1));
    }
    attr.part = static_cast<int>(part);
    return true;
  }));
  return attr;
}

}  // namespace kw::ir::text
