#include "verify/cases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "verify/brink.h"
#include "verify/reach.h"

namespace kw::verify {
namespace {

using ir::DType;
using kernel::Sizes;

std::optional<std::int64_t> value_of(const ir::Graph& graph, const ir::Size& size, const Sizes& sizes) {
  return size.evaluate([&](ir::SymbolId symbol) -> std::optional<std::int64_t> {
    const auto found = sizes.find(graph.symbols[static_cast<std::size_t>(symbol)].name);
    return found == sizes.end() ? std::nullopt : std::optional(found->second);
  });
}

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

Sizes own_sizes(const ir::Graph& graph) {
  Sizes own;
  for (const ir::Symbol& symbol : graph.symbols) own[symbol.name] = symbol.hint.value_or(2);
  return own;
}

DType dtype_of(const ir::Graph& graph, ir::Type type, const kernel::TypeBinding& types) {
  std::vector<DType> bindings;
  for (const ir::TypeParameter& parameter : graph.type_parameters) {
    const auto bound = types.find(parameter.name);
    bindings.push_back(bound == types.end() ? parameter.default_dtype : bound->second);
  }
  return type.bind(bindings);
}

}  // namespace

std::string Case::text() const {
  std::vector<std::string> parts;
  for (const auto& [name, size] : sizes) parts.push_back(name + "=" + std::to_string(size));
  std::string out = join(parts, " ");
  if (!types.empty()) out += ", " + kernel::text(types);
  out += ", " + std::string(name_of(layout)) + ", " + std::string(name_of(values)) + " values";
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
  constexpr std::int64_t kRows[][3] = {{1, 1, 1},   {3, 7, 13}, {2, 17, 129}, {5, 3, 1025}, {2, 2, 4099},
                                       {4, 8, 256}, {7, 1, 2},  {1, 2053, 5}, {1, 1, 33},   {0, 8, 8},
                                       {3, 0, 5},   {5, 3, 0},  {6, 24, 512}, {16, 32, 64}, {3, 191, 16}};
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

namespace {

int narrowest_bytes(const kernel::TypeBinding& types) {
  int bytes = ir::info(DType::F32).bytes;
  for (const auto& [name, dtype] : types) bytes = std::min(bytes, ir::info(dtype).bytes);
  return bytes;
}

// The mixture whose narrowest type is the widest, f64 aside; the first of them.
const kernel::TypeBinding& most_exact(const std::vector<kernel::TypeBinding>& mixtures) {
  return *std::max_element(mixtures.begin(), mixtures.end(),
                           [](const auto& a, const auto& b) { return narrowest_bytes(a) < narrowest_bytes(b); });
}

constexpr double kSmallScalar = 0.01;  // below it, such as an eps

bool is_real_scalar(const ir::Input& input) {
  return input.kind == ir::InputKind::Scalar && input.type.floating() && input.default_value;
}

bool is_small_scalar(const ir::Input& input) {
  return is_real_scalar(input) && std::fabs(input.default_value->number()) < kSmallScalar;
}

bool has_real_scalar(const Subject& subject) {
  return std::any_of(subject.forward.inputs.begin(), subject.forward.inputs.end(), is_real_scalar);
}

bool has_small_scalar(const Subject& subject) {
  return std::any_of(subject.forward.inputs.begin(), subject.forward.inputs.end(), is_small_scalar);
}

bool has_tensor_of_one(const Subject& subject, const Sizes& sizes) {
  const std::vector<ir::Input>& inputs = subject.forward.inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](const ir::Input& input) {
    const auto shape = shape_of(subject.forward, input.dims, sizes);
    return input.kind != ir::InputKind::Scalar && input.type.floating() && shape && count_of(*shape) == 1;
  });
}

}  // namespace

