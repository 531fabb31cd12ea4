#include "verify/cases.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "verify/brink.h"
#include "verify/shapes.h"

namespace kw::verify {
namespace {

using ir::DType;
using kernel::Sizes;

// The largest value that an index tensor may hold, plus one; 0 where the input is no index.
std::int64_t index_limit(const ir::Graph& graph, const ir::Input& input, const Sizes& sizes) {
  std::set<ir::NodeId> derived = {input.node};
  std::int64_t limit = 0;
  for (std::size_t id = 0; id < graph.nodes.size(); ++id) {
    const ir::Node& node = graph.nodes[id];
    const bool moved = node.op == ir::Op::Cast || node.op == ir::Op::Rename || node.op == ir::Op::Broadcast ||
                       node.op == ir::Op::Select || node.op == ir::Op::StopGradient || node.op == ir::Op::Split ||
                       node.op == ir::Op::Merge || node.op == ir::Op::Slice || node.op == ir::Op::Max ||
                       node.op == ir::Op::Min;
    const bool from = std::any_of(node.args.begin(), node.args.end(), [&](auto a) { return derived.contains(a); });
    if (moved && from && !node.type.floating() && !node.type.boolean()) derived.insert(static_cast<ir::NodeId>(id));
    const bool indexes = node.op == ir::Op::Gather || node.op == ir::Op::ScatterAdd || node.op == ir::Op::ScatterSet;
    if (!indexes || node.args.size() < 2 || !derived.contains(node.args[1])) continue;
    const auto size = value_of(graph, graph.axis(node.as<ir::AxisList>().axes[0]).size, sizes);
    if (size) limit = limit == 0 ? *size : std::min(limit, *size);
  }
  return limit;
}

DType dtype_of(const ir::Graph& graph, ir::Type type, const kernel::TypeBinding& types) {
  std::vector<DType> bindings;
  for (const ir::TypeParameter& parameter : graph.type_parameters) {
    const auto bound = types.find(parameter.name);
    bindings.push_back(bound == types.end() ? parameter.default_dtype : bound->second);
  }
  return type.bind(bindings);
}

constexpr double kSmallScalar = 0.01;  // below it, such as an eps

}  // namespace

bool is_real_scalar(const ir::Input& input) {
  return input.kind == ir::InputKind::Scalar && input.type.floating() && input.default_value;
}

bool is_small_scalar(const ir::Input& input) {
  return is_real_scalar(input) && std::fabs(input.default_value->number()) < kSmallScalar;
}

std::string Case::text() const {
  std::vector<std::string> parts;
  for (const auto& [name, size] : sizes) parts.push_back(name + "=" + std::to_string(size));
  std::string out = join(parts, " ");
  if (!types.empty()) out += ", " + kernel::text(types);
  out += ", " + std::string(name_of(layout)) + ", " + std::string(name_of(values)) + " values";
  if (cotangents != Values::Ordinary) out += ", " + std::string(name_of(cotangents)) + " cotangents";
  if (scalars != Scalars::AtDefault) out += ", other scalars";
  if (scalars == Scalars::OtherAndFelt) out += ", small ones felt";
  if (scalars == Scalars::Opposite) out += " of the other sign";
  if (scalars == Scalars::Beyond) out += " beyond one";
  if (many_blocks) out += ", many blocks";
  if (brink) out += ", at the brink of value " + std::to_string(*brink);
  return out;
}

std::vector<kernel::TypeBinding> type_mixtures(const Subject& subject, bool only_own_types) {
  std::vector<kernel::TypeBinding> mixtures;
  const auto add = [&](kernel::TypeBinding types) {
    for (const auto& [name, dtype] : types) {
      const auto allowed = subject.manifest.types.find(name);
      if (allowed == subject.manifest.types.end()) continue;
      const std::string text(ir::info(dtype).name);
      if (std::find(allowed->second.begin(), allowed->second.end(), text) == allowed->second.end()) return;
    }
    if (std::find(mixtures.begin(), mixtures.end(), types) == mixtures.end()) mixtures.push_back(std::move(types));
  };
  kernel::TypeBinding own;
  const auto& parameters = subject.forward.type_parameters;
  for (const ir::TypeParameter& parameter : parameters) own[parameter.name] = parameter.default_dtype;
  add(own);
  if (mixtures.empty())  // a kernel for other types than the user's own: the first that it names
    for (auto& [name, dtype] : own) {
      const auto allowed = subject.manifest.types.find(name);
      if (allowed != subject.manifest.types.end() && !allowed->second.empty())
        dtype = ir::dtype_from_name(allowed->second.front()).value_or(dtype);
    }
  add(own);
  if (only_own_types || parameters.empty()) return mixtures;
  for (const DType all : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
    kernel::TypeBinding types;
    for (const ir::TypeParameter& parameter : parameters) types[parameter.name] = all;
    add(std::move(types));
  }
  if (parameters.size() < 2) return mixtures;
  // Activations narrow and weights wide, and the other way round, each of the narrow types in one of the two.
  for (const auto& [first, others] : {std::pair(DType::BF16, DType::F32), std::pair(DType::F32, DType::F16)}) {
    kernel::TypeBinding types;
    for (const ir::TypeParameter& parameter : parameters)
      types[parameter.name] = parameter.name == "T" ? first : others;
    add(std::move(types));
  }
  return mixtures;
}

namespace {

// The numbers that the math names, and zero; and numbers a little beyond, for which another threshold would hold. Where
// it takes exponentials, what becomes these, too.
std::vector<double> landmarks_of(const ir::Graph& graph) {
  std::set<double> numbers = {0};
  for (const ir::Node& node : graph.nodes)
    if (node.op == ir::Op::Const) numbers.insert(std::fabs(node.as<ir::Literal>().number()));
  for (const ir::Input& input : graph.inputs)
    if (input.kind == ir::InputKind::Scalar && input.default_value)
      numbers.insert(std::fabs(input.default_value->number()));
  std::erase_if(numbers, [](double number) { return !std::isfinite(number); });
  constexpr double kBeyond = 1.25;
  std::set<double> all = numbers;
  for (const double number : numbers) all.insert(number * kBeyond);
  const bool has_exponentials =
      std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const ir::Node& node) { return node.op == ir::Op::Exp; });
  if (has_exponentials)
    for (const double number : std::set<double>(all))
      if (number > 0) all.insert(std::fabs(std::log(number)));
  return {all.begin(), all.end()};
}

