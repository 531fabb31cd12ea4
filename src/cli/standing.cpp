#include "cli/standing.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "profile/yaml.h"
#include "verify/judge.h"

namespace kw::cli {
namespace {

using profile::ApprovalState;

constexpr kernel::Target kTargets[] = {kernel::Target::Cpu, kernel::Target::Cuda, kernel::Target::Triton};

// Where the last approval of a stage stands in the log; -1: nowhere.
std::ptrdiff_t place_of_last(const std::vector<profile::Approval>& log, profile::Stage stage) {
  const profile::Approval* last = profile::last_approval(log, stage);
  return last ? last - log.data() : -1;
}

ApprovalState state_of(const std::vector<profile::Approval>& log, profile::Stage stage, const std::string& hash) {
  const profile::Approval* last = profile::last_approval(log, stage);
  if (!last || hash.empty()) return ApprovalState::Missing;
  return last->hash == hash ? ApprovalState::Current : ApprovalState::Void;
}

Status read_report(const profile::KernelFolder& folder, Standing& standing) {
  const std::string path = folder.file("verify/report.json");
  if (!file_exists(path)) return {};
  KW_TRY(const std::string text, read_text(path));
  auto object = nlohmann::json::parse(text, nullptr, false);
  // A broken report is no report: verify writes it again.
  if (!object.is_object() || !object["target"].is_string() || !object["kernel_hash"].is_string() ||
      !object["passed"].is_boolean())
    return {};
  standing.report_target = object["target"];
  KW_TRY(const std::optional<act::Generated> files, files_on_disk(folder, standing.report_target));
  standing.judged =
      files && verify::kernel_hash(files->manifest, files->files) == object["kernel_hash"].get<std::string>();
  standing.passed = standing.judged && object["passed"].get<bool>();
  return {};
}

}  // namespace

Result<std::optional<act::Generated>> files_on_disk(const profile::KernelFolder& folder, const std::string& target) {
  const std::string base = folder.file("act/" + target + "/");
  if (!file_exists(base + "manifest.json")) return std::nullopt;
  act::Generated found;
  KW_TRY(const std::string text, read_text(base + "manifest.json"));
  KW_TRY(found.manifest, kernel::manifest_from_json(text, base + "manifest.json"));
  for (const std::string& file : found.manifest.files()) {
    KW_TRY(found.files[file], read_text(base + file));
  }
  return found;
}

std::string made_from(const profile::Profile& profile, const act::Generated& files) {
  const nlohmann::ordered_json object = {{"profile", profile::canonical_hash(profile)},
                                         {"kernels", verify::kernel_hash(files.manifest, files.files)}};
  return object.dump() + "\n";
}

namespace {

// What made_from wrote; null where an older kw made the files, which says nothing of them.
nlohmann::json read_made(const profile::KernelFolder& folder, const std::string& target) {
  const Result<std::string> text = read_text(folder.file("made/" + target + ".json"));
  auto made = nlohmann::json::parse(text.value_or(""), nullptr, false);
  return made.is_object() && made.contains("profile") && made.contains("kernels") ? made : nlohmann::json();
}

}  // namespace

bool are_outdated(const profile::KernelFolder& folder, const std::string& target, const profile::Profile& profile,
                  const act::Generated& files) {
  const nlohmann::json made = read_made(folder, target);
  return !made.is_null() && made["kernels"] == verify::kernel_hash(files.manifest, files.files) &&
         made["profile"] != profile::canonical_hash(profile);
}

bool are_edited(const profile::KernelFolder& folder, const std::string& target, const act::Generated& files) {
  const nlohmann::json made = read_made(folder, target);
  return !made.is_null() && made["kernels"] != verify::kernel_hash(files.manifest, files.files);
}

Result<std::string> hash_of_files(const profile::KernelFolder& folder) {
  Sha256 hash;
  bool any = false;
  const auto add = [&](const std::string& path, const std::string& text) {
    for (const std::string& part : {path, text}) hash.add(std::to_string(part.size()) + ":" + part);
  };
  for (const kernel::Target target : kTargets) {
    const std::string name(kernel::name_of(target)), base = "act/" + name + "/";
    KW_TRY(const std::optional<act::Generated> found, files_on_disk(folder, name));
    if (!found) continue;
    any = true;
    KW_TRY(const std::string manifest, read_text(folder.file(base + "manifest.json")));
    add(base + "manifest.json", manifest);
    for (const auto& [file, text] : found->files) add(base + file, text);
  }
  return any ? hash.hex() : std::string();
}

Result<std::string> hash_of_report(const profile::KernelFolder& folder) {
  const std::string path = folder.file("verify/report.json");
  if (!file_exists(path)) return std::string();
  KW_TRY(const std::string text, read_text(path));
  Sha256 hash;
  hash.add(text);
  return hash.hex();
}

Result<Standing> standing_of(const profile::KernelFolder& folder, const profile::Profile& profile) {
  Standing standing;
  KW_TRY(standing.profile, folder.profile_approval(profile));
  KW_TRY(const std::vector<profile::Approval> log, folder.read_approvals());
  KW_TRY(const std::string files, hash_of_files(folder));
  standing.generated = !files.empty();
  for (const kernel::Target target : kTargets) {
    const std::string name(kernel::name_of(target));
    KW_TRY(const std::optional<act::Generated> found, files_on_disk(folder, name));
    if (found && standing.outdated.empty() && are_outdated(folder, name, profile, *found)) standing.outdated = name;
  }
  standing.files = state_of(log, profile::Stage::Files, files);
  standing.files_after = place_of_last(log, profile::Stage::Files) > place_of_last(log, profile::Stage::Profile);
  KW_CHECK(read_report(folder, standing));
  KW_TRY(const std::string report, hash_of_report(folder));
  standing.report = standing.judged ? state_of(log, profile::Stage::Report, report) : ApprovalState::Missing;
  return standing;
}

NextStep next_step(const profile::KernelFolder& folder, const Standing& standing) {
  const std::string& name = folder.name();
  if (standing.profile == ApprovalState::Missing) return {"the profile waits for review", "kw review " + name};
  if (standing.profile == ApprovalState::Void) return {"the profile changed since it was approved", "kw diff " + name};
  if (!standing.generated) return {"the profile is approved", "kw act " + name};
  if (!standing.outdated.empty())
    return {fmt::format("the files for {} are of an earlier profile", standing.outdated),
            fmt::format("kw act {}{}", name, standing.outdated == "cpu" ? "" : " --target " + standing.outdated)};
  const std::string target =
      standing.report_target.empty() || standing.report_target == "cpu" ? "" : " --target " + standing.report_target;
  if (!standing.judged) return {"the files are generated", "kw verify " + name};
  if (!standing.passed) return {"a gate failed", "kw verify " + name + target};
  if (standing.report != ApprovalState::Current)
    return {"verified on " + standing.report_target, "kw approve " + name + " --stage report"};
  return {"done on " + standing.report_target, ""};
}

}  // namespace kw::cli
