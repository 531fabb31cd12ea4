// kw act NAME... --into package:DIR: the kernels as a Python package.
#include "act/package/package.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"

namespace kw::cli {

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
