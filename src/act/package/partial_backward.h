// The backward pass for some of the gradients alone, where the others are not wanted.
#pragma once

#include <string>
#include <vector>

#include "act/act.h"
#include "profile/profile.h"

namespace kw::act {

struct PartialBackward {
  std::string suffix;  // x
  OpMath math;         // whose backward has the chosen gradients alone
};

// A weight's gradient is a sum over everything else, and often not wanted (adapters are trained, the model is not); of
// several tensors one may be a constant (the teacher of a distillation; where there are weights, these are it). Each of
// these has a pass of its own; any other choice computes a gradient too many. None where there is no backward.
std::vector<PartialBackward> partial_backwards(const OpMath& math, const profile::Profile& profile);

}  // namespace kw::act
