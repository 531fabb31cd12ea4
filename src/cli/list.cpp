// kw list: the kernels of this workspace.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/checkpoint.h"
#include "cli/commands.h"

namespace kw::cli {
namespace {

Result<Answer> run(const Globals& globals) {
  KW_TRY(const std::vector<std::string> names, profile::list_kernels(globals.workspace));
  std::string text;
  nlohmann::ordered_json object = {{"kernels", nlohmann::ordered_json::array()}};
  for (const std::string& name : names) {
    const profile::KernelFolder folder(globals.workspace, name);
    const Result<profile::Profile> profile = folder.read_profile();
    if (!profile) {  // one broken profile does not hide the others
      text += fmt::format("{:<28} broken: {}\n", name, profile.error().message);
      object["kernels"].push_back({{"name", name}, {"error", profile.error().message}});
      continue;
    }
    KW_TRY(const profile::ApprovalState approval, folder.profile_approval(*profile));
    text += fmt::format("{:<28} tier {}  closest {:<20} approval {:<8} from {}\n", name, profile->tier,
                        profile->closest, to_text(approval), profile->source.given);
    object["kernels"].push_back({{"name", name},
                                 {"tier", profile->tier},
                                 {"closest", profile->closest},
                                 {"approval", to_text(approval)},
                                 {"source", profile->source.given}});
  }
  if (names.empty()) text = "no kernels here; make one with kw understand SOURCE\n";
  return Answer{text, dump(object)};
}

}  // namespace

Action add_list(CLI::App&) { return run; }

}  // namespace kw::cli
