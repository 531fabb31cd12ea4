#include "ir/interpreter/sizes.h"

#include <algorithm>

#include "base/text.h"
#include "ir/infer.h"

namespace kw::ir::interpreter {
namespace {

struct Equation {
  Size size;
  int64_t value;
  std::string where;  // "dimension 1 of x"
};

class Solver {
 public:
  explicit Solver(const Graph& graph) : graph_(graph), values_(graph.symbols.size()) {}

  std::optional<int64_t> value_of(SymbolId id) const { return values_[static_cast<size_t>(id)]; }
  std::optional<int64_t> evaluate(const Size& size) const {
    return size.evaluate([this](SymbolId id) { return value_of(id); });
  }
  void set(SymbolId id, int64_t value) { values_[static_cast<size_t>(id)] = value; }
  std::vector<std::optional<int64_t>> values() && { return std::move(values_); }

  // Binds the one unknown symbol of `equation`, if it has exactly one and one value fits. True when it did.
  bool solve(const Equation& equation) {
    std::optional<SymbolId> unknown;
    for (SymbolId id : equation.size.symbols()) {
      if (value_of(id)) continue;
      if (unknown) return false;
      unknown = id;
    }
    if (!unknown) return false;
    auto at = [&](int64_t candidate) {
      return equation.size.evaluate(
          [&](SymbolId id) { return id == *unknown ? std::optional<int64_t>(candidate) : value_of(id); });
    };
    std::optional<int64_t> root = linear_root(at, equation.value);
    if (!root) root = monotone_root(at, equation.value);
    if (!root) return false;
    set(*unknown, *root);
    return true;
  }

 private:
  template <class F>
  static std::optional<int64_t> linear_root(const F& at, int64_t value) {
    std::optional<int64_t> at_one = at(1), at_two = at(2), at_three = at(3);
    if (!at_one || !at_two || !at_three || *at_two == *at_one) return std::nullopt;
    if (*at_three - *at_two != *at_two - *at_one) return std::nullopt;
    const int64_t slope = *at_two - *at_one, rest = value - *at_one;
    if (rest % slope != 0) return std::nullopt;
    const int64_t root = 1 + rest / slope;
    if (root < 0 || at(root) != value) return std::nullopt;
    return root;
  }

  // Floor quotients: the size grows with the symbol, so bisection finds a root; it counts only if its neighbours
  // differ.
  template <class F>
  static std::optional<int64_t> monotone_root(const F& at, int64_t value) {
    int64_t low = 1, high = int64_t{1} << 31;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      std::optional<int64_t> here = at(middle);
      if (!here) return std::nullopt;
      if (*here < value)
        low = middle + 1;
      else
        high = middle;
    }
    if (at(low) != value || at(low + 1) == value || (low > 1 && at(low - 1) == value)) return std::nullopt;
    return low;
  }

  const Graph& graph_;
  std::vector<std::optional<int64_t>> values_;
};

std::string shape_text(const std::vector<int64_t>& shape) {
  std::vector<std::string> parts;
  for (int64_t n : shape) parts.push_back(std::to_string(n));
  return "[" + join(parts, ", ") + "]";
}

Status collect(const Graph& graph, const Environment& call, std::vector<Equation>& equations) {
  for (const auto& [name, array] : call.inputs)
    if (!graph.find_input(name)) {
      std::vector<std::string> known;
      for (const Input& input : graph.inputs) known.push_back(input.name);
      return bad_input(graph.name + " has no input " + name, {}, did_you_mean(name, known));
    }
  for (const Input& input : graph.inputs) {
    auto given = call.inputs.find(input.name);
    if (given == call.inputs.end()) {
      if (input.kind == InputKind::Scalar && input.default_value) continue;
      return bad_input("the input " + input.name + " is missing");
    }
    const Array& array = given->second;
    if (array.shape.size() != input.dims.size())
      return bad_input("the input " + input.name + " has " + std::to_string(input.dims.size()) +
                       " dimensions, but the tensor given has the shape " + shape_text(array.shape));
    int64_t count = 1;
    for (size_t d = 0; d < input.dims.size(); ++d) {
      if (array.shape[d] < 0) return bad_input("the input " + input.name + " has a negative size");
      count *= array.shape[d];
      const Size size = input.dims[d] == kUnit ? Size(1) : graph.axis(input.dims[d]).size;
      equations.push_back({size, array.shape[d], "dimension " + std::to_string(d) + " of " + input.name});
    }
    if (static_cast<int64_t>(array.values.size()) != count ||
        (!array.bounds.empty() && array.bounds.size() != array.values.size()))
      return bad_input("the input " + input.name + " of shape " + shape_text(array.shape) + " has " +
                       std::to_string(array.values.size()) + " values");
  }
  return {};
}

}  // namespace

Result<int64_t> BoundSizes::value(const Graph& graph, const Size& size) const {
  auto value_of = [this](SymbolId id) { return symbols[static_cast<size_t>(id)]; };
  if (std::optional<int64_t> value = size.evaluate(value_of)) return *value;
  for (SymbolId id : size.symbols())
    if (!value_of(id))
      return bad_input("no shape determines the size " + graph.symbols[static_cast<size_t>(id)].name, {},
                       "give it by name");
  return bad_input("the size " + graph.size_text(size) + " divides by zero");
}

Result<BoundSizes> solve_sizes(const Graph& graph, const Environment& call) {
  std::vector<Equation> equations;
  KW_CHECK(collect(graph, call, equations));
  Solver solver(graph);
  for (const auto& [name, value] : call.sizes) {
    auto symbol = std::find_if(graph.symbols.begin(), graph.symbols.end(),
                               [&name = name](const Symbol& s) { return s.name == name; });
    if (symbol == graph.symbols.end()) return bad_input(graph.name + " has no size " + name);
    solver.set(static_cast<SymbolId>(symbol - graph.symbols.begin()), value);
  }
  // Lone symbols first: an equation in one unknown may otherwise be solved for a symbol that another shape states
  // plainly.
  for (const Equation& equation : equations)
    if (std::optional<SymbolId> id = equation.size.as_symbol(); id && !solver.value_of(*id))
      solver.set(*id, equation.value);
  for (bool progress = true; progress;) {
    progress = false;
    for (const Equation& equation : equations) progress |= solver.solve(equation);
    for (const SizeConstraint& c : graph.constraints) {
      if (c.kind != SizeConstraint::Kind::Equal) continue;
      if (std::optional<int64_t> right = solver.evaluate(c.right)) progress |= solver.solve({c.left, *right, {}});
      if (std::optional<int64_t> left = solver.evaluate(c.left)) progress |= solver.solve({c.right, *left, {}});
    }
  }
  for (const Equation& equation : equations) {
    std::optional<int64_t> value = solver.evaluate(equation.size);
    if (value && *value != equation.value)
      return bad_input(equation.where + " is " + std::to_string(equation.value) + ", but " +
                       (equation.size.constant() ? "it must be " : graph.size_text(equation.size) + " is ") +
                       std::to_string(*value));
    if (!value)
      return bad_input("cannot tell the sizes in " + equation.where + ", which is " + graph.size_text(equation.size),
                       {}, "give them by name");
  }
  KW_CHECK(check_sizes(graph, [&](SymbolId id) { return solver.value_of(id); }));
  BoundSizes bound;
  for (const Axis& axis : graph.axes) bound.axes.push_back(solver.evaluate(axis.size));
  bound.symbols = std::move(solver).values();
  return bound;
}

}  // namespace kw::ir::interpreter
