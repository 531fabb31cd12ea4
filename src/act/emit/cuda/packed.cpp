// Products and sums that PyTorch rounds to 16 bits, of operands of 16 bits: one instruction computes two neighbours,
// and rounds each once. So they are computed for whole vectors, and nothing is converted on the way:
//
//   const auto product_v = kw::products<T, kVector>(x_v[v], weight_v, whole);
//
// An operand may also be one number for the whole vector, or a value of each element that nothing else wants: a loop
// over the elements rounds those into a vector, and what is computed from it comes after that loop.
#include <algorithm>
#include <cmath>

#include "act/emit/cuda/writer.h"
#include "act/loop/uses.h"
#include "base/text.h"

namespace kw::act::cuda {
namespace {

const char* function_of(ir::Op op) {
  switch (op) {
    case ir::Op::Mul:
      return "kw::products";
    case ir::Op::Add:
      return "kw::sums";
    case ir::Op::Sub:
      return "kw::differences";
    case ir::Op::Cast:
      return "kw::rounded";
    default:
      return nullptr;
  }
}

}  // namespace

bool Writer::is_narrow(ValueId v) const {
  const ir::Type type = kernel_[v].type;
  return type.floating() && !type.weak() && types_.rounds(type);
}

bool Writer::is_read_as_vector(ValueId v) const {
  const Load* load = std::get_if<Load>(&kernel_[v].what);
  return load != nullptr && load->guard == kNoValue && is_narrow(v) && run_of(load->at, nest_.inner).neighbours;
}

// A number that every type has, so that nothing is rounded where it becomes an operand.
bool Writer::is_exact_number(ValueId v) const {
  const Number* number = std::get_if<Number>(&kernel_[v].what);
  return number != nullptr && std::isfinite(number->literal.number()) && is_exact_everywhere(number->literal.number());
}

int Writer::phase_of(ValueId v) const {
  if (const auto found = phases_.find(v); found != phases_.end()) return found->second;
  int phase = 0;
  for (const ValueId operand : operands_of(kernel_[v]))
    if (values_.level(operand) == Level::Element) phase = std::max(phase, phase_of(operand));
  return phases_[v] = phase;
}

// Whether it ends in stores of vectors, by itself or by way of other products and sums of 16 bits.
bool Writer::is_only_stored(ValueId v, const std::vector<int>& uses) const {
  if (!is_narrow(v) || values_.level(v) != Level::Element || values_.kept.contains(v) || !is_stored_as_vector(v))
    return false;
  for (size_t u = 0; u < kernel_.values.size(); ++u) {
    const auto user = static_cast<ValueId>(u);
    if (uses[u] == 0 || !has(operands_of(kernel_[user]), v)) continue;
    const Map* map = std::get_if<Map>(&kernel_[user].what);
    if (map == nullptr || function_of(map->op) == nullptr || !is_only_stored(user, uses)) return false;
  }
  return true;
}

// Whether nothing wants it but products and sums of it and a vector, or such of it and one number as are only stored.
bool Writer::is_wanted_packed(ValueId v, const std::vector<int>& uses) const {
  int found = 0;
  for (size_t u = 0; u < kernel_.values.size(); ++u) {
    const auto user = static_cast<ValueId>(u);
    const Map* map = std::get_if<Map>(&kernel_[user].what);
    if (uses[u] == 0 || map == nullptr || !has(map->args, v)) continue;
    if (map->args.size() != 2 || map->args[0] == map->args[1] || function_of(map->op) == nullptr || !is_narrow(user) ||
        values_.level(user) != Level::Element || values_.kept.contains(user))
      return false;
    const ValueId other = map->args[map->args[0] == v ? 1 : 0];
    const bool is_vector = is_packed(other) || is_read_as_vector(other);
    const bool is_one = is_exact_number(other) || (is_narrow(other) && values_.level(other) != Level::Element);
    if (!is_vector && !(is_one && is_only_stored(user, uses))) return false;
    ++found;
  }
  return found == uses[static_cast<size_t>(v)];
}

// How many operands are vectors, and how many are rounded into one first; nothing where there are others.
std::optional<Writer::Operands> Writer::operands_of_packed(ValueId v, const std::vector<int>& uses) const {
  const Map* map = std::get_if<Map>(&kernel_[v].what);
  if (map == nullptr || function_of(map->op) == nullptr || !is_narrow(v) || values_.kept.contains(v) ||
      values_.level(v) != Level::Element || (map->op == ir::Op::Cast && !is_packed(map->args[0])) ||
      values_.expressions.is_unfused(v))  // where T is float, a vector's product is one like any other
    return std::nullopt;
  Operands found;
  for (const ValueId operand : map->args) {
    if (is_packed(operand) || is_read_as_vector(operand)) {
      ++found.vectors;
      found.phase = std::max(found.phase, phase_of(operand));
    } else if (!is_narrow(operand)) {
      if (!is_exact_number(operand)) return std::nullopt;
    } else if (values_.level(operand) == Level::Element) {
      const bool alone = uses[static_cast<size_t>(operand)] == 1 || is_wanted_packed(operand, uses);
      if (!alone) return std::nullopt;
      ++found.rounded_first;
      found.phase = std::max(found.phase, phase_of(operand) + 1);
      const Map* computed = std::get_if<Map>(&kernel_[operand].what);
      found.rounded_anyway &= computed != nullptr && (computed->op == ir::Op::Cast || !spelling_of(computed->op).exact);
    }
  }
  return found;
}

void Writer::find_packed() {
  packed_.clear();
  phases_.clear();
  if (!has_vectors() || nest_.inner < 0) return;
  const std::vector<int> uses = use_counts(kernel_);
  std::vector<ValueId> all(kernel_.values.size());
  for (size_t v = 0; v < all.size(); ++v) all[v] = static_cast<ValueId>(v);
  const std::vector<ValueId> order = act::in_order(kernel_, all, [](ValueId) { return false; });
  const int last = has_combine(kernel_) ? 0 : 1;
  for (const ValueId v : order) {
    const auto operands = operands_of_packed(v, uses);
    if (!operands || operands->vectors == 0 || operands->rounded_first > 1 || !operands->rounded_anyway ||
        operands->phase > last)
      continue;
    packed_.insert(v);
    phases_[v] = operands->phase;
  }
  // What is stored in the end is rounded into a vector in any case.
  std::set<ValueId> stored, casts;
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    const bool wanted = std::any_of(order.begin(), order.end(), [&](ValueId user) {
      return uses[static_cast<size_t>(user)] > 0 && !stored.contains(user) && has(operands_of(kernel_[user]), *v);
    });
    if (wanted || !is_narrow(*v) || !is_stored_as_vector(*v)) continue;
    const Map* map = std::get_if<Map>(&kernel_[*v].what);
    if (map != nullptr && map->op == ir::Op::Cast && !values_.kept.contains(*v)) {
      stored.insert(*v);
      casts.insert(*v);
      continue;
    }
    const auto operands = operands_of_packed(*v, uses);
    if (!operands || operands->vectors + operands->rounded_first == 0 || operands->rounded_first > 1) continue;
    packed_.insert(*v);
    phases_[*v] = operands->phase;
    stored.insert(*v);
  }
  for (const ValueId v : casts)
    if (is_packed(std::get<Map>(kernel_[v].what).args[0])) packed_.insert(v);
}

