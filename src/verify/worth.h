// Is a kernel worth writing? The op's limit on this device beside what PyTorch needs for it, eager and through
// torch.compile: no kernel gains more than that. It needs no kernel, so it is asked before one is written.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "device/device.h"
#include "measure/limit.h"
#include "profile/profile.h"
#include "verify/torch.h"

namespace kw::verify {

inline constexpr double kLeastGain = 1.1;  // under it, no kernel is advised

struct WorthOptions {
  std::chrono::milliseconds budget{4000};  // for PyTorch's samples; what torch.compile takes to compile comes on top
  double most_bytes = 1e9;                 // larger shapes are halved along their first size until a pass fits
};

// Seconds of one full pass: the forward, and the backward where the op has gradients.
struct Worth {
  std::string device, torch;  // "cpu (g++ 12.2.0)", "PyTorch 2.13.0, 2 threads"
  bool backward = false;      // the op has gradients
  measure::Sizes sizes;
  std::string types;
  double bytes = 0;  // that both passes must move
  double limit = 0;
  bool memory_bound = true;
  measure::Estimate eager;
  std::optional<measure::Estimate> compiled;
  std::string uncompiled;  // why torch.compile gave nothing

  double best() const;                             // of what PyTorch has
  double gain() const { return best() / limit; }   // the largest possible
  double saved() const { return best() - limit; }  // seconds of a call, at most
  bool worthwhile() const { return gain() >= kLeastGain; }
  std::string advice() const;  // one or two sentences, with the reason
};

std::string milliseconds(double seconds);  // "0.276 ms", "1830 ms"

// The limit is measured before and after PyTorch is timed.
Result<Worth> worth_of(const profile::Profile& profile, const TorchSource& source, device::Device& device,
                       const WorthOptions& options = {});

}  // namespace kw::verify
