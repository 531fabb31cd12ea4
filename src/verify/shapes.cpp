#include "verify/shapes.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace kw::verify {

using kernel::Sizes;

std::optional<std::int64_t> value_of(const ir::Graph& graph, const ir::Size& size, const Sizes& sizes) {
  return size.evaluate([&](ir::SymbolId symbol) -> std::optional<std::int64_t> {
    const auto found = sizes.find(graph.symbols[static_cast<std::size_t>(symbol)].name);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  });
}

namespace {

// Whether what a slice takes of its operand is there, and what a pad fills has a place: the first element of none is
// not.
bool lies_within(const ir::Graph& graph, const ir::Node& node, const Sizes& sizes) {
  const auto& slice = node.as<ir::SliceAttr>();
  const bool is_pad = node.op == ir::Op::Pad;
  const auto size_of = [&](ir::AxisId axis) { return value_of(graph, graph.axis(axis).size, sizes).value_or(0); };
  const std::int64_t n = size_of(is_pad ? slice.from : slice.to), whole = size_of(is_pad ? slice.to : slice.from);
  const std::int64_t start = value_of(graph, slice.start, sizes).value_or(0), last = start + (n - 1) * slice.step;
  return n == 0 || (start >= 0 && start < whole && last >= 0 && last < whole);
}

// Do the sizes fulfil the math's constraints, has all of it a value, and is no tensor above the limit?
bool admitted(const ir::Graph& graph, const Sizes& sizes, std::int64_t most_elements) {
  for (const ir::SizeConstraint& constraint : graph.constraints) {
    const auto left = value_of(graph, constraint.left, sizes), right = value_of(graph, constraint.right, sizes);
    if (!left || !right) return false;
    if (constraint.kind == ir::SizeConstraint::Kind::Equal ? *left != *right : *right == 0 || *left % *right != 0)
      return false;
  }
  for (const ir::Axis& axis : graph.axes) {
    const auto size = value_of(graph, axis.size, sizes);
    if (!size || *size < 0) return false;
  }
  for (const ir::Node& node : graph.nodes) {
    // Of nothing there is no greatest: PyTorch refuses it.
    if (node.op == ir::Op::ArgMax || node.op == ir::Op::ArgMin)
      if (value_of(graph, graph.axis(node.as<ir::AxisList>().axes[0]).size, sizes) == 0) return false;
    if (std::holds_alternative<ir::SliceAttr>(node.attr) && !lies_within(graph, node, sizes)) return false;
    std::int64_t count = 1;
    for (const ir::AxisId axis : node.axes) {
      const auto size = std::max<std::int64_t>(1, value_of(graph, graph.axis(axis).size, sizes).value_or(0));
      if (__builtin_mul_overflow(count, size, &count) || count > most_elements) return false;
    }
  }
  return true;
}

// Sizes that are part of the configuration, not of a shape: a number of groups keeps its own value.
bool shows_in_shape(const ir::Graph& graph, ir::SymbolId symbol) {
  for (const ir::Input& input : graph.inputs)
    for (const ir::AxisId dim : input.dims)
      if (dim != ir::kUnit && graph.axis(dim).size.as_symbol() == symbol) return true;
  return false;
}

Sizes own_sizes(const ir::Graph& graph) {
  Sizes own;
  for (const ir::Symbol& symbol : graph.symbols) own[symbol.name] = symbol.hint.value_or(2);
  return own;
}

// Sizes that must be multiples of a number become the next one.
void fit_divisors(const ir::Graph& graph, Sizes& sizes) {
  for (const ir::SizeConstraint& constraint : graph.constraints) {
    const auto symbol = constraint.left.as_symbol();
    const auto divisor = constraint.right.constant();
    if (constraint.kind != ir::SizeConstraint::Kind::Divisible || !symbol || !divisor || *divisor < 2) continue;
    const auto size = sizes.find(graph.symbols[static_cast<std::size_t>(*symbol)].name);
    if (size != sizes.end()) size->second = (size->second + *divisor - 1) / *divisor * *divisor;
  }
}

}  // namespace

