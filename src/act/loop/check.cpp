#include "act/loop/check.h"

#include <algorithm>
#include <set>

#include "act/loop/identifier.h"
#include "act/loop/index.h"
#include "act/loop/size_equality.h"
#include "act/loop/values.h"

namespace kw::act {
namespace {

using ir::Op;

bool is_leaf(const Value& value) {
  return std::holds_alternative<Number>(value.what) || std::holds_alternative<Scalar>(value.what);
}

class KernelCheck {
 public:
  KernelCheck(const LoopProgram& program, const LoopKernel& kernel, const SizeEquality& same_size,
              const std::set<BufferId>& readable)
      : program_(program), kernel_(kernel), same_size_(same_size), readable_(readable), arithmetic_(program.axes) {}

  Status run() {
    where_ = "kernel " + kernel_.name;
    KW_CHECK(check_axes(kernel_.parallel));
    for (size_t v = 0; v < kernel_.values.size(); ++v) KW_CHECK(check_value(static_cast<ValueId>(v)));
    for (size_t s = 0; s < kernel_.stages.size(); ++s) {
      where_ = "kernel " + kernel_.name + ", stage " + std::to_string(s + 1);
      KW_CHECK(check_stage(kernel_.stages[s]));
    }
    where_ = "kernel " + kernel_.name;
    for (size_t v = 0; v < kernel_.values.size(); ++v)
      if (!is_leaf(kernel_.values[v]) && !placed_.contains(static_cast<ValueId>(v)))
        return error(kernel_.values[v].name + " is computed in no stage");
    return {};
  }

  const std::set<BufferId>& written() const { return written_; }

 private:
  Failure error(const std::string& what) const { return fail(ErrorKind::Internal, where_ + ": " + what); }
  template <class... Parts>
  Status require(bool condition, const Parts&... parts) const {
    if (condition) return {};
    std::string what;
    (what.append(parts), ...);
    return error(what);
  }
  std::string axes_text(const Axes& axes) const {
    std::string out;
    for (LoopAxisId a : axes) out += (out.empty() ? "" : ", ") + program_.axes[static_cast<size_t>(a)].name;
    return "{" + out + "}";
  }

  Status check_axes(const Axes& axes) const {
    for (LoopAxisId a : axes)
      KW_CHECK(
          require(a >= 0 && static_cast<size_t>(a) < program_.axes.size(), "there is no axis ", std::to_string(a)));
    return require(
        std::is_sorted(axes.begin(), axes.end()) && std::adjacent_find(axes.begin(), axes.end()) == axes.end(),
        "the axes ", axes_text(axes), " are not ascending");
  }

  // ---- values ----
  Status check_index(const Index& index, ValueId before) const {
    switch (index.kind) {
      case Index::Kind::Axis:
        return require(index.axis >= 0 && static_cast<size_t>(index.axis) < program_.axes.size(),
                       "an index names an axis that is not there");
      case Index::Kind::Size:
        for (ir::SymbolId id : index.size.symbols())
          KW_CHECK(require(static_cast<size_t>(id) < program_.symbols.size(), "an index names an unknown size"));
        return {};
      case Index::Kind::Value:
        KW_CHECK(require(index.value >= 0 && index.value < before, "an index uses a value that comes later"));
        return require(!kernel_[index.value].type.floating(), "an index is not an integer");
      default:
        break;
    }
    KW_CHECK(require(index.operands.size() == 2, "index arithmetic has two operands"));
    const bool divides = index.kind == Index::Kind::FloorDiv || index.kind == Index::Kind::Mod;
    KW_CHECK(require(!divides || index.operands[1].kind == Index::Kind::Size, "an index is divided by a size alone"));
    for (const Index& operand : index.operands) KW_CHECK(check_index(operand, before));
    return {};
  }

  Status check_address(const std::string& what, BufferId id, const std::vector<Index>& at, size_t rank_below,
                       ValueId before) const {
    KW_CHECK(require(id >= 0 && static_cast<size_t>(id) < program_.buffers.size(), what,
                     " names a buffer that is not there"));
    const Buffer& buffer = program_.buffers[static_cast<size_t>(id)];
    KW_CHECK(require(at.size() + rank_below == buffer.shape.size(), what, " has ", std::to_string(at.size()),
                     " indices for ", buffer.name, ", which has ", std::to_string(buffer.shape.size()), " dimensions"));
    for (const Index& index : at) KW_CHECK(check_index(index, before));
    return {};
  }

