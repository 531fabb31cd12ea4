#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "understand/torch/layer.h"

namespace kw::understand {
namespace {

struct Row {
  const LayerEntry* entry;
  Signature signature;
};

const std::unordered_map<std::string_view, Row>& rows() {
  static const auto table = [] {
    std::unordered_map<std::string_view, Row> out;
    for (std::span<const LayerEntry> family : {functional_layers(), parametrized_layers()}) {
      for (const LayerEntry& entry : family) {
        bool is_new = out.emplace(entry.name, Row{&entry, Signature::parse(entry.signature)}).second;
        KW_ASSERT(is_new, "a layer has two rows: " + std::string(entry.name));
      }
    }
    return out;
  }();
  return table;
}

}  // namespace

Value* find_attribute(Layer& layer, std::string_view name) {
  for (auto& [key, value] : layer.attributes)
    if (key == name) return &value;
  return nullptr;
}

void set_attribute(Layer& layer, std::string_view name, Value value) {
  if (Value* known = find_attribute(layer, name)) {
    *known = std::move(value);
  } else {
    layer.attributes.emplace_back(std::string(name), std::move(value));
  }
}

Result<Value> forward_by_name(TorchContext& context, const Layer& layer, std::string_view function,
                              Arguments arguments) {
  const Signature* signature = torch_signature(function);
  KW_ASSERT(signature, "a layer calls a function of the table: " + std::string(function));
  size_t given = arguments.positional.size();
  for (size_t i = given; i < signature->parameters.size(); ++i) {
    const std::string& name = signature->parameters[i].name;
    bool is_given = std::any_of(arguments.keyword.begin(), arguments.keyword.end(),
                                [&](const auto& keyword) { return keyword.first == name; });
    if (is_given) continue;
    for (const auto& [key, value] : layer.attributes)
      if (key == name) arguments.keyword.emplace_back(name, value);
  }
  return call_torch(context, function, std::move(arguments));
}

bool knows_layer(std::string_view class_name) { return rows().contains(class_name); }

Result<std::shared_ptr<Layer>> construct_layer(TorchContext& context, std::string_view class_name,
                                               Arguments arguments) {
  auto row = rows().find(class_name);
  if (row == rows().end()) {
    std::vector<std::string> names;
    for (const auto& [name, unused] : rows()) names.emplace_back(name);
    std::sort(names.begin(), names.end());
    return bad_input("unknown layer nn." + std::string(class_name), {}, did_you_mean(class_name, names));
  }
  const LayerEntry& entry = *row->second.entry;
  std::string name = "nn." + std::string(class_name);
  KW_TRY(Call call, Call::bind(context, name, row->second.signature, std::move(arguments)));
  auto layer = std::make_shared<Layer>();
  layer->class_name = std::string(class_name);
  layer->path = context.path;
  for (const auto& parameter : row->second.signature.parameters)
    layer->attributes.emplace_back(parameter.name, call[parameter.name]);
  if (entry.build) KW_CHECK(entry.build(call, *layer));
  return layer;
}

Result<Value> call_layer(TorchContext& context, Layer& layer, Arguments arguments) {
  auto row = rows().find(layer.class_name);
  KW_ASSERT(row != rows().end(), "a layer is made by construct_layer");
  const LayerEntry& entry = *row->second.entry;
  if (entry.forward) return entry.forward(context, layer, std::move(arguments));
  return forward_by_name(context, layer, entry.function, std::move(arguments));
}

}  // namespace kw::understand
