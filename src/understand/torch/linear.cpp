// Matrix products: matmul and its relatives, linear, einsum.
#include <algorithm>
#include <map>

#include "understand/torch/contract.h"
#include "understand/torch/entry.h"
#include "understand/torch/views.h"

namespace kw::understand {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

namespace {

DType default_dtype(const ir::Graph& graph, Type type) {
  std::vector<DType> defaults;
  for (const auto& parameter : graph.type_parameters) defaults.push_back(parameter.default_dtype);
  return type.bind(defaults);
}

}  // namespace

Status require_one_type(Call& call, std::initializer_list<TensorValue> tensors) {
  const ir::Graph& graph = call.builder.graph();
  const TensorValue& first = *tensors.begin();
  for (const TensorValue& t : tensors) {
    Type a = type_of(call.builder, first), b = type_of(call.builder, t);
    if (a == b || default_dtype(graph, a) == default_dtype(graph, b)) continue;
    return call.refuse("needs tensors of one element type, got " + describe(Value{first}, graph) + " and " +
                       describe(Value{t}, graph));
  }
  return {};
}

NodeId contract(ir::GraphBuilder& builder, NodeId a, NodeId b, std::vector<AxisId> axes) {
  if (axes.empty()) return builder.make(Op::Mul, {a, b});
  std::sort(axes.begin(), axes.end());
  return builder.make(Op::Contract, {a, b}, ir::AxisList{std::move(axes)});
}

Result<TensorValue> matmul(Call& call, TensorValue a, TensorValue b, bool wide) {
  KW_CHECK(require_one_type(call, {a, b}));
  if (a.dims.empty() || b.dims.empty()) return call.refuse("needs tensors with dimensions");
  const ir::Graph& graph = call.builder.graph();
  const bool row = a.dims.size() == 1, column = b.dims.size() == 1;
  if (row) a = unsqueeze(a, 0);
  if (column) b = unsqueeze(b, 1);
  const size_t a_rank = a.dims.size(), b_rank = b.dims.size();
  AxisId inner = a.dims[a_rank - 1], b_inner = b.dims[b_rank - 2];
  if ((inner == kUnit) != (b_inner == kUnit))
    return call.refuse("cannot multiply shapes " + shape_text(graph, a) + " and " + shape_text(graph, b));
  // The right operand takes the left one's axes where the two meet; its columns stay apart.
  size_t rank = std::max(a_rank, b_rank);
  std::vector<AxisId> dims(rank, kUnit), wanted(b_rank, kUnit);
  for (size_t i = 0; i + 2 < a_rank; ++i) dims[rank - a_rank + i] = a.dims[i];
  for (size_t i = 0; i + 2 < b_rank; ++i)
    if (b.dims[i] != kUnit) wanted[i] = dims[rank - b_rank + i];
  wanted[b_rank - 2] = inner;
  auto renamed = rename_dims(call.context, b, wanted, a.dims);
  if (!renamed) {
    Error error = std::move(renamed).error();
    error.message = std::string(call.name) + " cannot multiply shapes " + shape_text(graph, a) + " and " +
                    shape_text(graph, b) + ": " + error.message;
    return tl::make_unexpected(std::move(error));
  }
  b = *renamed;
  for (size_t i = 0; i + 2 < b_rank; ++i)
    if (b.dims[i] != kUnit) dims[rank - b_rank + i] = b.dims[i];
  dims[rank - 2] = a.dims[a_rank - 2];
  dims[rank - 1] = b.dims[b_rank - 1];
  if (column) dims.erase(dims.end() - 1);
  if (row) dims.erase(dims.end() - (column ? 1 : 2));
  Expression left = expression(call, a), right = expression(call, b);
  if (wide) {
    left = left.widened();
    right = right.widened();
  }
  std::vector<AxisId> axes;
  if (inner != kUnit) axes.push_back(inner);
  return TensorValue{contract(call.builder, left.node(), right.node(), axes), dims};
}

Result<TensorValue> linear(Call& call, const TensorValue& x, const TensorValue& weight,
                           const std::optional<TensorValue>& bias) {
  TensorValue transposed{weight.node, {weight.dims.rbegin(), weight.dims.rend()}};
  if (!bias) return matmul(call, x, transposed);
  KW_CHECK(require_one_type(call, {x, *bias}));
  Type type = type_of(call.builder, x);
  KW_TRY(TensorValue product, matmul(call, x, transposed, true));
  KW_TRY(Broadcasted common, broadcast_together(call.context, {product, *bias}));
  Expression out = Expression(call.context, common.nodes[0]) + Expression(call.context, common.nodes[1]).widened();
  return TensorValue{out.as(type).node(), common.dims};
}

namespace {

Result<Value> read_matmul(Call& call) {
  KW_TRY(TensorValue a, call.tensor("input"));
  KW_TRY(TensorValue b, call.tensor("other"));
  KW_TRY(TensorValue out, matmul(call, a, b));
  return Value{out};
}

template <size_t left_rank, size_t right_rank>
Result<Value> product_of_ranks(Call& call) {  // mm, bmm, mv, dot
  KW_TRY(TensorValue a, call.tensor("input"));
  KW_TRY(TensorValue b, call.tensor("other"));
  if (a.dims.size() != left_rank || b.dims.size() != right_rank)
    return call.refuse("needs tensors of rank " + std::to_string(left_rank) + " and " + std::to_string(right_rank));
  KW_TRY(TensorValue out, matmul(call, a, b));
  return Value{out};
}

Result<Value> outer(Call& call) {
  KW_TRY(TensorValue a, call.tensor("input"));
  KW_TRY(TensorValue b, call.tensor("other"));
  if (a.dims.size() != 1 || b.dims.size() != 1) return call.refuse("needs two vectors");
  KW_TRY(TensorValue out, elementwise(call.context, Op::Mul, {unsqueeze(a, 1), b}));
  return Value{out};
}

Result<Value> read_linear(Call& call) {
  KW_TRY(TensorValue x, call.tensor("input"));
  KW_TRY(TensorValue weight, call.tensor("weight"));
  KW_TRY(auto bias, call.optional_tensor("bias"));
  if (weight.dims.size() > 2) return call.refuse("needs a weight of rank 1 or 2");
  KW_TRY(TensorValue out, linear(call, x, weight, bias));
  return Value{out};
}

// beta·input + alpha·(a·b), rounded once.
Result<Value> add_product(Call& call) {
  KW_TRY(TensorValue input, call.tensor("input"));
  KW_TRY(TensorValue a, call.tensor("a"));
  KW_TRY(TensorValue b, call.tensor("b"));
  KW_CHECK(require_one_type(call, {input, a, b}));
  Type type = type_of(call.builder, a);
  KW_TRY(TensorValue product, matmul(call, a, b, true));
  KW_TRY(Broadcasted common, broadcast_together(call.context, {product, input}));
  auto scaled = [&](Expression e, std::string_view parameter) -> Result<Expression> {
    auto known = known_number(call.builder.graph(), call[parameter]);
    if (known == 1.0 && !call[parameter].get<ScalarValue>()) return e;
    KW_TRY(TensorValue factor, call.scalar(parameter));
    return e * expression(call, factor);
  };
  KW_TRY(Expression x, scaled(Expression(call.context, common.nodes[1]).widened(), "beta"));
  KW_TRY(Expression p, scaled(Expression(call.context, common.nodes[0]), "alpha"));
  return Value{TensorValue{(x + p).as(type).node(), common.dims}};
}

// ---- einsum ----
struct Term {
  std::vector<std::string>
      labels;  // per dimension; the dimensions of an ellipsis are "…0", "…1", counted from the right
};

Result<Term> parse_term(Call& call, std::string_view text, std::optional<size_t> rank) {
  Term out;
  size_t letters = 0, ellipsis = std::string_view::npos;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      if (text.substr(i, 3) != "..." || ellipsis != std::string_view::npos)
        return call.refuse("cannot read the equation near '" + std::string(text) + "'");
      ellipsis = out.labels.size();
      i += 2;
      continue;
    }
    if (!std::isalpha(static_cast<unsigned char>(c)))
      return call.refuse("has an unexpected '" + std::string(1, c) + "' in its equation");
    out.labels.emplace_back(1, c);
    ++letters;
  }
  if (!rank) {
    if (ellipsis != std::string_view::npos)
      out.labels.insert(out.labels.begin() + static_cast<std::ptrdiff_t>(ellipsis), "...");
    return out;
  }
  size_t hidden = 0;
  if (ellipsis != std::string_view::npos && *rank >= letters) hidden = *rank - letters;
  if (letters + hidden != *rank)
    return call.refuse("names " + std::to_string(letters) + " dimensions of a tensor of rank " + std::to_string(*rank));
  for (size_t i = 0; i < hidden; ++i)
    out.labels.insert(out.labels.begin() + static_cast<std::ptrdiff_t>(ellipsis + i),
                      "..." + std::to_string(hidden - 1 - i));
  return out;
}

