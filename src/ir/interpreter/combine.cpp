#include "ir/interpreter/combine.h"

#include <algorithm>
#include <bit>

#include "ir/interpreter/whole.h"

namespace kw::ir::interpreter {

LaneTuple CombineProgram::identity(size_t lanes) const {
  LaneTuple tuple;
  for (double value : combine_.identity)
    tuple.push_back({std::vector<double>(lanes, value),
                     context_.tracks_bounds() ? std::vector<double>(lanes, 0.0) : std::vector<double>()});
  return tuple;
}

namespace {

// One kernel's rounding of a result: to the type it computes in, and to the node's own where that is narrower.
double rounding_of(DType type, double magnitude) {
  if (!is_floating(type) || is_weak(type)) return 0;
  double error = ulp(opmath(type), magnitude) / 2;
  if (opmath(type) != type) error += ulp(type, magnitude) / 2;
  return error;
}

void charge_roundings(DType type, const Meaning& meaning, const PointwiseCall& call) {
  if (meaning.exactness == Exactness::Moved) return;
  for (int64_t i = 0; i < call.n; ++i) {
    if (!std::isfinite(call.out[i])) continue;
    const double magnitude = std::fabs(call.out[i]) + call.spreads[i];
    if (meaning.ulps && is_floating(type) && !is_weak(type)) {
      const double y = call.in[1].values ? call.in[1].values[i * call.in[1].step] : 0;
      call.spreads[i] +=
          meaning.ulps(opmath(type), call.in[0].values[i * call.in[0].step], y) * ulp(opmath(type), magnitude);
    }
    call.spreads[i] += rounding_of(type, magnitude);
  }
}

}  // namespace

LaneTuple CombineProgram::apply(const LaneTuple& left, const LaneTuple& right) const {
  const Graph& body = *combine_.body;
  const size_t lanes = left[0].values.size(), arity = combine_.identity.size();
  const bool bounds = context_.tracks_bounds();
  std::vector<Lanes> results(body.nodes.size());
  for (size_t id = 0; id < body.nodes.size(); ++id) {
    const Node& node = body.nodes[id];
    Lanes& out = results[id];
    if (node.op == Op::Input) {
      const auto part = static_cast<size_t>(node.as<InputRef>().index);
      out = part < arity ? left[part] : right[part - arity];
      continue;
    }
    out.values.resize(lanes);
    if (bounds) out.bounds.assign(lanes, 0.0);
    if (node.op == Op::Const) {
      std::fill(out.values.begin(), out.values.end(), node.as<Literal>().number());
      continue;
    }
    const Meaning& meaning = meaning_of(node.op, context_.options);
    KW_ASSERT(meaning.values != nullptr, "the body of a combine is pointwise");
    PointwiseCall call;
    for (size_t i = 0; i < node.args.size(); ++i) {
      const Lanes& operand = results[static_cast<size_t>(node.args[i])];
      call.in[i] = {operand.values.data(), bounds ? operand.bounds.data() : nullptr, 1};
    }
    call.out = out.values.data();
    call.spreads = bounds ? out.bounds.data() : nullptr;
    call.n = static_cast<int64_t>(lanes);
    call.type = context_.dtype(node) == DType::Real ? computed_ : context_.dtype(node);
    meaning.values(call);
    if (!is_floating(call.type) && !is_weak(call.type) && (node.op == Op::Cast || call.type != DType::I64))
      round_values(call.type, call.out, call.n);
    if (!bounds) continue;
    meaning.spreads(call);
    charge_roundings(call.type, meaning, call);
  }
  LaneTuple combined;
  for (const Output& output : body.outputs) combined.push_back(results[static_cast<size_t>(output.node)]);
  return combined;
}

namespace {

// The lines along the combined axis, laid side by side: element k of every line is one set of lanes.
class Lines {
 public:
  Lines(WholeCall& call, const CombineAttr& attr) : call_(call), attr_(attr) {
    for (NodeId arg : call.node.args)
      for (AxisId axis : call.context.graph[arg].axes)
        if (axis != attr.axis) others_.push_back(axis);
    std::sort(others_.begin(), others_.end());
    others_.erase(std::unique(others_.begin(), others_.end()), others_.end());
    std::vector<AxisId> order{attr.axis};
    order.insert(order.end(), others_.begin(), others_.end());
    for (const View& arg : call.args) parts_.push_back(call.context.dense(arg, order));
    lanes_ = call.context.count(others_);
  }

