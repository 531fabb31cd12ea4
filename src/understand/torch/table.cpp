// Finds the entry of a name and reads the call.
#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "understand/torch/entry.h"
#include "understand/torch/layer.h"
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
};

struct Table {
  std::vector<Row> rows;
  std::unordered_map<std::string, size_t> by_name;  // full name to row
  std::vector<std::string> names;

  Table() {
    for (std::span<const Entry> family :
         {pointwise_entries(), comparison_entries(), cast_entries(),    activation_entries(), reduction_entries(),
          softmax_entries(),   shape_entries(),      reshape_entries(), slice_entries(),      operator_entries(),
          subscript_entries(), indexing_entries(),   order_entries(),   linear_entries(),     convolution_entries(),
          pooling_entries(),   norm_entries(),       loss_entries(),    class_loss_entries(), creation_entries(),
          random_entries(),    attention_entries(),  resize_entries(),  aten_entries()}) {
      for (const Entry& entry : family) {
        rows.push_back({&entry, Signature::parse(entry.signature)});
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

Result<Value> read(const Entry& entry, Call& call) {
  Result<Value> value = entry.read(call);
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
  KW_TRY(Call call, Call::bind(context, name, row.signature, std::move(arguments)));
  KW_TRY(Value value, read(*row.entry, call));
  const TensorValue* result = value.get<TensorValue>();
  if (!result) return bad_input(std::string(name) + " does not give one tensor");
  KW_TRY(TensorValue fitted, expand_like(context, *result, target.dims));
  return Value{TensorValue{context.builder.cast(fitted.node, context.builder[target.node].type), fitted.dims}};
}

}  // namespace

Result<Value> call_torch(TorchContext& context, std::string_view name, Arguments arguments) {
  if (const Row* row = table().find(name)) {
    KW_TRY(Call call, Call::bind(context, name, row->signature, std::move(arguments)));
    return read(*row->entry, call);
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
