// What is judged: a set of kernels with its contract, and the math that it is judged by. Generated kernels and those of
// a person or an agent are the same thing here.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/compiled.h"
#include "ir/graph.h"
#include "kernel/call.h"
#include "kernel/manifest.h"
#include "profile/profile.h"

namespace kw::verify {

struct Subject {
  std::string name;
  kernel::Manifest manifest;
  device::Sources files;
  bool from_outside = false;  // code that this engine did not write

  ir::Graph forward;               // the oracle: as it was read, before any simplification
  std::optional<ir::Graph> joint;  // forward and its derivative; absent for an op without gradients
  std::string oracle;              // what the oracle is, in words
  bool backward_is_derivative = true;
  // The passes as the profile has them: the backward that was approved is checked by differences too.
  std::optional<ir::Graph> approved_forward, approved_backward;
  std::vector<kernel::Sizes> shapes;  // to be tested, by the profile
  std::set<std::string>
      own_layouts;  // outputs that need not lie as PyTorch's do: a person has set it, or it is not known
  std::set<std::string> may_be_overwritten;  // inputs that the profile gives to an output
  bool must_agree = true;                    // the profile asks for two runs that agree to the bit

  // Relaxed only where the profile permits it and the kernels say that they use it.
  bool deterministic() const { return must_agree || manifest.deterministic; }

  // The math of every tensor, gradients included: `joint`, or `forward` where there is none.
  const ir::Graph& math() const { return joint ? *joint : forward; }
};

// From a profile and kernels for it.
Result<Subject> subject_of(const profile::Profile& profile, kernel::Manifest manifest, device::Sources files,
                           bool from_outside);

// A bare graph as the forward of an op without gradients (tests of single passes).
Subject subject_of(const ir::Graph& forward, kernel::Manifest manifest, device::Sources files);

// The tensor of the math that a buffer of the interface holds: "x", "y", "d_y", "grad_x". Empty for a buffer that is
// carried from the forward pass, for saved values and for workspace.
std::string tensor_of(const Subject& subject, const kernel::Pass& pass, const kernel::Buffer& buffer);

// The scalar of the math that one of the manifest is; nullptr if there is none.
const ir::Input* scalar_of(const Subject& subject, const kernel::Scalar& scalar);

// A name of the math ("norm.weight") as the identifier that code has for it ("norm_weight").
std::string identifier(std::string_view name);

// Everything about a manifest that contradicts the math, found without running anything: a tensor that is missing, a
// type or a shape that differs, a pass that is not there. Empty: it fits.
std::vector<std::string> interface_flaws(const Subject& subject);

// Of manifest and files: it changes when the kernel does.
std::string kernel_hash(const kernel::Manifest& manifest, const device::Sources& files);

}  // namespace kw::verify