// What is wanted by nothing but stores of vectors.
std::set<ValueId> Writer::packed_for_stores(const std::vector<ValueId>& roots, const std::vector<ValueId>& order,
                                            const std::vector<ValueId>& stored) const {
  std::set<ValueId> late;
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    const auto times = std::count(roots.begin(), roots.end(), *v);
    if (!is_packed(*v) || times != std::count(stored.begin(), stored.end(), *v) || !is_stored_as_vector(*v)) continue;
    const bool wanted = std::any_of(order.begin(), order.end(), [&](ValueId user) {
      return !late.contains(user) && has(operands_of(kernel_[user]), *v);
    });
    if (!wanted) late.insert(*v);
  }
  return late;
}

bool Writer::is_stored_as_vector(ValueId v) const {
  int others = 0;
  for (const Stage& stage : kernel_.stages) {
    for (const auto* stores : {&stage.stores, &stage.after_stores})
      for (const Store& store : *stores)
        others += store.value == v &&
                  !(run_of(store.at, nest_.inner).neighbours && buffer(store.buffer).type == kernel_[v].type);
    for (const Accumulate& sum : stage.accumulates) others += sum.value == v;
    for (const ValueId r : stage.reductions) others += has(terms_of(kernel_, r), v);
  }
  return others == 0;
}

// The vector of an operand, or the number that stands for one.
std::string Writer::packed_operand(ValueId v, ir::Type result) {
  if (const auto known = vectors_.find(v); known != vectors_.end()) return known->second;
  if (is_exact_number(v)) return types_.stored(result) + "(" + values_.expressions.as(v, types_.computed(result)) + ")";
  if (is_read_as_vector(v)) return vector_of(std::get<Load>(kernel_[v].what));
  const ir::Type type = kernel_[v].type;
  values_.define({v});
  return types_.stored(type) + "(" + values_.expressions.as(v, types_.computed(type)) + ")";
}