// How many numbers a product has that an element of a tensor goes into, at most; products of products have more.
std::map<ir::NodeId, std::int64_t> factors_of(const ir::Graph& graph, const Sizes& sizes) {
  std::map<ir::NodeId, std::int64_t> factors;
  for (auto id = static_cast<ir::NodeId>(graph.nodes.size()); id-- > 0;) {
    const ir::Node& node = graph[id];
    std::vector<ir::AxisId> axes;
    if (node.op == ir::Op::Prod) axes = node.as<ir::AxisList>().axes;
    if (node.op == ir::Op::CumProd) axes = {node.as<ir::ScanAttr>().axis};
    std::int64_t terms = axes.empty() ? 0 : 1;
    for (const ir::AxisId axis : axes) terms *= value_of(graph, graph.axis(axis).size, sizes).value_or(1);
    if (const auto after = factors.find(id); after != factors.end())
      terms = std::max<std::int64_t>(1, terms) * after->second;
    if (terms > 0)
      for (const ir::NodeId arg : node.args) factors[arg] = std::max(factors[arg], terms);
  }
  return factors;
}

// Of a scalar's default: no power of two, nor what it lacks to one.
double other_than(double own, Scalars scalars) {
  const bool is_small = std::fabs(own) < kSmallScalar;
  switch (scalars) {
    case Scalars::AtDefault:
      return own;
    case Scalars::Other:
      return own == 0 ? 0.3 : own * 1.3;
    case Scalars::OtherAndFelt:
      return is_small ? 0.3 : own * 1.3;
    case Scalars::Opposite:
      return own == 0 ? -0.3 : own * -1.7;
    case Scalars::Beyond:
      return std::fabs(own) < 1 ? std::copysign(2.3, own) : own * 3.1;
  }
  return own;
}

}  // namespace

