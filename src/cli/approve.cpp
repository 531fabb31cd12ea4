// kw approve NAME [--stage S]: records who approved what, as the hash of its canonical form.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
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

bool person_agrees(const std::string& name) {
  std::fprintf(stderr, "approve the profile of %s? [y/N] ", name.c_str());
  std::string answer;
  return std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes");
}

Result<Answer> run(const Globals& globals, const Options& options) {
  const profile::KernelFolder folder(globals.workspace, options.name);
  KW_TRY(const profile::Profile profile, folder.read_profile());
  if (options.stage != "profile")
    return fail(ErrorKind::NeedsApproval, fmt::format("{} has no {} to approve yet", options.name, options.stage),
                "this stage comes after the profile");
  std::string by = profile::current_user();
  if (options.yes) {
    by = "--yes";
  } else if (isatty(STDIN_FILENO) != 0 && !globals.json && !globals.quiet && !person_agrees(options.name)) {
    return fail(ErrorKind::NeedsApproval, fmt::format("the profile of {} is not approved", options.name),
                fmt::format("kw approve {} when it is right", options.name));
  }
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
  app.add_flag("--yes", options->yes, "without a question; the record says that a flag did it");
  return [options](const Globals& globals) { return run(globals, *options); };
}

}  // namespace kw::cli
