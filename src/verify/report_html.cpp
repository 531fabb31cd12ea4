// The report as one page for a browser: no script, no other file, no address.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/embedded.h"
#include "base/text.h"
#include "profile/review.h"
#include "verify/report.h"

namespace kw::verify {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.3g}", value) : number_text(value); }

std::string head(std::initializer_list<std::pair<const char*, bool>> columns) {
  std::string out = "<table>\n<tr>";
  for (const auto& [title, is_number] : columns)
    out += fmt::format("<th{}>{}</th>", is_number ? " class=\"number\"" : "", title);
  return out + "</tr>\n";
}

std::string cell(std::string_view text) { return "<td>" + escaped(text) + "</td>"; }
std::string number_cell(std::string_view text) { return "<td class=\"number\">" + escaped(text) + "</td>"; }

std::string gates_table(const Report& report) {
  std::string out = head({{"gate", false}, {"verdict", false}, {"", false}});
  for (const Verdict& verdict : report.verdicts) {
    const GateInfo& gate = info(verdict.gate);
    out += fmt::format("<tr><td title=\"{}\">{}</td><td class=\"{}\">{}</td><td>{}", escaped(gate.asks), gate.name,
                       name_of(verdict.outcome), name_of(verdict.outcome), escaped(verdict.line));
    if (!verdict.evidence.empty()) {
      const bool open = verdict.outcome == Outcome::Failed || verdict.outcome == Outcome::Flagged;
      out += fmt::format("<details{}><summary>evidence</summary>", open ? " open" : "");
      for (const std::string& line : verdict.evidence) out += "<pre>" + escaped(line) + "</pre>";
      out += "</details>";
    }
    out += "</td></tr>\n";
  }
  return out + "</table>\n";
}

// Heights are logarithms of counts: one element beyond the middle must be seen beside a million without an error.
std::string histogram(const ErrorRow& row) {
  constexpr int kBar = 14, kHeight = 36;
  std::int64_t most = row.beyond;
  for (const std::int64_t count : row.by_share) most = std::max(most, count);
  if (most == 0) return "";
  std::string out = fmt::format("<svg class=\"bars\" width=\"{}\" height=\"{}\" role=\"img\">", kBar * 12, kHeight);
  const auto bar = [&](std::size_t i, std::int64_t count, const std::string& what, const char* style) {
    if (count == 0) return;
    const double height = kHeight * std::log1p(static_cast<double>(count)) / std::log1p(static_cast<double>(most));
    out +=
        fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"{}><title>{} elements {}</title></rect>",
                    kBar * i, kHeight - height, kBar - 2, height, style, count, what);
  };
  for (std::size_t i = 0; i < row.by_share.size(); ++i)
    bar(i, row.by_share[i], i == 0 ? "without an error" : fmt::format("up to {} % of the bound", 10 * i), "");
  bar(row.by_share.size(), row.beyond, "beyond the bound", " style=\"fill: var(--bad)\"");
  return out + "</svg>";
}

std::string errors_table(const Report& report) {
  std::string out = head({{"pass", false},
                          {"tensor", false},
                          {"type", false},
                          {"elements", true},
                          {"max error", true},
                          {"99.9 %", true},
                          {"max ulps", true},
                          {"99.9 % ulps", true},
                          {"bound", true},
                          {"share of it", true},
                          {"elements by share of their bound", false}});
  for (const ErrorRow& row : report.errors)
    out += "<tr>" + cell(row.pass) + cell(row.tensor) + cell(row.type) + number_cell(std::to_string(row.elements)) +
           number_cell(number(row.max_error)) + number_cell(number(row.error_99_9)) +
           number_cell(number(row.max_ulps)) + number_cell(number(row.ulps_99_9)) + number_cell(number(row.bound)) +
           number_cell(number(row.max_share)) + "<td>" + histogram(row) + "</td></tr>\n";
  return out + "</table>\n";
}

struct Bar {
  const char* of;
  double value;  // 0 has no bar
};

// One below the other, as long as they are beside the longest.
std::string bars(std::initializer_list<Bar> all) {
  constexpr double kWidth = 220;
  double longest = 0;
  int count = 0;
  for (const Bar& bar : all) {
    longest = std::max(longest, bar.value);
    count += bar.value > 0;
  }
  if (count == 0) return "";
  std::string out = fmt::format("<svg class=\"bars\" width=\"{}\" height=\"{}\" role=\"img\">", kWidth, 13 * count);
  int y = 0;
  for (const Bar& bar : all) {
    if (bar.value <= 0) continue;
    out += fmt::format("<rect y=\"{}\" width=\"{:.1f}\" height=\"11\"{}><title>{}</title></rect>", y,
                       kWidth * bar.value / longest, y > 0 ? " style=\"fill: var(--line)\"" : "", bar.of);
    y += 13;
  }
  return out + "</svg>";
}

