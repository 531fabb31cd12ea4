// kw remove NAME --yes: takes a kernel out of the workspace, with its folder and all that is in it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/checkpoint.h"
#include "cli/commands.h"

namespace kw::cli {
namespace {

struct Options {
  std::string name;
  bool yes = false;
};

Result<Answer> run(const Globals& globals, const Options& options) {
  KW_CHECK(profile::check_kernel_name(options.name));
  const profile::KernelFolder folder(globals.workspace, options.name);
  if (!folder.exists()) KW_CHECK(folder.read_profile());  // says which kernels there are
  if (!options.yes)
    return fail(ErrorKind::NeedsApproval,
                fmt::format("{} would be deleted, with every decision and file in it", folder.path()),
                fmt::format("kw remove {} --yes", options.name));
  KW_CHECK(folder.remove());
  return Answer{fmt::format("removed: {}\n", folder.path()), dump({{"name", options.name}, {"removed", true}})};
}

}  // namespace

Action add_remove(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, "the kernel")->required();
  app.add_flag("--yes", options->yes, "deletes its folder");
  return [options](const Globals& globals) { return run(globals, *options); };
}

}  // namespace kw::cli