  Axes dependencies(const Value& value) const {
    std::set<LoopAxisId> axes;
    auto add_index = [&](const Index& index) {
      for (LoopAxisId a : axes_of(index)) axes.insert(a);
    };
    if (const Load* load = std::get_if<Load>(&value.what))
      for (const Index& index : load->at) add_index(index);
    if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) add_index(index->index);
    for (ValueId operand : operands_of(value)) axes.insert(kernel_[operand].axes.begin(), kernel_[operand].axes.end());
    if (const Reduced* reduced = std::get_if<Reduced>(&value.what)) {
      add_index(reduced->position);
      for (LoopAxisId a : reduced->over) axes.erase(a);
    }
    return {axes.begin(), axes.end()};
  }

  Status check_value(ValueId id) {
    const Value& value = kernel_[id];
    KW_CHECK(require(is_identifier(value.name), "a value's name `", value.name, "` is no identifier"));
    KW_CHECK(require(names_.insert(value.name).second, "two values are named ", value.name));
    KW_CHECK(require(value.type.known(), value.name, " has no type"));
    if (const Load* load = std::get_if<Load>(&value.what)) {
      KW_CHECK(check_address(value.name, load->buffer, load->at, 0, id));
      const Buffer& buffer = program_.buffers[static_cast<size_t>(load->buffer)];
      KW_CHECK(require(readable_.contains(load->buffer), value.name, " reads ", buffer.name,
                       ", which no earlier kernel wrote"));
      KW_CHECK(require(stored_type(value.type) == buffer.type || value.type == buffer.type, value.name,
                       " has another type than ", buffer.name, ", which it reads"));
      KW_CHECK(require((load->guard == kNoValue) == (load->otherwise == kNoValue), value.name,
                       " has a guard without a value in its stead, or that without a guard"));
    }
    for (ValueId operand : operands_of(value))
      KW_CHECK(require(operand >= 0 && operand < id, value.name, " uses a value that comes later"));
    KW_CHECK(std::visit([&](const auto& what) { return check_kind(value, what); }, value.what));
    const Axes expected = dependencies(value);
    return require(value.axes == expected, value.name, " depends on ", axes_text(expected), ", but says ",
                   axes_text(value.axes));
  }
  Status check_kind(const Value& value, const Load& load) const {
    return require(load.guard == kNoValue || kernel_[load.guard].type.boolean(), "the guard of ", value.name,
                   " is no bool");
  }
  Status check_kind(const Value& value, const Map& map) const {
    const ir::OpInfo& op = info(map.op);
    const auto args = static_cast<int>(map.args.size());
    if (map.op == Op::Random)
      return require(args == 3, value.name, " is a random number without seed, offset and counter");
    KW_CHECK(require(op.kind == ir::OpKind::Pointwise, value.name, " maps ", op.name, ", which is not pointwise"));
    return require(args >= op.min_operands && args <= op.max_operands, value.name, " has ", std::to_string(args),
                   " operands for ", op.name);
  }
  Status check_kind(const Value&, const Number&) const { return {}; }
  Status check_kind(const Value& value, const Scalar& scalar) const {
    const bool known = std::any_of(program_.scalars.begin(), program_.scalars.end(),
                                   [&](const auto& s) { return s.first == scalar.name && s.second == value.type; });
    return require(known, value.name, " is the scalar ", scalar.name,
                   ", which the program has not, or of another type");
  }
  Status check_kind(const Value& value, const IndexValue& index) const {
    KW_CHECK(require(!value.type.floating(), value.name, " is an index, but not of an integer type"));
    return check_index(index.index, static_cast<ValueId>(&value - kernel_.values.data()));
  }
  Status check_kind(const Value& value, const Reduced& reduced) const {
    KW_CHECK(require(info(reduced.op).kind == ir::OpKind::Reduction, value.name, " reduces by ", info(reduced.op).name,
                     ", which is no reduction"));
    KW_CHECK(require((reduced.op == Op::Reduce) == reduced.combined.has_value(), value.name,
                     " has a combine and is no reduce, or the other way round"));
    if (reduced.combined) KW_CHECK(check_combined(value, *reduced.combined));
    KW_CHECK(require(!reduced.over.empty(), value.name, " reduces over nothing"));
    KW_CHECK(check_axes(reduced.over));
    const bool counts = reduced.op == Op::ArgMax || reduced.op == Op::ArgMin;
    KW_CHECK(require(counts == !axes_of(reduced.position).empty(), value.name,
                     counts ? " does not say what it counts" : " counts positions, but is no argmax or argmin"));
    return check_index(reduced.position, static_cast<ValueId>(&value - kernel_.values.data()));
  }

