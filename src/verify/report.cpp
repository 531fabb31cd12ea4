#include "verify/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "profile/review.h"

namespace kw::verify {
namespace {

using nlohmann::ordered_json;

// JSON has no infinity.
ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(number_text(value));
}

std::string short_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.3g}", value) : number_text(value);
}

std::vector<const ErrorRow*> worst_first(const Report& report) {
  std::vector<const ErrorRow*> rows;
  for (const ErrorRow& row : report.errors) rows.push_back(&row);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ErrorRow* a, const ErrorRow* b) { return a->beyond > b->beyond; });
  return rows;
}

const char* mark(Outcome outcome) {
  constexpr const char* kMarks[] = {"ok  ", "FAIL", "note", "-   "};
  return kMarks[static_cast<std::size_t>(outcome)];
}

}  // namespace

namespace {

// The first line; where it ends with a colon, what comes behind it begins: of a compiler's words the first complaint.
std::string first_words(const std::string& message) {
  const std::vector<std::string> lines = split_lines(message);
  if (lines.size() < 2 || !lines[0].ends_with(':')) return lines.empty() ? "" : lines[0];
  const auto complaint = std::find_if(lines.begin() + 1, lines.end(),
                                      [](const std::string& line) { return line.find("error") != std::string::npos; });
  return lines[0] + " " + std::string(trim(complaint == lines.end() ? lines[1] : *complaint));
}

}  // namespace

void fail(Report& report, const Finding& finding, const std::string& where) {
  Verdict& against = report.verdicts[static_cast<std::size_t>(finding.gate)];
  if (against.outcome != Outcome::Failed) {
    against.outcome = Outcome::Failed;
    against.line = first_words(finding.message);
  }
  if (against.evidence.size() < kMostEvidence)
    against.evidence.push_back(where.empty() ? finding.message : where + ": " + finding.message);
}

std::string rounded_count(std::int64_t elements) {
  if (elements < 1'000'000) return std::to_string(elements);
  return fmt::format("{:.0f} million", 1e-6 * static_cast<double>(elements));
}

std::string time_text(const PeerCost& cost) {
  return cost.milliseconds > 0 ? fmt::format("{:.3f}", cost.milliseconds) : "-";
}

std::string memory_text(const PeerCost& cost) { return cost.milliseconds > 0 ? profile::bytes_text(cost.bytes) : "-"; }

bool Report::passed() const {
  return std::none_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.outcome == Outcome::Failed; });
}

const Verdict& Report::verdict(Gate gate) const {
  const auto found = std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& v) { return v.gate == gate; });
  KW_ASSERT(found != verdicts.end(), "a report has a verdict for every gate");
  return *found;
}

