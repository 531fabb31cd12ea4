// kw status [NAME]: how far each kernel has come, and the command that goes on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/checkpoint.h"
#include "cli/commands.h"

namespace kw::cli {
namespace {

struct Next {
  std::string stage, command;
};

bool has_files(const profile::KernelFolder& folder) {
  return file_exists(folder.file("act/cpu/manifest.json")) || file_exists(folder.file("act/cuda/manifest.json")) ||
         file_exists(folder.file("act/triton/manifest.json"));
}

Next next_of(const profile::KernelFolder& folder, profile::ApprovalState approval) {
  const std::string& name = folder.name();
  if (approval == profile::ApprovalState::Missing) return {"the profile waits for review", "kw review " + name};
  if (approval == profile::ApprovalState::Void) return {"the profile changed since it was approved", "kw diff " + name};
  if (has_files(folder)) return {"the files are generated", "kw verify " + name};
  return {"the profile is approved", "kw act " + name};
}

Result<Answer> run(const Globals& globals, const std::string& only) {
  std::vector<std::string> names = {only};
  if (only.empty()) {
    KW_TRY(names, profile::list_kernels(globals.workspace));
  }
  std::string text;
  nlohmann::ordered_json object = {{"kernels", nlohmann::ordered_json::array()}};
  for (const std::string& name : names) {
    const profile::KernelFolder folder(globals.workspace, name);
    const Result<profile::Profile> read = folder.read_profile();
    if (!read) {
      if (!only.empty()) return tl::make_unexpected(read.error());
      text += fmt::format("{:<28} broken: {}; next: kw review {}\n", name, read.error().message, name);
      object["kernels"].push_back({{"name", name}, {"error", read.error().message}, {"next", "kw review " + name}});
      continue;  // one broken profile does not hide the others
    }
    const profile::Profile& profile = *read;
    KW_TRY(const profile::ApprovalState approval, folder.profile_approval(profile));
    KW_TRY(const std::vector<profile::Approval> log, folder.read_approvals());
    const Next next = next_of(folder, approval);
    text += fmt::format("{:<28} {}; next: {}\n", name, next.stage, next.command);
    nlohmann::ordered_json kernel = {
        {"name", name}, {"approval", to_text(approval)}, {"stage", next.stage}, {"next", next.command}};
    kernel["approvals"] = nlohmann::ordered_json::array();
    for (const profile::Approval& entry : log)
      kernel["approvals"].push_back(nlohmann::ordered_json::parse(to_line(entry)));
    object["kernels"].push_back(std::move(kernel));
  }
  if (names.empty()) text = "no kernels here; make one with kw understand SOURCE\n";
  return Answer{text, dump(object)};
}

}  // namespace

Action add_status(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("NAME", *name, "the kernel; otherwise all of them");
  return [name](const Globals& globals) { return run(globals, *name); };
}

}  // namespace kw::cli
