#include "profile/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "profile/yaml.h"

namespace kw::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProfile = "profile.yaml";
constexpr std::string_view kApprovals = "approvals.jsonl";
constexpr std::string_view kApproved = ".approved.yaml";

// Removes a folder that is being filled, unless it was taken into its place.
struct Staging {
  std::string path;
  bool taken = false;
  ~Staging() {
    std::error_code ignored;
    if (!taken) fs::remove_all(path, ignored);
  }
};

std::error_code last_error() { return {errno, std::generic_category()}; }

Failure cannot_write(const std::string& path, const std::error_code& error) {
  return bad_input("cannot write here: " + error.message(), Place{path},
                   "check the folder's permissions, or give --workspace DIR");
}

Status write_new_file(const std::string& path, std::string_view content) {
  KW_CHECK(make_directories(fs::path(path).parent_path().string()));
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return cannot_write(path, last_error());
  std::error_code error;
  while (!content.empty() && !error) {
    const ssize_t count = ::write(file, content.data(), content.size());
    if (count >= 0)
      content.remove_prefix(static_cast<std::size_t>(count));
    else if (errno != EINTR)
      error = last_error();
  }
  if (::close(file) != 0 && !error) error = last_error();
  if (error) return cannot_write(path, error);
  return {};
}

// After all are written: the first flush carries most of them to the disk, so that the others cost little.
Status flush_all(const std::string& folder, const Files& files) {
  for (const auto& [name, _] : files) {
    const std::string path = folder + "/" + name;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return cannot_write(path, last_error());
    const bool flushed = ::fsync(file) == 0;
    const std::error_code error = last_error();
    ::close(file);
    if (!flushed) return cannot_write(path, error);
  }
  return {};
}

}  // namespace

KernelFolder::KernelFolder(std::string workspace, std::string name)
    : workspace_(std::move(workspace)), name_(std::move(name)), path_(workspace_ + "/kernels/" + name_) {
  if (workspace_ == ".") path_ = "kernels/" + name_;
}

bool KernelFolder::exists() const { return file_exists(file(kProfile)); }

Status KernelFolder::remove() const {
  std::error_code error;
  fs::remove_all(path_, error);
  if (error) return fail(ErrorKind::BadInput, path_ + " cannot be deleted: " + error.message());
  return {};
}

Status KernelFolder::write(const Files& files, const std::vector<std::string>& stale) const {
  const std::string parent = fs::path(path_).parent_path().string();
  KW_CHECK(make_directories(parent));
  Staging staging{parent + "/.kw-new-" + name_ + "-" + std::to_string(::getpid())};
  std::error_code error;
  fs::remove_all(staging.path, error);  // of an earlier process with this number that was killed
  fs::create_directory(staging.path, error);
  if (error) return cannot_write(parent, error);
  for (const auto& [name, content] : files) KW_CHECK(write_new_file(staging.path + "/" + name, content));
  KW_CHECK(flush_all(staging.path, files));

  if (!directory_exists(path_)) {
    fs::rename(staging.path, path_, error);
    if (error) return cannot_write(path_, error);
    staging.taken = true;
    return {};
  }
  // Everything is on the disk: what is left are renames. The profile comes last, so that it never speaks of files that
  // are not there yet.
  std::vector<std::string> order;
  for (const auto& [name, _] : files)
    if (name != kProfile) order.push_back(name);
  if (files.contains(std::string(kProfile))) order.emplace_back(kProfile);
  for (const std::string& name : order) {
    const fs::path target = fs::path(path_) / name;
    fs::create_directories(target.parent_path(), error);
    if (!error) fs::rename(fs::path(staging.path) / name, target, error);
    if (error) return cannot_write(target.string(), error);
  }
  for (const std::string& name : stale)
    if (!files.contains(name)) fs::remove(fs::path(path_) / name, error);
  return {};
}

