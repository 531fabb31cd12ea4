#include "profile/schedules.h"

#include <yaml-cpp/yaml.h>

#include "base/document.h"
#include "profile/yaml_text.h"

namespace kw::profile {
namespace {

constexpr int kVersion = 1;

std::string mapping(const std::map<std::string, std::string>& items) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (const auto& [key, value] : items) entries.emplace_back(key, yaml_scalar(value, true));
  return yaml_mapping(entries);
}

std::map<std::string, std::string> text_map(const YAML::Node& node) {
  std::map<std::string, std::string> items;
  if (node)
    for (const auto& entry : node) items.emplace(entry.first.Scalar(), entry.second.Scalar());
  return items;
}

std::string text(const YAML::Node& node) { return node ? node.Scalar() : std::string(); }

}  // namespace

bool tunes(const ScheduleRow& row, std::string_view plan_hash, std::string_view target, std::string_view pass) {
  return row.target == target && row.pass == pass && row.guard.empty() &&
         (row.instead_of.empty() || row.instead_of == plan_hash);
}

bool stands_in(const ScheduleRow& row, std::string_view plan_hash, std::string_view target, std::string_view pass) {
  return !row.instead_of.empty() && row.instead_of == plan_hash && row.target == target && row.pass == pass;
}

std::string schedules_to_yaml(const std::vector<ScheduleRow>& rows) {
  YamlText out(true);
  out.comment(
      "How this kernel is laid out, per target and machine. Rows change speed, never results. Tuning adds them, "
      "and\n"
      "`kw verify` one of fewer registers, or of a family that the profile lists as a fallback, where that passed and "
      "the\n"
      "first did not.\n"
      "Where no row fits, the family's own formula of machine, types and sizes gives the parameters.");
  out.raw("schema", std::to_string(kVersion));
  if (rows.empty()) {
    out.raw("schedules", "[]");
    return std::move(out).take();
  }
  out.open("schedules");
  for (const ScheduleRow& row : rows) {
    out.item();
    out.value("target", row.target);
    out.value("machine", row.machine);
    if (!row.types.empty()) out.raw("types", mapping(row.types));
    if (!row.guard.empty()) out.value("guard", row.guard);
    out.value("pass", row.pass);
    out.value("family", row.family);
    out.raw("parameters", mapping(row.parameters));
    out.prose("evidence", row.evidence);
    if (!row.instead_of.empty()) out.value("instead_of", row.instead_of);
    out.end_item();
  }
  out.close();
  return std::move(out).take();
}

Result<std::vector<ScheduleRow>> schedules_from_yaml(std::string_view yaml, const std::string& file) {
  KW_TRY(const Document document, Document::load(yaml, file, "schema/schedules.schema.json", kVersion));
  std::vector<ScheduleRow> rows;
  for (const auto& node : document.root()["schedules"])
    rows.push_back({text(node["target"]), text(node["machine"]), text_map(node["types"]), text(node["guard"]),
                    text(node["pass"]), text(node["family"]), text_map(node["parameters"]), text(node["evidence"]),
                    text(node["instead_of"])});
  return rows;
}

}  // namespace kw::profile
