// What the commands on a kernel share: a profile as JSON, the state of its approval, targets and schedules.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "kernel/manifest.h"
#include "profile/folder.h"
#include "profile/profile.h"
#include "profile/schedules.h"

namespace kw::cli {

nlohmann::ordered_json summary(const profile::Profile& profile);    // name, tier, closest, source, decisions by id
nlohmann::ordered_json as_json(const profile::Decision& decision);  // everything that it says
std::string_view to_text(profile::ApprovalState state);             // "missing", "current", "void"
std::string dump(const nlohmann::ordered_json& object);             // as --json prints it

Result<kernel::Target> target_of(const std::string& name);                                    // cpu, cuda, triton
Result<std::vector<profile::ScheduleRow>> schedules_of(const profile::KernelFolder& folder);  // none: no file

}  // namespace kw::cli
