// The stored form of a manifest. Text is canonical: keys in one order, what has its default left out, short values on
// one line.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/document.h"
#include "base/text.h"
#include "kernel/flaw.h"

namespace kw::kernel {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kLineWidth = 120;

template <class Enum>
ordered_json name_json(Enum value) {
  return std::string(name_of(value));
}

void put(ordered_json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

ordered_json to_object(const Argument& argument) {
  ordered_json object = {{"kind", name_json(argument.kind)}, {"of", argument.of}};
  if (argument.kind == Argument::Kind::Stride) object["dimension"] = argument.dimension;
  put(object, "type", argument.type);
  put(object, "name", argument.name);
  return object;
}

ordered_json to_object(const Launch& launch) {
  const Launch plain;
  ordered_json object = ordered_json::object();
  if (launch.grid != plain.grid) object["grid"] = launch.grid;
  if (launch.block != plain.block) object["block"] = launch.block;
  if (launch.shared_bytes != plain.shared_bytes) object["shared_bytes"] = launch.shared_bytes;
  if (!launch.warps.empty()) object["warps"] = launch.warps;
  if (launch.stages != 0) object["stages"] = launch.stages;
  return object;
}

ordered_json to_object(const Entry& entry) {
  ordered_json object = {{"symbol", entry.symbol}, {"file", entry.file}};
  object["arguments"] = ordered_json::array();
  for (const Argument& argument : entry.arguments) object["arguments"].push_back(to_object(argument));
  if (!entry.guards.empty()) object["guards"] = entry.guards;
  if (entry.launch != Launch{}) object["launch"] = to_object(entry.launch);
  return object;
}

ordered_json to_object(const Step& step) {
  if (step.kind == Step::Kind::Fill) return {{"kind", "fill"}, {"buffer", step.buffer}, {"value", step.value}};
  ordered_json object = {{"kind", "kernel"}};
  object["entries"] = ordered_json::array();
  for (const Entry& entry : step.entries) object["entries"].push_back(to_object(entry));
  return object;
}

ordered_json to_object(const Buffer& buffer) {
  ordered_json object = {{"name", buffer.name}, {"role", name_json(buffer.role)}, {"type", buffer.type}};
  object["shape"] = buffer.shape;
  if (!buffer.strides_like.empty()) object["strides_like"] = buffer.strides_like;
  put(object, "alias", buffer.alias);
  put(object, "gradient_of", buffer.gradient_of);
  return object;
}

ordered_json to_object(const Pass& pass) {
  ordered_json object = {{"name", pass.name}};
  object["buffers"] = ordered_json::array();
  object["steps"] = ordered_json::array();
  for (const Buffer& buffer : pass.buffers) object["buffers"].push_back(to_object(buffer));
  for (const Step& step : pass.steps) object["steps"].push_back(to_object(step));
  return object;
}

ordered_json to_object(const Manifest& manifest) {
  ordered_json object = {{"schema", kManifestVersion}, {"name", manifest.name}, {"target", name_json(manifest.target)}};
  put(object, "generator", manifest.generator);
  object["sizes"] = manifest.sizes;
  object["types"] = ordered_json::object();
  for (const auto& [name, dtypes] : manifest.types) object["types"][name] = dtypes;
  for (const Scalar& scalar : manifest.scalars) {
    ordered_json row = {{"name", scalar.name}, {"type", scalar.type}};
    put(row, "default", scalar.default_value);
    object["scalars"].push_back(std::move(row));
  }
  if (!manifest.constraints.empty()) object["constraints"] = manifest.constraints;
  if (!manifest.deterministic) object["deterministic"] = false;
  if (!manifest.architectures.empty()) object["architectures"] = manifest.architectures;
  object["passes"] = ordered_json::array();
  for (const Pass& pass : manifest.passes) object["passes"].push_back(to_object(pass));
  return object;
}

std::string on_one_line(const ordered_json& value) {
  if (value.is_object()) {
    std::vector<std::string> parts;
    for (const auto& [key, item] : value.items()) parts.push_back(ordered_json(key).dump() + ": " + on_one_line(item));
    return "{" + join(parts, ", ") + "}";
  }
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const auto& item : value) parts.push_back(on_one_line(item));
    return "[" + join(parts, ", ") + "]";
  }
  if (value.is_number_float()) return number_text(value.get<double>());
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void write(const ordered_json& value, std::size_t column, std::size_t depth, std::string& out) {
  const std::string line = on_one_line(value);
  if (!value.is_structured() || value.empty() || column + line.size() < kLineWidth) {
    out += line;
    return;
  }
  const std::string margin(2 * depth + 2, ' ');
  const bool object = value.is_object();
  out += object ? "{\n" : "[\n";
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (!first) out += ",\n";
    first = false;
    const std::string name = object ? ordered_json(key).dump() + ": " : "";
    out += margin + name;
    write(item, margin.size() + name.size(), depth + 1, out);
  }
  out += "\n" + std::string(2 * depth, ' ') + (object ? "}" : "]");
}

std::string text(const YAML::Node& node) { return node ? node.Scalar() : std::string(); }

std::vector<std::string> texts(const YAML::Node& node) {
  std::vector<std::string> values;
  if (node)
    for (const auto& item : node) values.push_back(item.Scalar());
  return values;
}

int number(const YAML::Node& node) {
  return node ? static_cast<int>(parse_integer(node.Scalar()).value_or(0)) : 0;  // in range by the schema
}

// The enumerator that bears the name; the schema lets no other name pass.
template <class Enum>
Enum named(const YAML::Node& node, Enum last) {
  for (int i = 0; i <= static_cast<int>(last); ++i)
    if (name_of(static_cast<Enum>(i)) == node.Scalar()) return static_cast<Enum>(i);
  KW_ASSERT(false, "the schema knows a name that the program does not");
  return last;
}

