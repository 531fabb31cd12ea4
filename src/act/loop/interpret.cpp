#include "act/loop/interpret.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "act/loop/launch.h"
#include "ir/interpreter/element.h"
#include "ir/interpreter/philox.h"

namespace kw::act {
namespace {

using ir::Op;

int64_t product(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t n : sizes) count *= n;
  return count;
}

int64_t floor_quotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// A buffer's elements, row-major, and which of them hold a value.
struct Memory {
  std::vector<int64_t> shape;
  std::vector<double> values;
  std::vector<bool> written;

  explicit Memory(std::vector<int64_t> sizes)
      : shape(std::move(sizes)),
        values(static_cast<size_t>(product(shape)), std::numeric_limits<double>::quiet_NaN()),
        written(values.size()) {}
};

// The largest or smallest term and where it was; NaN is more extreme than any number.
class ArgExtreme {
 public:
  explicit ArgExtreme(Op op) : sign_(op == Op::ArgMax ? 1 : -1) {}
  void add(double term, int64_t position) {
    const bool both_nan = std::isnan(term) && std::isnan(best_);
    const bool equal = term == best_ || both_nan;
    const bool beats = !std::isnan(best_) && (std::isnan(term) || sign_ * term > sign_ * best_);
    if (position_ && !beats && !(equal && position < *position_)) return;
    best_ = term;
    position_ = position;
  }
  std::optional<int64_t> position() const { return position_; }

 private:
  double sign_;
  double best_ = 0;
  std::optional<int64_t> position_;
};

// A combine applied term by term. It is not rounded until the end, as in the graph: a kernel may combine in any order.
class CombineRun {
 public:
  CombineRun(const CombineFunction& function, ir::DType result, const Launch& launch) : function_(function) {
    for (const Value& value : function.values) {
      const ir::DType type = launch.dtype(value.type);
      const Map* map = std::get_if<Map>(&value.what);
      steps_.emplace_back();
      if (map)
        steps_.back().emplace(map->op, type == ir::DType::Real ? opmath(result) : type, std::vector<ir::DType>(),
                              ir::Semantics::Real);
    }
  }

  void add(const std::vector<double>& right) {
    if (tuple_.empty()) {
      tuple_ = right;
      return;
    }
    std::vector<double> known;
    for (size_t v = 0; v < function_.values.size(); ++v) {
      const auto& what = function_.values[v].what;
      if (const Number* number = std::get_if<Number>(&what)) {
        known.push_back(number->literal.number());
      } else if (const Map* map = std::get_if<Map>(&what)) {
        std::vector<double> args;
        for (ValueId arg : map->args) args.push_back(known[static_cast<size_t>(arg)]);
        known.push_back((*steps_[v])(args));
      } else {
        known.push_back(v < function_.arity() ? tuple_[v] : right[v - function_.arity()]);
      }
    }
    for (size_t part = 0; part < tuple_.size(); ++part)
      tuple_[part] = known[static_cast<size_t>(function_.results[part])];
  }

  double value(int32_t part) const { return (tuple_.empty() ? function_.identity : tuple_)[static_cast<size_t>(part)]; }

 private:
  const CombineFunction& function_;
  std::vector<std::optional<ir::ElementFunction>> steps_;
  std::vector<double> tuple_;  // empty before the first term
};

// The state of one reduction while its stage runs.
using Reducer = std::variant<ir::ElementFold, ArgExtreme, CombineRun>;

class KernelRun {
 public:
  KernelRun(const LoopProgram& program, const LoopKernel& kernel, const Launch& launch,
            const LoopInterpretOptions& options, const std::map<std::string, double>& scalars,
            std::vector<Memory>& memory)
      : program_(program), kernel_(kernel), launch_(launch), options_(options), memory_(memory) {
    axis_.resize(program.axes.size());
    for (const LoopAxis& axis : program.axes) size_.push_back(launch.value(axis.size));
    value_.resize(kernel.values.size());
    functions_.resize(kernel.values.size());
    for (size_t v = 0; v < kernel.values.size(); ++v) prepare(v, scalars);
  }

