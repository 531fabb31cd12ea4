// The stages of a kernel's life as functions: a command runs one of them, `kw dev` all of them with the checkpoints
// between.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace kw::act {
struct Generated;
}
namespace kw::understand {
struct UnderstandRequest;
}
namespace kw::profile {
class KernelFolder;
struct Profile;
}  // namespace kw::profile

namespace kw::cli {

// The profile is approved, or `yes` approves it.
Status need_approval(const profile::KernelFolder& folder, const profile::Profile& profile, bool yes);

struct UnderstandOptions {
  std::string source;
  std::optional<std::string> math;  // instead of a source
  std::string name;
  std::vector<std::string> shapes, dtypes, init;
  bool eval = false;
  bool replace = false;
};
void add_source_options(CLI::App& app, UnderstandOptions& options);
Result<understand::UnderstandRequest> request_of(const UnderstandOptions& options);
// The kernel of the workspace that the source names, if it is the name of one.
std::optional<profile::KernelFolder> kernel_named(const Globals& globals, const UnderstandOptions& options);
Result<Answer> run_understand(const Globals& globals, const UnderstandOptions& options);

struct ReviewOptions {
  std::string name;
  bool all = false;
  bool files = false;
};
Result<Answer> run_review(const Globals& globals, const ReviewOptions& options);

Result<Answer> run_diff(const Globals& globals, const std::string& name);

struct ApproveOptions {
  std::string name;
  std::string stage = "profile";
  bool yes = false;
};
Result<Answer> run_approve(const Globals& globals, const ApproveOptions& options);

struct ActOptions {
  std::string name;
  std::string target = "cpu";
  bool yes = false;
  bool replace = false;  // files that were edited since an earlier act made them
};
Result<Answer> run_act(const Globals& globals, const ActOptions& options);
// The files of the target, in place of those that an earlier act wrote, and files `beside` them.
Status write_kernels(const profile::KernelFolder& folder, const profile::Profile& profile,
                     const act::Generated& kernels, const std::string& target,
                     const std::map<std::string, std::string>& beside = {});

struct PackageRequest {
  std::vector<std::string> names;
  std::string target;  // empty: cpu and cuda
  std::string into;    // package:DIR, cpp:DIR or liger:DIR
  bool yes = false;
};
void add_into_option(CLI::App& app, std::string& into);
Result<Answer> run_file_set(const Globals& globals, const PackageRequest& request);  // one of the three below
Result<Answer> run_package(const Globals& globals, const PackageRequest& request);
Result<Answer> run_library(const Globals& globals, const PackageRequest& request);
Result<Answer> run_liger(const Globals& globals, const PackageRequest& request);

struct VerifyOptions {
  std::string name, target = "cpu", kernel, manifest, reference, seed;
  bool own_types = false, no_timing = false;
  bool torch_compile = false;          // is timed beside the kernels too
  bool huge = false, no_huge = false;  // a call of more than 2^31 elements; neither: on a GPU alone
  double time_limit = 10;
};
Result<Answer> run_verify(const Globals& globals, const VerifyOptions& options);

}  // namespace kw::cli
