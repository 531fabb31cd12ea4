// Calls: operands first, then the axes, then options, in the form that spelling.h gives each op.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ir/text/block_parser.h"

namespace kw::ir::text {
namespace {

// Composite functions that people look for: how to say them with primitives.
constexpr std::pair<std::string_view, std::string_view> kComposites[] = {
    {"relu", "relu(x) is max(x, 0), or select(x <= 0, 0, x) for a derivative of 0 at 0"},
    {"silu", "silu(x) is x * sigmoid(x)"},
    {"softmax", "softmax over cols is e / sum(e, cols) with e = exp(x - reduce_max(x, cols))"},
    {"where", "a choice is select(condition, a, b)"},
    {"matmul", "a product of matrices is contract(a, b, axis)"},
    {"einsum", "a product of tensors is contract(a, b, axis)"},
    {"dot", "a dot product is contract(a, b, axis)"},
    {"float", "a cast is written as the type: f32(x)"},
    {"var", "a variance is mean((x - mean(x, cols))^2, cols)"},
    {"transpose",
     "axes have names, so nothing is transposed; the return may list them in any order: return y[cols, rows]"},
    {"permute", "axes have names, so nothing is permuted; the return may list them in any order: return y[cols, rows]"},
    {"reshape", "a reshape is split(x, c -> (g, k = 4)) or merge(x, (g, k) -> c)"},
    {"square", "a square is x^2"},
    {"clamp", "clamp(x, a, b) is min(max(x, a), b)"},
};

std::string operand_count(const OpInfo& op) {
  const std::string few = std::to_string(op.min_operands);
  if (op.min_operands == op.max_operands) return few + (op.min_operands == 1 ? " operand" : " operands");
  return few + " to " + std::to_string(op.max_operands) + " operands";
}

}  // namespace

Result<NodeId> BlockParser::call(const Token& name) {
  const Token open = peek();
  if (auto type = types_.find(name.text); type != types_.end() || dtype_from_name(name.text)) {
    const Type to = type != types_.end() ? type->second : Type(*dtype_from_name(name.text));
    take();
    KW_TRY(const NodeId x, expression());
    KW_CHECK(close(open));
    return make(name, Op::Cast, {x}, CastAttr{to});
  }
  if (name.text == "wide") {
    take();
    KW_TRY(const NodeId x, expression());
    KW_CHECK(close(open));
    return make(name, Op::Cast, {x}, CastAttr{opmath(builder_[x].type)});
  }
  const std::optional<Op> op = op_from_name(name.text);
  if (!op || spelling(*op).form == Form::Value) return unknown_call(name);
  return op_call(name, *op);
}

Result<NodeId> BlockParser::unknown_call(const Token& name) {
  for (const auto& [composite, advice] : kComposites) {
    if (name.text == composite) {
      return error(name, "'" + std::string(name.text) + "' is no primitive", std::string(advice));
    }
  }
  std::vector<std::string> known = names_in(types_);
  for (int i = 0; i < kOpCount; ++i) {
    if (spelling(static_cast<Op>(i)).form != Form::Value) known.emplace_back(info(static_cast<Op>(i)).name);
  }
  for (int i = 1; i < kDTypeCount; ++i) known.emplace_back(info(static_cast<DType>(i)).name);
  known.emplace_back("wide");
  std::string hint = did_you_mean(name.text, known);
  if (values_.contains(name.text)) hint = "'" + std::string(name.text) + "' is a value; a product needs its *";
  return error(name, "there is no function '" + std::string(name.text) + "'", std::move(hint));
}

Result<NodeId> BlockParser::op_call(const Token& name, Op op) {
  const Token open = take();
  const Form form = spelling(op).form;
  std::vector<NodeId> args;
  if (form == Form::Concat) {
    KW_TRY(Attr attr, concat_attribute(args));
    KW_CHECK(close(open));
    return make(name, op, std::move(args), std::move(attr));
  }
  if (form == Form::Combine) {
    KW_TRY(Attr attr, combine_attribute(args));
    KW_CHECK(close(open));
    return make(name, op, std::move(args), std::move(attr));
  }
  KW_CHECK(operands(args, info(op).min_operands, name));
  const bool has_attribute = form != Form::Plain && form != Form::Prefix && form != Form::Infix &&
                             form != Form::Compare && form != Form::Multiply && form != Form::Power;
  if (!has_attribute && peek().is(",")) {
    std::string hint;
    if (peek(1).kind == TokenKind::Name && axes_.contains(peek(1).text)) hint = "it takes no axis";
    return error(peek(), std::string(name.text) + " takes " + operand_count(info(op)), std::move(hint));
  }
  Attr attr;
  if (has_attribute) {
    if (!args.empty() && !peek().is(",")) {
      std::string hint = "operands come first, then the axes: sum(x, rows)";
      if (!peek().is(")")) hint.clear();
      return error(peek(), std::string(name.text) + " is told its axes or type after its " + operand_count(info(op)),
                   std::move(hint));
    }
    accept(",");
    KW_TRY(attr, attribute(name, op, args));
  }
  KW_CHECK(close(open));
  return make(name, op, std::move(args), std::move(attr));
}

Status BlockParser::operands(std::vector<NodeId>& args, int count, const Token& name) {
  const Op op = *op_from_name(name.text);
  for (int i = 0; i < count; ++i) {
    if (i > 0 && !accept(",")) {
      return error(peek(), std::string(name.text) + " takes " + operand_count(info(op)) + ", but " + std::to_string(i) +
                               (i == 1 ? " is given" : " are given"));
    }
    // max(x, cols) is what others call a reduction.
    const bool lone_axis = peek().kind == TokenKind::Name && axes_.contains(peek().text) &&
                           !values_.contains(peek().text) && !peek(1).is("(");
    if (i == 1 && lone_axis && (op == Op::Max || op == Op::Min)) {
      return error(peek(),
                   std::string(name.text) + " compares two values, and '" + std::string(peek().text) + "' is an axis",
                   "the largest along an axis is reduce_max(x, axis), the smallest reduce_min(x, axis)");
    }
    KW_TRY(const NodeId arg, expression());
    args.push_back(arg);
  }
  return {};
}

Result<Attr> BlockParser::attribute(const Token& name, Op op, std::vector<NodeId>& args) {
  switch (spelling(op).form) {
    case Form::Size: {
      const Token at = peek();
      KW_TRY(const SizeValue size, size_expression());
      KW_TRY(const SizeValue fitting, checked(size, at));
      return SizeAttr{fitting.size};
    }
    case Form::Cast: {
      KW_TRY(const std::vector<Token> names, type_syntax());
      KW_TRY(const Type type, resolve_type(names, false));
      return CastAttr{type};
    }
    case Form::Axes:
    case Form::NewAxes:
      return axes_attribute(name, op);
    case Form::Scan: {
      ScanAttr scan{};
      KW_TRY(scan.axis, known_axis());
      KW_CHECK(options("reverse and exclusive", [&](const Token& word) -> Result<bool> {
        if (word.text == "reverse") return scan.reverse = true;
        if (word.text == "exclusive") return scan.exclusive = true;
        return false;
      }));
      return scan;
    }
    case Form::Sort: {
      SortAttr sort{};
      KW_TRY(sort.axis, known_axis());
      KW_CHECK(options("descending", [&](const Token& word) -> Result<bool> {
        if (word.text == "descending") return sort.descending = true;
        return false;
      }));
      return sort;
    }
    case Form::TopK: {
      TopKAttr top{};
      KW_TRY(top.axis, known_axis());
      KW_CHECK(expect("->", "the axis"));
      KW_TRY(const AxisSyntax to, axis_syntax());
      KW_TRY(top.to, resolve(to));
      KW_CHECK(options("smallest", [&](const Token& word) -> Result<bool> {
        if (word.text != "smallest") return false;
        top.largest = false;
        return true;
      }));
      return top;
    }
    case Form::Segment:
      return segment_attribute(op, args);
    case Form::Rename:
      return rename_attribute();
    case Form::Slice:
      return slice_attribute();
    case Form::Split:
    case Form::Merge:
      return split_attribute(op);
    case Form::Window:
    case Form::Fold:
      return window_attribute(op);
    case Form::Value:
    case Form::Plain:
    case Form::Prefix:
    case Form::Infix:
    case Form::Compare:
    case Form::Multiply:
    case Form::Power:
    case Form::Combine:
    case Form::Concat:
      break;
  }
  KW_ASSERT(false, "ops of this form are read elsewhere");
  return Attr{};
}

Result<Attr> BlockParser::axes_attribute(const Token& name, Op op) {
  AxisList list;
  do {
    if (spelling(op).form == Form::NewAxes) {
      KW_TRY(const AxisSyntax axis, axis_syntax());
      KW_TRY(const AxisId id, resolve(axis));
      list.axes.push_back(id);
    } else {
      KW_TRY(const AxisId id, known_axis());
      list.axes.push_back(id);
    }
    if (list.axes.size() > 64) return error(name, "a value has at most 64 axes");
  } while (accept(","));
  if (op != Op::Random) std::sort(list.axes.begin(), list.axes.end());
  return list;
}

}  // namespace kw::ir::text
