// kw approve NAME [--stage S]: records who approved what, as the hash of its canonical form.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/checkpoint.h"
#include "cli/stages.h"
#include "cli/standing.h"
#include "profile/yaml.h"

namespace kw::cli {
namespace {

Result<Answer> approved(const profile::KernelFolder& folder, const profile::Profile& profile,
                        const ApproveOptions& options, const std::string& hash, const std::string& by,
                        const std::string& when) {
  KW_TRY(const Standing standing, standing_of(folder, profile));
  const std::string next = next_step(folder, standing).command;
  const nlohmann::ordered_json object = {
      {"name", options.name}, {"stage", options.stage}, {"hash", hash}, {"by", by}, {"when", when}};
  return Answer{
      fmt::format("approved: {} of {} ({}) by {}\nnext: {}\n", options.stage, options.name, hash.substr(0, 12), by,
                  next.empty() ? "kw act " + options.name + " --into package:DIR" : next),
      dump(object)};
}

Result<Answer> approve_stage(const profile::KernelFolder& folder, const profile::Profile& profile,
                             const ApproveOptions& options, profile::Stage stage, const std::string& hash,
                             const std::string& made_by) {
  if (hash.empty())
    return fail(ErrorKind::NeedsApproval, fmt::format("{} has no {} to approve yet", options.name, options.stage),
                made_by + " " + options.name);
  const std::string by = options.yes ? "--yes" : profile::current_user(), when = profile::now_utc();
  KW_CHECK(folder.record({stage, hash, by, when}));
  return approved(folder, profile, options, hash, by, when);
}

Result<Answer> approve_report(const profile::KernelFolder& folder, const profile::Profile& profile,
                              const ApproveOptions& options) {
  KW_TRY(const Standing standing, standing_of(folder, profile));
  KW_TRY(const std::string hash, hash_of_report(folder));
  if (!hash.empty() && !standing.judged)
    return fail(ErrorKind::NeedsApproval, "the report is not about the files that there are now",
                "kw verify " + options.name);
  if (standing.judged && !standing.passed)
    return fail(ErrorKind::GateFailed, "the report says that a gate failed, which no approval can change",
                folder.file("verify/report.md"));
  return approve_stage(folder, profile, options, profile::Stage::Report, hash, "kw verify");
}

}  // namespace

Result<Answer> run_approve(const Globals& globals, const ApproveOptions& options) {
  const profile::KernelFolder folder(globals.workspace, options.name);
  KW_TRY(const profile::Profile profile, folder.read_profile());
  if (options.stage == "files") {
    KW_TRY(const std::string hash, hash_of_files(folder));
    return approve_stage(folder, profile, options, profile::Stage::Files, hash, "kw act");
  }
  if (options.stage == "report") return approve_report(folder, profile, options);
  if (options.stage != "profile")
    return fail(ErrorKind::NeedsApproval, fmt::format("{} has no {} to approve yet", options.name, options.stage),
                "there is no command yet that makes one");
  const std::string by = options.yes ? "--yes" : profile::current_user();
  const std::string when = profile::now_utc();
  KW_CHECK(folder.approve_profile(profile, by, when));
  return approved(folder, profile, options, profile::canonical_hash(profile), by, when);
}

Action add_approve(CLI::App& app) {
  auto options = std::make_shared<ApproveOptions>();
  app.add_option("NAME", options->name, "the kernel")->required();
  app.add_option("--stage", options->stage, "what is approved")
      ->check(CLI::IsMember({"profile", "files", "report", "perf"}))
      ->type_name("STAGE");
  app.add_flag("--yes", options->yes, "the record says that a flag did it");
  return [options](const Globals& globals) { return run_approve(globals, *options); };
}

}  // namespace kw::cli