std::string speeds_table(const Report& report) {
  std::string out = head({{"pass", false},
                          {"at", false},
                          {"ms", true},
                          {"±", true},
                          {"limit", true},
                          {"share", true},
                          {"bound by", false},
                          {"eager", true},
                          {"torch.compile", true},
                          {"kernel, limit, eager, torch.compile", false}});
  for (const SpeedRow& row : report.speeds)
    out += "<tr>" + cell(row.pass) + cell(row.sizes) + number_cell(fmt::format("{:.3f}", row.milliseconds)) +
           number_cell(fmt::format("{:.0f}%", 50 * row.width)) +
           number_cell(fmt::format("{:.3f}", row.limit_milliseconds)) +
           number_cell(fmt::format("{:.0f}%", 100 * row.share)) + cell(row.bound_by) +
           number_cell(time_text(row.eager)) + number_cell(time_text(row.compiled)) + "<td>" +
           bars({{"the kernel", row.milliseconds},
                 {"the limit", row.limit_milliseconds},
                 {"eager", row.eager.milliseconds},
                 {"torch.compile", row.compiled.milliseconds}}) +
           "</td></tr>\n";
  return out + "</table>\n";
}

std::string memory_table(const Report& report) {
  std::string out = head({{"pass", false},
                          {"at", false},
                          {"kernel", true},
                          {"eager", true},
                          {"torch.compile", true},
                          {"kernel, eager, torch.compile", false}});
  for (const SpeedRow& row : report.speeds)
    out += "<tr>" + cell(row.pass) + cell(row.sizes) + number_cell(profile::bytes_text(row.bytes)) +
           number_cell(memory_text(row.eager)) + number_cell(memory_text(row.compiled)) + "<td>" +
           bars({{"the kernel", static_cast<double>(row.bytes)},
                 {"eager", static_cast<double>(row.eager.bytes)},
                 {"torch.compile", static_cast<double>(row.compiled.bytes)}}) +
           "</td></tr>\n";
  return out + "</table>\n";
}

std::string kernels_table(const Report& report) {
  std::string out = head({{"kernel", false},
                          {"architecture", false},
                          {"types", false},
                          {"registers", true},
                          {"bytes spilled", true},
                          {"stack", true},
                          {"shared", true}});
  for (const KernelRow& row : report.kernels)
    out += "<tr>" + cell(row.kernel) + cell(row.architecture) + cell(row.types) +
           number_cell(std::to_string(row.registers)) +
           number_cell(std::to_string(row.spill_stored + row.spill_loaded)) + number_cell(std::to_string(row.stack)) +
           number_cell(std::to_string(row.shared)) + "</tr>\n";
  return out + "</table>\n";
}

}  // namespace

std::string to_html(const Report& report) {
  const std::string title = report.name + " on " + report.target;
  std::string body = fmt::format("<h1>{}: <span class=\"{}\">{}</span></h1>\n", escaped(title),
                                 report.passed() ? "passed" : "failed", report.passed() ? "verified" : "not verified");
  body += fmt::format(
      "<p class=\"facts\">Judged by {}, on {}, with {} cases in {} mixtures of types ({}); attempt {}, seed {:016x}; "
      "kernels {}{}.</p>\n",
      escaped(report.oracle), escaped(report.device), report.cases, report.mixtures.size(),
      escaped(join(report.mixtures, "; ")), report.attempt, report.seed, report.kernel_hash.substr(0, 12),
      report.generator.empty() ? "" : " by " + escaped(report.generator));
  for (const std::string& note : report.notes) body += "<p class=\"facts\">" + escaped(note) + "</p>\n";
  body += "<h2>Gates</h2>\n" + gates_table(report);
  if (!report.speeds.empty()) {
    body += "<h2>Speed</h2>\n" + speeds_table(report);
    body +=
        "<h2>Memory</h2>\n<p class=\"facts\">The most that a pass holds beyond what was there when it began.</p>\n" +
        memory_table(report);
  }
  if (!report.errors.empty()) body += "<h2>Errors</h2>\n" + errors_table(report);
  if (!report.kernels.empty()) body += "<h2>Kernels</h2>\n" + kernels_table(report);
  if (!report.refused.empty()) {
    body += "<h2>Refused</h2>\n<ul>\n";
    for (const std::string& line : report.refused) body += "<li>" + escaped(line) + "</li>\n";
    body += "</ul>\n";
  }
  const std::string frame(embedded::file("templates/report/report.html"));
  return replace_all(replace_all(frame, "KW_TITLE", escaped(title)), "KW_BODY\n", body);
}

}  // namespace kw::verify
