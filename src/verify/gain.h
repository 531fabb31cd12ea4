// Is there a gain over the reference? PyTorch eager, running the user's own source, is timed at the shapes, types and
// on the device at which the kernels were timed. Soft: a kernel that gains nothing is right all the same.
#pragma once

#include <optional>
#include <vector>

#include "verify/gates.h"
#include "verify/speed.h"
#include "verify/torch.h"

namespace kw::verify {

// `rows` are of `speeds`, and get eager's time where there is one.
Verdict judge_gain(const Subject& subject, const std::optional<TorchSource>& source, const kernel::TypeBinding& types,
                   const std::vector<PassSpeed>& speeds, int threads, std::vector<SpeedRow>& rows);

}  // namespace kw::verify
