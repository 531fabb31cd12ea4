#include "verify/repetition.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "ir/interpreter/interpreter.h"
#include "ir/interpreter/rounding.h"
#include "ir/interpreter/running.h"
#include "verify/shapes.h"

namespace kw::verify {
namespace {

using ir::AxisId;
using ir::NodeId;
using ir::Op;

constexpr std::int64_t kPeriods[] = {8191, 1009, 127, 31, 7, 3};  // primes: no power of two is a multiple
constexpr std::int64_t kMostInPeriod = 120'000;                   // elements
constexpr std::int64_t kMostTerms = 20'000'000;                   // of a contraction

bool is_along(const ir::Graph& graph, AxisId axis, ir::SymbolId symbol) {
  return axis != ir::kUnit && graph.axis(axis).size.as_symbol() == symbol;
}

int count_along(const ir::Graph& graph, const std::vector<AxisId>& axes, ir::SymbolId symbol) {
  return static_cast<int>(
      std::count_if(axes.begin(), axes.end(), [&](AxisId axis) { return is_along(graph, axis, symbol); }));
}

std::set<AxisId> axes_along(const ir::Graph& graph, const std::vector<AxisId>& axes, ir::SymbolId symbol) {
  std::set<AxisId> along;
  std::copy_if(axes.begin(), axes.end(), std::inserter(along, along.end()),
               [&](AxisId axis) { return is_along(graph, axis, symbol); });
  return along;
}

bool mentions(const ir::Size& size, ir::SymbolId symbol) {
  const std::vector<ir::SymbolId> symbols = size.symbols();
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

// How a node's value follows the inputs along the axis.
enum class Along : std::uint8_t {
  Other,
  Same,  // at index i it depends on the inputs at i alone, or not on the axis at all
  Sum,   // over the axis, of what is Same
  Mean,
};

bool touches(const ir::Graph& graph, const ir::Node& node, ir::SymbolId symbol) {
  const auto along = [&](AxisId axis) { return is_along(graph, axis, symbol); };
  const ir::Attr& attr = node.attr;
  if (const auto* axes = std::get_if<ir::AxisList>(&attr)) return count_along(graph, axes->axes, symbol) > 0;
  if (const auto* scan = std::get_if<ir::ScanAttr>(&attr)) return along(scan->axis);
  if (const auto* sort = std::get_if<ir::SortAttr>(&attr)) return along(sort->axis);
  if (const auto* combine = std::get_if<ir::CombineAttr>(&attr)) return along(combine->axis);
  if (const auto* slice = std::get_if<ir::SliceAttr>(&attr))
    return along(slice->from) || along(slice->to) || mentions(slice->start, symbol);
  if (const auto* window = std::get_if<ir::WindowAttr>(&attr))
    return along(window->axis) || along(window->out) || mentions(window->pad_before, symbol);
  if (const auto* top = std::get_if<ir::TopKAttr>(&attr)) return along(top->axis) || along(top->to);
  return false;
}

bool is_same(const ir::Graph& graph, const ir::Node& node, const std::vector<Along>& before, ir::SymbolId symbol) {
  if (count_along(graph, node.axes, symbol) > 1) return false;
  std::set<AxisId> along;
  for (const NodeId arg : node.args) {
    if (before[static_cast<std::size_t>(arg)] != Along::Same) return false;
    along.merge(axes_along(graph, graph[arg].axes, symbol));
  }
  const bool pointwise = ir::info(node.op).kind == ir::OpKind::Pointwise;
  const bool keeps = pointwise || node.op == Op::Rename || node.op == Op::Broadcast || node.args.empty();
  if ((node.op == Op::Iota || node.op == Op::Random) && count_along(graph, node.axes, symbol) > 0) return false;
  // Any other op may not touch the axis: it is there before and after, or not at all.
  return keeps || (along == axes_along(graph, node.axes, symbol) && !touches(graph, node, symbol));
}

// The sum that a node is made of, and what the way from it does to a number.
struct WayFromSum {
  NodeId sum;
  double roundings = 0, smallest = 0;  // as a share of the result, and of a subnormal one
  double largest = ir::interpreter::kInfinity;
};
WayFromSum way_from_sum(const ir::Graph& graph, const std::vector<Along>& kinds, NodeId node) {
  WayFromSum way{node};
  for (;;) {
    const ir::DType dtype = graph[way.sum].type.floor();
    way.roundings += ir::interpreter::unit_roundoff(dtype);
    way.smallest += ir::ulp(dtype, 0);
    way.largest = std::min(way.largest, ir::info(dtype).max_finite);
    if (graph[way.sum].op == Op::Sum || graph[way.sum].op == Op::Mean) return way;
    for (const NodeId arg : graph[way.sum].args)
      if (const Along kind = kinds[static_cast<std::size_t>(arg)]; kind == Along::Sum || kind == Along::Mean) {
        way.sum = arg;
        break;
      }
  }
}

// A sum over the axis, or what is proportional to one: rounded, or times what does not know the axis.
Along summed(const ir::Graph& graph, const ir::Node& node, const std::vector<Along>& before, ir::SymbolId symbol) {
  if (node.args.empty() || count_along(graph, node.axes, symbol) > 0) return Along::Other;
  const auto kind = [&](std::size_t i) { return before[static_cast<std::size_t>(node.args[i])]; };
  const auto fixed = [&](std::size_t i) {
    return kind(i) == Along::Same && count_along(graph, graph[node.args[i]].axes, symbol) == 0;
  };
  // What is scaled must have been in range all the way from the sum: nothing would show that it was not.
  const auto wide = [&](std::size_t i) {
    constexpr double kWide = 1e30;
    return (kind(i) == Along::Sum || kind(i) == Along::Mean) &&
           way_from_sum(graph, before, node.args[i]).largest > kWide;
  };
  switch (node.op) {
    case Op::Sum:
    case Op::Mean:
      if (kind(0) != Along::Same || count_along(graph, node.as<ir::AxisList>().axes, symbol) != 1) return Along::Other;
      return node.op == Op::Sum ? Along::Sum : Along::Mean;
    case Op::Cast:  // to an integer is no proportion
      return is_floating(node.type.floor()) && is_floating(graph[node.args[0]].type.floor()) ? kind(0) : Along::Other;
    case Op::Neg:
    case Op::Rename:
      return kind(0);
    case Op::Div:
      return wide(0) && fixed(1) ? kind(0) : Along::Other;
    case Op::Mul:
      return wide(0) && fixed(1) ? kind(0) : wide(1) && fixed(0) ? kind(1) : Along::Other;
    default:
      return Along::Other;
  }
}

std::vector<Along> along_of(const ir::Graph& graph, ir::SymbolId symbol) {
  std::vector<Along> kinds(graph.nodes.size(), Along::Other);
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.nodes[id];
    const bool plain = std::all_of(node.axes.begin(), node.axes.end(), [&](AxisId axis) {
      const ir::Size& size = graph.axis(axis).size;
      return size.as_symbol() == symbol || !mentions(size, symbol);
    });
    if (!plain) continue;
    kinds[id] = is_same(graph, node, kinds, symbol) ? Along::Same : summed(graph, node, kinds, symbol);
  }
  return kinds;
}

// Whether the interpreter takes seconds at most.
bool is_quick(const Subject& subject, const kernel::Sizes& sizes, std::int64_t most_elements) {
  const ir::Graph& graph = subject.math();
  if (!admits(subject, sizes, most_elements)) return false;
  return std::all_of(graph.nodes.begin(), graph.nodes.end(), [&](const ir::Node& node) {
    if (node.op != Op::Contract) return true;
    std::set<AxisId> axes;
    for (const NodeId arg : node.args) axes.insert(graph[arg].axes.begin(), graph[arg].axes.end());
    std::int64_t terms = 1;
    for (const AxisId axis : axes)
      if (__builtin_mul_overflow(terms, value_of(graph, graph.axis(axis).size, sizes).value_or(1), &terms) ||
          terms > kMostTerms)
        return false;
    return true;
  });
}

std::int64_t reduced_by(const ir::Graph& graph, NodeId sum, const kernel::Sizes& sizes) {
  std::int64_t terms = 1;
  for (const AxisId axis : graph[sum].as<ir::AxisList>().axes)
    terms *= value_of(graph, graph.axis(axis).size, sizes).value_or(1);
  return terms;
}

}  // namespace

int dimension_along(const ir::Graph& graph, const std::vector<AxisId>& dims, ir::SymbolId symbol) {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (is_along(graph, dims[d], symbol)) return static_cast<int>(d);
  return -1;
}

std::optional<ir::SymbolId> symbol_called(const ir::Graph& graph, const std::string& name) {
  for (std::size_t s = 0; s < graph.symbols.size(); ++s)
    if (graph.symbols[s].name == name) return static_cast<ir::SymbolId>(s);
  return std::nullopt;
}

ir::Graph with_large_sizes(const ir::Graph& graph, ir::SymbolId symbol, const kernel::Sizes& sizes) {
  ir::Graph start = graph;
  start.outputs.clear();
  ir::GraphBuilder builder(std::move(start));
  std::map<NodeId, NodeId> moved;
  for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
    const ir::Node& node = graph[id];
    if (const auto* size = std::get_if<ir::SizeAttr>(&node.attr); size != nullptr && mentions(size->size, symbol)) {
      const auto value = size->size.evaluate(
          [&](ir::SymbolId s) { return std::optional(sizes.at(graph.symbols[static_cast<std::size_t>(s)].name)); });
      if (value) moved[id] = builder.integer(*value);
      continue;
    }
    std::vector<NodeId> args = node.args;
    bool follows = false;
    for (NodeId& arg : args)
      if (const auto found = moved.find(arg); found != moved.end()) arg = found->second, follows = true;
    if (follows) moved[id] = builder.make(node.op, std::move(args), node.attr);
  }
  for (const ir::Output& output : graph.outputs) {
    ir::Output copy = output;
    if (const auto found = moved.find(output.node); found != moved.end()) copy.node = found->second;
    builder.output(std::move(copy));
  }
  return std::move(builder).finish();
}

