#include "understand/decisions/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include "base/text.h"
#include "profile/decision.h"
#include "understand/decisions/deciders.h"
#include "understand/decisions/field_text.h"

namespace kw::understand {
namespace {

constexpr std::int64_t kMostTestElements = std::int64_t{1} << 22;      // of one tensor: the interpreter runs them all
constexpr std::int64_t kMostMeasuredElements = std::int64_t{1} << 31;  // of one tensor
constexpr int kMostTrials = 5000;
constexpr std::int64_t kReach = 64;

std::optional<std::int64_t> value_of(const ir::Size& size, const Sizes& sizes) {
  return size.evaluate(
      [&](ir::SymbolId id) -> std::optional<std::int64_t> { return sizes[static_cast<std::size_t>(id)]; });
}

bool views_stay_inside(const ir::Graph& graph, const ir::Node& node, const Sizes& sizes) {
  const auto axis_size = [&](ir::AxisId axis) { return value_of(graph.axis(axis).size, sizes).value_or(-1); };
  if (const auto* split = std::get_if<ir::SplitAttr>(&node.attr))
    return axis_size(split->whole) == axis_size(split->outer) * axis_size(split->inner);
  if (const auto* slice = std::get_if<ir::SliceAttr>(&node.attr)) {
    const std::int64_t start = value_of(slice->start, sizes).value_or(-1);
    const ir::AxisId small = node.op == ir::Op::Slice ? slice->to : slice->from;
    const ir::AxisId large = node.op == ir::Op::Slice ? slice->from : slice->to;
    const std::int64_t count = axis_size(small);
    if (count <= 0) return count == 0;
    const std::int64_t last = start + (count - 1) * slice->step;
    return start >= 0 && last >= 0 && start < axis_size(large) && last < axis_size(large);
  }
  if (const auto* top = std::get_if<ir::TopKAttr>(&node.attr)) return axis_size(top->to) <= axis_size(top->axis);
  if (const auto* window = std::get_if<ir::WindowAttr>(&node.attr))
    return axis_size(window->out) >= 1 && axis_size(window->tap) >= 1;
  return true;
}

bool constraint_holds(const ir::SizeConstraint& constraint, const Sizes& sizes) {
  const std::optional<std::int64_t> left = value_of(constraint.left, sizes);
  const std::optional<std::int64_t> right = value_of(constraint.right, sizes);
  if (!left || !right) return false;
  if (constraint.kind == ir::SizeConstraint::Kind::Equal) return *left == *right;
  return *right > 0 && *left % *right == 0;
}

std::int64_t largest_tensor(const ir::Graph& graph, const Sizes& sizes) {
  double largest = 0;
  for (const ir::Node& node : graph.nodes) {
    double count = 1;
    for (const ir::AxisId axis : node.axes)
      count *= static_cast<double>(value_of(graph.axis(axis).size, sizes).value_or(0));
    largest = std::max(largest, count);
  }
  return static_cast<std::int64_t>(std::min(largest, 9e18));
}

// A condition on sizes, to be looked at once its last symbol has a value.
struct Condition {
  std::size_t last = 0;
  std::function<bool(const Sizes&)> holds;
};

std::size_t last_symbol(std::initializer_list<const ir::Size*> sizes) {
  std::size_t last = 0;
  for (const ir::Size* size : sizes)
    for (const ir::SymbolId symbol : size->symbols()) last = std::max(last, static_cast<std::size_t>(symbol));
  return last;
}

std::size_t last_symbol_of_view(const ir::Graph& graph, const ir::Node& node) {
  const auto size = [&](ir::AxisId axis) { return &graph.axis(axis).size; };
  if (const auto* split = std::get_if<ir::SplitAttr>(&node.attr))
    return last_symbol({size(split->whole), size(split->outer), size(split->inner)});
  if (const auto* slice = std::get_if<ir::SliceAttr>(&node.attr))
    return last_symbol({size(slice->from), size(slice->to), &slice->start});
  if (const auto* top = std::get_if<ir::TopKAttr>(&node.attr)) return last_symbol({size(top->axis), size(top->to)});
  if (const auto* window = std::get_if<ir::WindowAttr>(&node.attr))
    return last_symbol({size(window->out), size(window->tap)});
  return 0;
}

std::vector<Condition> conditions_of(const ir::Graph& graph) {
  std::vector<Condition> conditions;
  for (const ir::SizeConstraint& constraint : graph.constraints)
    conditions.push_back({last_symbol({&constraint.left, &constraint.right}),
                          [&](const Sizes& sizes) { return constraint_holds(constraint, sizes); }});
  std::set<ir::AxisId> axes;
  for (const ir::Node& node : graph.nodes) {
    axes.insert(node.axes.begin(), node.axes.end());
    const bool moves =
        std::holds_alternative<ir::SplitAttr>(node.attr) || std::holds_alternative<ir::SliceAttr>(node.attr) ||
        std::holds_alternative<ir::TopKAttr>(node.attr) || std::holds_alternative<ir::WindowAttr>(node.attr);
    if (moves)
      conditions.push_back({last_symbol_of_view(graph, node),
                            [&](const Sizes& sizes) { return views_stay_inside(graph, node, sizes); }});
  }
  for (const ir::AxisId axis : axes) {
    const ir::Size& size = graph.axis(axis).size;
    conditions.push_back(
        {last_symbol({&size}), [&](const Sizes& sizes) { return value_of(size, sizes).value_or(-1) >= 0; }});
  }
  return conditions;
}

// Sizes that others determine: `a == b`, `n == 2*half`. By symbol; the expression has earlier symbols alone.
using Determined = std::map<std::size_t, ir::Size>;

Determined determined_sizes(const ir::Graph& graph) {
  Determined determined;
  for (const ir::SizeConstraint& constraint : graph.constraints) {
    if (constraint.kind != ir::SizeConstraint::Kind::Equal) continue;
    for (const auto& [symbol, other] :
         {std::pair{constraint.left, constraint.right}, std::pair{constraint.right, constraint.left}}) {
      const std::optional<ir::SymbolId> id = symbol.as_symbol();
      const std::vector<ir::SymbolId> rest = other.symbols();
      if (id && std::all_of(rest.begin(), rest.end(), [&](ir::SymbolId earlier) { return earlier < *id; }))
        determined.emplace(static_cast<std::size_t>(*id), other);
    }
  }
  return determined;
}

bool search(const std::vector<Condition>& conditions, const Determined& determined, Sizes& sizes, std::size_t symbol,
            int& trials) {
  if (symbol == sizes.size()) return true;
  const std::int64_t wanted = sizes[symbol];
  std::int64_t first = wanted;
  std::int64_t reach = wanted == 0 ? 0 : kReach;
  if (const auto found = determined.find(symbol); found != determined.end()) {
    first = value_of(found->second, sizes).value_or(-1);
    reach = 0;
  }
  for (std::int64_t more = 0; more <= reach && ++trials <= kMostTrials; ++more) {
    sizes[symbol] = first + more;
    const bool fits = std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
      return condition.last != symbol || condition.holds(sizes);
    });
    if (fits && search(conditions, determined, sizes, symbol + 1, trials)) return true;
  }
  sizes[symbol] = wanted;
  return false;
}

