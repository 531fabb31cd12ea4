// The text of the pull request that brings an op to Liger: what it is, the decisions behind it, the gates that it
// passed, and what was measured. It says nothing that no report has.
#pragma once

#include <map>
#include <string>

#include "act/liger/liger_form.h"

namespace kw::act::liger {

struct PullRequest {
  std::string text;
  std::map<std::string, std::string> plots;  // forward.svg → its text; the text shows them
};

inline constexpr const char* kPlots[] = {"forward.svg", "backward.svg"};

// `report`: report.json of the Triton kernels; empty where there is none.
Result<PullRequest> pull_request(const LigerForm& form, const profile::Profile& profile, const std::string& report);

}  // namespace kw::act::liger
