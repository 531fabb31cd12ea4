// Finds the entry of a name and reads the call.
#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "understand/torch/entry.h"
#include "understand/torch/layer.h"
#include "understand/torch/memory_order.h"
#include "understand/torch/promotion.h"

namespace kw::understand {
namespace {

struct Prefix {
  Space space;
  std::string_view text;
};
constexpr Prefix kPrefixes[] = {
    {kFunctional, "torch.nn.functional."},
    {kSpecial, "torch.special."},
    {kLinalg, "torch.linalg."},
    {kTorch, "torch."},
    {kMethod, "Tensor."},
    {kProperty, "Tensor."},
    {kAten, "aten."},
    {kOperator, "operator."},
    {kMath, "math."},
};

struct Row {
  const Entry* entry;
  Signature signature;
  MemoryRule memory;
};

struct Family {
  std::span<const Entry> entries;
  MemoryRule memory;  // of its operations, but those that memory_rule knows
};

struct Table {
  std::vector<Row> rows;
  std::unordered_map<std::string, size_t> by_name;  // full name to row
  std::vector<std::string> names;

  Table() {
    using enum MemoryRule;
    for (const Family& family : {Family{pointwise_entries(), Pointwise},
                                 {comparison_entries(), Pointwise},
                                 {cast_entries(), Copy},
                                 {activation_entries(), Pointwise},
                                 {reduction_entries(), Contiguous},
                                 {softmax_entries(), Contiguous},
                                 {shape_entries(), View},
                                 {reshape_entries(), Reshape},
                                 {slice_entries(), View},
                                 {operator_entries(), Inner},
                                 {subscript_entries(), View},
                                 {indexing_entries(), Contiguous},
                                 {order_entries(), Contiguous},
                                 {linear_entries(), Unknown},
                                 {convolution_entries(), Unknown},
                                 {pooling_entries(), Unknown},
                                 {norm_entries(), Contiguous},
                                 {loss_entries(), Pointwise},
                                 {class_loss_entries(), Contiguous},
                                 {creation_entries(), Contiguous},
                                 {random_entries(), Pointwise},
                                 {attention_entries(), Unknown},
                                 {resize_entries(), Unknown},
                                 {aten_entries(), Inner}}) {
      for (const Entry& entry : family.entries) {
        rows.push_back({&entry, Signature::parse(entry.signature), memory_rule(entry.name, family.memory)});
        for (const Prefix& prefix : kPrefixes) {
          if (!(entry.spaces & prefix.space)) continue;
          std::string name = std::string(prefix.text) + std::string(entry.name);
          bool is_new = by_name.emplace(name, rows.size() - 1).second;
          KW_ASSERT(is_new, "an operation has two rows: " + name);
          names.push_back(std::move(name));
        }
      }
    }
    std::sort(names.begin(), names.end());
  }

  const Row* at(const std::string& name) const {
    auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : &rows[found->second];
  }

