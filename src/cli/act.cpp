// kw act NAME: the files of a target, from the approved profile.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "act/act.h"
#include "act/package/file_set.h"
#include "base/file.h"
#include "base/progress.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"
#include "cli/standing.h"
#include "profile/yaml.h"

namespace kw::cli {

Status need_approval(const profile::KernelFolder& folder, const profile::Profile& profile, bool yes) {
  KW_TRY(const profile::ApprovalState approval, folder.profile_approval(profile));
  if (approval == profile::ApprovalState::Current) return {};
  if (yes) return folder.approve_profile(profile, "--yes", profile::now_utc());
  if (approval == profile::ApprovalState::Missing)
    return fail(ErrorKind::NeedsApproval, fmt::format("the profile of {} is not approved yet", folder.name()),
                fmt::format("kw review {0}, then kw approve {0}", folder.name()));
  return fail(ErrorKind::NeedsApproval, fmt::format("the profile of {} changed since it was approved", folder.name()),
              fmt::format("kw diff {0}, then kw approve {0}", folder.name()));
}

namespace {

// What an earlier act wrote for the target, as far as its manifest says.
std::vector<std::string> written_before(const profile::KernelFolder& folder, const std::string& target) {
  const std::string base = "act/" + target + "/";
  std::vector<std::string> paths;
  const Result<std::string> text = read_text(folder.file(base + "manifest.json"));
  if (!text) return paths;
  const Result<kernel::Manifest> manifest = kernel::manifest_from_json(*text, "manifest.json");
  if (!manifest) return paths;
  act::Generated before{*manifest, {}};
  for (const std::string& file : manifest->files()) {
    const Result<std::string> source = read_text(folder.file(base + file));
    if (source) before.files[file] = *source;
  }
  for (const auto& [path, _] : act::file_set(before)) paths.push_back(path);
  return paths;
}

// What someone changed by hand is not written over without a word, nor is what can no longer be compared.
Status keep_edits(const profile::KernelFolder& folder, const ActOptions& options) {
  const Result<std::optional<act::Generated>> found = files_on_disk(folder, options.target);
  const std::string hint = fmt::format("kw act {}{} --replace writes over them", options.name,
                                       options.target == "cpu" ? "" : " --target " + options.target);
  const Place place{folder.file("act/" + options.target)};
  if (options.replace) return {};
  const auto differs = [&](const std::string& why) {
    return bad_input(fmt::format("the files for {} are not as kw act made them: {}", options.target, why), place, hint);
  };
  if (!found) return differs(found.error().message);
  std::error_code none;
  if (!*found && file_exists(folder.file("made/" + options.target + ".json")) &&
      std::filesystem::is_directory(folder.file("act/" + options.target), none))
    return differs("manifest.json is missing");
  if (!*found || !are_edited(folder, options.target, **found)) return {};
  return bad_input(fmt::format("the files for {} were edited since kw act made them", options.target), place, hint);
}

}  // namespace

Status write_kernels(const profile::KernelFolder& folder, const profile::Profile& profile,
                     const act::Generated& kernels, const std::string& target,
                     const std::map<std::string, std::string>& beside) {
  std::map<std::string, std::string> files = act::file_set(kernels);
  files["made/" + target + ".json"] = made_from(profile, kernels);
  files.insert(beside.begin(), beside.end());
  return folder.write(files, written_before(folder, target));
}

Result<Answer> run_act(const Globals& globals, const ActOptions& options) {
  KW_TRY(const kernel::Target target, target_of(options.target));
  const profile::KernelFolder folder(globals.workspace, options.name);
  KW_TRY(const profile::Profile profile, folder.read_profile());
  KW_CHECK(need_approval(folder, profile, options.yes));
  KW_CHECK(keep_edits(folder, options));
  Progress progress("act", 2, progress_mode(globals.quiet || globals.json));
  progress.step("generate");
  KW_TRY(const std::vector<profile::ScheduleRow> schedules, schedules_of(folder));
  const Result<act::Generated> generated = act::act(profile, schedules, target);
  if (!generated) {
    const std::string path = folder.file("profile.yaml");
    KW_TRY(const std::string yaml, read_text(path));
    return tl::make_unexpected(act::placed_in_profile(generated.error(), yaml, path));
  }
  progress.step("write");
  KW_CHECK(write_kernels(folder, profile, *generated, options.target));
  const std::map<std::string, std::string> files = act::file_set(*generated);

  nlohmann::ordered_json object = {{"name", options.name},
                                   {"target", options.target},
                                   {"profile", profile::canonical_hash(profile)},
                                   {"generator", act::kGenerator},
                                   {"files", nlohmann::ordered_json::array()}};
  std::string text = fmt::format("{}: {} files for {}\n", options.name, files.size(), options.target);
  for (const auto& [path, _] : files) {
    object["files"].push_back(path);
    if (path.find("/kw/") == std::string::npos) text += "  " + folder.file(path) + "\n";
  }
  text += fmt::format("next: kw verify {}{}\n", options.name,
                      target == kernel::Target::Cpu ? "" : " --target " + options.target);
  return Answer{text, dump(object)};
}

Result<Answer> run_file_set(const Globals& globals, const PackageRequest& request) {
  if (request.into.starts_with("cpp:")) return run_library(globals, request);
  if (request.into.starts_with("liger:")) return run_liger(globals, request);
  return run_package(globals, request);
}

void add_into_option(CLI::App& app, std::string& into) {
  app.add_option("--into", into,
                 "package:DIR, a Python package that builds into a wheel; cpp:DIR, a C++ library; liger:DIR, a "
                 "contribution to a checkout of Liger")
      ->type_name("SET:DIR");
}

Action add_act(CLI::App& app) {
  auto options = std::make_shared<PackageRequest>();
  app.add_option("NAME", options->names, "the kernel; for a file set, one or more")->required();
  app.add_option("--target", options->target, "what the kernels run on: cpu, cuda or triton; a file set: cpu,cuda")
      ->type_name("TARGET");
  add_into_option(app, options->into);
  app.add_flag("--yes", options->yes, "approves the profile; the record says that a flag did it");
  auto replace = std::make_shared<bool>(false);
  app.add_flag("--replace", *replace, "writes over files that were edited since kw act made them");
  return [options, replace](const Globals& globals) -> Result<Answer> {
    if (!options->into.empty()) return run_file_set(globals, *options);
    if (options->names.size() > 1)
      return bad_input("several kernels at once can only become a package or a library", {},
                       "--into package:DIR or cpp:DIR");
    ActOptions one;
    one.name = options->names[0];
    if (!options->target.empty()) one.target = options->target;
    one.yes = options->yes;
    one.replace = *replace;
    return run_act(globals, one);
  };
}

}  // namespace kw::cli