// The symbols of the innermost dimension of the largest input: what a row is made of.
std::set<ir::SymbolId> inner_symbols(const ir::Graph& graph) {
  const ir::Input* widest = nullptr;
  for (const ir::Input& input : graph.inputs)
    if (input.kind != ir::InputKind::Scalar &&
        (!widest || graph[input.node].axes.size() > graph[widest->node].axes.size()))
      widest = &input;
  std::set<ir::SymbolId> symbols;
  if (widest)
    for (auto it = widest->dims.rbegin(); it != widest->dims.rend() && symbols.empty(); ++it)
      if (*it != ir::kUnit)
        for (const ir::SymbolId symbol : graph.axis(*it).size.symbols()) symbols.insert(symbol);
  // What such a size is determined by is of the same length.
  const Determined determined = determined_sizes(graph);
  for (std::size_t symbol = graph.symbols.size(); symbol-- > 0;)
    if (const auto found = determined.find(symbol);
        found != determined.end() && symbols.contains(static_cast<ir::SymbolId>(symbol)))
      for (const ir::SymbolId earlier : found->second.symbols()) symbols.insert(earlier);
  return symbols;
}

// A symbol that may be 0: outermost, and nothing is reduced, ordered or windowed along it.
std::optional<ir::SymbolId> empty_symbol(const ir::Graph& graph) {
  for (const ir::Input& input : graph.inputs) {
    if (input.kind != ir::InputKind::Tensor || input.dims.empty() || input.dims[0] == ir::kUnit) continue;
    const std::optional<ir::SymbolId> symbol = graph.axis(input.dims[0]).size.as_symbol();
    if (!symbol) continue;
    for (const ir::Node& node : graph.nodes) {
      const ir::OpKind kind = ir::info(node.op).kind;
      if (kind == ir::OpKind::Leaf || kind == ir::OpKind::Pointwise || kind == ir::OpKind::View) continue;
      const ir::Node& operand = graph[node.args[0]];
      for (const ir::AxisId axis : operand.axes) {
        const bool kept = std::find(node.axes.begin(), node.axes.end(), axis) != node.axes.end();
        const std::vector<ir::SymbolId> symbols = graph.axis(axis).size.symbols();
        if (!kept && std::find(symbols.begin(), symbols.end(), *symbol) != symbols.end()) return std::nullopt;
      }
      if (kind == ir::OpKind::Order || kind == ir::OpKind::Scan || kind == ir::OpKind::Indexed) return std::nullopt;
    }
    return symbol;
  }
  return std::nullopt;
}

