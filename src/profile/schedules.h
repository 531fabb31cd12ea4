// schedules.yaml: how a kernel is laid out on one machine. Schedules are not decisions about meaning: a tuning on one
// GPU adds rows and never overwrites another's, and never voids the profile.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::profile {

struct ScheduleRow {
  std::string target;   // cpu, cuda or triton
  std::string machine;  // a machine model: sm_90
  std::map<std::string, std::string> types;
  std::string guard;  // a condition on sizes; empty: every shape
  std::string pass;   // forward or backward
  std::string family;
  std::map<std::string, std::string> parameters;
  std::string evidence;
  // Of what was verified after the plan's own kernels had failed, a family that is a fallback or the plan's with other
  // parameters: the plan and the math that it was verified for (act::plan_hash). For others the row says nothing.
  std::string instead_of = {};
  bool operator==(const ScheduleRow&) const = default;
};

// Whether the row's parameters are for that pass, of that plan (act::plan_hash) if it names one.
bool tunes(const ScheduleRow& row, std::string_view plan_hash, std::string_view target, std::string_view pass);
// Whether the row is there instead of what the plan first gave: by a fallback, or by other parameters.
bool stands_in(const ScheduleRow& row, std::string_view plan_hash, std::string_view target, std::string_view pass);

std::string schedules_to_yaml(const std::vector<ScheduleRow>& rows);
Result<std::vector<ScheduleRow>> schedules_from_yaml(std::string_view text, const std::string& file);

}  // namespace kw::profile
