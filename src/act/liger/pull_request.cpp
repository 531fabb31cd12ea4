#include "act/liger/pull_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "act/liger/contribution.h"
#include "act/liger/plot.h"
#include "base/text.h"
#include "profile/yaml.h"

namespace kw::act::liger {
namespace {

using Json = nlohmann::json;

// A cell of a table.
std::string cell(std::string text) { return replace_all(replace_all(std::move(text), "\n", " "), "|", "\\|"); }

std::string fenced(const std::string& text) { return "```\n" + text + (text.ends_with("\n") ? "" : "\n") + "```\n"; }

std::string text_at(const Json& object, const char* key) {
  const auto value = object.find(key);
  return value != object.end() && value->is_string() ? value->get<std::string>() : "";
}
double number_at(const Json& object, const char* key) {
  const auto value = object.find(key);
  return value != object.end() && value->is_number() ? value->get<double>() : 0;
}

std::string decisions(const profile::Profile& profile) {
  // How it was read, and what the search may spend, concern no reviewer.
  const auto concerns = [](const std::string& id) {
    for (const char* other : {"limits.", "shapes.", "name.", "shape.", "mode", "tier", "closest", "licence"})
      if (id.starts_with(other)) return false;
    return true;
  };
  std::string out = "| decision | value | why |\n| --- | --- | --- |\n";
  for (const profile::Decision& decision : profile.decisions)
    if (concerns(decision.id))
      out += fmt::format("| {} | {} | {} |\n", decision.id, cell(decision.value), cell(decision.because));
  return out;
}

// Of a report on these very decisions; nothing of any other.
std::string gates(const Json& report) {
  std::string out = fmt::format(
      "The kernels were judged on {}, {} cases, against {}.\n\n| gate | outcome | found |\n"
      "| --- | --- | --- |\n",
      text_at(report, "device"), static_cast<int>(number_at(report, "cases")), text_at(report, "oracle"));
  for (const Json& gate : report.value("gates", Json::array()))
    out +=
        fmt::format("| {} | {} | {} |\n", text_at(gate, "name"), text_at(gate, "outcome"), cell(text_at(gate, "line")));
  return out;
}

std::string figures(const Json& report) {
  const Json speeds = report.value("speeds", Json::array());
  if (speeds.empty()) return {};
  std::string out = "| pass | sizes | ms | of the limit | PyTorch eager ms |\n| --- | --- | --- | --- | --- |\n";
  for (const Json& row : speeds) {
    const double eager = number_at(row, "eager_milliseconds");
    out += fmt::format("| {} | {} | {:.3f} | {:.0f}% | {} |\n", text_at(row, "pass"), text_at(row, "sizes"),
                       number_at(row, "milliseconds"), 100 * number_at(row, "share"),
                       eager > 0 ? fmt::format("{:.3f}", eager) : "not timed");
  }
  return out;
}

// One for each pass that was timed. The limit is a plain kernel that moves as many bytes.
std::map<std::string, std::string> plots(const LigerForm& form, const Json& report) {
  std::map<std::string, std::vector<PlotRow>> rows;
  for (const Json& row : report.value("speeds", Json::array())) {
    rows[text_at(row, "pass")].push_back({text_at(row, "sizes"), {}});
    for (const char* time : {"milliseconds", "limit_milliseconds", "eager_milliseconds", "compiled_milliseconds"})
      rows[text_at(row, "pass")].back().milliseconds.push_back(number_at(row, time));
  }
  std::map<std::string, std::string> files;
  for (const auto& [pass, times] : rows)
    files[pass + ".svg"] =
        bar_plot(fmt::format("{} {}: ms on {}, less is better", form.op, pass, text_at(report, "device")),
                 {"this kernel", "the limit", "PyTorch eager", "torch.compile"}, times);
  return files;
}

}  // namespace

Result<PullRequest> pull_request(const LigerForm& form, const profile::Profile& profile, const std::string& text) {
  Json report = Json::parse(text.empty() ? "{}" : text, nullptr, false);
  const bool judged = report.is_object() && text_at(report, "target") == "triton" &&
                      text_at(report, "profile_hash") == profile::canonical_hash(profile);
  std::string out = fmt::format("# Add {0}\n\n`{1}`, `{0}` and `{2}`: {3}, forward and backward in Triton.\n\n",
                                form.module, form.autograd, form.functional, form.op);
  out +=
      "## The math\n\nForward:\n\n" + fenced(profile.math.forward) + "\nBackward:\n\n" + fenced(profile.math.backward);
  out += "\n## Files\n\n";
  for (const std::string& path : eight_files(form.op))
    out += fmt::format("- `{}`{}\n", path, path == kBenchmarkData ? ", by the run of the benchmark script" : "");
  out += "\nNo dependency is added.\n";
  out += "\n## Decisions\n\n" + decisions(profile);
  out += "\n## Gates\n\n";
  out += judged ? gates(report)
                : fmt::format(
                      "Not judged by kw yet: `kw act {0} --target triton`, `kw verify {0} --target triton`, and the "
                      "file set once more.\n",
                      profile.name);
  out += fmt::format(
      "\nUnit test: `pytest test/transformers/test_{0}.py`; without a GPU in Triton's interpreter "
      "(`TRITON_INTERPRET=1`), where bfloat16 is skipped.\n",
      form.op);
  const std::string measured = judged ? figures(report) : "";
  out += "\n## Figures\n\n" +
         (measured.empty() ? fmt::format("None were measured yet: `python benchmark/scripts/benchmark_{}.py` on a GPU "
                                         "appends them to `{}`.\n",
                                         form.op, kBenchmarkData)
                           : measured);
  std::map<std::string, std::string> drawn;
  if (!measured.empty()) drawn = plots(form, report);
  for (const char* plot : kPlots)
    if (drawn.contains(plot)) out += fmt::format("\n![{0}]({0})\n", plot);
  out += fmt::format("\n## Limits\n\nfp64 is refused. The files are under {}, as the profile says.\n",
                     form.licence.empty() ? "no licence" : form.licence);
  return PullRequest{out, drawn};
}

}  // namespace kw::act::liger