profile::Shape named(const ir::Graph& graph, const Sizes& sizes) {
  profile::Shape shape;
  for (std::size_t i = 0; i < sizes.size(); ++i) shape.emplace_back(graph.symbols[i].name, sizes[i]);
  return shape;
}

Sizes hints(const ir::Graph& graph) {
  Sizes sizes;
  for (const ir::Symbol& symbol : graph.symbols) sizes.push_back(symbol.hint.value_or(kUnhinted));
  return sizes;
}

void add_if_new(std::vector<profile::Shape>& shapes, const ir::Graph& graph, const std::optional<Sizes>& sizes,
                std::int64_t most) {
  if (!sizes || largest_tensor(graph, *sizes) > most) return;
  profile::Shape shape = named(graph, *sizes);
  if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(std::move(shape));
}

Result<std::vector<profile::Shape>> parse_shapes(const ir::Graph& graph, const std::string& id,
                                                 const std::string& text) {
  std::vector<profile::Shape> shapes;
  for (const std::string& part : split(text, ',')) {
    Sizes sizes(graph.symbols.size(), -1);
    for (const std::string& word : split(trim(part), ' ')) {
      if (word.empty()) continue;
      const std::size_t equals = word.find('=');
      const std::int64_t value = equals == std::string::npos ? -1 : parse_integer(word.substr(equals + 1)).value_or(-1);
      const auto symbol = std::find_if(graph.symbols.begin(), graph.symbols.end(),
                                       [&](const ir::Symbol& s) { return s.name == word.substr(0, equals); });
      if (value < 0 || symbol == graph.symbols.end())
        return bad_value(id, word, "SIZE=NUMBER for a size of the op",
                         "for example: " + profile::shape_text(named(graph, hints(graph))));
      sizes[static_cast<std::size_t>(symbol - graph.symbols.begin())] = value;
    }
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] < 0)
        return bad_value(id, std::string(trim(part)),
                         fmt::format("a value for every size; {} is missing", graph.symbols[i].name));
    if (!is_possible(graph, sizes))
      return bad_value(id, std::string(trim(part)), "a shape that the op's own constraints allow");
    shapes.push_back(named(graph, sizes));
  }
  return shapes;
}

}  // namespace

bool is_possible(const ir::Graph& graph, const Sizes& sizes) {
  const std::vector<Condition> conditions = conditions_of(graph);
  return std::all_of(conditions.begin(), conditions.end(),
                     [&](const Condition& condition) { return condition.holds(sizes); });
}

std::optional<Sizes> nearest_possible(const ir::Graph& graph, const Sizes& wanted) {
  Sizes sizes = wanted;
  int trials = 0;
  const std::vector<Condition> conditions = conditions_of(graph);
  if (sizes.empty()) return is_possible(graph, sizes) ? std::optional(sizes) : std::nullopt;
  if (search(conditions, determined_sizes(graph), sizes, 0, trials)) return sizes;
  return std::nullopt;
}