  int64_t length() const { return call_.context.size(attr_.axis); }
  size_t lanes() const { return static_cast<size_t>(lanes_); }

  LaneTuple at(int64_t k) const {
    LaneTuple tuple;
    for (const Store& part : parts_) {
      const double* values = part.values + k * lanes_;
      tuple.push_back({std::vector<double>(values, values + lanes_), {}});
      if (part.bounds) tuple.back().bounds.assign(part.bounds + k * lanes_, part.bounds + (k + 1) * lanes_);
    }
    return tuple;
  }

  // Writes a part of the tuples to the results at position k of the axis (a Reduce's result has no such axis).
  void write(const LaneTuple& tuple, int64_t k, double widening) {
    const Lanes& part = tuple[static_cast<size_t>(attr_.part)];
    const View* views[] = {&call_.result.view};
    const int64_t first = k * call_.result.stride(attr_.axis);
    size_t lane = 0;
    for (Walk w = walk(call_.context, others_, views); !w.done(); w.next(), ++lane) {
      call_.result.values[first + w.offset(0)] = part.values[lane];
      if (call_.result.bounds) call_.result.bounds[first + w.offset(0)] = part.bounds[lane] * widening;
    }
  }

 private:
  WholeCall& call_;
  const CombineAttr& attr_;
  std::vector<AxisId> others_;
  std::vector<Store> parts_;
  int64_t lanes_ = 0;
};

// The bound of a tree counts the roundings of its depth; a kernel may add one serial chain to them.
double widening(const Context& context, int64_t n) {
  if (n <= 2 || !context.tracks_bounds()) return 1;
  const double depth = static_cast<double>(std::bit_width(static_cast<uint64_t>(n - 1)));
  return context.sum_model(DType::F32).roundings(n) / depth;
}

LaneTuple combine_tree(const CombineProgram& program, const Lines& lines, int64_t begin, int64_t end) {
  if (end - begin == 1) return lines.at(begin);
  const int64_t middle = begin + (end - begin) / 2;
  return program.apply(combine_tree(program, lines, begin, middle), combine_tree(program, lines, middle, end));
}

}  // namespace

Status whole_reduce(WholeCall& call) {
  const CombineAttr& attr = call.node.as<CombineAttr>();
  const CombineProgram program(call.context, *attr.combine, call.context.dtype(call.node));
  Lines lines(call, attr);
  const int64_t n = lines.length();
  const LaneTuple result = n == 0 ? program.identity(lines.lanes()) : combine_tree(program, lines, 0, n);
  lines.write(result, 0, widening(call.context, n));
  return {};
}

// Prefixes by recursive doubling keep every value at the depth of a tree: the bound of a scan grows like log2 n. A
// scan from the end combines in the order of the axis too: its result at i is x[i] ∘ x[i+1] ∘ … ∘ x[n-1].
Status whole_scan(WholeCall& call) {
  const CombineAttr& attr = call.node.as<CombineAttr>();
  const CombineProgram program(call.context, *attr.combine, call.context.dtype(call.node));
  Lines lines(call, attr);
  const int64_t n = lines.length();
  auto position = [&](int64_t k) { return attr.reverse ? n - 1 - k : k; };
  auto combine = [&](const LaneTuple& gathered, const LaneTuple& next) {
    return attr.reverse ? program.apply(next, gathered) : program.apply(gathered, next);
  };
  std::vector<LaneTuple> prefix;
  for (int64_t k = 0; k < n; ++k) prefix.push_back(lines.at(position(k)));
  for (int64_t reach = 1; reach < n; reach *= 2)
    for (int64_t k = n - 1; k >= reach; --k)
      prefix[static_cast<size_t>(k)] = combine(prefix[static_cast<size_t>(k - reach)], prefix[static_cast<size_t>(k)]);
  const LaneTuple nothing = program.identity(lines.lanes());
  for (int64_t k = 0; k < n; ++k) {
    const int64_t terms = attr.exclusive ? k : k + 1;
    const LaneTuple& value = terms == 0 ? nothing : prefix[static_cast<size_t>(terms - 1)];
    lines.write(value, position(k), widening(call.context, terms));
  }
  return {};
}

}  // namespace kw::ir::interpreter