std::int64_t longest_period(const Subject& subject, const RepeatingCall& call, std::int64_t most) {
  kernel::Sizes sizes = call.sizes;
  for (const std::int64_t period : kPeriods) {
    sizes[call.symbol] = period;
    if (period <= most && is_quick(subject, sizes, kMostInPeriod)) return period;
  }
  return 0;
}

std::vector<Repetition> repetitions(const Subject& subject, const kernel::TypeBinding& types, kernel::Sizes sizes) {
  const ir::Graph graph = ir::bind_types(subject.math(), types);
  std::vector<Repetition> all;
  for (std::size_t s = 0; s < graph.symbols.size(); ++s) {
    const auto symbol = static_cast<ir::SymbolId>(s);
    const std::vector<Along> kinds = along_of(graph, symbol);
    Repetition one;
    one.call.symbol = graph.symbols[s].name;
    one.call.sizes = sizes;
    one.call.sizes[one.call.symbol] = 1;
    const auto size_of = [&](AxisId axis) {
      return axis == ir::kUnit ? 1 : value_of(graph, graph.axis(axis).size, one.call.sizes).value_or(1);
    };
    // Nothing repeats in a tensor whose size is made of it, nor along two dimensions at once.
    const auto is_plain = [&](const ir::Input& input) {
      return count_along(graph, input.dims, symbol) <= 1 &&
             std::none_of(input.dims.begin(), input.dims.end(), [&](AxisId axis) {
               return axis != ir::kUnit && !is_along(graph, axis, symbol) && mentions(graph.axis(axis).size, symbol);
             });
    };
    if (!std::all_of(graph.inputs.begin(), graph.inputs.end(), is_plain)) continue;
    for (const ir::Output& output : graph.outputs) {
      const Along kind = kinds[static_cast<std::size_t>(output.node)];
      const ir::DType dtype = graph[output.node].type.floor();
      if ((kind == Along::Sum || kind == Along::Mean) && ir::is_floating(dtype))
        one.call.sums[output.name].is_mean = kind == Along::Mean;
      if (kind != Along::Same || dimension_along(graph, output.dims, symbol) < 0) continue;
      std::int64_t slice = 1;
      for (const AxisId dim : output.dims) slice *= size_of(dim);
      one.longest = std::max(one.longest, slice);
      one.widest = std::max(one.widest, slice * ir::info(dtype).bytes);
      one.call.outputs.push_back(output.name);
    }
    if (!one.call.outputs.empty()) all.push_back(std::move(one));
  }
  return all;
}

