// Approvals: who agreed to what, and when. One line of approvals.jsonl each; lines are only ever added. An approval is
// about the hash of a canonical form: an edited comment keeps it, an edited decision voids it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::profile {

enum class Stage { Profile, Files, Report, Perf };

std::string_view to_text(Stage stage);
std::optional<Stage> stage_from_text(std::string_view text);

struct Approval {
  Stage stage = Stage::Profile;
  std::string hash;  // of the canonical form of what was approved
  std::string by;    // a user's name, or "--yes" where a flag did it
  std::string when;  // UTC: 2024-05-01T12:00:00Z
  bool operator==(const Approval&) const = default;
};

std::string to_line(const Approval& approval);  // JSON, without the newline
Result<std::vector<Approval>> read_approvals(std::string_view text, const std::string& file);
// The last approval of a stage, if any.
const Approval* last_approval(const std::vector<Approval>& approvals, Stage stage);

std::string now_utc();
std::string current_user();

}  // namespace kw::profile