  Status check_combined(const Value& value, const Combined& combined) const {
    KW_CHECK(require(combined.combine >= 0 && static_cast<size_t>(combined.combine) < program_.combines.size(),
                     value.name, " names a combine that is not there"));
    const CombineFunction& function = program_.combines[static_cast<size_t>(combined.combine)];
    return require(combined.args.size() == function.arity() && combined.part >= 0 &&
                       static_cast<size_t>(combined.part) < function.arity(),
                   value.name, " combines tuples of another length than ", function.name);
  }

  // ---- stages ----
  Status check_stage(const Stage& stage) {
    KW_CHECK(check_axes(stage.loop));
    for (LoopAxisId a : stage.loop)
      KW_CHECK(require(!has(kernel_.parallel, a), program_.axes[static_cast<size_t>(a)].name,
                       " is both a parallel and a loop axis"));
    KW_CHECK(require(!stage.loop.empty() || (stage.body.empty() && stage.reductions.empty() && stage.stores.empty() &&
                                             stage.accumulates.empty()),
                     "there is a body without a loop"));
    Axes inside = kernel_.parallel;
    inside.insert(inside.end(), stage.loop.begin(), stage.loop.end());
    std::sort(inside.begin(), inside.end());

    std::set<ValueId> known = known_;
    for (ValueId v : stage.body) {
      KW_CHECK(check_placement(v, known, inside, "the body"));
      KW_CHECK(require(
          std::any_of(kernel_[v].axes.begin(), kernel_[v].axes.end(), [&](LoopAxisId a) { return has(stage.loop, a); }),
          kernel_[v].name, " is in the body, but does not depend on the loop"));
      KW_CHECK(require(!kernel_.parallel.empty() || !rests_on_reduction_.contains(v), kernel_[v].name,
                       " rests on a reduction of everything, which is known only when the kernel is over"));
      known.insert(v);
    }
    for (ValueId r : stage.reductions) KW_CHECK(check_reduction(r, stage, known));
    for (const Store& store : stage.stores) KW_CHECK(check_store(store, known, inside));
    for (const Accumulate& sum : stage.accumulates) KW_CHECK(check_accumulate(sum, known, inside));

    for (ValueId r : stage.reductions) {
      known_.insert(r);
      rests_on_reduction_.insert(r);
    }
    for (ValueId v : stage.after) {
      KW_CHECK(check_placement(v, known_, kernel_.parallel, "after the stage"));
      known_.insert(v);
    }
    for (const Store& store : stage.after_stores) KW_CHECK(check_store(store, known_, kernel_.parallel));
    return {};
  }

  Status check_placement(ValueId v, const std::set<ValueId>& known, const Axes& inside, const char* list) {
    KW_CHECK(
        require(v >= 0 && static_cast<size_t>(v) < kernel_.values.size(), list, " names a value that is not there"));
    const Value& value = kernel_[v];
    KW_CHECK(require(!is_leaf(value) && !std::holds_alternative<Reduced>(value.what), value.name, " has no place in ",
                     list));
    KW_CHECK(require(!known.contains(v), value.name, " is computed twice"));
    for (LoopAxisId a : value.axes)
      KW_CHECK(require(has(inside, a), value.name, " in ", list, " depends on ",
                       program_.axes[static_cast<size_t>(a)].name, ", which has no value there"));
    for (ValueId operand : operands_of(value)) {
      KW_CHECK(check_known(operand, known, value.name));
      if (rests_on_reduction_.contains(operand)) rests_on_reduction_.insert(v);
    }
    placed_.insert(v);
    return {};
  }

