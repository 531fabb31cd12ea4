// Is there a gain over the reference? PyTorch, running the user's own source eager and, where that is asked for,
// through torch.compile, is timed at the shapes, types and on the device at which the kernels were timed. Soft: a
// kernel that gains nothing is right all the same.
#pragma once

#include <optional>
#include <vector>

#include "verify/gates.h"
#include "verify/speed.h"
#include "verify/torch.h"

namespace kw::verify {

struct GainOptions {
  int threads = 1;       // of the processor
  bool compile = false;  // torch.compile is timed too: some seconds more
};

// `rows` are of `speeds`, and get what PyTorch takes where it was timed.
Verdict judge_gain(const Subject& subject, const std::optional<TorchSource>& source, const kernel::TypeBinding& types,
                   const std::vector<PassSpeed>& speeds, const GainOptions& options, std::vector<SpeedRow>& rows);

}  // namespace kw::verify
