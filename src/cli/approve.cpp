// kw approve NAME [--stage S]: records who approved what, as the hash of its canonical form.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/checkpoint.h"
#include "cli/commands.h"
#include "profile/yaml.h"

namespace kw::cli {
namespace {

struct Options {
  std::string name;
  std::string stage = "profile";
  bool yes = false;
};

Answer approved(const Options& options, const std::string& hash, const std::string& by, const std::string& when) {
  const nlohmann::ordered_json object = {
      {"name", options.name}, {"stage", options.stage}, {"hash", hash}, {"by", by}, {"when", when}};
  return {fmt::format("approved: {} of {} ({}) by {}\n", options.stage, options.name, hash.substr(0, 12), by),
          dump(object)};
}

Result<Answer> approve_files(const profile::KernelFolder& folder, const Options& options) {
  KW_TRY(const std::string hash, hash_of_files(folder));
  if (hash.empty())
    return fail(ErrorKind::NeedsApproval, options.name + " has no files to approve yet", "kw act " + options.name);
  const std::string by = options.yes ? "--yes" : profile::current_user(), when = profile::now_utc();
  KW_CHECK(folder.record({profile::Stage::Files, hash, by, when}));
  return approved(options, hash, by, when);
}

Result<Answer> run(const Globals& globals, const Options& options) {
  const profile::KernelFolder folder(globals.workspace, options.name);
  KW_TRY(const profile::Profile profile, folder.read_profile());
  if (options.stage == "files") return approve_files(folder, options);
  if (options.stage != "profile")
    return fail(ErrorKind::NeedsApproval, fmt::format("{} has no {} to approve yet", options.name, options.stage),
                "this stage comes after the profile");
  const std::string by = options.yes ? "--yes" : profile::current_user();
  const std::string when = profile::now_utc();
  KW_CHECK(folder.approve_profile(profile, by, when));
  return approved(options, profile::canonical_hash(profile), by, when);
}

}  // namespace

Action add_approve(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, "the kernel")->required();
  app.add_option("--stage", options->stage, "what is approved")
      ->check(CLI::IsMember({"profile", "files", "report", "perf"}))
      ->type_name("STAGE");
  app.add_flag("--yes", options->yes, "the record says that a flag did it");
  return [options](const Globals& globals) { return run(globals, *options); };
}

}  // namespace kw::cli
