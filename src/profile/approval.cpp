#include "profile/approval.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "profile/format.h"

namespace kw::profile {
namespace {

constexpr std::array<std::string_view, 4> kStages = {"profile", "files", "report", "perf"};

Failure broken(const std::string& file, int line, std::string_view text, std::string message) {
  Error error{ErrorKind::BadInput, std::move(message), Place{file, line, 1, 0}, std::string(text),
              "the file is written by `kw approve` alone; remove the line and approve again"};
  return Failure(std::move(error));
}

}  // namespace

std::string_view to_text(Stage stage) { return kStages[static_cast<std::size_t>(stage)]; }

std::optional<Stage> stage_from_text(std::string_view text) {
  for (std::size_t i = 0; i < kStages.size(); ++i)
    if (kStages[i] == text) return static_cast<Stage>(i);
  return std::nullopt;
}

std::string to_line(const Approval& approval) {
  nlohmann::ordered_json line;
  line["stage"] = to_text(approval.stage);
  line["hash"] = approval.hash;
  line["by"] = approval.by;
  line["when"] = approval.when;
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::vector<Approval>> read_approvals(std::string_view text, const std::string& file) {
  std::vector<Approval> approvals;
  int number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    const nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
    if (!value.is_object()) return broken(file, number, line, "this line is not a JSON object");
    for (const auto& [key, _] : value.items())
      if (key != "stage" && key != "hash" && key != "by" && key != "when")
        return broken(file, number, line, "unknown key '" + shortened(key) + "'");
    for (const char* key : {"stage", "hash", "by", "when"})
      if (!value.contains(key) || !value[key].is_string())
        return broken(file, number, line, std::string("'") + key + "' is missing or not text");
    const std::optional<Stage> stage = stage_from_text(value["stage"].get<std::string>());
    if (!stage) return broken(file, number, line, "'stage' must be profile, files, report or perf");
    if (!is_sha256(value["hash"].get<std::string>())) return broken(file, number, line, "'hash' is not a SHA-256");
    approvals.push_back({*stage, value["hash"], value["by"], value["when"]});
  }
  return approvals;
}

const Approval* last_approval(const std::vector<Approval>& approvals, Stage stage) {
  for (auto it = approvals.rbegin(); it != approvals.rend(); ++it)
    if (it->stage == stage) return &*it;
  return nullptr;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

std::string current_user() {
  for (const char* variable : {"USER", "LOGNAME"})
    if (const char* name = std::getenv(variable); name && *name) return name;
  return "user " + std::to_string(getuid());
}

}  // namespace kw::profile
