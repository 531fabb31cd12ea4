// What a kernel offers to PyTorch: for every pass the op that runs it, with what is asked of its arguments; and the
// mixtures of types that are compiled. The C++ and the Python of a package are both written from this.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "act/act.h"
#include "kernel/manifest.h"
#include "kernel/types.h"
#include "profile/profile.h"

namespace kw::act {

// What a package is made from: the kernel's own files.
struct Ingredients {
  profile::Profile profile;
  std::vector<profile::ScheduleRow> schedules;
  std::string reference;  // reference.py
  std::string source;     // the file that the profile was read from
};

// A pass on one target.
struct PassCode {
  kernel::Pass pass;
  std::string file;  // of its kernels
  std::string text;
};

struct OpPass {
  std::string name;                         // forward, backward, backward_x (the gradient of x alone)
  std::vector<kernel::Buffer> inputs;       // in the order of the op's arguments
  std::vector<kernel::Buffer> outputs;      // results, then what is saved
  std::vector<kernel::Scalar> scalars;      // that the pass uses
  std::vector<std::string> given_sizes;     // sizes that no input shows: arguments too
  std::map<kernel::Target, PassCode> code;  // by target
};

struct OpForm {
  std::string name;      // rms_norm
  std::string module;    // RMSNorm
  std::string autograd;  // RmsNormFunction
  std::string reference_function;
  std::vector<std::string> sizes;
  std::vector<kernel::Scalar> scalars;
  std::vector<std::string> constraints;
  std::vector<kernel::TypeBinding> mixtures;
  std::vector<OpPass> passes;  // forward first; then backward, for all gradients, and for some of them

  const OpPass& forward() const { return passes.front(); }
  const OpPass* backward() const { return passes.size() > 1 ? &passes[1] : nullptr; }
};

// A package is compiled where it is installed: kernels that take long to compile and serve few calls are left out,
// unless a schedule asks for them.
std::vector<profile::ScheduleRow> packaged_schedules(const std::vector<profile::ScheduleRow>& given);

Result<OpForm> op_form(const Ingredients& kernel, const std::vector<kernel::Target>& targets);

// The schema of a pass, as PyTorch reads it: "_rms_norm_forward(Tensor x, Tensor weight, float eps=1e-6) -> (Tensor,
// Tensor)".
std::string schema(const OpPass& pass, const std::string& name);

}  // namespace kw::act
