// kw status [NAME]: how far each kernel has come, and the command that goes on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/checkpoint.h"
#include "cli/commands.h"
#include "cli/standing.h"

namespace kw::cli {
namespace {

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
    KW_TRY(const Standing standing, standing_of(folder, profile));
    KW_TRY(const std::vector<profile::Approval> log, folder.read_approvals());
    const NextStep next = next_step(folder, standing);
    text += fmt::format("{:<28} {}{}\n", name, next.stage, next.command.empty() ? "" : "; next: " + next.command);
    nlohmann::ordered_json kernel = {
        {"name", name}, {"approval", to_text(standing.profile)}, {"stage", next.stage}, {"next", next.command}};
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