std::string to_json(const Report& report) {
  ordered_json object = {{"schema", kReportVersion},
                         {"name", report.name},
                         {"target", report.target},
                         {"passed", report.passed()},
                         {"attempt", report.attempt},
                         {"notes", report.notes},
                         {"device", report.device},
                         {"generator", report.generator},
                         {"oracle", report.oracle},
                         {"profile_hash", report.profile_hash},
                         {"kernel_hash", report.kernel_hash},
                         {"seed", fmt::format("{:016x}", report.seed)},
                         {"mixtures", report.mixtures},
                         {"cases", report.cases},
                         {"refused", report.refused},
                         {"seconds", report.seconds},
                         {"compile_seconds", report.compile_seconds}};
  object["gates"] = ordered_json::array();
  for (const Verdict& verdict : report.verdicts) {
    const GateInfo& gate = info(verdict.gate);
    object["gates"].push_back({{"name", gate.name},
                               {"asks", gate.asks},
                               {"hard", gate.hard},
                               {"outcome", name_of(verdict.outcome)},
                               {"line", verdict.line},
                               {"evidence", verdict.evidence}});
  }
  object["errors"] = ordered_json::array();
  for (const ErrorRow& row : report.errors)
    object["errors"].push_back({{"pass", row.pass},
                                {"tensor", row.tensor},
                                {"type", row.type},
                                {"cases", row.cases},
                                {"elements", row.elements},
                                {"beyond", row.beyond},
                                {"unjudged", row.unjudged},
                                {"max_error", number(row.max_error)},
                                {"error_99_9", number(row.error_99_9)},
                                {"max_ulps", number(row.max_ulps)},
                                {"ulps_99_9", number(row.ulps_99_9)},
                                {"bound", number(row.bound)},
                                {"max_share", number(row.max_share)},
                                {"by_share", row.by_share}});
  object["kernels"] = ordered_json::array();
  for (const KernelRow& row : report.kernels)
    object["kernels"].push_back({{"kernel", row.kernel},
                                 {"architecture", row.architecture},
                                 {"types", row.types},
                                 {"registers", row.registers},
                                 {"spill_stored", row.spill_stored},
                                 {"spill_loaded", row.spill_loaded},
                                 {"stack", row.stack},
                                 {"shared", row.shared}});
  object["speeds"] = ordered_json::array();
  for (const SpeedRow& row : report.speeds)
    object["speeds"].push_back({{"pass", row.pass},
                                {"sizes", row.sizes},
                                {"milliseconds", row.milliseconds},
                                {"width", row.width},
                                {"limit_milliseconds", row.limit_milliseconds},
                                {"share", row.share},
                                {"eager_milliseconds", row.eager.milliseconds},
                                {"compiled_milliseconds", row.compiled.milliseconds},
                                {"bytes", row.bytes},
                                {"eager_bytes", row.eager.bytes},
                                {"compiled_bytes", row.compiled.bytes},
                                {"bound_by", row.bound_by}});
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

std::string to_text(const Report& report) {
  std::string out =
      fmt::format("{} on {}: {}\n", report.name, report.device, report.passed() ? "verified" : "NOT verified");
  for (const Verdict& verdict : report.verdicts) {
    out += fmt::format("  {} {:<14} {}\n", mark(verdict.outcome), info(verdict.gate).name, verdict.line);
    if (verdict.outcome == Outcome::Failed || verdict.outcome == Outcome::Flagged)
      for (const std::string& line : verdict.evidence)
        if (line != verdict.line) out += indent(line, 22) + "\n";
  }
  for (const SpeedRow& row : report.speeds)
    out += fmt::format("  {:<9} {:.3f} ms ± {:.0f}%: {:.0f}% of the limit ({}), at {}\n", row.pass, row.milliseconds,
                       50 * row.width, 100 * row.share, row.bound_by, row.sizes);
  out += fmt::format("  {} cases, {} mixtures of types, {:.1f} s ({:.1f} s of compiling)\n", report.cases,
                     report.mixtures.size(), report.seconds, report.compile_seconds);
  for (const std::string& note : report.notes) out += "  note: " + note + "\n";
  return out;
}

std::string to_markdown(const Report& report) {
  std::string out =
      fmt::format("# {} on {}: {}\n\n", report.name, report.target, report.passed() ? "verified" : "not verified");
  out += fmt::format("Judged by {}, on {}, with {} cases in {} mixtures of types ({}); attempt {}, seed {:016x}.\n\n",
                     report.oracle, report.device, report.cases, report.mixtures.size(), join(report.mixtures, "; "),
                     report.attempt, report.seed);
  for (const std::string& note : report.notes) out += "- " + replace_all(note, "\n", "\n  ") + "\n";
  if (!report.notes.empty()) out += "\n";
  out += "| gate | verdict | |\n| --- | --- | --- |\n";
  for (const Verdict& verdict : report.verdicts)
    out += fmt::format("| {} | {} | {} |\n", info(verdict.gate).name, name_of(verdict.outcome), verdict.line);
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.evidence.empty()) continue;
    out += fmt::format("\n## {}\n\n{}.\n\n", info(verdict.gate).name, info(verdict.gate).asks);
    for (const std::string& line : verdict.evidence) out += "- " + replace_all(line, "\n", "\n  ") + "\n";
  }
  out +=
      "\n## errors\n\n| pass | tensor | type | elements | max error | 99.9 % | max ulps | 99.9 % ulps | bound | share "
      "|\n";
  out += "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const ErrorRow* row : worst_first(report))
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", row->pass, row->tensor, row->type,
                       row->elements, short_number(row->max_error), short_number(row->error_99_9),
                       short_number(row->max_ulps), short_number(row->ulps_99_9), short_number(row->bound),
                       short_number(row->max_share));
  if (!report.speeds.empty()) {
    out +=
        "\n## speed\n\n| pass | at | ms | ± | limit | share | bound by | eager | torch.compile |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |\n";
    for (const SpeedRow& row : report.speeds)
      out += fmt::format("| {} | {} | {:.3f} | {:.0f}% | {:.3f} | {:.0f}% | {} | {} | {} |\n", row.pass, row.sizes,
                         row.milliseconds, 50 * row.width, row.limit_milliseconds, 100 * row.share, row.bound_by,
                         time_text(row.eager), time_text(row.compiled));
    out +=
        "\n## memory\n\nThe most bytes that a pass holds beyond what was there when it began.\n\n"
        "| pass | at | kernel | eager | torch.compile |\n| --- | --- | ---: | ---: | ---: |\n";
    for (const SpeedRow& row : report.speeds)
      out += fmt::format("| {} | {} | {} | {} | {} |\n", row.pass, row.sizes, profile::bytes_text(row.bytes),
                         memory_text(row.eager), memory_text(row.compiled));
  }
  if (!report.kernels.empty()) {
    out +=
        "\n## kernels\n\n| kernel | architecture | types | registers | spilled | stack | shared |\n| --- | --- | --- | "
        "---: | ---: | ---: | ---: |\n";
    for (const KernelRow& row : report.kernels)
      out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.kernel, row.architecture, row.types,
                         row.registers, row.spill_stored + row.spill_loaded, row.stack, row.shared);
  }
  if (!report.refused.empty()) {
    out += "\n## refused\n\n";
    for (const std::string& line : report.refused) out += "- " + line + "\n";
  }
  return out;
}

}  // namespace kw::verify
