// What the checkpoint commands share: a profile as JSON, and the state of its approval.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "profile/folder.h"
#include "profile/profile.h"

namespace kw::cli {

nlohmann::ordered_json summary(const profile::Profile& profile);    // name, tier, closest, source, decisions by id
nlohmann::ordered_json as_json(const profile::Decision& decision);  // everything that it says
std::string_view to_text(profile::ApprovalState state);             // "missing", "current", "void"
std::string dump(const nlohmann::ordered_json& object);             // as --json prints it

}  // namespace kw::cli
