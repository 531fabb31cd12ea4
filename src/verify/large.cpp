#include "verify/large.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "kernel/layout.h"
#include "verify/cases.h"
#include "verify/elements.h"
#include "verify/shapes.h"

namespace kw::verify {
namespace {

using ir::AxisId;
using ir::NodeId;
using kernel::Buffer;
using kernel::Role;
using kernel::Tensor;

constexpr std::int64_t kPeriods[] = {8191, 1009, 127, 31, 7, 3};  // primes: no power of two is a multiple
constexpr std::int64_t kMostInPeriod = 120'000;                   // elements that the interpreter is given
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

// Nodes whose value at index i of the axis depends on the inputs at i alone (or not on the axis at all).
std::vector<bool> repeating(const ir::Graph& graph, ir::SymbolId symbol) {
  std::vector<bool> good(graph.nodes.size(), false);
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.nodes[id];
    bool fine = count_along(graph, node.axes, symbol) <= 1;
    for (const AxisId axis : node.axes) {
      const ir::Size& size = graph.axis(axis).size;
      fine &= size.as_symbol() == symbol || !mentions(size, symbol);
    }
    int along = 0;
    for (const NodeId arg : node.args) {
      fine &= good[static_cast<std::size_t>(arg)];
      along = std::max(along, count_along(graph, graph[arg].axes, symbol));
    }
    const bool pointwise = ir::info(node.op).kind == ir::OpKind::Pointwise;
    const bool keeps = pointwise || node.op == ir::Op::Rename || node.op == ir::Op::Broadcast || node.args.empty();
    // Any other op may not touch the axis: it is there before and after, or not at all.
    if (!keeps) fine &= along == count_along(graph, node.axes, symbol);
    if (node.op == ir::Op::Iota || node.op == ir::Op::Random) fine &= count_along(graph, node.axes, symbol) == 0;
    if (const auto* axes = std::get_if<ir::AxisList>(&node.attr); axes != nullptr && !keeps)
      fine &= count_along(graph, axes->axes, symbol) == 0;
    if (const auto* scan = std::get_if<ir::ScanAttr>(&node.attr)) fine &= !is_along(graph, scan->axis, symbol);
    if (const auto* sort = std::get_if<ir::SortAttr>(&node.attr)) fine &= !is_along(graph, sort->axis, symbol);
    if (const auto* combine = std::get_if<ir::CombineAttr>(&node.attr)) fine &= !is_along(graph, combine->axis, symbol);
    if (const auto* slice = std::get_if<ir::SliceAttr>(&node.attr))
      fine &= !is_along(graph, slice->from, symbol) && !is_along(graph, slice->to, symbol);
    good[id] = fine;
  }
  return good;
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

std::int64_t product(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
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

// Something that a pass wrote and a later one takes: it must be carried there.
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

class LargeTrial {
 public:
  LargeTrial(const Subject& subject, const LargeCall& call, const kernel::TypeBinding& types,
             const device::CompiledSet& kernels, device::Device& device)
      : subject_(subject), call_(call), types_(types), kernels_(kernels), device_(device) {
    const ir::Graph& graph = subject.math();
    for (std::size_t s = 0; s < graph.symbols.size(); ++s)
      if (graph.symbols[s].name == call.symbol) symbol_ = static_cast<ir::SymbolId>(s);
  }

  Result<LargeOutcome> run(std::uint64_t seed) {
    Case one;
    one.types = types_;
    one.sizes = call_.sizes;
    one.sizes[call_.symbol] = call_.period;
    one.seed = seed;
    KW_TRY(values_, values_of(subject_, one));
    Subject oracle = subject_;
    oracle.forward = with_large_sizes(subject_.forward, symbol_, call_.sizes);
    if (subject_.joint) oracle.joint = with_large_sizes(*subject_.joint, symbol_, call_.sizes);
    KW_TRY(expected_, expect(oracle, types_, values_));
    for (const kernel::Pass& pass : subject_.manifest.passes) {
      KW_TRY(const bool go_on, run_pass(pass));
      if (!go_on) break;
    }
    return std::move(outcome_);
  }

 private:
  // The dimension along which a tensor of the math repeats; -1 where it does not.
  int dimension_of(const std::string& tensor) const {
    const ir::Graph& graph = subject_.math();
    if (const ir::Input* input = graph.find_input(tensor)) return dimension_along(graph, input->dims, symbol_);
    for (const ir::Output& output : graph.outputs)
      if (output.name == tensor) return dimension_along(graph, output.dims, symbol_);
    return -1;
  }

  Result<bool> run_pass(const kernel::Pass& pass) {
    kernel::Facts facts;
    facts.machine = device_.machine();
    for (const Buffer& buffer : pass.buffers) {
      if (buffer.role != Role::Input) continue;
      Tensor tensor;
      const std::string name = drawn_as(subject_, pass, buffer);
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
    KW_TRY(facts.sizes, kernel::bind_sizes(subject_.manifest, pass, facts.tensors, call_.sizes));
    for (const kernel::Scalar& scalar : subject_.manifest.scalars) {
      KW_TRY(facts.scalars[scalar.name], default_of(subject_, scalar));
    }
    device::Arena arena;
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
    KW_CHECK(arena.allocate());
    facts.tensors = arena.tensors();
    for (const Buffer& buffer : pass.buffers) {
      if (buffer.role == Role::Input)
        fill(pass, buffer, arena, facts);
      else if (buffer.alias.empty())
        arena.poison(buffer.name, kPoison);
    }
    const auto program = device_.prepare(pass, kernels_, facts);
    if (!program && program.error().kind == ErrorKind::GateFailed) {
      outcome_.findings.push_back({Gate::Builds, program.error().message});
      return false;
    }
    if (!program) {
      outcome_.refused = program.error().message;
      return false;
    }
    for (const device::Call& call : program->calls)
      if (const auto* kernel = std::get_if<device::KernelCall>(&call)) outcome_.called.insert(kernel->kernel);
    device::RunOptions options;
    options.from_outside = subject_.from_outside;
    KW_TRY(const device::RunOutcome ran, device_.run({*program}, arena, options));
    if (ran.fault) {
      outcome_.findings.push_back(finding_of(*ran.fault, pass.name));
      return false;
    }
    bool good = true;
    for (const Buffer& buffer : pass.buffers) {
      const Tensor& tensor = facts.tensors.at(buffer.name);
      const auto bytes = std::as_const(arena).bytes(buffer.name);
      if (buffer.role == Role::Output) good &= compare(pass, buffer, tensor, bytes);
      if (!wanted_later(subject_, pass, buffer)) continue;
      carried_[buffer.name] = {tensor, {bytes.begin(), bytes.end()}};
      carried_[buffer.name].first.address = 0;
    }
    return good;
  }

  void fill(const kernel::Pass& pass, const Buffer& buffer, device::Arena& arena, const kernel::Facts& facts) {
    const std::span<std::byte> bytes = arena.bytes(buffer.name);
    const std::string name = drawn_as(subject_, pass, buffer);
    const auto given = values_.inputs.find(name);
    if (given == values_.inputs.end()) {
      const auto& carried = carried_.at(buffer.name).second;
      std::copy(carried.begin(), carried.end(), bytes.begin());
      return;
    }
    const Tensor& tensor = facts.tensors.at(buffer.name);
    const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
    std::vector<std::byte> period(given->second.values.size() * size);
    for (std::size_t i = 0; i < given->second.values.size(); ++i)
      write_element(period.data() + i * size, tensor.dtype, given->second.values[i]);
    const int dimension = dimension_of(name);
    if (dimension < 0) {
      std::copy(period.begin(), period.end(), bytes.begin());
      return;
    }
    const Runs runs = runs_of(tensor.shape, dimension);
    const std::size_t run = static_cast<std::size_t>(runs.inner) * size;
    for (std::int64_t o = 0; o < runs.outer; ++o)
      for (std::int64_t a = 0; a < runs.along; ++a)
        std::memcpy(bytes.data() + static_cast<std::size_t>(o * runs.along + a) * run,
                    period.data() + static_cast<std::size_t>(o * call_.period + a % call_.period) * run, run);
  }

  bool compare(const kernel::Pass& pass, const Buffer& buffer, const Tensor& tensor, std::span<const std::byte> bytes) {
    const std::string name = tensor_of(subject_, pass, buffer);
    if (std::find(call_.outputs.begin(), call_.outputs.end(), name) == call_.outputs.end()) return true;
    if (!kernel::is_dense(tensor)) return true;
    const ir::Array& oracle = expected_.at(name);
    const Runs runs = runs_of(tensor.shape, dimension_of(name));
    const auto size = static_cast<std::size_t>(ir::info(tensor.dtype).bytes);
    const std::size_t run = static_cast<std::size_t>(runs.inner) * size;
    outcome_.elements += product(tensor.shape);
    for (std::int64_t o = 0; o < runs.outer; ++o)
      for (std::int64_t a = 0; a < runs.along; ++a) {
        const std::byte* row = bytes.data() + static_cast<std::size_t>(o * runs.along + a) * run;
        const std::byte* first = bytes.data() + static_cast<std::size_t>(o * runs.along + a % call_.period) * run;
        if (a >= call_.period && std::memcmp(row, first, run) == 0) continue;  // as in the first period
        for (std::int64_t i = 0; i < runs.inner; ++i) {
          const auto at = static_cast<std::size_t>((o * call_.period + a % call_.period) * runs.inner + i);
          const double got = read_element(row + static_cast<std::size_t>(i) * size, tensor.dtype);
          const double wanted = oracle.values[at], bound = oracle.bounds.empty() ? 0 : oracle.bounds[at];
          const bool same = got == wanted || (std::isnan(got) && std::isnan(wanted));
          if (same || std::fabs(got - wanted) <= bound || std::isinf(bound)) continue;
          outcome_.findings.push_back(
              {Gate::Error, fmt::format("{}: {} of {} elements: at {} {}, {} of each run: got {}, expected {} ± {}",
                                        pass.name, name, product(tensor.shape), call_.symbol, a, i, number_text(got),
                                        number_text(wanted), number_text(bound))});
          return false;
        }
      }
    return true;
  }

  const Subject& subject_;
  const LargeCall& call_;
  const kernel::TypeBinding& types_;
  const device::CompiledSet& kernels_;
  device::Device& device_;
  ir::SymbolId symbol_ = 0;
  ir::Environment values_;
  Expected expected_;
  std::map<std::string, std::pair<Tensor, std::vector<std::byte>>> carried_;
  LargeOutcome outcome_;
};

}  // namespace

std::optional<LargeCall> large_call(const Subject& subject, const kernel::TypeBinding& types, const LargeWish& wish) {
  const ir::Graph graph = ir::bind_types(subject.math(), types);
  std::optional<LargeCall> best;
  for (std::size_t s = 0; s < graph.symbols.size(); ++s) {
    const auto symbol = static_cast<ir::SymbolId>(s);
    const std::vector<bool> good = repeating(graph, symbol);
    LargeCall call;
    call.symbol = graph.symbols[s].name;
    kernel::Sizes own;
    for (const ir::Symbol& other : graph.symbols) own[other.name] = other.hint.value_or(1);
    own[call.symbol] = 1;
    const auto size_of = [&](AxisId axis) {
      return graph.axis(axis)
          .size
          .evaluate(
              [&](ir::SymbolId id) { return std::optional(own.at(graph.symbols[static_cast<std::size_t>(id)].name)); })
          .value_or(1);
    };
    std::int64_t widest = 0, longest = 1;  // bytes and elements of one slice of the largest output
    std::int64_t most = 1;                 // elements of the largest value's
    for (const ir::Node& node : graph.nodes) {
      std::int64_t count = 1;
      for (const AxisId axis : node.axes) count *= size_of(axis);
      most = std::max(most, count);
    }
    for (const ir::Output& output : graph.outputs) {
      if (!good[static_cast<std::size_t>(output.node)] || dimension_along(graph, output.dims, symbol) < 0) continue;
      std::int64_t slice = 1;
      for (const AxisId dim : output.dims) slice *= dim == ir::kUnit ? 1 : size_of(dim);
      longest = std::max(longest, slice);
      widest = std::max(widest, slice * ir::info(graph[output.node].type.floor()).bytes);
      call.outputs.push_back(output.name);
    }
    if (call.outputs.empty()) continue;
    for (const std::int64_t period : kPeriods)
      if (period * most <= kMostInPeriod && call.period == 0) call.period = period;
    if (call.period == 0) continue;
    call.sizes = own;
    call.sizes[call.symbol] = std::max({wish.bytes / widest + 1, wish.elements / longest + 1, 2 * call.period + 1});
    kernel::Sizes one = own;
    one[call.symbol] = call.period;
    if (call.sizes.at(call.symbol) * most > wish.most_elements) continue;
    if (!admits(subject, call.sizes) || !admits(subject, one)) continue;
    if (!best || call.outputs.size() > best->outputs.size()) best = std::move(call);
  }
  return best;
}

Result<std::int64_t> bytes_of(const Subject& subject, const LargeCall& call, const kernel::TypeBinding& types,
                              const kernel::Machine& machine) {
  std::int64_t most = 0, kept = 0;
  for (const kernel::Pass& pass : subject.manifest.passes) {
    kernel::Facts facts;
    facts.machine = machine;
    facts.sizes = call.sizes;
    std::int64_t all = 0;
    for (const Buffer& buffer : pass.buffers) {
      if (!buffer.alias.empty()) continue;
      KW_TRY(const Tensor tensor, kernel::describe(buffer, types, facts));
      facts.tensors[buffer.name] = tensor;
      const std::int64_t bytes = product(tensor.shape) * ir::info(tensor.dtype).bytes;
      all += bytes;
      if (wanted_later(subject, pass, buffer)) kept += bytes;
    }
    most = std::max(most, all);
  }
  return most + kept;
}

std::int64_t available_memory() {
  std::int64_t least = 0;
  if (const auto text = read_text("/proc/meminfo"))
    for (const std::string& line : split_lines(*text))
      if (line.starts_with("MemAvailable:"))
        least = 1024 * parse_integer(trim(replace_all(line.substr(13), "kB", ""))).value_or(0);
  // A container may have less than its machine.
  const auto limit = read_text("/sys/fs/cgroup/memory.max"), used = read_text("/sys/fs/cgroup/memory.current");
  if (limit && used) {
    const auto most = parse_integer(trim(*limit)), now = parse_integer(trim(*used));
    if (most && now) least = std::min(least, *most - *now);
  }
  return least;
}

Result<LargeOutcome> run_large(const Subject& subject, const LargeCall& call, const kernel::TypeBinding& types,
                               const device::CompiledSet& kernels, device::Device& device, std::uint64_t seed) {
  return LargeTrial(subject, call, types, kernels, device).run(seed);
}

}  // namespace kw::verify
