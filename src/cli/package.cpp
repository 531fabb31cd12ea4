// kw act NAME... --into package:DIR or cpp:DIR: the kernels as a Python package, or as a C++ library.
#include "act/package/package.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "act/package/library.h"
#include "base/file.h"
#include "base/file_batch.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"
#include "cli/standing.h"

namespace kw::cli {
namespace {

// A folder that holds something else keeps it. `record` is there where an earlier act wrote the same kind of set.
Status may_write(const std::string& directory, const std::string& record,
                 const std::map<std::string, std::string>& files) {
  if (file_exists(directory + "/" + record)) return {};
  for (const auto& [path, _] : files)
    if (file_exists(directory + "/" + path))
      return bad_input(fmt::format("{}/{} is there already, and not from kw", directory, path), {},
                       "another folder, or that file out of the way");
  return {};
}

// What a file set is made of, and where it goes.
struct Order {
  std::string directory, name;
  std::vector<kernel::Target> targets = {kernel::Target::Cpu, kernel::Target::Cuda};
  std::vector<act::Ingredients> kernels;
  std::vector<std::string> unverified;  // of these, as they are now
};

Result<Order> read_order(const Globals& globals, const PackageRequest& request, const std::string& set) {
  Order order;
  KW_TRY(order.directory, act::set_directory(request.into, set));
  order.name = act::package_name(order.directory);
  if (!request.target.empty()) {
    order.targets.clear();
    for (const std::string& name : split(request.target, ',')) {
      KW_TRY(const kernel::Target target, target_of(name));
      if (target == kernel::Target::Triton)
        return bad_input(fmt::format("a {} has no kernels in Triton", set == "cpp" ? "C++ library" : "package"), {},
                         "--target cpu, cuda or cpu,cuda");
      order.targets.push_back(target);
    }
  }
  for (const std::string& name : request.names) {
    const profile::KernelFolder folder(globals.workspace, name);
    act::Ingredients kernel;
    KW_TRY(kernel.profile, folder.read_profile());
    KW_CHECK(need_approval(folder, kernel.profile, request.yes));
    KW_TRY(const Standing standing, standing_of(folder, kernel.profile));
    if (!standing.judged || !standing.passed) order.unverified.push_back(name);
    KW_TRY(kernel.schedules, schedules_of(folder));
    KW_TRY(kernel.reference, read_text(folder.file("reference.py")));
    KW_TRY(kernel.source, read_text(folder.file(kernel.profile.source.file)));
    order.kernels.push_back(std::move(kernel));
  }
  return order;
}

Result<Answer> write_set(const Order& order, const std::string& record, const std::map<std::string, std::string>& files,
                         const PackageRequest& request, const std::string& kind, const std::string& next) {
  KW_CHECK(may_write(order.directory, record, files));
  KW_CHECK(write_files_together(order.directory, files));
  nlohmann::ordered_json object = {{kind, order.name},
                                   {"directory", order.directory},
                                   {"kernels", request.names},
                                   {"files", nlohmann::ordered_json::array()}};
  for (const auto& [path, _] : files) object["files"].push_back(path);
  object["unverified"] = order.unverified;
  std::string text =
      fmt::format("{}: {}, {} files in {}\n", order.name,
                  order.kernels.size() == 1 ? "1 kernel" : fmt::format("{} kernels", order.kernels.size()),
                  files.size(), order.directory);
  for (const std::string& name : order.unverified)
    text += fmt::format("note: {0} is not verified as it is now: kw verify {0}\n", name);
  text += fmt::format("next: cd {} && {}\n", order.directory, next);
  return Answer{text, dump(object)};
}

}  // namespace

Result<Answer> run_package(const Globals& globals, const PackageRequest& request) {
  Progress progress("act", 2, progress_mode(globals.quiet || globals.json));
  progress.step("generate");
  KW_TRY(const Order order, read_order(globals, request, "package"));
  act::PackageOptions options;
  options.name = order.name;
  options.targets = order.targets;
  KW_TRY(const auto files, act::package(order.kernels, options));
  progress.step("write");
  return write_set(order, order.name + "/record.json", files, request, "package",
                   "pip wheel . --no-build-isolation --no-deps");
}

Result<Answer> run_library(const Globals& globals, const PackageRequest& request) {
  Progress progress("act", 2, progress_mode(globals.quiet || globals.json));
  progress.step("generate");
  KW_TRY(const Order order, read_order(globals, request, "cpp"));
  KW_TRY(const auto files, act::library(order.kernels, {order.name, order.targets}));
  progress.step("write");
  return write_set(order, "record.json", files, request, "library", "cmake -S . -B build && cmake --build build");
}

}  // namespace kw::cli
