// The judge: puts every case to a set of kernels and gives each gate its verdict.
//
//   KW_TRY(const Subject subject, subject_of(profile, manifest, files, false));
//   KW_TRY(const Report report, judge(subject, {}));
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "device/device.h"
#include "verify/answers.h"
#include "verify/plan.h"
#include "verify/report.h"
#include "verify/subject.h"
#include "verify/torch.h"

namespace kw::verify {

struct JudgeOptions {
  CaseOptions cases;  // seed 0: a fresh one
  device::DeviceOptions device;
  std::optional<TorchSource> torch;  // the source, where PyTorch can run it
  bool check_oracle = true;          // by differences and by PyTorch: it says nothing about the kernels
  bool brief = false;  // whether the kernels are right here, no more: not built for other architectures, not explained
  std::shared_ptr<Answers> answers;  // shared with other judges of the same op; null: the judge's own
  bool spills = false;               // may a kernel spill registers (cuda)
  bool past_31_bits = false;         // one call of more than 2^31 elements too, where memory allows
  int most_failures = 3;             // cases that fail before the rest is not tried
  std::function<void(std::string_view)> step = [](std::string_view) {};  // called as each step begins
};

// An error is the engine's own, or the machine's; what is wrong with the kernels is in the report.
Result<Report> judge(const Subject& subject, const JudgeOptions& options);

}  // namespace kw::verify
