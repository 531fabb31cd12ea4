#include "verify/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"

namespace kw::verify {
namespace {

using nlohmann::ordered_json;

Result<Attempt> attempt_from(const std::string& line, const Place& place) {
  const ordered_json object = ordered_json::parse(line, nullptr, false);
  const auto text = [&](const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
  };
  Attempt attempt{text("when"), text("target"), text("subject"), text("kernel"), text("variant"), {}, 0};
  if (attempt.when.empty() || attempt.target.empty() || attempt.subject.empty() || !object.contains("failed") ||
      !object["failed"].is_array())
    return bad_input("this is no attempt", place, "attempts.jsonl is written by kw alone; remove the line");
  for (const ordered_json& gate : object["failed"])
    if (gate.is_string()) attempt.failed.push_back(gate.get<std::string>());
  const std::string seed = text("seed");
  std::from_chars(seed.data(), seed.data() + seed.size(), attempt.seed, 16);
  return attempt;
}

}  // namespace

std::string to_line(const Attempt& attempt) {
  const ordered_json object = {{"when", attempt.when},
                               {"target", attempt.target},
                               {"subject", attempt.subject},
                               {"kernel", attempt.kernel_hash},
                               {"variant", attempt.variant},
                               {"failed", attempt.failed},
                               {"seed", fmt::format("{:016x}", attempt.seed)}};
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

Result<std::vector<Attempt>> read_attempts(std::string_view text, const std::string& file) {
  std::vector<Attempt> attempts;
  int number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    if (trim(line).empty()) continue;
    KW_TRY(Attempt attempt, attempt_from(line, Place{file, number, 1, 0}));
    attempts.push_back(std::move(attempt));
  }
  return attempts;
}

std::vector<std::string> failed_gates(const Report& report) {
  std::vector<std::string> names;
  for (const Verdict& verdict : report.verdicts)
    if (verdict.outcome == Outcome::Failed) names.emplace_back(info(verdict.gate).name);
  return names;
}

bool spills_in_own_types(const Report& report, const KernelRow& row) {
  return row.spill_stored + row.spill_loaded > 0 && !report.mixtures.empty() && row.types == report.mixtures.front();
}

bool only_spills(const Report& report) {
  const bool spills = std::any_of(report.kernels.begin(), report.kernels.end(),
                                  [&](const KernelRow& row) { return spills_in_own_types(report, row); });
  return spills && failed_gates(report) == std::vector<std::string>{std::string(info(Gate::Builds).name)};
}

Attempt attempt_of(const Report& report, const std::string& subject, const std::string& variant, std::string when) {
  return {std::move(when), report.target, subject, report.kernel_hash, variant, failed_gates(report), report.seed};
}

int strikes(const std::vector<Attempt>& attempts, const std::string& target, const std::string& subject) {
  int count = 0;
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
    if (attempt->target != target || attempt->subject != subject) continue;
    if (attempt->failed.empty()) break;
    ++count;
  }
  return count;
}

Result<std::vector<Attempt>> AttemptLog::read() const {
  if (!file_exists(file_)) return std::vector<Attempt>();
  KW_TRY(const std::string text, read_text(file_));
  return read_attempts(text, file_);
}

Status AttemptLog::add(const Attempt& attempt) const {
  std::string text;
  if (file_exists(file_)) {
    KW_TRY(text, read_text(file_));
  }
  return write_file_atomically(file_, text + to_line(attempt) + "\n");
}

Status AttemptLog::may_go_on(const std::string& name, const std::string& target, const std::string& subject) const {
  KW_TRY(const std::vector<Attempt> attempts, read());
  if (strikes(attempts, target, subject) < kMostAttempts) return {};
  const auto last = std::find_if(attempts.rbegin(), attempts.rend(), [&](const Attempt& attempt) {
    return attempt.target == target && attempt.subject == subject;
  });
  return fail(
      ErrorKind::GateFailed,
      fmt::format("{} failed {} times on {} ({} the last time), and neither its profile nor its kernel has "
                  "changed since",
                  name, kMostAttempts, target, join(last->failed, ", ")),
      "the attempts are in " + file_ + "; change the profile (kw set), its schedules or the kernel, then verify again");
}

}  // namespace kw::verify
