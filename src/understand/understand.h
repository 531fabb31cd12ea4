// Understand: from what the user has to a profile in the kernel's folder. The source is read, the math is derived,
// every decision is made, and the folder is written whole or not at all:
//
//   kernels/NAME/source.*  reference.py  profile.yaml  schedules.yaml
//
// Changing a decision runs the same way again from the kept source, with that decision as given.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "profile/difference.h"
#include "profile/folder.h"
#include "profile/profile.h"
#include "understand/decisions/subject.h"

namespace kw::understand {

struct UnderstandRequest {
  std::string source;  // file.py[:Name], -, file.kw, file.json, or words
  std::optional<std::string> math;
  std::string name;  // of the kernel; empty: the source's own
  profile::ReadingOptions options;
  bool replace = false;  // a kernel of that name that came from another source
};

struct Understood {
  profile::Profile profile;
  profile::KernelFolder folder;
  std::vector<std::string> kept;  // decisions that a person had set before, and that still stand
};

using Step = std::function<void(std::string_view)>;  // called as each step begins

Result<Understood> understand(const UnderstandRequest& request, const std::string& workspace, const Step& step);

struct Changed {
  profile::Profile before;
  profile::Profile after;
  std::vector<profile::Change> changes;
};

// `assignments`: decision (or its unambiguous end) → value. The profile and what belongs to it are written again.
Result<Changed> set_decisions(const profile::KernelFolder& folder,
                              const std::vector<std::pair<std::string, std::string>>& assignments, const Step& step);

}  // namespace kw::understand