std::optional<RepeatingCall> sized(const Subject& subject, const kernel::TypeBinding& types, RepeatingCall call,
                                   std::int64_t size, std::int64_t period) {
  kernel::Sizes one = call.sizes;
  one[call.symbol] = call.period = period;
  call.sizes[call.symbol] = size;
  if (!admits(subject, call.sizes) || !admits(subject, one)) return std::nullopt;
  kernel::Sizes last = one;
  last[call.symbol] = period + size % period;
  if (!admits(subject, last)) call.sums.clear();
  const ir::Graph graph = ir::bind_types(subject.math(), types);
  const std::vector<Along> kinds = along_of(graph, symbol_called(graph, call.symbol).value());
  const ir::interpreter::SumModel model{0, ir::InterpretOptions().longest_serial_chain};
  for (const ir::Output& output : graph.outputs) {
    const auto sum = call.sums.find(output.name);
    if (sum == call.sums.end()) continue;
    const WayFromSum way = way_from_sum(graph, kinds, output.node);
    const auto roundings = [&](const kernel::Sizes& sizes) {
      return model.roundings(reduced_by(graph, way.sum, sizes));
    };
    if (const double here = roundings(call.sizes), of_period = roundings(one); of_period == 0)
      call.sums.erase(sum);  // nothing tells how the terms' roundings add up
    else
      sum->second = {sum->second.is_mean, here / of_period, here / roundings(last),
                     way.roundings,       way.smallest,     way.largest};
  }
  return call;
}

std::optional<RepeatingCall> repeating_call(const Subject& subject, const kernel::TypeBinding& types,
                                            const kernel::Sizes& sizes) {
  // Where a slice alone is more than a period may be, all slices are alike.
  constexpr std::int64_t kMostInSlice = 2'000'000;
  std::optional<RepeatingCall> best;
  for (Repetition& one : repetitions(subject, types, sizes)) {
    const std::int64_t size = sizes.at(one.call.symbol);
    if (size < 2) continue;
    std::int64_t period = longest_period(subject, one.call, size / 2);
    if (period == 0 && is_quick(subject, one.call.sizes, kMostInSlice)) period = 1;
    if (period == 0) continue;
    std::optional<RepeatingCall> call = sized(subject, types, std::move(one.call), size, period);
    const auto compared = [](const RepeatingCall& c) { return std::pair(c.outputs.size() + c.sums.size(), c.period); };
    if (call && (!best || compared(*call) > compared(*best))) best = std::move(call);
  }
  return best;
}

}  // namespace kw::verify
