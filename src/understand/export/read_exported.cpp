#include "understand/export/read_exported.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/text.h"
#include "ir/infer.h"
#include "understand/export/json_place.h"
#include "understand/torch/memory_order.h"
#include "understand/torch/ops.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::DType;
using ir::kUnit;
using ir::Size;
using ir::Type;
using nlohmann::json;

// Larger ones are no graphs that anybody exported.
constexpr int64_t kLargestSize = int64_t{1} << 40;
constexpr size_t kHighestRank = 16;
constexpr size_t kMostNodes = 100'000;
constexpr int kDeepestArgument = 16;

class ExportedReader {
 public:
  ExportedReader(const json& document, const std::string& file) : top_(document, "", file), file_(file) {
    context_.update_buffer = [this](const TensorValue& buffer, const TensorValue& value) -> Status {
      for (auto& [id, known] : buffers_)
        if (known.original.node == buffer.node) return update(id, value);
      return bad_input("an operation changes a tensor that is no buffer");
    };
    // What the operations need as a number is what it was when the graph was exported.
    context_.fixed_size = [this](const Size& size) -> Result<int64_t> {
      auto value = builder_.graph().hinted(size);
      if (!value) return bad_input("the size " + builder_.graph().size_text(size) + " is not known");
      builder_.constrain({ir::SizeConstraint::Kind::Equal, size, Size(*value)});
      return *value;
    };
  }

  Result<Reading> read() {
    KW_CHECK(header());
    KW_CHECK(symbols());
    KW_CHECK(inputs());
    KW_CHECK(nodes());
    KW_CHECK(outputs());
    Reading reading;
    reading.graph = std::move(builder_).finish();
    if (auto valid = ir::check(reading.graph); !valid) return top_.wrong(valid.error().message);
    for (const std::string& assumed : context_.assumptions)
      reading.assumptions.push_back({"reading", assumed, "the exported graph has it so", {}});
    reading.entry = reading.graph.name;
    reading.is_module = is_module_;
    reading.layouts = std::move(layouts_);
    return reading;
  }

 private:
  struct Buffer {
    std::string name;
    TensorValue original;
    bool changed = false;
  };

  Status header() {
    KW_TRY(JsonPlace format, top_.at("format"));
    KW_TRY(std::string text, format.text());
    if (text != "kernelwright.exported_graph") return format.wrong("this is not an exported graph but '" + text + "'");
    KW_TRY(JsonPlace version, top_.at("version"));
    KW_TRY(int64_t number, version.integer(0, std::numeric_limits<int>::max()));
    if (number > kExportedGraphVersion)
      return version.wrong("version " + std::to_string(number) + " is newer than this program, which reads version " +
                           std::to_string(kExportedGraphVersion));
    if (number < kExportedGraphVersion) return version.wrong("version " + std::to_string(number) + " is unknown");
    KW_CHECK(
        top_.only_keys({"format", "version", "name", "torch", "training", "symbols", "inputs", "nodes", "outputs"}));
    KW_TRY(JsonPlace name, top_.at("name"));
    KW_TRY(builder_.graph().name, name.text());
    KW_TRY(JsonPlace torch, top_.at("torch"));
    KW_CHECK(torch.text());
    KW_TRY(JsonPlace training, top_.at("training"));
    KW_TRY(context_.training, training.boolean());
    return {};
  }

  Status symbols() {
    KW_TRY(JsonPlace place, top_.at("symbols"));
    KW_TRY(auto members, place.members());
    for (const auto& [name, value] : members) {
      KW_TRY(int64_t hint, value.integer(0, kLargestSize));
      symbols_.emplace(name, Size::symbol(builder_.symbol(name, hint)));
    }
    return {};
  }

  // ---- interface ----
  Status inputs() {
    KW_TRY(JsonPlace place, top_.at("inputs"));
    KW_TRY(auto items, place.items());
    for (const JsonPlace& item : items) KW_CHECK(input(item));
    return {};
  }

