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

Result<Answer> run(const Globals& globals, const Options& options) {
  const profile::KernelFolder folder(globals.workspace, options.name);
  KW_TRY(const profile::Profile profile, folder.read_profile());
  if (options.stage != "profile")
    return fail(ErrorKind::NeedsApproval, fmt::format("{} has no {} to approve yet", options.name, options.stage),
                "this stage comes after the profile");
  const std::string by = options.yes ? "--yes" : profile::current_user();
  const std::string when = profile::now_utc();
  KW_CHECK(folder.approve_profile(profile, by, when));
  const std::string hash = profile::canonical_hash(profile);
  const nlohmann::ordered_json object = {
      {"name", options.name}, {"stage", options.stage}, {"hash", hash}, {"by", by}, {"when", when}};
  return Answer{fmt::format("approved: profile of {} ({}) by {}\n", options.name, hash.substr(0, 12), by),
                dump(object)};
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