std::vector<profile::Shape> test_shapes(const ir::Graph& graph) {
  const std::size_t count = graph.symbols.size();
  const std::set<ir::SymbolId> inner = inner_symbols(graph);
  // {what the innermost size is, what the others are}; with many sizes the others stay small.
  struct Pattern {
    std::int64_t inner, others;
  };
  const bool many = count > 3;
  const std::array<Pattern, 8> patterns = {{{1, 1},
                                            {13, many ? 2 : 7},
                                            {127, many ? 3 : 31},
                                            {129, many ? 2 : 17},
                                            {256, many ? 2 : 8},
                                            {1025, many ? 2 : 9},
                                            {4099, 3},
                                            {5, many ? 5 : 2053}}};
  std::vector<profile::Shape> shapes;
  for (const Pattern& pattern : patterns) {
    Sizes wanted(count, pattern.others);
    for (const ir::SymbolId symbol : inner) wanted[static_cast<std::size_t>(symbol)] = pattern.inner;
    add_if_new(shapes, graph, nearest_possible(graph, wanted), kMostTestElements);
  }
  // Distinct primes, so that no two sizes can be taken for each other.
  static constexpr std::array<std::int64_t, 8> kPrimes = {2, 3, 5, 7, 11, 13, 17, 19};
  Sizes distinct;
  for (std::size_t i = 0; i < count; ++i) distinct.push_back(kPrimes[i % kPrimes.size()]);
  add_if_new(shapes, graph, nearest_possible(graph, distinct), kMostTestElements);
  if (const std::optional<ir::SymbolId> symbol = empty_symbol(graph)) {
    Sizes empty(count, 8);
    empty[static_cast<std::size_t>(*symbol)] = 0;
    add_if_new(shapes, graph, nearest_possible(graph, empty), kMostTestElements);
  }
  if (shapes.empty()) add_if_new(shapes, graph, nearest_possible(graph, hints(graph)), kMostMeasuredElements);
  return shapes;
}

std::vector<profile::Shape> measured_shapes(const ir::Graph& graph) {
  std::vector<profile::Shape> shapes;
  const Sizes own = hints(graph);
  add_if_new(shapes, graph, nearest_possible(graph, own), kMostMeasuredElements);
  const std::set<ir::SymbolId> inner = inner_symbols(graph);
  for (const auto& [times, over] : {std::pair{1, 4}, std::pair{1, 2}, std::pair{2, 1}, std::pair{4, 1}}) {
    Sizes wanted = own;
    for (const ir::SymbolId symbol : inner) {
      std::int64_t& size = wanted[static_cast<std::size_t>(symbol)];
      size = std::max<std::int64_t>(1, size * times / over);
    }
    if (wanted != own) add_if_new(shapes, graph, nearest_possible(graph, wanted), kMostMeasuredElements);
  }
  if (shapes.empty() && !graph.symbols.empty()) shapes.push_back(named(graph, own));
  return shapes;
}

Status decide_shapes(Subject& subject) {
  const ir::Graph& graph = subject.math.read;
  subject.profile.shapes.test = test_shapes(graph);
  subject.profile.shapes.measure = measured_shapes(graph);
  if (const std::string* pin = subject.pinned("shapes.test")) {
    KW_TRY(subject.profile.shapes.test, parse_shapes(graph, "shapes.test", *pin));
  }
  if (const std::string* pin = subject.pinned("shapes.measure")) {
    KW_TRY(subject.profile.shapes.measure, parse_shapes(graph, "shapes.measure", *pin));
  }
  subject.record({"shapes.test",
                  profile::shapes_text(subject.profile.shapes.test),
                  "one, primes, one over a power of two, longer than a block and, where the math allows it, empty: "
                  "where kernels break",
                  "",
                  {},
                  "a mistake at an edge is found by a user instead of a test"});
  subject.record({"shapes.measure",
                  profile::shapes_text(subject.profile.shapes.measure),
                  "your own shape, and a quarter to four times its innermost size",
                  "",
                  {},
                  "the kernel is tuned for sizes that you do not run"});
  return {};
}

}  // namespace kw::understand
