#include <algorithm>
#include <map>

#include "understand/reference/spelling.h"

namespace kw::understand::reference {

using ir::AxisId;
using ir::Type;

namespace {

// A letter per axis for torch.einsum: the first of its name if it is free, else the next free one.
class EinsumLetters {
 public:
  explicit EinsumLetters(const ir::Graph& graph) : graph_(graph) {}

  std::string of(const Layout& dims) {
    std::string out;
    for (AxisId a : dims) {
      auto [at, is_new] = letters_.try_emplace(a, ' ');
      if (is_new) at->second = free_letter(graph_.axis(a).name);
      out += at->second;
    }
    return out;
  }

 private:
  char free_letter(const std::string& name) {
    std::string wanted = name + "abcdefghijklmnopqrstuvwxyz";
    for (char c : wanted) {
      bool is_letter = c >= 'a' && c <= 'z';
      if (is_letter && std::none_of(letters_.begin(), letters_.end(), [c](const auto& l) { return l.second == c; }))
        return c;
    }
    KW_ASSERT(false, "a contraction has fewer than 26 axes");
    return ' ';
  }

  const ir::Graph& graph_;
  std::map<AxisId, char> letters_;
};

}  // namespace

Expression spell_contract(Body& body, const Site& site) {
  const std::vector<AxisId>& axes = site.node.as<ir::AxisList>().axes;
  std::vector<Expression> x;
  for (const Operand& operand : site.operands) x.push_back(body.cast(operand.value, site.type));
  std::vector<AxisId> nowhere;
  bool in_both = true;
  for (AxisId a : axes) {
    if (!holds(x[0].dims, a) && !holds(x[1].dims, a)) nowhere.push_back(a);
    in_both = in_both && holds(x[0].dims, a) && holds(x[1].dims, a);
  }
  x[0] = body.with_axes(std::move(x[0]), nowhere);
  // What only one factor sums over is summed before the product, and must not be rounded in between; torch sums
  // integers in i64.
  Type type = held(site.type), wide = in_both ? type : type.floating() ? held(opmath(type)) : Type(ir::DType::I64);
  for (Expression& e : x) e = body.cast(body.arranged(e, without_units(e.dims)), wide);

  Layout dims;
  for (const Expression& e : x)
    for (AxisId a : e.dims)
      if (!holds(dims, a) && !holds(axes, a)) dims.push_back(a);
  Expression product{"", Binding::Postfix, dims, wide, false};
  const Layout &left = x[0].dims, &right = x[1].dims;
  bool is_matmul = in_both && axes.size() == 1 && right.size() == 2 && left.back() == axes[0] &&
                   !holds(left, right[0] == axes[0] ? right[1] : right[0]);
  if (is_matmul) {
    std::string transposed = right[0] == axes[0] ? "" : ".T";
    product.text = x[0].within(Binding::Product) + " @ " + x[1].within(Binding::Postfix) + transposed;
    product.binding = Binding::Product;
  } else {
    EinsumLetters letters(body.graph);
    std::string a = letters.of(left), b = letters.of(right);
    product.text =
        "torch.einsum(\"" + a + "," + b + "->" + letters.of(dims) + "\", " + x[0].text + ", " + x[1].text + ")";
  }
  return body.cast(std::move(product), type);
}

}  // namespace kw::understand::reference