Result<Profile> KernelFolder::read_profile() const {
  KW_CHECK(check_kernel_name(name_));
  if (!exists()) {
    KW_TRY(const std::vector<std::string> known, list_kernels(workspace_));
    std::string hint = did_you_mean(name_, known);
    if (hint.empty())
      hint = known.empty() ? "make one with `kw understand SOURCE`" : "kernels here: " + join(known, ", ");
    return bad_input("there is no kernel '" + name_ + "' in this workspace", Place{path_}, hint);
  }
  const std::string path = file(kProfile);
  KW_TRY(const std::string text, read_text(path));
  Result<Profile> profile = from_yaml(text, path);
  if (profile || !profile.error().hint.empty()) return profile;
  Error error = profile.error();
  error.hint = "mend that place or the line before it; or start anew: kw remove " + name_ + ", then kw understand";
  return Failure(std::move(error));
}

Result<std::vector<Approval>> KernelFolder::read_approvals() const {
  const std::string path = file(kApprovals);
  if (!file_exists(path)) return std::vector<Approval>{};
  KW_TRY(const std::string text, read_text(path));
  return profile::read_approvals(text, path);
}

Result<std::string> KernelFolder::log_with(const Approval& approval) const {
  KW_CHECK(read_approvals());  // a broken log is not added to
  const std::string path = file(kApprovals);
  std::string log;
  if (file_exists(path)) {
    KW_TRY(log, read_text(path));
    if (!log.empty() && log.back() != '\n') log += '\n';
  }
  return log + to_line(approval) + "\n";
}

Status KernelFolder::record(const Approval& approval) const {
  KW_TRY(const std::string log, log_with(approval));
  return write({{std::string(kApprovals), log}});
}

Status KernelFolder::approve_profile(const Profile& profile, const std::string& by, const std::string& when) const {
  KW_TRY(const std::string log, log_with({Stage::Profile, canonical_hash(profile), by, when}));
  return write({{std::string(kApprovals), log}, {std::string(kApproved), to_yaml(profile)}});
}

Result<ApprovalState> KernelFolder::profile_approval(const Profile& profile) const {
  KW_TRY(const std::vector<Approval> approvals, read_approvals());
  const Approval* last = last_approval(approvals, Stage::Profile);
  if (!last) return ApprovalState::Missing;
  return last->hash == canonical_hash(profile) ? ApprovalState::Current : ApprovalState::Void;
}

Result<std::optional<Profile>> KernelFolder::approved_profile() const {
  KW_TRY(const std::vector<Approval> approvals, read_approvals());
  const Approval* last = last_approval(approvals, Stage::Profile);
  const std::string path = file(kApproved);
  if (!last || !file_exists(path)) return std::optional<Profile>();
  KW_TRY(const std::string text, read_text(path));
  KW_TRY(Profile approved, from_yaml(text, path));
  if (canonical_hash(approved) != last->hash)
    return bad_input("the kept copy is not what was approved last", Place{path},
                     "approve again with `kw approve " + name_ + "`");
  return std::optional<Profile>(std::move(approved));
}

Result<std::vector<std::string>> list_kernels(const std::string& workspace) {
  std::vector<std::string> names;
  std::error_code error;
  const std::string folder = workspace + "/kernels";
  if (!directory_exists(folder)) return names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name[0] != '.' && file_exists(it->path().string() + "/" + std::string(kProfile))) names.push_back(name);
  }
  if (error) return bad_input("cannot read the folder: " + error.message(), Place{folder});
  std::sort(names.begin(), names.end());
  return names;
}

Status check_kernel_name(std::string_view name) {
  const bool begins = !name.empty() && name[0] >= 'a' && name[0] <= 'z';
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
  if (begins && plain && name.size() <= 100) return {};
  return fail(ErrorKind::BadInput, "'" + std::string(name.substr(0, 60)) + "' cannot be a kernel's name",
              "use lower-case letters, digits and _, beginning with a letter");
}

}  // namespace kw::profile