  Status input(const JsonPlace& place) {
    KW_CHECK(place.only_keys({"id", "name", "kind", "dtype", "shape", "requires_grad", "values"}));
    KW_TRY(JsonPlace id_place, place.at("id"));
    KW_TRY(std::string id, id_place.text());
    if (values_.contains(id)) return id_place.wrong("'" + id + "' is defined twice");
    KW_TRY(JsonPlace name_place, place.at("name"));
    ir::Input input;
    KW_TRY(input.name, name_place.text());
    KW_TRY(JsonPlace kind_place, place.at("kind"));
    KW_TRY(std::string kind, kind_place.text());
    KW_TRY(JsonPlace type_place, place.at("dtype"));
    KW_TRY(input.type, element_type(type_place));
    KW_TRY(JsonPlace shape_place, place.at("shape"));
    KW_TRY(std::vector<Size> shape, sizes(shape_place, input.name));
    if (kind == "constant") return constant(place, id, input.type, shape);
    if (kind == "parameter")
      input.kind = ir::InputKind::Parameter;
    else if (kind == "buffer")
      input.kind = ir::InputKind::Buffer;
    else if (kind != "tensor")
      return kind_place.wrong("the kind is tensor, parameter, buffer or constant");
    if (place.value().contains("values")) return place.wrong("only a constant has values");
    if (input.kind != ir::InputKind::Tensor) is_module_ = true;
    input.differentiable = input.type.floating() && input.kind != ir::InputKind::Buffer;
    if (place.value().contains("requires_grad")) {
      KW_TRY(JsonPlace grad, place.at("requires_grad"));
      KW_TRY(bool wanted, grad.boolean());
      input.differentiable = input.differentiable && wanted;
    }
    if (builder_.graph().find_input(input.name))
      return name_place.wrong("the input '" + input.name + "' appears twice");
    for (size_t i = 0; i < shape.size(); ++i) {
      std::string name = input.name + "_" + std::to_string(i);
      input.dims.push_back(shape[i] == Size(1) ? kUnit : builder_.axis(name, shape[i]));
    }
    std::string name = input.name;
    std::vector<AxisId> dims = input.dims;
    bool is_buffer = input.kind == ir::InputKind::Buffer;
    TensorValue value{builder_.input(std::move(input)), dims};
    if (is_buffer) {
      buffers_.emplace(id, Buffer{name, value});
    }
    values_.emplace(id, Value{value});
    return {};
  }

  Result<Type> element_type(const JsonPlace& place) {
    KW_TRY(std::string name, place.text());
    auto dtype = ir::dtype_from_torch_name(name);
    if (!dtype) return place.wrong("the element type '" + name + "' is not supported");
    return Type(*dtype);
  }

