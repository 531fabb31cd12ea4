// kw act NAME --into liger:DIR: the kernel as a contribution to a checkout of Liger.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "act/liger/checkout.h"
#include "act/liger/pull_request.h"
#include "base/file.h"
#include "base/file_batch.h"
#include "base/hash.h"
#include "base/progress.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"

namespace kw::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRecord = "act/liger/written.json";
constexpr const char* kPullRequest = "act/liger/pr.md";

// SHA-256 of all that kw wrote into checkouts for the kernels of this workspace.
Result<std::set<std::string>> written_before(const std::string& workspace) {
  std::set<std::string> hashes;
  KW_TRY(const std::vector<std::string> names, profile::list_kernels(workspace));
  for (const std::string& name : names) {
    const Result<std::string> text = read_text(profile::KernelFolder(workspace, name).file(kRecord));
    if (!text) continue;
    const Json record = Json::parse(*text, nullptr, false);
    if (!record.is_object()) continue;  // a broken record vouches for nothing
    for (const auto& [_, hash] : record.items())
      if (hash.is_string()) hashes.insert(hash.get<std::string>());
  }
  return hashes;
}

}  // namespace

Result<Answer> run_liger(const Globals& globals, const PackageRequest& request) {
  KW_TRY(const std::string directory, act::liger::checkout_directory(request.into));
  if (request.names.size() != 1)
    return bad_input("a contribution to Liger is one kernel", {},
                     "kw act NAME --into liger:DIR, and a commit for each");
  if (!request.target.empty() && request.target != "triton")
    return bad_input(fmt::format("a contribution to Liger is in Triton, not for {}", request.target), {},
                     "leave --target out");
  Progress progress("act", 2, progress_mode(globals.quiet || globals.json));
  progress.step("generate");
  const profile::KernelFolder folder(globals.workspace, request.names[0]);
  act::Ingredients kernel;
  KW_TRY(kernel.profile, folder.read_profile());
  KW_CHECK(need_approval(folder, kernel.profile, request.yes));
  KW_TRY(kernel.schedules, schedules_of(folder));
  KW_TRY(kernel.reference, read_text(folder.file("reference.py")));
  KW_TRY(const act::liger::Checkout checkout, act::liger::read_checkout(directory));
  KW_TRY(const act::liger::LigerForm form, act::liger::liger_form(kernel.profile, kernel.schedules));
  KW_TRY(const act::liger::Files files, act::liger::contribution(kernel, form, checkout.edited));
  KW_TRY(const std::set<std::string> written, written_before(globals.workspace));
  KW_CHECK(act::liger::may_write(checkout, form, files, written));
  std::string report;
  if (file_exists(folder.file("verify/report.json"))) {
    KW_TRY(report, read_text(folder.file("verify/report.json")));
  }
  KW_TRY(const act::liger::PullRequest pull_request, act::liger::pull_request(form, kernel.profile, report));

  progress.step("write");
  KW_CHECK(write_files_together(directory, files));
  Json record = Json::object();
  for (const auto& [path, text] : files) record[path] = sha256_hex(text);
  act::liger::Files own = {{kRecord, record.dump(2) + "\n"}, {kPullRequest, pull_request.text}};
  for (const auto& [name, plot] : pull_request.plots) own["act/liger/" + name] = plot;
  std::vector<std::string> stale;  // a plot of what was measured before
  for (const char* name : act::liger::kPlots) stale.push_back("act/liger/" + std::string(name));
  KW_CHECK(folder.write(own, stale));

  Json object = {{"name", kernel.profile.name},
                 {"directory", directory},
                 {"function", form.autograd},
                 {"module", form.module},
                 {"functional", form.functional},
                 {"files", act::liger::eight_files(form.op)},
                 {"pull_request", folder.file(kPullRequest)}};
  std::string text = fmt::format("{}: {}, {} and {} in {}\n", kernel.profile.name, form.autograd, form.module,
                                 form.functional, directory);
  for (const auto& [path, _] : files) text += "  " + path + "\n";
  text += fmt::format("pull request: {}\n", folder.file(kPullRequest));
  text += fmt::format(
      "next: cd {0} && TRITON_INTERPRET=1 python -m pytest test/transformers/test_{1}.py\n"
      "      on a GPU: python benchmark/scripts/benchmark_{1}.py, which adds its rows to {2}\n",
      directory, form.op, act::liger::kBenchmarkData);
  return Answer{text, dump(object)};
}

}  // namespace kw::cli