  Status run() {
    for (const Stage& stage : kernel_.stages)
      for (const Accumulate& sum : stage.accumulates) {  // slices start at zero
        Memory& slices = at(sum.buffer);
        std::fill(slices.values.begin(), slices.values.end(), 0.0);
        slices.written.assign(slices.values.size(), true);
      }
    const int64_t points = count(kernel_.parallel);
    for (int64_t point = 0; point < points; ++point) {
      place(kernel_.parallel, point);
      worker_ = point * options_.workers / points;
      for (const Stage& stage : kernel_.stages) KW_CHECK(run(stage));
    }
    for (const Stage& stage : kernel_.stages)
      for (const Accumulate& sum : stage.accumulates) round(at(sum.buffer), sum.buffer);
    return {};
  }

 private:
  Memory& at(BufferId buffer) { return memory_[static_cast<size_t>(buffer)]; }
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }
  double& operator[](ValueId v) { return value_[static_cast<size_t>(v)]; }

  void prepare(size_t v, const std::map<std::string, double>& scalars) {
    const Value& value = kernel_.values[v];
    const ir::DType type = launch_.dtype(value.type);
    auto type_of = [&](ValueId id) { return launch_.dtype(kernel_[id].type); };
    if (const Number* number = std::get_if<Number>(&value.what)) {
      value_[v] = number->literal.number();
    } else if (const Scalar* scalar = std::get_if<Scalar>(&value.what)) {
      value_[v] = scalars.at(scalar->name);
    } else if (const Map* map = std::get_if<Map>(&value.what); map && map->op != Op::Random) {
      std::vector<ir::DType> operands;
      for (ValueId arg : map->args) operands.push_back(type_of(arg));
      functions_[v].emplace(map->op, type, std::move(operands), options_.semantics);
    } else if (const Load* load = std::get_if<Load>(&value.what); load && load->guard != kNoValue) {
      // What stands in for an element that is not read becomes one of its type, as in a select.
      functions_[v].emplace(Op::Select, type, std::vector{ir::DType::Bool, type, type_of(load->otherwise)},
                            options_.semantics);
    }
  }

  // ---- points ----
  int64_t size(LoopAxisId axis) const { return size_[static_cast<size_t>(axis)]; }
  int64_t count(const std::vector<LoopAxisId>& axes) const {
    int64_t n = 1;
    for (LoopAxisId a : axes) n *= size(a);
    return n;
  }
  void place(const std::vector<LoopAxisId>& axes, int64_t point) {
    for (size_t i = axes.size(); i-- > 0;) {
      const int64_t n = size(axes[i]);
      axis_[static_cast<size_t>(axes[i])] = point % n;
      point /= n;
    }
  }

  int64_t known_size(const Index& index) {
    auto [known, is_new] = sizes_.try_emplace(&index);
    if (is_new) known->second = launch_.value(index.size);
    return known->second;
  }

  int64_t evaluate(const Index& index) {
    switch (index.kind) {
      case Index::Kind::Axis:
        return axis_[static_cast<size_t>(index.axis)];
      case Index::Kind::Size:
        return known_size(index);
      case Index::Kind::Value:
        return static_cast<int64_t>((*this)[index.value]);
      default:
        break;
    }
    const int64_t a = evaluate(index.operands[0]), b = evaluate(index.operands[1]);
    switch (index.kind) {
      case Index::Kind::Add:
        return a + b;
      case Index::Kind::Sub:
        return a - b;
      case Index::Kind::Mul:
        return a * b;
      case Index::Kind::FloorDiv:
        return floor_quotient(a, b);
      default:
        return a - b * floor_quotient(a, b);
    }
  }

