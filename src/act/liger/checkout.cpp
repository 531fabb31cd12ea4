#include "act/liger/checkout.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "act/liger/insert.h"
#include "act/liger/python_files.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "base/text.h"

namespace kw::act::liger {
namespace {

// What a contribution builds on.
constexpr const char* kNeeded[] = {"pyproject.toml",
                                   kOps,
                                   "src/liger_kernel/ops/utils.py",
                                   kTransformers,
                                   kFunctional,
                                   "src/liger_kernel/utils.py",
                                   "test/utils.py",
                                   "benchmark/scripts/utils.py",
                                   "benchmark/scripts/benchmark_model_configs.py"};

Result<std::string> git(const std::string& directory, std::vector<std::string> arguments) {
  if (!find_program("git"))
    return fail(ErrorKind::MissingTool, "git is not installed, and says what changed in a checkout", "apt install git");
  Command command;
  command.argv = {"git", "-C", directory};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.timeout = std::chrono::seconds(60);
  KW_TRY(const Finished finished, run(command));
  if (!finished.ok())
    return bad_input(fmt::format("{} is no Liger checkout: git {}", directory,
                                 std::string(trim(finished.errors.empty() ? describe_end(finished) : finished.errors))),
                     {}, "a clone of Liger, with its history");
  return finished.output;
}

// Paths of `git status`, as they lie in the checkout. A renamed file has its old path behind it.
std::vector<std::string> changed_paths(const std::string& status, const std::string& prefix) {
  std::vector<std::string> paths;
  bool old_path = false;
  for (const std::string& entry : split(status, '\0')) {
    if (old_path || entry.size() < 4) {
      old_path = false;
      continue;
    }
    old_path = entry[0] == 'R' || entry[0] == 'C';
    const std::string path = entry.substr(3);
    paths.push_back(path.starts_with(prefix) ? path.substr(prefix.size()) : path);
  }
  return paths;
}

Failure another_kernel(const Checkout& checkout, const LigerForm& form, const std::string& where) {
  return bad_input(fmt::format("{} has another kernel of the name {}: {}", checkout.directory, form.op, where), {},
                   fmt::format("kw set {} name.function=..., or take that kernel out and commit", form.op));
}

}  // namespace

Result<std::string> checkout_directory(const std::string& into) {
  constexpr std::string_view kSet = "liger:";
  std::string directory = into.starts_with(kSet) ? into.substr(kSet.size()) : "";
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  if (directory.empty())
    return bad_input(fmt::format("'{}' names no folder", into), {}, "liger:DIR, where DIR is a checkout of Liger");
  return directory;
}

Result<Checkout> read_checkout(const std::string& directory) {
  Checkout checkout{directory, {}, {}};
  if (!directory_exists(directory)) return bad_input(fmt::format("there is no folder {}", directory));
  for (const char* path : kNeeded)
    if (!file_exists(directory + "/" + path))
      return bad_input(fmt::format("{} is no Liger checkout: it has no {}", directory, path), {},
                       "liger:DIR, where DIR is a checkout of Liger");
  for (const char* path : {kOps, kTransformers, kFunctional}) {
    KW_TRY(checkout.edited[path], read_text(directory + "/" + path));
  }
  KW_TRY(const std::string prefix, git(directory, {"rev-parse", "--show-prefix"}));
  KW_TRY(const std::string status,
         git(directory, {"status", "--porcelain=v1", "-z", "--untracked-files=all", "--", "."}));
  checkout.changed = changed_paths(status, std::string(trim(prefix)));
  return checkout;
}

Status may_write(const Checkout& checkout, const LigerForm& form, const Files& files,
                 const std::set<std::string>& written) {
  const auto own = [&](const std::string& path, const std::string& text) {
    const auto file = files.find(path);
    return (file != files.end() && file->second == text) || written.contains(sha256_hex(text));
  };
  const Paths paths = paths_of(form.op);
  for (const std::string& path : {paths.op, paths.module, paths.test, paths.benchmark}) {
    const std::string full = checkout.directory + "/" + path;
    if (directory_exists(full)) return another_kernel(checkout, form, path + " is a folder");
    if (!file_exists(full)) continue;
    KW_TRY(const std::string text, read_text(full));
    if (!own(path, text)) return another_kernel(checkout, form, path + " is there already, and not from kw");
  }
  if (const std::string there = function_in(checkout.edited.at(kFunctional), form.functional);
      !there.empty() && there != functional_text(form) && !own(kFunctional, checkout.edited.at(kFunctional)))
    return another_kernel(checkout, form, fmt::format("{} defines {}", kFunctional, form.functional));

  std::vector<std::string> foreign;
  for (const std::string& path : checkout.changed) {
    if (path == kBenchmarkData) continue;  // the benchmark's own run
    const Result<std::string> text = read_text(checkout.directory + "/" + path);
    if (!text || !own(path, *text)) foreign.push_back(path);
  }
  if (foreign.empty()) return {};
  const std::string more = foreign.size() > 3 ? fmt::format(" and {} more", foreign.size() - 3) : "";
  foreign.resize(std::min<std::size_t>(foreign.size(), 3));
  return bad_input(fmt::format("{} has local changes: {}{}", checkout.directory, join(foreign, ", "), more), {},
                   "commit or stash them, so that the contribution stands alone");
}

}  // namespace kw::act::liger
