#include "cli/checkpoint.h"

#include <array>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "profile/decision.h"
#include "profile/yaml.h"

namespace kw::cli {

nlohmann::ordered_json as_json(const profile::Decision& decision) {
  const profile::DecisionKind* kind = profile::find_kind(decision.id);
  return {{"id", decision.id},
          {"value", decision.value},
          {"because", decision.because},
          {"at", decision.at},
          {"instead_of", decision.instead_of},
          {"if_wrong", decision.if_wrong},
          {"set_by", to_text(decision.set_by)},
          {"changes", kind ? to_text(kind->weight) : ""},
          {"settable", kind && kind->settable}};
}

nlohmann::ordered_json summary(const profile::Profile& profile) {
  nlohmann::ordered_json object = {{"name", profile.name},
                                   {"tier", profile.tier},
                                   {"closest", profile.closest},
                                   {"source", profile.source.given},
                                   {"hash", profile::canonical_hash(profile)}};
  for (const profile::Decision& decision : profile.decisions) object["decisions"][decision.id] = decision.value;
  return object;
}

std::string_view to_text(profile::ApprovalState state) {
  static constexpr std::array<std::string_view, 3> kNames = {"missing", "current", "void"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string dump(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<kernel::Target> target_of(const std::string& name) {
  for (const kernel::Target target : {kernel::Target::Cpu, kernel::Target::Cuda, kernel::Target::Triton})
    if (name == kernel::name_of(target)) return target;
  return bad_input("there is no target " + name, {}, "cpu, cuda or triton");
}

Result<std::vector<profile::ScheduleRow>> schedules_of(const profile::KernelFolder& folder) {
  const std::string file = folder.file("schedules.yaml");
  if (!file_exists(file)) return std::vector<profile::ScheduleRow>();
  KW_TRY(const std::string text, read_text(file));
  return profile::schedules_from_yaml(text, file);
}

}  // namespace kw::cli