// What is stored has the tensor's name.
std::string Writer::name_of_vector(ValueId v) {
  for (const Stage& stage : kernel_.stages)
    for (const auto* stores : {&stage.stores, &stage.after_stores})
      for (const Store& store : *stores)
        if (store.value == v) return buffer(store.buffer).name + "_v";
  return names_.value(v) + "_v";
}

void Writer::define_packed(ValueId v, Lines& out) {
  const Map& map = std::get<Map>(kernel_[v].what);
  std::vector<std::string> operands;
  for (const ValueId operand : map.args) operands.push_back(packed_operand(operand, kernel_[v].type));
  const std::string name = names_.fresh(name_of_vector(v));
  out.line("const auto " + name + " = " + function_of(map.op) + "<" + types_.stored(kernel_[v].type) + ", kVector>(" +
           join(operands, ", ") + ", whole);");
  vectors_[v] = name;
}

// One of the loops over the elements: the roots, and the values that are rounded into vectors.
void Writer::define_elements(std::vector<ValueId> roots, const std::vector<ValueId>& rounded, std::set<ValueId> stored,
                             Lines& vectors, Lines& elements) {
  values_.open(Level::Element, &elements);
  roots.insert(roots.end(), rounded.begin(), rounded.end());
  stored.insert(rounded.begin(), rounded.end());
  values_.define(roots, stored);
  for (const ValueId v : rounded) {
    const std::string name = vectors_[v] = names_.fresh(names_.value(v) + "_v");
    vectors.line("kw::Vector<" + types_.stored(kernel_[v].type) + ", kVector> " + name + ";");
    elements.line(name + "[k] = " + values_.expressions.stored(v, kernel_[v].type) + ";");
  }
}

void Writer::define(Body& body, const Statements& statements, const std::vector<ValueId>& stored) {
  body_ = &body;
  vectors_.clear();
  loop_ = 0;
  for (auto& variables : variables_) variables.clear();
  values_.open(Level::Vector, lines_of_vectors(body));
  auto& environment = values_.expressions.environment;
  std::vector<ValueId> roots;
  for (const std::vector<ValueId>& values : statements) roots.insert(roots.end(), values.begin(), values.end());
  const std::vector<ValueId> order = act::in_order(kernel_, roots, [&](ValueId v) { return environment.contains(v); });
  const std::set<ValueId> late = packed_for_stores(roots, order, stored);
  for (int loop = 0; loop < 2; ++loop) {
    Lines& vectors = loop == 0 ? body.vector : body.second_vector;
    enter(loop);
    for (const ValueId v : order) {
      if (!is_packed(v) || late.contains(v) || phase_of(v) != loop) continue;
      define_packed(v, vectors);
      environment[v] = {vectors_.at(v) + "[k]", Binding::Primary, types_.stored(kernel_[v].type)};
    }
    std::vector<ValueId> wanted, rounded;
    for (const std::vector<ValueId>& values : statements)
      for (const ValueId v : values)
        if (phase_of(values) == loop && !late.contains(v)) wanted.push_back(v);
    for (const ValueId v : order)
      for (const ValueId operand : is_packed(v) ? operands_of(kernel_[v]) : std::vector<ValueId>{})
        if (is_narrow(operand) && values_.level(operand) == Level::Element && phase_of(operand) == loop &&
            !is_packed(operand) && !is_read_as_vector(operand) && !has(rounded, operand))
          rounded.push_back(operand);
    if (!wanted.empty() || !rounded.empty())
      define_elements(wanted, rounded, {stored.begin(), stored.end()}, vectors,
                      loop == 0 ? body.element : body.second_element);
  }
  enter(0);
  for (const ValueId v : order) {
    KW_ASSERT(!is_packed(v) || late.contains(v) || vectors_.contains(v), "what elements want is packed in two loops");
    if (late.contains(v)) define_packed(v, body.late_vector);
  }
}

int Writer::phase_of(const std::vector<ValueId>& values) const {
  int phase = 0;
  for (const ValueId v : values)
    if (values_.level(v) == Level::Element) phase = std::max(phase, phase_of(v));
  return phase;
}

// Variables of one loop are out of the other one's sight.
void Writer::enter(int loop) {
  if (loop == loop_) return;
  auto& environment = values_.expressions.environment;
  for (auto known = environment.begin(); known != environment.end();)
    if (values_.level(known->first) == Level::Element && !is_packed(known->first))
      variables_[loop_].insert(environment.extract(known++));
    else
      ++known;
  loop_ = loop;
  environment.merge(variables_[loop]);
}

Lines& Writer::loop_of(Body& body, const std::vector<ValueId>& values) {
  enter(std::min(phase_of(values), 1));
  return loop_ == 0 ? body.element : body.second_element;
}

}  // namespace kw::act::cuda