  Result<size_t> element(BufferId id, const std::vector<Index>& at_index, std::optional<int64_t> slice = {}) {
    const Memory& memory = at(id);
    std::vector<int64_t> place;
    if (slice) place.push_back(*slice);
    for (const Index& index : at_index) place.push_back(evaluate(index));
    int64_t offset = 0;
    for (size_t d = 0; d < place.size(); ++d) {
      if (place[d] < 0 || place[d] >= memory.shape[d])
        return error(buffer(id).name + " is accessed at " + std::to_string(place[d]) + " in dimension " +
                     std::to_string(d) + ", which has " + std::to_string(memory.shape[d]));
      offset = offset * memory.shape[d] + place[d];
    }
    return static_cast<size_t>(offset);
  }

  Failure error(const std::string& what) const {
    return fail(ErrorKind::Internal, "kernel " + kernel_.name + ": " + what);
  }

  // ---- values ----
  Status compute(ValueId v) {
    const Value& value = kernel_[v];
    if (const Load* load = std::get_if<Load>(&value.what)) {
      if (load->guard != kNoValue && (*this)[load->guard] == 0) {
        (*this)[v] = call(v, {0, 0, (*this)[load->otherwise]});
        return {};
      }
      KW_TRY(size_t at_element, element(load->buffer, load->at));
      if (!at(load->buffer).written[at_element])
        return error(buffer(load->buffer).name + " is read before it is written");
      (*this)[v] = at(load->buffer).values[at_element];
    } else if (const Map* map = std::get_if<Map>(&value.what)) {
      std::vector<double> args;
      for (ValueId arg : map->args) args.push_back((*this)[arg]);
      (*this)[v] = map->op == Op::Random ? random(args) : call(v, args);
    } else if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) {
      (*this)[v] = static_cast<double>(evaluate(index->index));
    }
    return {};
  }

  double call(ValueId v, const std::vector<double>& args) const { return (*functions_[static_cast<size_t>(v)])(args); }

  static double random(const std::vector<double>& args) {
    auto bits = [](double x) { return static_cast<uint64_t>(static_cast<int64_t>(x)); };
    return ir::philox_uniform(bits(args[0]), bits(args[1]) + bits(args[2]));
  }

  // ---- stages ----
  Reducer start(ValueId r) const {
    const Reduced& what = reduced(r);
    const ir::DType type = launch_.dtype(kernel_[r].type);
    if (what.op == Op::ArgMax || what.op == Op::ArgMin) return ArgExtreme(what.op);
    if (what.combined) return CombineRun(program_.combines[static_cast<size_t>(what.combined->combine)], type, launch_);
    return ir::ElementFold(what.op, type, options_.semantics);
  }

  void add_term(Reducer& reducer, const Reduced& what) {
    if (auto* fold = std::get_if<ir::ElementFold>(&reducer)) {
      fold->add((*this)[what.arg]);
    } else if (auto* extreme = std::get_if<ArgExtreme>(&reducer)) {
      extreme->add((*this)[what.arg], evaluate(what.position));
    } else {
      std::vector<double> tuple;
      for (ValueId arg : what.combined->args) tuple.push_back((*this)[arg]);
      std::get<CombineRun>(reducer).add(tuple);
    }
  }

  Status finish(const Reducer& reducer, ValueId r) {
    if (const auto* fold = std::get_if<ir::ElementFold>(&reducer)) {
      (*this)[r] = fold->value();
    } else if (const auto* extreme = std::get_if<ArgExtreme>(&reducer)) {
      if (!extreme->position()) return error(kernel_[r].name + " is the place of the extreme of nothing");
      (*this)[r] = static_cast<double>(*extreme->position());
    } else {
      const double value = std::get<CombineRun>(reducer).value(reduced(r).combined->part);
      (*this)[r] = ir::store_element(launch_.dtype(kernel_[r].type), value, options_.semantics);
    }
    return {};
  }

  Status run(const Stage& stage) {
    std::vector<Reducer> reducers;
    for (ValueId r : stage.reductions) reducers.push_back(start(r));
    const int64_t points = stage.loop.empty() ? 0 : count(stage.loop);
    for (int64_t point = 0; point < points; ++point) {
      place(stage.loop, point);
      for (ValueId v : stage.body) KW_CHECK(compute(v));
      for (const Store& s : stage.stores) KW_CHECK(store(s));
      for (const Accumulate& sum : stage.accumulates) {
        KW_TRY(size_t at_element, element(sum.buffer, sum.at, worker_));
        at(sum.buffer).values[at_element] += (*this)[sum.value];
      }
      for (size_t i = 0; i < reducers.size(); ++i) add_term(reducers[i], reduced(stage.reductions[i]));
    }
    for (size_t i = 0; i < reducers.size(); ++i) KW_CHECK(finish(reducers[i], stage.reductions[i]));
    for (ValueId v : stage.after) KW_CHECK(compute(v));
    for (const Store& s : stage.after_stores) KW_CHECK(store(s));
    return {};
  }

  const Reduced& reduced(ValueId r) const { return std::get<Reduced>(kernel_[r].what); }

  Status store(const Store& s) {
    KW_TRY(size_t at_element, element(s.buffer, s.at));
    Memory& memory = at(s.buffer);
    if (memory.written[at_element]) return error(buffer(s.buffer).name + " is written twice at one element");
    memory.values[at_element] =
        ir::store_element(launch_.dtype(buffer(s.buffer).type), (*this)[s.value], options_.semantics);
    memory.written[at_element] = true;
    return {};
  }

  void round(Memory& slices, BufferId id) const {
    for (double& x : slices.values) x = ir::store_element(launch_.dtype(buffer(id).type), x, options_.semantics);
  }

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  const Launch& launch_;
  const LoopInterpretOptions& options_;
  std::vector<Memory>& memory_;
  std::vector<int64_t> size_;  // by loop axis
  std::vector<int64_t> axis_;  // the current point, by loop axis
  std::vector<double> value_;  // at it, by value
  std::vector<std::optional<ir::ElementFunction>> functions_;
  std::unordered_map<const Index*, int64_t> sizes_;  // of the kernel's indices, each evaluated once
  int64_t worker_ = 0;
};

}  // namespace