  Status check_known(ValueId v, const std::set<ValueId>& known, const std::string& user) const {
    KW_CHECK(
        require(v >= 0 && static_cast<size_t>(v) < kernel_.values.size(), user, " uses a value that is not there"));
    return require(is_leaf(kernel_[v]) || known.contains(v), user, " needs ", kernel_[v].name,
                   ", which is not known there");
  }

  Status check_reduction(ValueId r, const Stage& stage, const std::set<ValueId>& known) {
    KW_CHECK(require(r >= 0 && static_cast<size_t>(r) < kernel_.values.size(), "a reduction is not there"));
    const Reduced* reduced = std::get_if<Reduced>(&kernel_[r].what);
    KW_CHECK(require(reduced, kernel_[r].name, " is listed as a reduction, but is none"));
    KW_CHECK(require(placed_.insert(r).second, kernel_[r].name, " is reduced twice"));
    KW_CHECK(require(reduced->over == stage.loop, kernel_[r].name, " reduces ", axes_text(reduced->over),
                     " in a stage over ", axes_text(stage.loop)));
    for (LoopAxisId a : kernel_[r].axes)
      KW_CHECK(require(has(kernel_.parallel, a), kernel_[r].name, " depends on ",
                       program_.axes[static_cast<size_t>(a)].name, ", which is not parallel"));
    for (ValueId operand : operands_of(kernel_[r])) {
      KW_CHECK(check_known(operand, known, kernel_[r].name));
      KW_CHECK(require(!kernel_.parallel.empty() || !rests_on_reduction_.contains(operand), kernel_[r].name,
                       " rests on a reduction of everything, which is known only when the kernel is over"));
    }
    return {};
  }

  // ---- memory ----
  // The dimensions of a buffer are enumerated by indices that use every axis of `inside` once: each element is written
  // at one point.
  Status check_enumeration(const Buffer& buffer, const std::vector<Index>& at, const Axes& inside, size_t first) const {
    Axes used;
    for (size_t d = 0; d < at.size(); ++d) {
      for (LoopAxisId a : axes_of(at[d])) used.push_back(a);
      std::optional<ir::Size> range = arithmetic_.enumerated(at[d]);
      KW_CHECK(require(range && same_size_(*range, buffer.shape[d + first]), "dimension ", std::to_string(d + first),
                       " of ", buffer.name, " is not written at every index once by ",
                       text(at[d], program_, &kernel_)));
    }
    std::sort(used.begin(), used.end());
    return require(used == inside, buffer.name, " is written over ", axes_text(used), " at every point of ",
                   axes_text(inside));
  }

  Status check_store(const Store& store, const std::set<ValueId>& known, const Axes& inside) {
    KW_CHECK(check_address("a store", store.buffer, store.at, 0, static_cast<ValueId>(kernel_.values.size())));
    const Buffer& buffer = program_.buffers[static_cast<size_t>(store.buffer)];
    KW_CHECK(require(buffer.role != Buffer::Role::Input, "the input ", buffer.name, " is written"));
    KW_CHECK(require(!readable_.contains(store.buffer) && written_.insert(store.buffer).second, buffer.name,
                     " is written by two stores"));
    KW_CHECK(check_known(store.value, known, "the store to " + buffer.name));
    const ir::Type type = kernel_[store.value].type;
    KW_CHECK(require(type == buffer.type || stored_type(type) == buffer.type, "the store to ", buffer.name,
                     " has a value of another type"));
    return check_enumeration(buffer, store.at, inside, 0);
  }

