// kw diff NAME: what changed since the profile was approved.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/checkpoint.h"
#include "cli/stages.h"
#include "profile/difference.h"

namespace kw::cli {

Result<Answer> run_diff(const Globals& globals, const std::string& name) {
  const profile::KernelFolder folder(globals.workspace, name);
  KW_TRY(const profile::Profile now, folder.read_profile());
  KW_TRY(const std::optional<profile::Profile> approved, folder.approved_profile());
  if (!approved)
    return fail(ErrorKind::NeedsApproval,
                fmt::format("{} has never been approved, so there is nothing to compare with", name),
                fmt::format("kw review {0}, then kw approve {0}", name));
  const std::vector<profile::Change> changes = profile::difference(*approved, now);
  nlohmann::ordered_json object = {{"name", name}, {"changes", nlohmann::ordered_json::array()}};
  for (const profile::Change& change : changes)
    object["changes"].push_back({{"what", change.what}, {"before", change.before}, {"after", change.after}});
  return Answer{changes.empty() ? "nothing changed since approval\n" : profile::to_text(changes), dump(object)};
}

Action add_diff(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("NAME", *name, "the kernel")->required();
  return [name](const Globals& globals) { return run_diff(globals, *name); };
}

}  // namespace kw::cli
