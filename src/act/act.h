// Act: from an approved profile to the files of a target and their manifest. A pure function: the same profile and
// schedules give the same bytes on any machine, on any day.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "act/loop/kernels.h"
#include "ir/graph.h"
#include "ir/layout.h"
#include "kernel/manifest.h"
#include "profile/profile.h"
#include "profile/schedules.h"

namespace kw::act {

inline constexpr const char* kGenerator = "kernelwright 0.1.0";

// What is generated, pass by pass.
struct OpMath {
  std::string name;   // rms_norm
  ir::Graph forward;  // with the saved values as further outputs
  std::optional<ir::Graph> backward;
  std::vector<std::string> saved;                            // outputs of the forward that only the backward wants
  std::vector<std::pair<std::string, std::string>> aliases;  // output → the input whose memory it takes
  std::map<std::string, ir::Layout> layouts;                 // of outputs of the forward, where the profile decides it
  std::vector<std::string> notes;  // decisions that shape the code, each one line: for the head of the files
  std::string licence;
  ProgramOptions forward_program, backward_program;  // as the plan asks for
  std::string plan_hash = {};  // of the profile: a row of schedules.yaml may have a fallback instead of this plan
};
// Of the math and the families of a plan.
std::string plan_hash(const profile::Profile& profile);

Result<OpMath> math_of(const profile::Profile& profile);

struct Generated {
  kernel::Manifest manifest;
  std::map<std::string, std::string> files;  // path → text; without the manifest and the runtime's headers
};

// Schedules that name the target replace what the formulas start from.
Result<Generated> generate(const OpMath& math, kernel::Target target,
                           const std::vector<profile::ScheduleRow>& schedules = {});
Result<Generated> act(const profile::Profile& profile, const std::vector<profile::ScheduleRow>& schedules,
                      kernel::Target target);

// The fast Triton kernels of all passes as one text, for a caller who makes every tensor dense before the call. The
// manifest's entries name no file.
struct DenseTriton {
  kernel::Manifest manifest;
  std::string kernels;
};
Result<DenseTriton> generate_dense_triton(const OpMath& math, const std::vector<profile::ScheduleRow>& schedules = {});

}  // namespace kw::act
