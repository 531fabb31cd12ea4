// A kernel's folder in the workspace: kernels/NAME/ with source, reference, profile, schedules and approvals. It is
// written whole or not at all.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/approval.h"
#include "profile/profile.h"

namespace kw::profile {

// File name (relative to the kernel's folder) → content.
using Files = std::map<std::string, std::string>;

enum class ApprovalState { Missing, Current, Void };

class KernelFolder {
 public:
  KernelFolder(std::string workspace, std::string name);

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  std::string file(std::string_view relative) const { return path_ + "/" + std::string(relative); }
  bool exists() const;

  // Writes the files: a new folder appears with all of them, an old one has them replaced after all are on the disk.
  // `stale` files of the folder that the new set does not have are removed.
  Status write(const Files& files, const std::vector<std::string>& stale = {}) const;

  // Deletes the folder, with whatever is in it.
  Status remove() const;

  Result<Profile> read_profile() const;  // a missing folder names the kernels that there are
  Result<std::vector<Approval>> read_approvals() const;

  // Approves the profile as it stands; the approved copy is kept, so that a later difference can be shown.
  Status approve_profile(const Profile& profile, const std::string& by, const std::string& when) const;
  // Adds a line to the log of approvals.
  Status record(const Approval& approval) const;
  Result<ApprovalState> profile_approval(const Profile& profile) const;
  // The profile as it was approved last, if ever.
  Result<std::optional<Profile>> approved_profile() const;

 private:
  Result<std::string> log_with(const Approval& approval) const;
  std::string workspace_;
  std::string name_;
  std::string path_;
};

// The kernels of a workspace, by name.
Result<std::vector<std::string>> list_kernels(const std::string& workspace);

// A name that can be a folder and a function: lower-case letters, digits and _; begins with a letter.
Status check_kernel_name(std::string_view name);

}  // namespace kw::profile
