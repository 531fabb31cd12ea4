#include "ir/random/draft.h"

#include <algorithm>
#include <cmath>

namespace kw::ir::random {
namespace {

constexpr int64_t kMostElements = 4096;
constexpr double kLarge = 64;          // a floating value beyond it is scaled down
constexpr double kLargeInteger = 1e6;  // an integer beyond it is taken modulo
const std::vector<DType> kFloatingTypes{DType::BF16, DType::F16, DType::F32, DType::F64};
const std::vector<DType> kIntegerTypes{DType::U8, DType::I8, DType::I16, DType::I32, DType::I64};

}  // namespace

std::pair<double, double> range_of(DType type) {
  switch (type) {
    case DType::Bool:
      return {0, 1};
    case DType::U8:
      return {0, 255};
    case DType::I8:
      return {-128, 127};
    case DType::I16:
      return {-32768, 32767};
    case DType::I32:
      return {-2147483648.0, 2147483647};
    default:
      return {-0x1p53, 0x1p53};
  }
}

DType bound_type(const Graph& graph, Type type) {
  std::vector<DType> defaults;
  for (const TypeParameter& parameter : graph.type_parameters) defaults.push_back(parameter.default_dtype);
  return type.bind(defaults);
}

Draft::Draft(uint64_t seed, const RandomGraphOptions& o) : dice(seed), options(o), seed_(seed) {
  b.graph().name = "random_" + std::to_string(seed);
  make_axes();
  make_inputs();
}

// Sizes are symbols; one axis is twice a symbol, so that it can be split.
void Draft::make_axes() {
  const char* names[] = {"batch", "rows", "cols", "heads", "depth", "taps"};
  int count = std::max(2, options.most_rank);
  for (int i = 0; i < count; ++i) {
    SymbolId symbol = b.symbol(names[i], dice.between(1, 5));
    bool doubled = i == 1;
    axes_.push_back(b.axis(names[i], doubled ? Size(2) * Size::symbol(symbol) : Size::symbol(symbol)));
  }
}

void Draft::make_inputs() {
  // Seeds that hold the same op have other types.
  uint64_t turn = seed_ + seed_ / static_cast<uint64_t>(kOpCount);
  std::vector<Type> types{b.type_parameter("T", kFloatingTypes[turn % kFloatingTypes.size()])};
  if (dice.chance(0.5)) types.push_back(b.type_parameter("W", dice.pick(kFloatingTypes)));
  types.push_back(Type(dice.pick(kFloatingTypes)));
  if (!options.differentiable && dice.chance(0.3)) types.push_back(dice.chance(0.5) ? DType::F8E4M3 : DType::F8E5M2);

  auto dims_of_rank = [this](int rank) {
    std::vector<AxisId> dims = axes_;
    for (size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[static_cast<size_t>(dice.below(int64_t(i)))]);
    dims.resize(std::min(dims.size(), static_cast<size_t>(rank)));
    return dims;
  };
  auto add = [&](std::string name, Type type, std::vector<AxisId> dims) {
    if (dims.size() < 5 && dice.chance(0.1)) dims.insert(dims.begin() + dice.below(int64_t(dims.size()) + 1), kUnit);
    auto [low, high] = type.floating()           ? std::pair{-2.0, 2.0}
                       : type.boolean()          ? std::pair{0.0, 1.0}
                       : type == Type(DType::U8) ? std::pair{0.0, 9.0}
                                                 : std::pair{-9.0, 9.0};
    Input input{std::move(name), InputKind::Tensor, type, std::move(dims), {}, type.floating(), kNoNode};
    return Drawn{b.input(std::move(input)), low, high};
  };
  // The first input has each rank in turn; the others broadcast against it in some way.
  int rank = static_cast<int>(seed_ % static_cast<uint64_t>(options.most_rank + 1));
  pool_.push_back(add("x", types[0], dims_of_rank(rank)));
  int others = static_cast<int>(dice.between(1, 3));
  const char* names[] = {"y", "z", "w"};
  for (int i = 0; i < others; ++i)
    pool_.push_back(
        add(names[i], dice.pick(types), dims_of_rank(static_cast<int>(dice.between(0, options.most_rank)))));
  indices_.push_back(add("index", Type(dice.chance(0.5) ? DType::I64 : DType::I32),
                         dims_of_rank(static_cast<int>(dice.between(1, 2)))));
  if (!options.differentiable) {
    DType count = kIntegerTypes[turn % kIntegerTypes.size()];
    pool_.push_back(add("count", Type(count), dims_of_rank(static_cast<int>(dice.between(0, 3)))));
    if (dice.chance(0.5))
      pool_.push_back(add("mask", Type(DType::Bool), dims_of_rank(static_cast<int>(dice.between(0, 3)))));
  }
  double scale = double(dice.between(1, 6)) / 4;
  Input scalar{"scale", InputKind::Scalar, Type(DType::Real), {}, Literal{scale}, false, kNoNode};
  pool_.push_back({b.input(std::move(scalar)), scale, scale});
}

std::optional<Drawn> Draft::draw(const Filter& filter) {
  std::vector<Drawn> candidates;
  for (const Drawn& value : pool_)
    if (filter(value)) candidates.push_back(value);
  if (candidates.empty()) return std::nullopt;
  // Recent values more often, so that graphs grow deep.
  size_t recent = std::min<size_t>(3, candidates.size());
  if (dice.chance(0.6)) return candidates[candidates.size() - 1 - static_cast<size_t>(dice.below(int64_t(recent)))];
  return dice.pick(candidates);
}

// A value of the type, or one that is cast to it.
std::optional<Drawn> Draft::of_type(DType type, const Filter& castable) {
  std::optional<Drawn> x = draw([&](const Drawn& v) { return bound_type(b.graph(), type_of(v)) == type; });
  if (x) return x;
  x = draw(castable);
  return x ? std::optional(cast(*x, type)) : x;
}

std::optional<Drawn> Draft::floating() {
  auto is_floating = [this](const Drawn& v) { return type_of(v).floating() && !type_of(v).weak(); };
  if (visit) return of_type(kFloatingTypes[static_cast<size_t>(*visit) % kFloatingTypes.size()], is_floating);
  return draw(is_floating);
}

std::optional<Drawn> Draft::integer() {
  auto is_integer = [this](const Drawn& v) { return type_of(v).integer() && !type_of(v).weak(); };
  if (!visit) return draw(is_integer);
  DType type = kIntegerTypes[static_cast<size_t>(*visit) / 3 % kIntegerTypes.size()];
  std::optional<Drawn> x = of_type(type, is_integer);
  if (!x) return x;
  auto [least, most] = range_of(type);
  if (x->low < least || x->high > most) std::tie(x->low, x->high) = std::pair{least, most};
  return x;
}

std::optional<Drawn> Draft::boolean() {
  return draw([this](const Drawn& v) { return type_of(v).boolean(); });
}

std::optional<Drawn> Draft::number() {
  bool prefers_integers = visit ? *visit % 3 == 2 : dice.chance(0.3);
  if (options.differentiable || !prefers_integers) return floating();
  std::optional<Drawn> x = integer();
  return x ? x : floating();
}

std::optional<Drawn> Draft::with_axis(std::optional<Drawn> (Draft::*kind)(), size_t rank) {
  std::optional<Drawn> x;
  for (int attempt = 0; attempt < 6; ++attempt)
    if (x = (this->*kind)(); x && axes_of(*x).size() >= rank) return x;
  if (!x) return x;
  std::vector<AxisId> axes = axes_of(*x), added;
  for (AxisId a : axes_)
    if (axes.size() < rank && std::find(axes.begin(), axes.end(), a) == axes.end()) {
      axes.push_back(a);
      added.push_back(a);
    }
  if (added.empty()) return x;
  if (!fits(axes)) return std::nullopt;
  return make(Op::Broadcast, {*x}, AxisList{added}, x->low, x->high);
}

bool Draft::fits(const std::vector<AxisId>& axes) const {
  int64_t elements = 1;
  for (AxisId a : axes) elements *= std::max<int64_t>(1, extent(a));
  return static_cast<int>(axes.size()) <= options.most_rank && elements <= kMostElements;
}

Drawn Draft::make(Op op, std::vector<Drawn> args, Attr attr, double low, double high) {
  int reductions = 0;
  std::vector<NodeId> nodes;
  for (const Drawn& arg : args) {
    reductions = std::max(reductions, arg.reductions);
    nodes.push_back(arg.node);
  }
  if (info(op).kind == OpKind::Reduction) ++reductions;
  Drawn made{b.make(op, std::move(nodes), std::move(attr)), low, high, reductions};
  // An integer that leaves its type wraps around.
  if (!type_of(made).floating()) {
    auto [least, most] = range_of(bound_type(b.graph(), type_of(made)));
    if (low < least || high > most) std::tie(made.low, made.high) = std::pair{least, most};
  }
  return made;
}

void Draft::keep(Drawn value) {
  Type type = type_of(value);
  if (type.floating() && !type.weak() && value.magnitude() > kLarge) {
    double scale = std::exp2(-std::ceil(std::log2(value.magnitude() / 8)));
    value = make(Op::Mul, {value, constant(scale)}, {}, value.low * scale, value.high * scale);
  }
  if (type.integer() && value.magnitude() > kLargeInteger) value = integer_within(value, 0, 100);
  pool_.push_back(value);
}

Drawn Draft::within(Drawn x, double low, double high) {
  if (low <= x.low && x.high <= high) return x;
  // Scaled to [-2, 2] first, so that the squashing keeps the values apart.
  if (x.magnitude() > 4) {
    double scale = std::exp2(-std::ceil(std::log2(x.magnitude() / 2)));
    x = make(Op::Mul, {x, constant(scale)}, {}, x.low * scale, x.high * scale);
  }
  Drawn unit = make(Op::Sigmoid, {x}, {}, 0, 1);
  Drawn spread = high - low == 1 ? unit : make(Op::Mul, {unit, constant(high - low)}, {}, 0, high - low);
  return low == 0 ? spread : make(Op::Add, {spread, constant(low)}, {}, low, high);
}

Drawn Draft::integer_within(Drawn x, int64_t low, int64_t high) {
  if (static_cast<double>(low) <= x.low && x.high <= static_cast<double>(high)) return x;
  Drawn rest = make(Op::Mod, {x, whole_number(high - low + 1)}, {}, 0, double(high - low));
  return low == 0 ? rest : make(Op::Add, {rest, whole_number(low)}, {}, double(low), double(high));
}

Drawn Draft::cast(Drawn x, Type type) {
  if (type_of(x) == type) return x;
  return make(Op::Cast, {x}, CastAttr{type}, x.low, x.high);
}

void Draft::make_promotable(Drawn& a, Drawn& c) {
  if (!promote(type_of(a), type_of(c)).known()) {
    a = cast(a, DType::F32);
    c = cast(c, DType::F32);
  }
  // A parameter promotes with fp8 symbolically, but the types that it stands for do not.
  auto is_fp8 = [this](const Drawn& v) {
    return type_of(v) == Type(DType::F8E4M3) || type_of(v) == Type(DType::F8E5M2);
  };
  if (is_fp8(a) && type_of(c).floating() && !type_of(c).weak() && !(type_of(a) == type_of(c))) a = cast(a, DType::F32);
  if (is_fp8(c) && type_of(a).floating() && !type_of(a).weak() && !(type_of(a) == type_of(c))) c = cast(c, DType::F32);
}

Drawn Draft::without_ties(Drawn x, AxisId axis) {
  if (!options.differentiable) return x;
  if (options.highest_tier < 3) {  // no ramp there: an input that varies along the axis does it
    for (const Input& input : b.graph().inputs) {
      bool varies = std::find(input.dims.begin(), input.dims.end(), axis) != input.dims.end();
      std::vector<AxisId> axes = axes_of(x);
      axes.insert(axes.end(), input.dims.begin(), input.dims.end());
      std::sort(axes.begin(), axes.end());
      axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
      std::erase(axes, kUnit);
      if (varies && input.type.floating() && fits(axes))
        return make(Op::Add, {x, {input.node, -2, 2}}, {}, x.low - 2, x.high + 2);
    }
    return x;
  }
  // A ramp whose steps no other value shares, in a type that can tell them apart.
  Drawn ramp{b.make(Op::Iota, {}, AxisList{{axis}}), 0, double(extent(axis))};
  ramp = make(Op::Mul, {ramp, constant(0.0137)}, {}, 0, 0.0137 * double(extent(axis)));
  return make(Op::Add, {cast(x, DType::F64), cast(ramp, DType::F64)}, {}, x.low, x.high + ramp.high);
}

Drawn Draft::index_into(AxisId axis) {
  Drawn index = indices_[0];
  Drawn size{b.size_of(this->size(axis)), double(extent(axis)), double(extent(axis))};
  return make(Op::Mod, {index, size}, {}, 0, double(extent(axis) - 1));
}

// 0 ≤ … ≤ rows, ascending, with empty runs among them.
Drawn Draft::offsets_of(AxisId rows, AxisId offsets, AxisId segments) {
  Drawn at{b.make(Op::Iota, {}, AxisList{{offsets}}), 0, double(extent(offsets) - 1)};
  double end = double(extent(rows));
  Drawn row_count{b.size_of(size(rows)), end, end}, last{b.size_of(size(segments)), 0, 9};
  Drawn product = make(Op::Mul, {at, whole_number(dice.between(3, 9))}, {}, 0, 100);
  Drawn modulus = make(Op::Add, {row_count, whole_number(1)}, {}, end + 1, end + 1);
  Drawn scattered = make(Op::Mod, {product, modulus}, {}, 0, end);
  Drawn sorted = make(Op::Sort, {scattered}, SortAttr{offsets, false}, 0, end);
  Drawn is_last = make(Op::Eq, {at, last}, {}, 0, 1);
  return make(Op::Select, {is_last, row_count, sorted}, {}, 0, end);
}

Graph Draft::finish() {
  // What nothing uses is an output; a number that is left over is not worth one.
  std::vector<bool> used(b.graph().nodes.size());
  for (const Node& node : b.graph().nodes)
    for (NodeId arg : node.args) used[static_cast<size_t>(arg)] = true;
  int count = 0;
  for (const Drawn& value : pool_) {
    if (used[static_cast<size_t>(value.node)] || b[value.node].op == Op::Input || type_of(value).weak()) continue;
    used[static_cast<size_t>(value.node)] = true;
    std::vector<AxisId> dims = axes_of(value);
    for (size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[static_cast<size_t>(dice.below(int64_t(i)))]);
    if (dice.chance(0.05)) dims.insert(dims.begin(), kUnit);
    b.output({"out" + std::to_string(++count), value.node, std::move(dims), std::nullopt});
  }
  return std::move(b).finish();
}

}  // namespace kw::ir::random