  // A name of the table; of ATen's names the overload may be left away.
  const Row* find(std::string_view name) const {
    if (const Row* row = at(std::string(name))) return row;
    if (name.starts_with("aten.")) {
      size_t dot = name.rfind('.');
      if (dot > 4) return at(std::string(name.substr(0, dot)));
    }
    return nullptr;
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

// add_ is add with the result written into the first operand: of its type and shape. Empty if the name has no such
// form.
std::string without_in_place_mark(std::string_view name) {
  size_t end = name.size();
  if (name.starts_with("aten.")) end = std::min(name.find('.', 5), name.size());
  bool method = name.starts_with("Tensor.") || name.starts_with("torch.") || name.starts_with("aten.");
  if (!method || end < 2 || name[end - 1] != '_' || name[end - 2] == '_') return {};
  return std::string(name.substr(0, end - 1)) + std::string(name.substr(end));
}

void collect_tensors(const Value& value, std::vector<TensorValue>& out) {
  if (const auto* tensor = value.get<TensorValue>()) out.push_back(*tensor);
  if (const auto* sequence = value.get<SequenceValue>())
    for (const Value& item : sequence->items) collect_tensors(item, out);
}

// The tensors of a call and the rule that its result's order in memory follows.
struct Ordering {
  MemoryRule rule;
  std::vector<TensorValue> operands;

  Ordering(const Row& row, std::string_view name, const Arguments& arguments) : rule(row.memory) {
    for (const Value& value : arguments.positional) collect_tensors(value, operands);
    for (const auto& [keyword, value] : arguments.keyword) {
      if (keyword == "memory_format" && !value.is_none()) rule = MemoryRule::Unknown;
      collect_tensors(value, operands);
    }
    const std::string_view entry = row.entry->name;
    const bool scalar_first = !arguments.positional.empty() && !arguments.positional[0].is_tensor();
    if (entry == "pow" && rule == MemoryRule::Pointwise && scalar_first) rule = MemoryRule::Contiguous;
    // torch.max(a, b) is a pointwise op; its other forms reduce.
    if ((entry == "max" || entry == "min") && operands.size() == 2) rule = MemoryRule::Pointwise;
    // A stack of tensors of four dimensions or more may take their format.
    if (entry == "stack" && !operands.empty() && operands[0].dims.size() > 3) rule = MemoryRule::Unknown;
    // Padding with a number keeps channels-last; of the other modes nothing is known.
    const bool has_mode = arguments.positional.size() > 2 ||
                          std::any_of(arguments.keyword.begin(), arguments.keyword.end(), [](const auto& item) {
                            const auto* mode = item.second.template get<std::string>();
                            return item.first == "mode" && !(mode && *mode == "constant");
                          });
    if (entry == "pad" && !has_mode) rule = MemoryRule::Format;
    // The condition is the first operand of where, also where the tensor is called.
    if (name == "Tensor.where" && operands.size() > 1) std::swap(operands[0], operands[1]);
  }
};

Result<Value> read(const Entry& entry, Call& call, const Ordering& ordering) {
  Result<Value> value = entry.read(call);
  if (value) order_result(call.builder.graph(), ordering.rule, ordering.operands, *value);
  if (!call.context.broken_formula) return value;
  Error error = *std::move(call.context.broken_formula);
  call.context.broken_formula.reset();
  if (value) error.message = std::string(call.name) + ": " + error.message;
  return value ? Result<Value>(tl::make_unexpected(std::move(error))) : value;
}

Result<Value> call_in_place(TorchContext& context, const Row& row, std::string_view name, Arguments arguments) {
  const TensorValue* self = arguments.positional.empty() ? nullptr : arguments.positional[0].get<TensorValue>();
  if (!self) return bad_input(std::string(name) + " needs a tensor as its first argument");
  TensorValue target = *self;
  const Ordering ordering(row, name, arguments);
  KW_TRY(Call call, Call::bind(context, name, row.signature, std::move(arguments)));
  KW_TRY(Value value, read(*row.entry, call, ordering));
  const TensorValue* result = value.get<TensorValue>();
  if (!result) return bad_input(std::string(name) + " does not give one tensor");
  KW_TRY(TensorValue fitted, expand_like(context, *result, target.dims));
  Value changed{TensorValue{context.builder.cast(fitted.node, context.builder[target.node].type), fitted.dims}};
  order_result(context.builder.graph(), MemoryRule::Same, {target}, changed);
  return changed;
}

}  // namespace

Result<Value> call_torch(TorchContext& context, std::string_view name, Arguments arguments) {
  if (const Row* row = table().find(name)) {
    const Ordering ordering(*row, name, arguments);
    KW_TRY(Call call, Call::bind(context, name, row->signature, std::move(arguments)));
    return read(*row->entry, call, ordering);
  }
  std::string functional = without_in_place_mark(name);
  if (const Row* row = functional.empty() ? nullptr : table().find(functional))
    return call_in_place(context, *row, name, std::move(arguments));
  return bad_input("unknown call " + std::string(name), {}, did_you_mean(name, table().names));
}

const Signature* torch_signature(std::string_view name) {
  const Row* row = table().find(name);
  return row ? &row->signature : nullptr;
}

bool knows_torch(std::string_view name) {
  if (table().find(name)) return true;
  std::string functional = without_in_place_mark(name);
  return !functional.empty() && table().find(functional);
}

std::vector<std::string_view> torch_names() { return {table().names.begin(), table().names.end()}; }

}  // namespace kw::understand
