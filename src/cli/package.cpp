// kw act NAME... --into package:DIR: the kernels as a Python package.
#include "act/package/package.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"

namespace kw::cli {
namespace {

// A folder that holds something else keeps it.
Status may_write(const std::string& directory, const std::string& package,
                 const std::map<std::string, std::string>& files) {
  if (file_exists(directory + "/" + package + "/record.json")) return {};  // a package that an earlier act wrote
  for (const auto& [path, _] : files)
    if (file_exists(directory + "/" + path))
      return bad_input(fmt::format("{}/{} is there already, and not from kw", directory, path), {},
                       "another folder, or that file out of the way");
  return {};
}

}  // namespace

Result<Answer> run_package(const Globals& globals, const PackageRequest& request) {
  KW_TRY(const std::string directory, act::package_directory(request.into));
  act::PackageOptions options;
  options.name = act::package_name(directory);
  if (!request.target.empty()) {
    options.targets.clear();
    for (const std::string& name : split(request.target, ',')) {
      KW_TRY(const kernel::Target target, target_of(name));
      options.targets.push_back(target);
    }
  }
  Progress progress("act", 2, progress_mode(globals.quiet || globals.json));
  progress.step("generate");
  std::vector<act::Ingredients> kernels;
  for (const std::string& name : request.names) {
    const profile::KernelFolder folder(globals.workspace, name);
    act::Ingredients kernel;
    KW_TRY(kernel.profile, folder.read_profile());
    KW_CHECK(need_approval(folder, kernel.profile, request.yes));
    KW_TRY(kernel.schedules, schedules_of(folder));
    KW_TRY(kernel.reference, read_text(folder.file("reference.py")));
    KW_TRY(kernel.source, read_text(folder.file(kernel.profile.source.file)));
    kernels.push_back(std::move(kernel));
  }
  KW_TRY(const auto files, act::package(kernels, options));
  KW_CHECK(may_write(directory, options.name, files));
  progress.step("write");
  for (const auto& [path, text] : files) KW_CHECK(write_file_atomically(directory + "/" + path, text));
  nlohmann::ordered_json object = {{"package", options.name},
                                   {"directory", directory},
                                   {"kernels", request.names},
                                   {"files", nlohmann::ordered_json::array()}};
  for (const auto& [path, _] : files) object["files"].push_back(path);
  const std::string text = fmt::format(
      "{}: {}, {} files in {}\nnext: cd {} && pip wheel . --no-build-isolation --no-deps\n", options.name,
      kernels.size() == 1 ? "1 kernel" : fmt::format("{} kernels", kernels.size()), files.size(), directory, directory);
  return Answer{text, dump(object)};
}

}  // namespace kw::cli