  Status check_accumulate(const Accumulate& sum, const std::set<ValueId>& known, const Axes& inside) {
    KW_CHECK(check_address("a sum", sum.buffer, sum.at, 1, static_cast<ValueId>(kernel_.values.size())));
    const Buffer& buffer = program_.buffers[static_cast<size_t>(sum.buffer)];
    KW_CHECK(require(buffer.role == Buffer::Role::Workspace && program_.workers &&
                         buffer.shape[0] == ir::Size::symbol(*program_.workers),
                     "the sum into ", buffer.name, " has no slice for every worker"));
    KW_CHECK(require(!readable_.contains(sum.buffer) && written_.insert(sum.buffer).second, buffer.name,
                     " is written by two stores"));
    KW_CHECK(check_known(sum.value, known, "the sum into " + buffer.name));
    Axes used;
    for (const Index& index : sum.at)
      for (LoopAxisId a : axes_of(index)) used.push_back(a);
    std::sort(used.begin(), used.end());
    KW_CHECK(require(std::includes(inside.begin(), inside.end(), used.begin(), used.end()) && used != inside,
                     "the sum into ", buffer.name, " adds nothing up"));
    return check_enumeration(buffer, sum.at, used, 1);
  }

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  const SizeEquality& same_size_;
  const std::set<BufferId>& readable_;  // inputs, and what earlier kernels wrote
  IndexArithmetic arithmetic_;
  std::string where_;
  std::set<std::string> names_;
  std::set<ValueId> known_;               // once per parallel point, so far
  std::set<ValueId> placed_;              // in any stage
  std::set<ValueId> rests_on_reduction_;  // of this kernel
  std::set<BufferId> written_;
};

Status check_names(const char* what, const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!is_identifier(name))
      return fail(ErrorKind::Internal, std::string("the name `") + name + "` of " + what + " is no identifier");
    if (!seen.insert(name).second) return fail(ErrorKind::Internal, std::string("two ") + what + " are named " + name);
  }
  return {};
}

template <class Items>
std::vector<std::string> names_of(const Items& items) {
  std::vector<std::string> names;
  for (const auto& item : items) names.push_back(item.name);
  return names;
}

// Parameters first, then numbers and maps of what comes before.
Status check_combine(const CombineFunction& function) {
  auto error = [&](const char* what) { return fail(ErrorKind::Internal, function.name + " " + what); };
  const size_t parameters = 2 * function.arity();
  if (function.results.size() != function.arity() || function.values.size() < parameters)
    return error("does not make one tuple of two");
  for (size_t v = 0; v < function.values.size(); ++v) {
    const Value& value = function.values[v];
    if (std::holds_alternative<Scalar>(value.what) != (v < parameters)) return error("has its parameters elsewhere");
    if (v >= parameters && !std::holds_alternative<Number>(value.what) && !std::holds_alternative<Map>(value.what))
      return error("is not pointwise");
    for (ValueId operand : operands_of(value))
      if (operand < 0 || static_cast<size_t>(operand) >= v) return error("uses a value that comes later");
  }
  for (ValueId result : function.results)
    if (result < 0 || static_cast<size_t>(result) >= function.values.size())
      return error("has a result that is not there");
  return check_names("values of a combine", names_of(function.values));
}

}  // namespace

Status check(const LoopProgram& program) {
  KW_CHECK(check_names("axes", names_of(program.axes)));
  KW_CHECK(check_names("sizes", names_of(program.symbols)));
  KW_CHECK(check_names("kernels", names_of(program.kernels)));
  std::vector<std::string> arguments = names_of(program.buffers);
  for (const auto& [name, type] : program.scalars) arguments.push_back(name);
  KW_CHECK(check_names("buffers or scalars", arguments));
  if (program.scalars.size() != program.scalar_sources.size())
    return fail(ErrorKind::Internal, "a scalar does not say which input it is");

  KW_CHECK(check_names("combines", names_of(program.combines)));
  for (const CombineFunction& function : program.combines) KW_CHECK(check_combine(function));

  const SizeEquality same_size(program);
  std::set<BufferId> readable;
  for (size_t b = 0; b < program.buffers.size(); ++b)
    if (program.buffers[b].role == Buffer::Role::Input) readable.insert(static_cast<BufferId>(b));
  for (const LoopKernel& kernel : program.kernels) {
    KernelCheck kernel_check(program, kernel, same_size, readable);
    KW_CHECK(kernel_check.run());
    readable.insert(kernel_check.written().begin(), kernel_check.written().end());
  }
  for (size_t b = 0; b < program.buffers.size(); ++b)
    if (!readable.contains(static_cast<BufferId>(b)))
      return fail(ErrorKind::Internal, program.buffers[b].name + " is never written");
  return {};
}

}  // namespace kw::act