std::optional<std::vector<std::int64_t>> shape_of(const ir::Graph& graph, const std::vector<ir::AxisId>& dims,
                                                  const Sizes& sizes) {
  std::vector<std::int64_t> shape;
  for (const ir::AxisId dim : dims) {
    const auto size = dim == ir::kUnit ? std::optional<std::int64_t>(1) : value_of(graph, graph.axis(dim).size, sizes);
    if (!size || *size < 0) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

std::int64_t count_of(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<Sizes> shapes_to_try(const Subject& subject, std::int64_t most_elements) {
  const ir::Graph& graph = subject.math();
  std::vector<Sizes> shapes;
  const auto add = [&](Sizes sizes) {
    for (const auto& [name, size] : own_sizes(graph)) sizes.try_emplace(name, size);
    fit_divisors(graph, sizes);
    if (admitted(graph, sizes, most_elements) && std::find(shapes.begin(), shapes.end(), sizes) == shapes.end())
      shapes.push_back(std::move(sizes));
  };
  for (const Sizes& shape : subject.shapes) add(shape);
  // Every symbol of a shape takes a number from the row, the last one the last number.
  // The last rows are for tiles: two axes at once are longer than one, and leave something over.
  constexpr std::int64_t kRows[][3] = {{1, 1, 1},    {3, 7, 13},   {2, 17, 129}, {5, 3, 1025},  {2, 2, 4099},
                                       {4, 8, 256},  {7, 1, 2},    {1, 2053, 5}, {1, 1, 33},    {0, 8, 8},
                                       {3, 0, 5},    {5, 3, 0},    {6, 24, 512}, {16, 32, 64},  {3, 191, 16},
                                       {2, 67, 131}, {67, 2, 133}, {35, 67, 3},  {1, 133, 259}, {1, 261, 517}};
  const std::vector<std::string> names = symbols_of_shapes(subject);
  for (const auto& row : kRows) {
    Sizes sizes;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::size_t from_end = names.size() - 1 - i;
      sizes[names[i]] = from_end < 3 ? row[2 - from_end] : 2;
    }
    add(sizes);
  }
  // Where a size must be a multiple of a number: another multiple than the first.
  for (const ir::SizeConstraint& constraint : graph.constraints) {
    const auto symbol = constraint.left.as_symbol();
    const auto divisor = constraint.right.constant();
    if (constraint.kind != ir::SizeConstraint::Kind::Divisible || !symbol || !divisor) continue;
    add(fitted(subject, graph.symbols[static_cast<std::size_t>(*symbol)].name, 3 * *divisor, 3));
  }
  return shapes;
}

std::int64_t most_elements(const Subject& subject, const Sizes& sizes) {
  const ir::Graph& graph = subject.forward;
  std::int64_t most = 0;
  for (const ir::Input& input : graph.inputs) {
    const auto shape = shape_of(graph, input.dims, sizes);
    if (shape) most = std::max(most, count_of(*shape));
  }
  return most;
}

std::int64_t last_size(const Subject& subject, const Sizes& sizes) {
  std::int64_t most = 1;
  for (const ir::Input& input : subject.forward.inputs) {
    const auto shape = shape_of(subject.forward, input.dims, sizes);
    if (shape && !shape->empty()) most = std::max(most, shape->back());
  }
  return most;
}

std::int64_t rows_of(const Subject& subject, const Sizes& sizes) {
  std::int64_t most = 0, rows = 1;
  for (const ir::Input& input : subject.forward.inputs) {
    const auto shape = shape_of(subject.forward, input.dims, sizes);
    if (!shape || shape->empty()) continue;
    std::int64_t outer = 1;
    for (std::size_t d = 0; d + 1 < shape->size(); ++d) outer *= (*shape)[d];
    if (outer * shape->back() > most) most = outer * shape->back(), rows = outer;
  }
  return rows;
}

Sizes sizes_of_parameters(const Subject& subject, Sizes sizes) {
  const ir::Graph& graph = subject.forward;
  for (const ir::Input& input : graph.inputs) {
    if (input.kind != ir::InputKind::Parameter && input.kind != ir::InputKind::Buffer) continue;
    for (const ir::AxisId dim : input.dims) {
      if (dim == ir::kUnit) continue;
      for (const ir::SymbolId symbol : graph.axis(dim).size.symbols()) {
        const ir::Symbol& own = graph.symbols[static_cast<std::size_t>(symbol)];
        if (own.hint) sizes[own.name] = *own.hint;
      }
    }
  }
  return sizes;
}

bool admits(const Subject& subject, const Sizes& sizes, std::int64_t most_elements) {
  return admitted(subject.math(), sizes, most_elements);
}

std::vector<std::string> symbols_of_shapes(const Subject& subject) {
  const ir::Graph& graph = subject.math();
  std::vector<std::string> names;
  for (std::size_t s = 0; s < graph.symbols.size(); ++s)
    if (shows_in_shape(graph, static_cast<ir::SymbolId>(s))) names.push_back(graph.symbols[s].name);
  return names;
}

Sizes fitted(const Subject& subject, const std::string& symbol, std::int64_t size, std::int64_t others) {
  Sizes sizes;
  for (const std::string& name : symbols_of_shapes(subject)) sizes[name] = name == symbol ? size : others;
  for (const auto& [name, own] : own_sizes(subject.math())) sizes.try_emplace(name, own);
  fit_divisors(subject.math(), sizes);
  return sizes;
}

bool is_reduced(const ir::Graph& graph, const std::string& symbol) {
  const auto is_of_it = [&](ir::AxisId axis) {
    const auto own = axis == ir::kUnit ? std::nullopt : graph.axis(axis).size.as_symbol();
    return own && graph.symbols[static_cast<std::size_t>(*own)].name == symbol;
  };
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const ir::Node& node) {
    if (ir::info(node.op).kind != ir::OpKind::Reduction) return false;
    return std::any_of(node.args.begin(), node.args.end(), [&](ir::NodeId arg) {
      const auto& before = graph[arg].axes;
      return std::any_of(before.begin(), before.end(), [&](ir::AxisId axis) {
        return is_of_it(axis) && std::find(node.axes.begin(), node.axes.end(), axis) == node.axes.end();
      });
    });
  });
}

}  // namespace kw::verify
