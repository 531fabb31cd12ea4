// kw review NAME: one page that a person can judge in a minute.
#include "profile/review.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "act/act.h"
#include "act/package/file_set.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"

namespace kw::cli {
namespace {

using NamedFiles = std::vector<std::pair<std::string, std::string>>;

// What act will write for each target of the profile, each with what it is; or the word that refuses the target.
NamedFiles files_of(const profile::KernelFolder& folder, const profile::Profile& profile) {
  NamedFiles files;
  const Result<std::vector<profile::ScheduleRow>> schedules = schedules_of(folder);
  for (const std::string& name : profile.limits.targets) {
    const Result<kernel::Target> target = target_of(name);
    if (!target || !schedules) continue;
    const Result<act::Generated> generated = act::act(profile, *schedules, *target);
    if (!generated) files.emplace_back("act/" + name + "/", "nothing: " + generated.error().message);
    if (generated)
      for (const auto& [path, _] : act::file_set(*generated))
        if (path.find("/kw/") == std::string::npos) files.emplace_back(path, act::description_of(path));
  }
  return files;
}

std::string as_object(const profile::Profile& profile, profile::ApprovalState approval, const NamedFiles& files) {
  nlohmann::ordered_json object = {
      {"name", profile.name}, {"tier", profile.tier}, {"closest", profile.closest}, {"approval", to_text(approval)}};
  object["decisions"] = nlohmann::ordered_json::array();
  for (const profile::Decision& decision : profile.decisions) object["decisions"].push_back(as_json(decision));
  object["math"] = {
      {"read", profile.math.read}, {"forward", profile.math.forward}, {"backward", profile.math.backward}};
  object["memory"] = {{"kept", profile.memory.kept},
                      {"forward_peak", profile.memory.forward_peak},
                      {"backward_peak", profile.memory.backward_peak},
                      {"eager_kept", profile.memory.eager_kept},
                      {"eager_forward_peak", profile.memory.eager_forward_peak},
                      {"eager_backward_peak", profile.memory.eager_backward_peak}};
  for (const auto& [path, what] : files) object["files"][path] = what;
  return dump(object);
}

}  // namespace

Result<Answer> run_review(const Globals& globals, const ReviewOptions& options) {
  const profile::KernelFolder folder(globals.workspace, options.name);
  KW_TRY(const profile::Profile profile, folder.read_profile());
  KW_TRY(const profile::ApprovalState approval, folder.profile_approval(profile));
  const auto source_line = [&](std::string_view file, int number) -> std::string {
    const Result<std::string> text = read_text(folder.file(file));
    if (!text) return {};
    const std::vector<std::string> lines = split_lines(*text);
    return number >= 1 && static_cast<std::size_t>(number) <= lines.size() ? lines[static_cast<std::size_t>(number) - 1]
                                                                           : "";
  };
  profile::ReviewOptions page;
  page.all = options.all;
  const NamedFiles files = files_of(folder, profile);
  if (options.files) page.files = files;
  page.bold = isatty(STDOUT_FILENO) != 0;
  return Answer{profile::review_page(profile, approval, source_line, page), as_object(profile, approval, files)};
}

Action add_review(CLI::App& app) {
  auto options = std::make_shared<ReviewOptions>();
  app.add_option("NAME", options->name, "the kernel")->required();
  app.add_flag("--all", options->all, "the engine's own choices too");
  app.add_flag("--files", options->files, "what will be generated");
  return [options](const Globals& globals) { return run_review(globals, *options); };
}

}  // namespace kw::cli