  Result<std::vector<Size>> sizes(const JsonPlace& place, const std::string& name) {
    KW_TRY(auto items, place.items());
    if (items.size() > kHighestRank) return place.wrong("a tensor has at most 16 dimensions");
    std::vector<Size> out;
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].value().is_string()) {
        KW_TRY(std::string symbol, items[i].text());
        auto known = symbols_.find(symbol);
        if (known == symbols_.end()) return items[i].wrong("the size '" + symbol + "' is not among the symbols");
        out.push_back(known->second);
        continue;
      }
      KW_TRY(int64_t size, items[i].integer(0, kLargestSize));
      bool plain = size <= 1;
      out.push_back(plain ? Size(size) : Size::symbol(builder_.symbol(name + "_" + std::to_string(i), size)));
    }
    return out;
  }

  // A small tensor that the program made from numbers: a literal.
  Status constant(const JsonPlace& place, const std::string& id, Type type, const std::vector<Size>& shape) {
    KW_TRY(JsonPlace list, place.at("values"));
    KW_TRY(auto items, list.items());
    std::vector<Value> numbers;
    for (const JsonPlace& item : items) {
      KW_TRY(Value number, argument(item, 0));
      if (!number.get<bool>() && !number.get<Size>() && !number.get<double>())
        return item.wrong("a number is expected");
      numbers.push_back(std::move(number));
    }
    int64_t total = 1;
    std::vector<int64_t> extents;
    for (const Size& s : shape) {
      auto n = builder_.graph().hinted(s);
      if (!n || *n < 1 || *n > 64) return place.wrong("a constant has from 1 to 64 values");
      total *= *n;
      extents.push_back(*n);
      if (total > 64) return place.wrong("a constant has from 1 to 64 values");
    }
    if (total != static_cast<int64_t>(numbers.size()))
      return list.wrong("the shape asks for " + std::to_string(total) + " values");
    for (size_t i = extents.size(); i-- > 0;) {  // nests the innermost dimension first
      std::vector<Value> rows;
      for (size_t start = 0; start < numbers.size(); start += static_cast<size_t>(extents[i])) {
        SequenceValue row;
        row.is_tuple = false;
        for (int64_t k = 0; k < extents[i]; ++k) row.items.push_back(numbers[start + static_cast<size_t>(k)]);
        rows.push_back(Value{std::move(row)});
      }
      numbers = std::move(rows);
    }
    auto value = call_torch(context_, "torch.tensor", {{numbers[0]}, {{"dtype", Value{DTypeValue{type}}}}});
    if (!value) return place.wrong(value.error().message);
    values_.emplace(id, *std::move(value));
    return {};
  }

  // ---- nodes ----
  Status nodes() {
    KW_TRY(JsonPlace place, top_.at("nodes"));
    KW_TRY(auto items, place.items());
    if (items.size() > kMostNodes) return place.wrong("there are too many nodes");
    for (const JsonPlace& item : items) KW_CHECK(node(item));
    return {};
  }

  Status node(const JsonPlace& place) {
    KW_CHECK(place.only_keys({"id", "target", "args", "kwargs", "at"}));
    KW_TRY(JsonPlace id_place, place.at("id"));
    KW_TRY(std::string id, id_place.text());
    if (values_.contains(id)) return id_place.wrong("'" + id + "' is defined twice");
    KW_TRY(JsonPlace target_place, place.at("target"));
    KW_TRY(std::string target, target_place.text());
    std::optional<Place> source;
    if (place.value().contains("at")) {
      KW_TRY(source, source_place(place));
    }
    Arguments arguments;
    KW_TRY(JsonPlace args, place.at("args"));
    KW_TRY(auto positional, args.items());
    for (const JsonPlace& item : positional) {
      KW_TRY(Value value, argument(item, 0));
      arguments.positional.push_back(std::move(value));
    }
    KW_TRY(JsonPlace kwargs, place.at("kwargs"));
    KW_TRY(auto keyword, kwargs.members());
    for (const auto& [key, item] : keyword) {
      KW_TRY(Value value, argument(item, 0));
      arguments.keyword.emplace_back(key, std::move(value));
    }
    const bool in_place = changes_in_place(target);
    std::string changed;
    if (in_place) {
      KW_TRY(changed, changed_buffer(place, positional, target));
    }
    auto value = call_torch(context_, target, std::move(arguments));
    if (!value) {
      Error error = std::move(value).error();
      error.message += " (at " + place.pointer() + ")";
      error.place = source ? source : std::optional<Place>(Place{file_});
      return tl::make_unexpected(std::move(error));
    }
    if (const auto* tensor = value->get<TensorValue>()) {
      if (in_place) KW_CHECK(update(changed, *tensor));
      if (builder_[tensor->node].op != ir::Op::Input) builder_.set_name(tensor->node, id);
    }
    values_.emplace(id, *std::move(value));
    return {};
  }

  // ATen marks what changes its first argument by a trailing underscore: aten.add_.Tensor.
  static bool changes_in_place(std::string_view target) {
    if (!target.starts_with("aten.")) return false;
    size_t end = std::min(target.find('.', 5), target.size());
    return end > 6 && target[end - 1] == '_' && target[end - 2] != '_' && target != "aten.detach_.default";
  }

  Result<std::string> changed_buffer(const JsonPlace& place, const std::vector<JsonPlace>& args,
                                     const std::string& target) {
    if (!args.empty() && args[0].value().is_object() && args[0].value().contains("node") &&
        args[0].value()["node"].is_string()) {
      std::string id = args[0].value()["node"].get<std::string>();
      if (buffers_.contains(id)) return id;
    }
    return place.wrong(target + " changes a value in place; only a buffer may change");
  }

  Status update(const std::string& id, const TensorValue& value) {
    Buffer& buffer = buffers_.at(id);
    if (!buffer.changed) updated_.push_back(id);
    buffer.changed = true;
    values_.insert_or_assign(id, Value{value});
    return {};
  }

  Result<Place> source_place(const JsonPlace& node_place) {
    KW_TRY(JsonPlace at, node_place.at("at"));
    KW_CHECK(at.only_keys({"file", "line"}));
    KW_TRY(JsonPlace file_place, at.at("file"));
    KW_TRY(std::string file, file_place.text());
    KW_TRY(JsonPlace line_place, at.at("line"));
    KW_TRY(int64_t line, line_place.integer(0, std::numeric_limits<int32_t>::max()));
    auto& files = builder_.graph().source_files;
    auto known = std::find(files.begin(), files.end(), file);
    if (known == files.end()) known = files.insert(files.end(), file);
    builder_.set_origin({static_cast<int32_t>(known - files.begin()), static_cast<int32_t>(line), 0});
    return Place{file, static_cast<int>(line)};
  }

  Result<Value> argument(const JsonPlace& place, int depth) {
    const json& value = place.value();
    if (depth > kDeepestArgument) return place.wrong("lists are nested too deeply");
    if (value.is_null()) return Value{NoneValue{}};
    if (value.is_boolean()) return Value{value.get<bool>()};
    if (value.is_string()) return Value{value.get<std::string>()};
    if (value.is_number_integer()) {
      KW_TRY(int64_t number,
             place.integer(std::numeric_limits<int64_t>::min() + 1, std::numeric_limits<int64_t>::max()));
      return Value{Size(number)};
    }
    if (value.is_number_float()) return Value{value.get<double>()};
    if (value.is_array()) {
      KW_TRY(auto items, place.items());
      SequenceValue out;
      out.is_tuple = false;
      for (const JsonPlace& item : items) {
        KW_TRY(Value inner, argument(item, depth + 1));
        out.items.push_back(std::move(inner));
      }
      return Value{std::move(out)};
    }
    if (value.size() != 1) return place.wrong("a value has one key: node, float, dtype, device or opaque");
    const std::string key = value.begin().key();
    KW_TRY(JsonPlace inner, place.at(key));
    KW_TRY(std::string text, inner.text());
    if (key == "node") {
      auto known = values_.find(text);
      if (known == values_.end()) return inner.wrong("'" + text + "' is not defined before it is used");
      return known->second;
    }
    if (key == "float") {
      if (text == "inf" || text == "-inf") return Value{text == "inf" ? HUGE_VAL : -HUGE_VAL};
      if (text == "nan") return Value{std::nan("")};
      return inner.wrong("a float is written as a number, or as inf, -inf or nan");
    }
    if (key == "dtype") {
      KW_TRY(Type type, element_type(inner));
      return Value{DTypeValue{type}};
    }
    if (key == "device" || key == "opaque") return Value{DeviceValue{}};
    return place.wrong("unknown kind of value '" + key + "'");
  }

  // ---- results ----
  Status outputs() {
    KW_TRY(JsonPlace place, top_.at("outputs"));
    KW_TRY(auto items, place.items());
    std::vector<std::pair<std::string, Value>> updates;
    std::vector<TensorValue> results;
    for (const JsonPlace& item : items) {
      KW_CHECK(item.only_keys({"value", "updates"}));
      KW_TRY(JsonPlace value_place, item.at("value"));
      KW_TRY(Value value, argument(value_place, 0));
      const auto* tensor = value.get<TensorValue>();
      if (!tensor) return value_place.wrong("an output is a tensor, not " + describe(value, builder_.graph()));
      if (builder_[tensor->node].type.weak()) return value_place.wrong("an output is a tensor, not a number");
      if (!item.value().contains("updates")) {
        results.push_back(*tensor);
        continue;
      }
      KW_TRY(JsonPlace target, item.at("updates"));
      KW_TRY(std::string name, target.text());
      auto buffer =
          std::find_if(buffers_.begin(), buffers_.end(), [&](const auto& b) { return b.second.name == name; });
      if (buffer == buffers_.end()) return target.wrong("there is no buffer '" + name + "'");
      KW_CHECK(update(buffer->first, *tensor));
    }
    if (results.empty() && updated_.empty()) return place.wrong("the graph has no output");
    for (size_t i = 0; i < results.size(); ++i) {
      std::string name = results.size() > 1 ? "y" + std::to_string(i) : "y";
      while (builder_.graph().find_input(name)) name += "_";
      builder_.output({name, results[i].node, results[i].dims, std::nullopt});
      layouts_[name] = ir::text_of(layout_of(builder_.graph(), results[i]));
    }
    for (const std::string& id : updated_) {
      const Buffer& buffer = buffers_.at(id);
      const TensorValue& value = *values_.at(id).get<TensorValue>();
      builder_.output({buffer.name + "_updated", value.node, value.dims, buffer.name});
    }
    return {};
  }

  JsonPlace top_;
  const std::string& file_;
  ir::GraphBuilder builder_;
  TorchContext context_{builder_};
  std::map<std::string, Size> symbols_;
  std::map<std::string, Value> values_;  // by id: inputs and nodes; a buffer's is its latest value
  std::map<std::string, Buffer> buffers_;
  std::vector<std::string> updated_;            // buffers, in the order in which they first changed
  std::map<std::string, std::string> layouts_;  // of outputs
  bool is_module_ = false;
};

}  // namespace

Result<Reading> read_exported_graph(std::string_view text, const std::string& file) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    size_t at = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    std::string_view before = text.substr(0, at);
    size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    int line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    Place place{file, line,
                column_at(text.substr(line_start, text.find('\n', line_start) - line_start), at - line_start)};
    std::string what = error.what();
    size_t detail = what.rfind(": ");
    return bad_input("this is not JSON: " + (detail == std::string::npos ? what : what.substr(detail + 2)), place);
  }
  return ExportedReader(document, file).read();
}

}  // namespace kw::understand