std::vector<Case> plan_cases(const Subject& subject, const CaseOptions& options) {
  std::vector<Sizes> shapes = shapes_to_try(subject, options.most_elements);
  std::vector<Case> cases;
  const auto add = [&](Case c) {
    c.seed = Hash64().add(options.seed).add(static_cast<std::uint64_t>(cases.size())).value();
    c.at_start = cases.size() % 2 == 1;
    cases.push_back(std::move(c));
  };
  const auto size = [&](const Sizes& s) { return most_elements(subject, s); };
  // For layouts and value ranges: a small shape, and one near four thousand elements. In both, no size stands in for
  // another, nor the product of two for their sum, where there is such a shape.
  const std::vector<std::string> names = symbols_of_shapes(subject);
  const auto tells_apart = [&](const Sizes& s) {
    std::set<std::int64_t> values;
    for (const std::string& name : names) values.insert(s.at(name));
    return values.size() == names.size() && !values.contains(1);
  };
  std::vector<Sizes> few;
  for (const std::int64_t target : {100, 4000}) {
    const Sizes* best = nullptr;
    for (const Sizes& shape : shapes) {
      const auto distance = [&](const Sizes& s) {
        return std::abs(std::log2(1.0 + static_cast<double>(size(s))) - std::log2(1.0 + static_cast<double>(target))) +
               (tells_apart(s) ? 0 : 8);
      };
      if (size(shape) > 0 && (best == nullptr || distance(shape) < distance(*best))) best = &shape;
    }
    if (best != nullptr && std::find(few.begin(), few.end(), *best) == few.end()) few.push_back(*best);
  }
  const std::vector<kernel::TypeBinding> mixtures = type_mixtures(subject, options.only_own_types);
  if (mixtures.empty()) return cases;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    add({.types = mixtures[0], .sizes = shapes[i], .fresh = i == 1 || i == 3});
  // A single row lies densely however far the next one would be: no size can be read off its stride.
  for (const Sizes& shape : shapes_that_reach(subject, shapes, mixtures[0], options.machine, options.most_to_reach)) {
    const bool one_row = size(shape) == last_size(subject, shape);
    add({.types = mixtures[0], .sizes = shape, .layout = one_row ? Layout::Gaps : Layout::Dense});
  }
  for (const Sizes& shape : few)
    for (const Layout layout : kLayouts)
      if (layout != Layout::Dense) add({.types = mixtures[0], .sizes = shape, .layout = layout});
  // A kernel may be reached by plain tensors in one shape, and by others in another.
  for (const Layout layout : {Layout::Gaps, Layout::Misaligned})
    for (const Sizes& shape :
         shapes_that_reach(subject, few, mixtures[0], options.machine, options.most_to_reach, layout))
      add({.types = mixtures[0], .sizes = shape, .layout = layout});
  // Rows longer than a block, and enough elements for every thread, where they do not lie densely.
  const Sizes* longest = nullptr;
  const Sizes* largest = nullptr;
  const Sizes* tallest = nullptr;     // the most rows
  const Sizes* by_vectors = nullptr;  // rows that vectors serve, for which a kernel may be chosen that trusts a stride
  const auto row = [&](const Sizes& s) { return last_size(subject, s); };
  for (const Sizes& shape : shapes) {
    if (size(shape) > 1 && size(shape) > row(shape) && (longest == nullptr || row(shape) > row(*longest)))
      longest = &shape;
    if (largest == nullptr || size(shape) > size(*largest)) largest = &shape;
    if (by_vectors == nullptr && row(shape) > kVector && row(shape) % kVector == 0 && size(shape) > row(shape))
      by_vectors = &shape;
    if (tallest == nullptr || size(shape) / row(shape) > size(*tallest) / row(*tallest)) tallest = &shape;
  }
  std::vector<Sizes> apart;
  for (const Sizes* shape : {longest, largest, tallest, by_vectors})
    if (shape != nullptr && size(*shape) > 0) apart.push_back(*shape);
  // An axis of one or of two, for which an index may be left out or halved.
  for (const std::string& name : names)
    for (const std::int64_t few_of_it : {1, 2}) {
      Sizes sizes = fitted(subject, name, few_of_it, 5);
      if (admits(subject, sizes, options.most_elements)) apart.push_back(std::move(sizes));
    }
  for (const Sizes& shape : apart)
    for (const Layout layout : {Layout::Gaps, Layout::Transposed, Layout::Mixed})
      add({.types = mixtures[0], .sizes = shape, .layout = layout});
  for (const Sizes& shape : few) {
    for (const Values values : kValues)
      if (values != Values::Ordinary) add({.types = mixtures[0], .sizes = shape, .values = values});
    for (const Scalars scalars : {Scalars::Other, Scalars::Opposite, Scalars::Beyond})
      if (scalars == Scalars::Other || has_real_scalar(subject))
        add({.types = mixtures[0], .sizes = shape, .scalars = scalars});
  }
  // A narrow type allows for so much error in a long sum that a part of it may be left out unseen.
  const kernel::TypeBinding& exact = most_exact(mixtures);
  for (const Layout layout : {Layout::Dense, Layout::Misaligned})
    for (const Sizes& shape : shapes_of_many_parts(subject, exact, options.most_in_parts, layout))
      add({.types = exact, .sizes = shape, .layout = layout, .many_blocks = true});
  for (std::size_t m = 1; m < mixtures.size(); ++m) {
    for (const Sizes& shape : few) {
      add({.types = mixtures[m], .sizes = shape});
      add({.types = mixtures[m], .sizes = shape, .layout = Layout::Transposed});
      add({.types = mixtures[m], .sizes = shape, .layout = Layout::Misaligned, .values = Values::Positive});
    }
    for (const Values values : {Values::Large, Values::Subnormal, Values::Far, Values::Zero, Values::Infinite,
                                Values::Undefined, Values::Landmarks})
      if (!few.empty()) add({.types = mixtures[m], .sizes = few[0], .values = values});
    if (!few.empty()) add({.types = mixtures[m], .sizes = few[0], .scalars = Scalars::Other});
    if (!few.empty()) add({.types = mixtures[m], .sizes = few.back(), .layout = Layout::Gaps});
    if (longest != nullptr) add({.types = mixtures[m], .sizes = *longest});
    for (const Sizes& shape : shapes)
      if (size(shape) == 0) add({.types = mixtures[m], .sizes = shape});
  }
  // One element, two along every axis, three, each drawn several times: what a sum over many hides, a sum over few
  // shows. A logarithm is seen where numbers are positive, and a rounding before a scalar where that is not one or a
  // half. Where all becomes one number, the roundings on the way to it move it beyond its bound in few draws.
  // Numbers whose sums or products leave a type's range in one order of computing and not in another are few.
  constexpr int kLargeDraws = 12;
  const bool is_total = std::all_of(subject.forward.outputs.begin(), subject.forward.outputs.end(),
                                    [&](const ir::Output& output) { return output.dims.empty(); });
  for (std::size_t m = 0; m < mixtures.size(); ++m) {
    if (const Sizes sizes = fitted(subject, "", 0, 2); admits(subject, sizes, options.most_elements))
      for (int draw = 0; draw < kLargeDraws; ++draw)
        add({.types = mixtures[m], .sizes = sizes, .values = Values::Large});
    // Of one sign, a sum leaves its range before its terms do.
    if (const Sizes sizes = fitted(subject, "", 0, 5); admits(subject, sizes, options.most_elements))
      for (const ir::NodeId value : brinks(subject, mixtures[m]))
        for (const Values values : {Values::Ordinary, Values::Positive, Values::Positive})
          add({.types = mixtures[m], .sizes = sizes, .values = values, .brink = value});
    for (int draw = 0; draw < (is_total ? 72 : 36); ++draw) {
      const Sizes sizes = fitted(subject, "", 0, draw < 18 ? 1 + draw % 3 : 2);
      if (!admits(subject, sizes, options.most_elements)) continue;
      const bool at_thresholds = draw == 8 || (draw >= 27 && draw < 36);  // which a tensor of one element seldom meets
      // Which type has the number that a function takes to a threshold is a matter of luck: exp(x) is 100 in f16.
      if (m > 0 && draw > 8 && at_thresholds && !has_tensor_of_one(subject, sizes)) continue;
      const Values values = draw == 4                    ? Values::Subnormal
                            : at_thresholds              ? Values::Landmarks
                            : draw < 18 && draw % 2 == 1 ? Values::Positive
                                                         : Values::Ordinary;
      const Scalars others = draw % 4 < 2 ? Scalars::Other : Scalars::OtherAndFelt;
      add({.types = mixtures[m],
           .sizes = sizes,
           .values = values,
           .scalars = draw < 9 || at_thresholds ? Scalars::AtDefault : others,
           .landmark = at_thresholds && draw >= 27 ? draw - 27 : -1});
    }
    // Of many sums over two each, some lie where a rounding to 16 bits before a scalar moves what follows.
    if (!has_small_scalar(subject) || narrowest_bytes(mixtures[m]) == narrowest_bytes({})) continue;
    for (const std::string& name : names)
      for (const std::int64_t many : {259, 31}) {
        Sizes sizes = fitted(subject, name, many, 2);
        if (!admits(subject, sizes, std::min<std::int64_t>(options.most_elements, 5000))) continue;
        add({.types = mixtures[m], .sizes = std::move(sizes), .scalars = Scalars::OtherAndFelt});
        break;
      }
  }
  for (const Sizes& shape : shapes_at_edges(subject, mixtures[0], options.machine, options.most_elements))
    add({.types = mixtures[0], .sizes = shape});
  // An axis of one in dense tensors, with others that vectors serve or not: its index may be left out.
  for (const std::string& name : names)
    for (const std::int64_t others : {5, 8})
      if (Sizes sizes = fitted(subject, name, 1, others); admits(subject, sizes, options.most_elements))
        add({.types = mixtures[0], .sizes = std::move(sizes)});
  // Every axis is long in some case: what belongs to it, such as a parameter's gradient, is computed by tiles.
  constexpr std::int64_t kTile = 1024;
  for (const std::string& name : names) {
    const bool is_long = std::any_of(cases.begin(), cases.end(), [&](const Case& c) {
      return c.layout == Layout::Dense && c.sizes.at(name) > kTile && size(c.sizes) > 0;
    });
    Sizes sizes = fitted(subject, name, 2 * kTile + 5, 2);
    if (!is_long && admits(subject, sizes, options.most_elements))
      add({.types = mixtures[0], .sizes = std::move(sizes)});
    // So long that what a kernel takes for more than anyone has is less.
    if (Sizes longer = fitted(subject, name, 50'021, 2); admits(subject, longer, options.most_elements))
      add({.types = mixtures[0], .sizes = std::move(longer)});
  }
  return cases;
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
    // Cotangents are ordinary: what they meet is not. At the brink they are what leads there.
    const bool cotangent = subject.forward.find_input(input.name) == nullptr;
    ValueSource source(cotangent && !c.brink ? Values::Ordinary : c.values, dtype, seed, landmarks);
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