Result<std::vector<ir::Array>> interpret(const LoopProgram& program, const ir::Environment& call,
                                         const LoopInterpretOptions& options) {
  KW_ASSERT(options.workers >= 1, "somebody has to do the work");
  KW_TRY(Launch launch, Launch::of(program, call, options));
  std::vector<Memory> memory;
  for (const Buffer& buffer : program.buffers) {
    Memory& fresh = memory.emplace_back(launch.values(buffer.shape));
    if (buffer.role != Buffer::Role::Input) continue;
    fresh.values = call.inputs.at(buffer.tensor).values;
    for (double& x : fresh.values) x = ir::store_element(launch.dtype(buffer.type), x, options.semantics);
    fresh.written.assign(fresh.values.size(), true);
  }
  std::map<std::string, double> scalars;
  for (size_t i = 0; i < program.scalars.size(); ++i) {
    const ScalarSource& source = program.scalar_sources[i];
    auto given = call.inputs.find(source.input);
    scalars[program.scalars[i].first] =
        given == call.inputs.end() ? source.default_value->number() : given->second.values[0];
  }
  for (const LoopKernel& kernel : program.kernels)
    KW_CHECK(KernelRun(program, kernel, launch, options, scalars, memory).run());

  std::vector<ir::Array> outputs;
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.role != Buffer::Role::Output) continue;
    if (std::find(memory[b].written.begin(), memory[b].written.end(), false) != memory[b].written.end())
      return fail(ErrorKind::Internal, "an element of " + buffer.name + " is never written");
    ir::Array& array = outputs.emplace_back();
    array.shape = launch.values(buffer.collapsed ? buffer.collapsed->tensor_shape : buffer.shape);
    array.values = std::move(memory[b].values);
  }
  return outputs;
}

}  // namespace kw::act
