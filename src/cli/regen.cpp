// kw regen: the same decisions, generated again by this version of kw, judged and timed again on this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/line_diff.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"
#include "cli/standing.h"

namespace kw::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  std::vector<std::string> names;
  bool all = false;
  bool own_types = false;
};

constexpr const char* kTargets[] = {"cpu", "cuda", "triton"};

// How long each pass took, by the report of a target; nothing where there is no such report, or a broken one.
ordered_json speeds_in(ordered_json report, const std::string& target) {
  ordered_json rows = ordered_json::array();
  if (!report.is_object() || report["target"] != target) return rows;
  for (ordered_json& row : report["speeds"])
    if (row.is_object() && row["pass"].is_string() && row["sizes"].is_string() && row["milliseconds"].is_number() &&
        row["share"].is_number())
      rows.push_back(row);
  return rows;
}

std::string timing_lines(const ordered_json& before, const ordered_json& after) {
  std::string text;
  for (const auto& now : after) {
    const auto then = std::find_if(before.begin(), before.end(), [&](const auto& row) {
      return row["pass"] == now["pass"] && row["sizes"] == now["sizes"];
    });
    text += fmt::format("  {:<9} {}{:.3f} ms, {:.0f}% of the limit, at {}\n", now["pass"].get<std::string>(),
                        then == before.end() ? "" : fmt::format("{:.3f} → ", (*then)["milliseconds"].get<double>()),
                        now["milliseconds"].get<double>(), 100 * now["share"].get<double>(),
                        now["sizes"].get<std::string>());
  }
  return text;
}

class Regeneration {
 public:
  Regeneration(const Globals& globals, const Options& options) : globals_(globals), options_(options) {}

  Result<Answer> run() {
    KW_TRY(const std::vector<std::string> there, profile::list_kernels(globals_.workspace));
    if (options_.all == !options_.names.empty())
      return bad_input("which kernels?", {}, "kw regen NAME…, or kw regen --all");
    for (const std::string& name : options_.all ? there : options_.names) {
      // One kernel that cannot be made again does not stop the others.
      const Status done = kernel(name);
      if (!done) refuse(name, done.error());
    }
    if (there.empty()) text_ = "no kernels here; make one with kw dev SOURCE\n";
    return Answer{text_, dump(object_), exit_code_};
  }

 private:
  void refuse(const std::string& name, const Error& error) {
    text_ += fmt::format("{}: {}{}\n", name, error.message, error.hint.empty() ? "" : "\n  hint: " + error.hint);
    object_["kernels"].push_back({{"name", name}, {"error", error.message}, {"hint", error.hint}});
    if (exit_code_ == 0) exit_code_ = static_cast<int>(error.kind);
  }

  Status kernel(const std::string& name) {
    const profile::KernelFolder folder(globals_.workspace, name);
    KW_TRY(const profile::Profile profile, folder.read_profile());
    bool any = false;
    for (const char* target : kTargets) {
      KW_TRY(const std::optional<act::Generated> before, files_on_disk(folder, target));
      if (!before) continue;
      any = true;
      KW_CHECK(generate_and_judge(folder, target, *before));
    }
    if (!any) return fail(ErrorKind::NeedsApproval, "nothing was generated yet", "kw act " + name);
    return {};
  }

  Status generate_and_judge(const profile::KernelFolder& folder, const std::string& target,
                            const act::Generated& before) {
    const std::string& name = folder.name();
    const ordered_json report = report_of(folder);
    KW_TRY(const Answer act, run_act(globals_, {name, target}));
    VerifyOptions verify;
    verify.name = name;
    verify.target = target;
    verify.own_types = options_.own_types;
    const Result<Answer> judged = run_verify(globals_, verify);  // which may take a fallback
    KW_TRY(const std::optional<act::Generated> after, files_on_disk(folder, target));
    const std::string code = difference(before.files, after->files);
    ordered_json row = {{"name", name}, {"target", target}, {"diff", code}};
    text_ += fmt::format("{} on {}: {}", name, target, code.empty() ? "the same code" : "the code changed\n" + code);
    if (judged) {
      row["report"] = ordered_json::parse(judged->object);
      text_ += fmt::format("{}{}\n", code.empty() ? ", " : "  ", judged->exit_code == 0 ? "verified" : "NOT verified");
      text_ += judged->exit_code == 0 ? timing_lines(speeds_in(report, target), speeds_in(row["report"], target))
                                      : judged->text;
      exit_code_ = std::max(exit_code_, judged->exit_code);
    } else {
      row["error"] = judged.error().message;
      text_ += fmt::format("{}not judged: {}\n", code.empty() ? ", " : "  ", judged.error().message);
      if (exit_code_ == 0) exit_code_ = static_cast<int>(judged.error().kind);
    }
    object_["kernels"].push_back(std::move(row));
    return {};
  }

  static ordered_json report_of(const profile::KernelFolder& folder) {
    const Result<std::string> text = read_text(folder.file("verify/report.json"));
    return text ? ordered_json::parse(*text, nullptr, false) : ordered_json();
  }

  static std::string difference(const std::map<std::string, std::string>& before,
                                const std::map<std::string, std::string>& after) {
    std::map<std::string, std::pair<std::string, std::string>> files;
    for (const auto& [file, text] : before) files[file].first = text;
    for (const auto& [file, text] : after) files[file].second = text;
    std::string out;
    for (const auto& [file, texts] : files) out += unified_diff(texts.first, texts.second, file);
    return out;
  }

  const Globals& globals_;
  const Options& options_;
  std::string text_;
  ordered_json object_ = {{"kernels", ordered_json::array()}};
  int exit_code_ = 0;
};

}  // namespace

Action add_regen(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->names, "the kernels");
  app.add_flag("--all", options->all, "every kernel of this workspace");
  app.add_flag("--own-types", options->own_types, "verifies the types of the profile alone, not every mixture");
  return [options](const Globals& globals) { return Regeneration(globals, *options).run(); };
}

}  // namespace kw::cli
