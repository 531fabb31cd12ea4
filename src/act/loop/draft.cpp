#include "act/loop/draft.h"

#include <algorithm>
#include <set>

#include "act/loop/index.h"

namespace kw::act {

std::vector<ValueId> operands_of(const Value& value) {
  std::vector<ValueId> out;
  auto append = [&](const Index& index) {
    for (ValueId v : values_of(index)) out.push_back(v);
  };
  if (const Load* load = std::get_if<Load>(&value.what)) {
    for (const Index& index : load->at) append(index);
    if (load->guard != kNoValue) out.push_back(load->guard);
    if (load->otherwise != kNoValue) out.push_back(load->otherwise);
  } else if (const Map* map = std::get_if<Map>(&value.what)) {
    out = map->args;
  } else if (const Reduced* reduced = std::get_if<Reduced>(&value.what)) {
    out = reduced->combined ? reduced->combined->args : std::vector{reduced->arg};
    append(reduced->position);
  } else if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) {
    append(index->index);
  }
  return out;
}

ValueId KernelDraft::import(ValueId v) {
  if (auto known = local_.find(v); known != local_.end()) return known->second;
  Value value = values_[static_cast<size_t>(v)];
  if (auto where = in_memory_.find(v); where != in_memory_.end()) {
    Load load{where->second, {}, kNoValue, kNoValue};
    for (LoopAxisId a : value.axes) load.at.push_back(axis_index(a));
    value.what = std::move(load);
  } else {
    std::visit([&](auto& what) { import_operands(what); }, value.what);
  }
  ValueId id = add(std::move(value));
  local_.emplace(v, id);
  return id;
}

ValueId KernelDraft::add(Value value) {
  value.is_named = !value.name.empty();
  value.name = names_.take(value.name, "v" + std::to_string(kernel.values.size()));
  kernel.values.push_back(std::move(value));
  return static_cast<ValueId>(kernel.values.size() - 1);
}

void KernelDraft::import_operands(Load& load) {
  for (Index& index : load.at) import_index(index);
  if (load.guard != kNoValue) load.guard = import(load.guard);
  if (load.otherwise != kNoValue) load.otherwise = import(load.otherwise);
}
void KernelDraft::import_operands(Map& map) {
  for (ValueId& arg : map.args) arg = import(arg);
}
void KernelDraft::import_operands(Reduced& reduced) {
  reduced.arg = import(reduced.arg);
  if (reduced.combined)
    for (ValueId& arg : reduced.combined->args) arg = import(arg);
  import_index(reduced.position);
}
void KernelDraft::import_operands(IndexValue& value) { import_index(value.index); }
void KernelDraft::import_index(Index& index) {
  if (index.kind == Index::Kind::Value) index.value = import(index.value);
  for (Index& operand : index.operands) import_index(operand);
}

LoopKernel KernelDraft::finish() && {
  std::vector<size_t> known_after(kernel.values.size(), 0);  // the stage after which a value can be computed
  for (size_t s = 0; s < kernel.stages.size(); ++s)
    for (ValueId r : kernel.stages[s].reductions) known_after[static_cast<size_t>(r)] = s;
  for (size_t v = 0; v < kernel.values.size(); ++v)
    if (!std::holds_alternative<Reduced>(kernel.values[v].what))
      for (ValueId operand : operands_of(kernel.values[v]))
        known_after[v] = std::max(known_after[v], known_after[static_cast<size_t>(operand)]);

  std::set<ValueId> once;
  for (Stage& stage : kernel.stages) {
    std::set<ValueId> body;
    auto visit = [&](auto&& self, ValueId v) -> void {
      const Value& value = kernel[v];
      if (std::holds_alternative<Number>(value.what) || std::holds_alternative<Scalar>(value.what) ||
          std::holds_alternative<Reduced>(value.what))
        return;
      const bool looped = std::any_of(value.axes.begin(), value.axes.end(), [&](LoopAxisId a) {
        return std::find(stage.loop.begin(), stage.loop.end(), a) != stage.loop.end();
      });
      if (!(looped ? body : once).insert(v).second) return;
      for (ValueId operand : operands_of(value)) self(self, operand);
    };
    for (ValueId r : stage.reductions)
      for (ValueId operand : operands_of(kernel[r])) visit(visit, operand);
    for (const Store& store : stage.stores) visit(visit, store.value);
    for (const Accumulate& sum : stage.accumulates) visit(visit, sum.value);
    for (const Store& store : stage.after_stores) visit(visit, store.value);
    stage.body.assign(body.begin(), body.end());
  }
  for (ValueId v : once) kernel.stages[known_after[static_cast<size_t>(v)]].after.push_back(v);
  std::erase_if(kernel.stages, [](const Stage& s) {
    return s.reductions.empty() && s.stores.empty() && s.accumulates.empty() && s.after.empty() &&
           s.after_stores.empty();
  });
  return std::move(kernel);
}

}  // namespace kw::act