Argument argument_from(const YAML::Node& node) {
  Argument argument{named(node["kind"], Argument::Kind::Constant), text(node["of"]), number(node["dimension"]),
                    text(node["type"]), text(node["name"])};
  const bool counts = argument.kind == Argument::Kind::Stride || argument.kind == Argument::Kind::Size;
  if (counts && argument.type.empty()) argument.type = "i64";
  return argument;
}

Launch launch_from(const YAML::Node& node) {
  Launch launch;
  if (!node) return launch;
  const auto take = [&](const char* key, std::array<std::string, 3>& into) {
    const std::vector<std::string> given = texts(node[key]);
    std::copy_n(given.begin(), std::min<std::size_t>(given.size(), 3), into.begin());
  };
  take("grid", launch.grid);
  take("block", launch.block);
  if (node["shared_bytes"]) launch.shared_bytes = text(node["shared_bytes"]);
  if (node["warps"]) launch.warps = text(node["warps"]);
  launch.stages = number(node["stages"]);
  return launch;
}

Entry entry_from(const YAML::Node& node) {
  Entry entry{text(node["symbol"]), text(node["file"]), {}, texts(node["guards"]), launch_from(node["launch"])};
  for (const auto& item : node["arguments"]) entry.arguments.push_back(argument_from(item));
  return entry;
}

Step step_from(const YAML::Node& node) {
  Step step;
  step.kind = text(node["kind"]) == "fill" ? Step::Kind::Fill : Step::Kind::Kernel;
  if (node["entries"])
    for (const auto& item : node["entries"]) step.entries.push_back(entry_from(item));
  step.buffer = text(node["buffer"]);
  if (node["value"]) step.value = parse_number(node["value"].Scalar()).value_or(0);
  return step;
}

Pass pass_from(const YAML::Node& node) {
  Pass pass{text(node["name"]), {}, {}};
  for (const auto& item : node["buffers"])
    pass.buffers.push_back({text(item["name"]), named(item["role"], Role::Workspace), text(item["type"]),
                            texts(item["shape"]), texts(item["strides_like"]), text(item["alias"]),
                            text(item["gradient_of"])});
  for (const auto& item : node["steps"]) pass.steps.push_back(step_from(item));
  return pass;
}

Manifest manifest_from(const YAML::Node& root) {
  Manifest manifest;
  manifest.name = text(root["name"]);
  manifest.target = named(root["target"], Target::Triton);
  manifest.generator = text(root["generator"]);
  manifest.sizes = texts(root["sizes"]);
  for (const auto& item : root["types"]) manifest.types[item.first.Scalar()] = texts(item.second);
  if (root["scalars"])
    for (const auto& item : root["scalars"])
      manifest.scalars.push_back({text(item["name"]), text(item["type"]), text(item["default"])});
  manifest.constraints = texts(root["constraints"]);
  if (root["deterministic"]) manifest.deterministic = text(root["deterministic"]) == "true";
  manifest.architectures = texts(root["architectures"]);
  for (const auto& item : root["passes"]) manifest.passes.push_back(pass_from(item));
  return manifest;
}

// The node at a path of keys and positions, or the nearest that exists above it.
YAML::Node node_at(YAML::Node node, const std::string& path) {
  for (const std::string& part : split(path, '/')) {
    YAML::Node next;
    if (node.IsSequence()) {
      next.reset(node[static_cast<std::size_t>(parse_integer(part).value_or(0))]);
    } else if (node.IsMap()) {
      next.reset(std::as_const(node)[part]);
    }
    if (!next.IsDefined() || next.IsNull()) return node;
    node.reset(next);
  }
  return node;
}

// Limits of lists that the checker of schemas does not know.
std::optional<Flaw> shape_flaw(const YAML::Node& root) {
  std::size_t p = 0;
  for (const auto& pass : root["passes"]) {
    std::size_t s = 0;
    for (const auto& step : pass["steps"]) {
      const std::string path = "passes/" + std::to_string(p) + "/steps/" + std::to_string(s++);
      const bool fill = text(step["kind"]) == "fill";
      if (fill && (!step["buffer"] || !step["value"])) return Flaw{path, "a fill needs a buffer and a value", ""};
      if (!fill && step["value"]) return Flaw{path + "/value", "only a fill has a value", ""};
      if (!step["entries"]) continue;
      std::size_t e = 0;
      for (const auto& entry : step["entries"]) {
        const std::string here = path + "/entries/" + std::to_string(e++) + "/launch/";
        const YAML::Node launch = entry["launch"];
        if (!launch) continue;
        for (const char* key : {"grid", "block"})
          if (launch[key] && launch[key].size() > 3)
            return Flaw{here + key, "a " + std::string(key) + " has at most three dimensions", ""};
      }
    }
    ++p;
  }
  return std::nullopt;
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  std::string out;
  write(to_object(manifest), 0, 0, out);
  return out + "\n";
}

Result<Manifest> manifest_from_json(std::string_view text, const std::string& file) {
  KW_TRY(const Document document,
         Document::load(text, file, "schema/manifest.schema.json", kManifestVersion, Document::Syntax::Json));
  const auto blame = [&](const Flaw& flaw) {
    return Failure(document.error_at(node_at(document.root(), flaw.path), flaw.message, flaw.hint));
  };
  if (const auto flaw = shape_flaw(document.root())) return blame(*flaw);
  Manifest manifest = manifest_from(document.root());
  if (const auto flaw = first_flaw(manifest)) return blame(*flaw);
  return manifest;
}

}  // namespace kw::kernel