Result<Value> einsum(Call& call) {
  KW_TRY(std::string equation, call.text("equation"));
  KW_TRY(std::vector<TensorValue> operands, call.tensors("operands"));
  size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow);
  std::vector<Term> terms;
  size_t begin = 0, hidden = 0;
  std::map<std::string, int> uses;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (begin > left.size()) return call.refuse("names fewer operands than are given");
    size_t end = std::min(left.find(',', begin), left.size());
    KW_TRY(Term term, parse_term(call, std::string_view(left).substr(begin, end - begin), operands[i].dims.size()));
    size_t own = 0;
    for (const std::string& label : term.labels) {
      ++uses[label];
      own += label[0] == '.';
      if (std::count(term.labels.begin(), term.labels.end(), label) > 1)
        return call.refuse("takes a diagonal ('" + label + "' twice in one operand), which is not read");
    }
    hidden = std::max(hidden, own);
    terms.push_back(std::move(term));
    begin = end + 1;
  }
  if (begin <= left.size()) return call.refuse("names more operands than are given");
  std::vector<std::string> result;
  if (arrow != std::string::npos) {
    KW_TRY(Term term, parse_term(call, std::string_view(equation).substr(arrow + 2), std::nullopt));
    for (const std::string& label : term.labels) {
      if (label != "...") {
        if (!uses.contains(label)) return call.refuse("has the label '" + label + "' only in its result");
        result.push_back(label);
        continue;
      }
      for (size_t i = 0; i < hidden; ++i) result.push_back("..." + std::to_string(hidden - 1 - i));
    }
  } else {  // those that appear once, in order
    for (size_t i = 0; i < hidden; ++i) result.push_back("..." + std::to_string(hidden - 1 - i));
    for (const auto& [label, count] : uses)
      if (count == 1 && label[0] != '.') result.push_back(label);
  }
  auto in_result = [&](const std::string& label) {
    return std::find(result.begin(), result.end(), label) != result.end();
  };
  // Left to right: a label is summed with the last operand that has it.
  std::map<std::string, AxisId> axis_of;
  std::vector<AxisId> all_axes;
  NodeId product = ir::kNoNode;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<AxisId> wanted;
    for (const std::string& label : terms[i].labels) wanted.push_back(axis_of.contains(label) ? axis_of[label] : kUnit);
    for (size_t d = 0; d < wanted.size(); ++d)
      if (operands[i].dims[d] == kUnit) wanted[d] = kUnit;
    KW_TRY(TensorValue x, rename_dims(call.context, operands[i], wanted, all_axes));
    std::vector<AxisId> last, alone;
    for (size_t d = 0; d < x.dims.size(); ++d) {
      const std::string& label = terms[i].labels[d];
      --uses[label];
      if (x.dims[d] == kUnit) continue;
      if (!axis_of.contains(label) || axis_of[label] == kUnit) {
        axis_of[label] = x.dims[d];
        all_axes.push_back(x.dims[d]);
        if (uses[label] == 0 && !in_result(label)) alone.push_back(x.dims[d]);
      } else if (uses[label] == 0 && !in_result(label)) {
        last.push_back(x.dims[d]);
      }
    }
    // A label that ends here but whose axis is only in the product so far.
    std::vector<AxisId> dangling;
    for (size_t d = 0; d < x.dims.size(); ++d) {
      const std::string& label = terms[i].labels[d];
      if (x.dims[d] == kUnit && axis_of.contains(label) && axis_of[label] != kUnit && uses[label] == 0 &&
          !in_result(label))
        dangling.push_back(axis_of[label]);
    }
    NodeId node = call.reduce(Op::Sum, x.node, alone);
    if (product == ir::kNoNode) {
      product = node;
    } else {
      if (!dangling.empty()) product = call.reduce(Op::Sum, product, dangling);
      product = contract(call.builder, product, node, last);
    }
  }
  TensorValue out{product, {}};
  for (const std::string& label : result) out.dims.push_back(axis_of.contains(label) ? axis_of[label] : kUnit);
  return Value{out};
}

constexpr Entry kEntries[] = {
    {"matmul", kTensor | kLinalg, "input, other", read_matmul},
    {"matmul", kOperator, "input, other", read_matmul},
    {"mm", kTensor, "input, other", product_of_ranks<2, 2>},
    {"bmm", kTensor, "input, other", product_of_ranks<3, 3>},
    {"mv", kTensor, "input, other", product_of_ranks<2, 1>},
    {"dot", kTensor, "input, other", product_of_ranks<1, 1>},
    {"inner", kTensor, "input, other", product_of_ranks<1, 1>},
    {"outer", kTensor, "input, other", outer},
    {"ger", kTensor, "input, other", outer},
    {"linear", kFunctional | kAten, "input, weight, bias=None", read_linear},
    {"addmm", kTensor, "input, a, b, *, beta=1, alpha=1", add_product},
    {"addmv", kTensor, "input, a, b, *, beta=1, alpha=1", add_product},
    {"baddbmm", kTensor, "input, a, b, *, beta=1, alpha=1", add_product},
    {"einsum", kTorch, "equation, *operands", einsum},
    {"einsum", kAten, "equation, operands, path=None", einsum},
};

}  // namespace

std::span<const Entry> linear_entries() { return kEntries; }

}  // namespace kw::understand