Result<ir::Environment> values_of(const Subject& subject, const Case& c, int turn) {
  const ir::Graph& graph = subject.math();
  ir::Environment values;
  values.sizes = c.sizes;
  const std::vector<double> landmarks =
      c.values == Values::Landmarks ? landmarks_of(subject.forward) : std::vector<double>{};
  // A product of so many ordinary numbers leaves any range in some order, and then nothing is known of it.
  constexpr std::int64_t kFewFactors = 64;
  const std::map<ir::NodeId, std::int64_t> factors = factors_of(graph, c.sizes);
  std::size_t rank = 0;  // of the tensors that have the most dimensions
  for (const ir::Input& input : graph.inputs) rank = std::max(rank, input.dims.size());
  std::uint64_t seed = Hash64().add(c.seed).add(static_cast<std::uint64_t>(turn)).value();
  for (const ir::Input& input : graph.inputs) {
    ++seed;
    if (input.kind == ir::InputKind::Scalar) {
      if (c.scalars == Scalars::AtDefault || !is_real_scalar(input)) continue;
      const double own = input.default_value->number();
      values.inputs[input.name] = ir::Array::scalar(other_than(own, c.scalars));
      continue;
    }
    const auto shape = shape_of(graph, input.dims, c.sizes);
    if (!shape) return bad_input("no size is known for a dimension of " + input.name);
    const DType dtype = dtype_of(graph, input.type, c.types);
    // At the brink, cotangents are what leads there.
    const bool cotangent = subject.forward.find_input(input.name) == nullptr;
    Values kind = cotangent && !c.brink ? c.cotangents : c.values;
    if (kind == Values::Masked && shape->size() < rank) kind = Values::Ordinary;
    const std::int64_t row = shape->empty() ? 1 : shape->back();
    const auto multiplied = factors.find(input.node);
    const bool by_many = multiplied != factors.end() && multiplied->second > kFewFactors;
    if (kind == Values::Ordinary && by_many) kind = Values::Factors;
    ValueSource source(kind, dtype, seed, landmarks, kind == Values::Factors ? multiplied->second : row, c.root);
    ir::Array array{*shape, {}};
    const std::int64_t count = count_of(*shape);
    const std::int64_t slices =
        c.layout == Layout::Expanded && !shape->empty() ? std::max<std::int64_t>(1, (*shape)[0]) : 1;
    const std::int64_t limit = ir::is_integer(dtype) ? index_limit(graph, input, c.sizes) : 0;
    array.values.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      if (slices > 1 && i >= count / slices) {
        array.values.push_back(array.values[static_cast<std::size_t>(i % (count / slices))]);
        continue;
      }
      if (c.layout == Layout::Repeated && i % row != 0) {
        array.values.push_back(array.values.back());
        continue;
      }
      double value = source.next();
      if (c.landmark >= 0 && count == 1 && !cotangent && ir::is_floating(dtype))
        value = ir::round_to(dtype, landmarks[static_cast<std::size_t>(c.landmark) % landmarks.size()]);
      if (limit > 0) value = static_cast<double>((std::abs(static_cast<std::int64_t>(value)) * 7919 + i * 31) % limit);
      array.values.push_back(value);
    }
    values.inputs[input.name] = std::move(array);
  }
  if (c.brink) KW_CHECK(to_the_brink(subject, c.types, *c.brink, values));
  return values;
}

ir::Environment part_for(const ir::Graph& graph, const ir::Environment& call) {
  ir::Environment own;
  for (const ir::Symbol& symbol : graph.symbols)
    if (const auto found = call.sizes.find(symbol.name); found != call.sizes.end()) own.sizes.insert(*found);
  for (const ir::Input& input : graph.inputs)
    if (const auto found = call.inputs.find(input.name); found != call.inputs.end()) own.inputs.insert(*found);
  return own;
}

}  // namespace kw::verify
