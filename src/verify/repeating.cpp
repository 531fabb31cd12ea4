#include "verify/repeating.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/text.h"
#include "ir/interpreter/rounding.h"
#include "ir/interpreter/running.h"
#include "kernel/layout.h"
#include "verify/cases.h"
#include "verify/elements.h"
#include "verify/shapes.h"

namespace kw::verify {
namespace {

using ir::AxisId;
using ir::NodeId;
using ir::Op;
using kernel::Buffer;
using kernel::Role;
using kernel::Tensor;

constexpr std::int64_t kPeriods[] = {8191, 1009, 127, 31, 7, 3};  // primes: no power of two is a multiple
constexpr std::int64_t kMostInPeriod = 120'000;                   // elements
constexpr std::int64_t kMostTerms = 20'000'000;                   // of a contraction
constexpr std::uint8_t kPoison = 0xFF;

bool is_along(const ir::Graph& graph, AxisId axis, ir::SymbolId symbol) {
  return axis != ir::kUnit && graph.axis(axis).size.as_symbol() == symbol;
}

int count_along(const ir::Graph& graph, const std::vector<AxisId>& axes, ir::SymbolId symbol) {
  return static_cast<int>(
      std::count_if(axes.begin(), axes.end(), [&](AxisId axis) { return is_along(graph, axis, symbol); }));
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
  if (const auto* slice = std::get_if<ir::SliceAttr>(&attr)) return along(slice->from) || along(slice->to);
  if (const auto* window = std::get_if<ir::WindowAttr>(&attr)) return along(window->axis) || along(window->out);
  if (const auto* top = std::get_if<ir::TopKAttr>(&attr)) return along(top->axis) || along(top->to);
  return false;
}

bool is_same(const ir::Graph& graph, const ir::Node& node, const std::vector<Along>& before, ir::SymbolId symbol) {
  if (count_along(graph, node.axes, symbol) > 1) return false;
  int along = 0;
  for (const NodeId arg : node.args) {
    if (before[static_cast<std::size_t>(arg)] != Along::Same) return false;
    along = std::max(along, count_along(graph, graph[arg].axes, symbol));
  }
  const bool pointwise = ir::info(node.op).kind == ir::OpKind::Pointwise;
  const bool keeps = pointwise || node.op == Op::Rename || node.op == Op::Broadcast || node.args.empty();
  if ((node.op == Op::Iota || node.op == Op::Random) && count_along(graph, node.axes, symbol) > 0) return false;
  // Any other op may not touch the axis: it is there before and after, or not at all.
  return keeps || (along == count_along(graph, node.axes, symbol) && !touches(graph, node, symbol));
}

// A sum over the axis, or what is proportional to one: rounded, or times what does not know the axis.
Along summed(const ir::Graph& graph, const ir::Node& node, const std::vector<Along>& before, ir::SymbolId symbol) {
  if (node.args.empty() || count_along(graph, node.axes, symbol) > 0) return Along::Other;
  const auto kind = [&](std::size_t i) { return before[static_cast<std::size_t>(node.args[i])]; };
  const auto fixed = [&](std::size_t i) {
    return kind(i) == Along::Same && count_along(graph, graph[node.args[i]].axes, symbol) == 0;
  };
  // What is scaled later must have been in range before.
  const auto wide = [&](std::size_t i) {
    constexpr double kWide = 1e30;
    return ir::info(graph[node.args[i]].type.floor()).max_finite > kWide;
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
      return fixed(1) && wide(0) ? kind(0) : Along::Other;
    case Op::Mul:
      return fixed(1) && wide(0) ? kind(0) : fixed(0) && wide(1) ? kind(1) : Along::Other;
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

// The sum that an output is made of, and what the way from it does to a number.
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

// The graph with sizes that it computes with (the n of a mean's gradient) as they are in the large call.
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

// A tensor as runs along the repeating dimension: outer × along × inner.
struct Runs {
  std::int64_t outer = 1, along = 1, inner = 1;
};

Runs runs_of(const std::vector<std::int64_t>& shape, int dimension) {
  Runs runs;
  for (std::size_t d = 0; d < shape.size(); ++d)
    (static_cast<int>(d) < dimension    ? runs.outer
     : static_cast<int>(d) == dimension ? runs.along
                                        : runs.inner) *= shape[d];
  return runs;
}

int dimension_along(const ir::Graph& graph, const std::vector<AxisId>& dims, ir::SymbolId symbol) {
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (is_along(graph, dims[d], symbol)) return static_cast<int>(d);
  return -1;
}

// The tensor whose values an input of a pass has from the start: its own, or that of an earlier pass which has left it
// as it was. Empty for what an earlier pass wrote.
std::string drawn_as(const Subject& subject, const kernel::Pass& pass, const Buffer& buffer) {
  if (std::string own = tensor_of(subject, pass, buffer); !own.empty()) return own;
  for (const kernel::Pass& earlier : subject.manifest.passes) {
    if (&earlier == &pass) break;
    const bool overwritten = std::any_of(earlier.buffers.begin(), earlier.buffers.end(),
                                         [&](const Buffer& other) { return other.alias == buffer.name; });
    const Buffer* same = earlier.find(buffer.name);
    if (same != nullptr && same->role == Role::Input && !overwritten) return tensor_of(subject, earlier, *same);
  }
  return {};
}

std::optional<ir::SymbolId> symbol_called(const ir::Graph& graph, const std::string& name) {
  for (std::size_t s = 0; s < graph.symbols.size(); ++s)
    if (graph.symbols[s].name == name) return static_cast<ir::SymbolId>(s);
  return std::nullopt;
}

// The first so many slices of a tensor.
ir::Array head_of(const ir::Array& array, int dimension, std::int64_t count) {
  const Runs runs = runs_of(array.shape, dimension);
  ir::Array out;
  out.shape = array.shape;
  out.shape[static_cast<std::size_t>(dimension)] = count;
  for (std::int64_t o = 0; o < runs.outer; ++o) {
    const auto begin = array.values.begin() + o * runs.along * runs.inner;
    out.values.insert(out.values.end(), begin, begin + count * runs.inner);
  }
  return out;
}

std::string wrong(const kernel::Pass& pass, const std::string& name, const Tensor& tensor, const std::string& where,
                  double got, double wanted, double bound) {
  return fmt::format("{}: {} of {} elements: {}: got {}, expected {} ± {}", pass.name, name, count_of(tensor.shape),
                     where, number_text(got), number_text(wanted), number_text(bound));
}

bool agree(double got, double wanted, double bound) {
  return got == wanted || (std::isnan(got) && std::isnan(wanted)) || std::fabs(got - wanted) <= bound ||
         std::isinf(bound);
}

}  // namespace

std::int64_t longest_period(const Subject& subject, const RepeatingCall& call, std::int64_t most) {
  kernel::Sizes sizes = call.sizes;
  for (const std::int64_t period : kPeriods) {
    sizes[call.symbol] = period;
    if (period <= most && is_quick(subject, sizes, kMostInPeriod)) return period;
  }
  return 0;
}

bool wanted_later(const Subject& subject, const kernel::Pass& pass, const Buffer& buffer) {
  if (buffer.role == Role::Workspace) return false;
  bool later = false;
  for (const kernel::Pass& other : subject.manifest.passes) {
    if (later)
      for (const Buffer& taken : other.buffers)
        if (taken.role == Role::Input && taken.name == buffer.name && drawn_as(subject, other, taken).empty())
          return true;
    later |= &other == &pass;
  }
  return false;
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
    // Nothing repeats in a tensor whose size is made of it.
    const auto composite = [&](const std::vector<AxisId>& dims) {
      return std::any_of(dims.begin(), dims.end(), [&](AxisId axis) {
        return axis != ir::kUnit && !is_along(graph, axis, symbol) && mentions(graph.axis(axis).size, symbol);
      });
    };
    if (std::any_of(graph.inputs.begin(), graph.inputs.end(),
                    [&](const ir::Input& input) { return composite(input.dims); }))
      continue;
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
  kernel::Sizes rest = one;
  rest[call.symbol] = size % period;
  if (size % period != 0 && !admits(subject, rest)) call.sums.clear();
  const ir::Graph graph = ir::bind_types(subject.math(), types);
  const std::vector<Along> kinds = along_of(graph, symbol_called(graph, call.symbol).value());
  const ir::interpreter::SumModel model{0, ir::InterpretOptions().longest_serial_chain};
  for (const ir::Output& output : graph.outputs) {
    const auto sum = call.sums.find(output.name);
    if (sum == call.sums.end()) continue;
    const WayFromSum way = way_from_sum(graph, kinds, output.node);
    const double here = model.roundings(reduced_by(graph, way.sum, call.sizes));
    const double of_period = model.roundings(reduced_by(graph, way.sum, one));
    if (of_period == 0)  // nothing tells how the terms' roundings add up
      call.sums.erase(sum);
    else
      sum->second = {sum->second.is_mean, here / of_period, way.roundings, way.smallest, way.largest};
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

RepeatingTrial::RepeatingTrial(const Subject& subject, RepeatingCall call, kernel::TypeBinding types)
    : subject_(&subject),
      call_(std::move(call)),
      types_(std::move(types)),
      symbol_(symbol_called(subject.math(), call_.symbol).value()) {}

Result<RepeatingTrial> RepeatingTrial::make(const Subject& subject, RepeatingCall call,
                                            const kernel::TypeBinding& types, std::uint64_t seed) {
  RepeatingTrial trial(subject, std::move(call), types);
  Case one;
  one.types = types;
  one.sizes = trial.call_.sizes;
  one.sizes[trial.call_.symbol] = trial.call_.period;
  one.seed = seed;
  KW_TRY(trial.values_, values_of(subject, one));
  Subject oracle = subject;
  const auto enlarge = [&](ir::Graph& graph) {
    const auto symbol = symbol_called(graph, trial.call_.symbol);
    if (symbol) graph = with_large_sizes(graph, *symbol, trial.call_.sizes);
  };
  enlarge(oracle.forward);
  for (auto* graph : {&oracle.joint, &oracle.approved_forward, &oracle.approved_backward})
    if (*graph) enlarge(**graph);
  KW_TRY(trial.expected_, expect(oracle, types, trial.values_));
  const std::int64_t rest = trial.call_.sizes.at(trial.call_.symbol) % trial.call_.period;
  if (trial.call_.sums.empty() || rest == 0) return trial;
  ir::Environment values = trial.values_;
  for (auto& [name, array] : values.inputs)
    if (const int dimension = trial.dimension_of(name); dimension >= 0) array = head_of(array, dimension, rest);
  if (values.sizes.contains(trial.call_.symbol)) values.sizes[trial.call_.symbol] = rest;
  KW_TRY(trial.of_the_rest_, expect(oracle, types, values));
  return trial;
}

int RepeatingTrial::dimension_of(const std::string& tensor) const {
  const ir::Graph& graph = subject_->math();
  if (const ir::Input* input = graph.find_input(tensor)) return dimension_along(graph, input->dims, symbol_);
  for (const ir::Output& output : graph.outputs)
    if (output.name == tensor) return dimension_along(graph, output.dims, symbol_);
  return -1;
}

Result<kernel::Facts> RepeatingTrial::place(const kernel::Pass& pass, const kernel::Machine& machine,
                                            device::Arena& arena) const {
  kernel::Facts facts;
  facts.machine = machine;
  for (const Buffer& buffer : pass.buffers) {
    if (buffer.role != Role::Input) continue;
    Tensor tensor;
    const std::string name = drawn_as(*subject_, pass, buffer);
    if (const auto given = values_.inputs.find(name); given != values_.inputs.end()) {
      KW_TRY(tensor.dtype, kernel::dtype_of(buffer.type, types_));
      tensor.shape = given->second.shape;
      if (const int d = dimension_of(name); d >= 0)
        tensor.shape[static_cast<std::size_t>(d)] = call_.sizes.at(call_.symbol);
      tensor.strides = kernel::dense_strides(tensor.shape);
    } else if (const auto carried = carried_.find(buffer.name); carried != carried_.end()) {
      tensor = carried->second.first;
    } else {
      return bad_input("nothing gives " + buffer.name + " of the " + pass.name + " pass a value");
    }
    facts.tensors[buffer.name] = std::move(tensor);
  }
  KW_TRY(facts.sizes, kernel::bind_sizes(subject_->manifest, pass, facts.tensors, call_.sizes));
  for (const kernel::Scalar& scalar : subject_->manifest.scalars) {
    KW_TRY(facts.scalars[scalar.name], default_of(*subject_, scalar));
  }
  for (const Buffer& buffer : pass.buffers) {
    if (!buffer.alias.empty()) {
      KW_CHECK(arena.add_alias(buffer.name, buffer.alias));
      continue;
    }
    bool writable = buffer.role != Role::Input;
    for (const Buffer& other : pass.buffers) writable |= other.alias == buffer.name;
    Tensor tensor;
    if (buffer.role == Role::Input) {
      tensor = facts.tensors.at(buffer.name);
    } else {
      KW_TRY(tensor, kernel::describe(buffer, types_, facts));
    }
    KW_CHECK(arena.add(buffer.name, std::move(tensor),
                       writable ? device::Arena::Access::Write : device::Arena::Access::Read));
  }
  return facts;
}

void RepeatingTrial::fill(const kernel::Pass& pass, const kernel::Facts& facts, device::Arena& arena) const {
  for (const Buffer& buffer : pass.buffers) {
    if (buffer.role != Role::Input) {
      if (buffer.alias.empty()) arena.poison(buffer.name, kPoison);
      continue;
    }
    const std::span<std::byte> bytes = arena.bytes(buffer.name);
    const std::string name = drawn_as(*subject_, pass, buffer);
    const auto given = values_.inputs.find(name);
    if (given == values_.inputs.end()) {
      const auto& carried = carried_.at(buffer.name).second;
      std::copy(carried.begin(), carried.end(), bytes.begin());
      continue;
    }
    const Tensor& tensor = facts.tensors.at(buffer.name);
    const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
    std::vector<std::byte> period(given->second.values.size() * size);
    for (std::size_t i = 0; i < given->second.values.size(); ++i)
      write_element(period.data() + i * size, tensor.dtype, given->second.values[i]);
    const int dimension = dimension_of(name);
    if (dimension < 0) {
      std::copy(period.begin(), period.end(), bytes.begin());
      continue;
    }
    const Runs runs = runs_of(tensor.shape, dimension);
    const std::size_t run = static_cast<std::size_t>(runs.inner) * size;
    for (std::int64_t o = 0; o < runs.outer; ++o)
      for (std::int64_t a = 0; a < runs.along; ++a)
        std::memcpy(bytes.data() + static_cast<std::size_t>(o * runs.along + a) * run,
                    period.data() + static_cast<std::size_t>(o * call_.period + a % call_.period) * run, run);
  }
}

std::optional<Finding> RepeatingTrial::compare(const kernel::Pass& pass, const kernel::Facts& facts,
                                               const device::Arena& arena) {
  for (const Buffer& buffer : pass.buffers) {
    const Tensor& tensor = facts.tensors.at(buffer.name);
    if (buffer.role != Role::Output || !kernel::is_dense(tensor)) continue;
    const std::string name = tensor_of(*subject_, pass, buffer);
    const auto sum = call_.sums.find(name);
    const bool repeats = std::find(call_.outputs.begin(), call_.outputs.end(), name) != call_.outputs.end();
    if (!repeats && sum == call_.sums.end()) continue;
    std::vector<std::int64_t> shape = expected_.at(name).shape;
    if (repeats) shape[static_cast<std::size_t>(dimension_of(name))] = call_.sizes.at(call_.symbol);
    if (tensor.shape != shape)
      return Finding{Gate::Interface, fmt::format("{}: {} is ({}), where PyTorch's is ({})", pass.name, name,
                                                  fmt::join(tensor.shape, ", "), fmt::join(shape, ", "))};
    elements_ += count_of(tensor.shape);
    const std::span<const std::byte> bytes = arena.bytes(buffer.name);
    std::optional<Finding> finding =
        repeats ? compare_repeated(name, pass, tensor, bytes) : compare_sum(name, sum->second, pass, tensor, bytes);
    if (finding) return finding;
  }
  return std::nullopt;
}

std::optional<Finding> RepeatingTrial::compare_repeated(const std::string& name, const kernel::Pass& pass,
                                                        const Tensor& tensor, std::span<const std::byte> bytes) const {
  const ir::Array& oracle = expected_.at(name);
  const Runs runs = runs_of(tensor.shape, dimension_of(name));
  const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
  const std::size_t run = static_cast<std::size_t>(runs.inner) * size;
  for (std::int64_t o = 0; o < runs.outer; ++o)
    for (std::int64_t a = 0; a < runs.along; ++a) {
      const std::byte* row = bytes.data() + static_cast<std::size_t>(o * runs.along + a) * run;
      const std::byte* first = bytes.data() + static_cast<std::size_t>(o * runs.along + a % call_.period) * run;
      if (a >= call_.period && std::memcmp(row, first, run) == 0) continue;  // as in the first period
      for (std::int64_t i = 0; i < runs.inner; ++i) {
        const auto at = static_cast<std::size_t>((o * call_.period + a % call_.period) * runs.inner + i);
        const double got = read_element(row + static_cast<std::size_t>(i) * size, tensor.dtype);
        const double wanted = oracle.values[at], bound = oracle.bounds.empty() ? 0 : oracle.bounds[at];
        if (agree(got, wanted, bound)) continue;
        const std::string where = fmt::format("at {} {}, {} of each run", call_.symbol, a, i);
        return Finding{Gate::Error, wrong(pass, name, tensor, where, got, wanted, bound)};
      }
    }
  return std::nullopt;
}

std::optional<Finding> RepeatingTrial::compare_sum(const std::string& name, const SummedOutput& sum,
                                                   const kernel::Pass& pass, const Tensor& tensor,
                                                   std::span<const std::byte> bytes) const {
  const std::int64_t count = call_.sizes.at(call_.symbol), rest = count % call_.period;
  const double whole = sum.is_mean ? static_cast<double>(count) : 1;
  const double often =
      static_cast<double>(count / call_.period) * (sum.is_mean ? static_cast<double>(call_.period) : 1);
  const double once = sum.is_mean ? static_cast<double>(rest) : 1;
  const ir::Array& of_period = expected_.at(name);
  const ir::Array* of_rest = rest == 0 ? nullptr : &of_the_rest_.at(name);
  const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
  const auto bound_at = [](const ir::Array& array, std::size_t i) {
    return array.bounds.empty() ? 0 : array.bounds[i];
  };
  for (std::size_t i = 0; i < of_period.values.size(); ++i) {
    double wanted = often * of_period.values[i], magnitude = std::fabs(wanted), bound = often * bound_at(of_period, i);
    if (of_rest) {
      wanted += once * of_rest->values[i];
      magnitude += std::fabs(once * of_rest->values[i]);
      bound += once * bound_at(*of_rest, i);
    }
    const double got = read_element(bytes.data() + i * size, tensor.dtype);
    // The oracle has rounded its sums on their way, as the kernel has the whole one.
    bound = (sum.bound * bound + 2 * sum.roundings * magnitude) / whole + (1 + (often + once) / whole) * sum.smallest;
    wanted /= whole;
    if (magnitude / whole + bound > sum.largest) continue;  // it may overflow
    if (!agree(got, wanted, bound))
      return Finding{Gate::Error, wrong(pass, name, tensor, fmt::format("at {}", i), got, wanted, bound)};
  }
  return std::nullopt;
}

void RepeatingTrial::carry(const kernel::Pass& pass, const kernel::Facts& facts, const device::Arena& arena) {
  for (const Buffer& buffer : pass.buffers) {
    if (!wanted_later(*subject_, pass, buffer)) continue;
    const std::span<const std::byte> bytes = arena.bytes(buffer.name);
    carried_[buffer.name] = {facts.tensors.at(buffer.name), {bytes.begin(), bytes.end()}};
    carried_[buffer.name].first.address = 0;
  }
}

}  // namespace kw::verify
