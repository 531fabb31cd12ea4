// An op as a Liger contribution has it: its names, its dense Triton kernels, and which of its gradients share a tensor.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "act/act.h"
#include "act/package/op_form.h"

namespace kw::act::liger {

struct LigerForm {
  std::string op;          // relu_squared
  std::string module;      // LigerReLUSquared
  std::string autograd;    // LigerReLUSquaredFunction
  std::string functional;  // liger_relu_squared
  std::string licence;
  OpMath math;
  DenseTriton code;
  // A gradient that is the same value as another one: autograd takes one tensor for both.
  std::map<std::string, std::string> shared;  // grad_residual → grad_x
  std::vector<std::string> gradients;         // of each argument of the forward: its tensor, or None

  const kernel::Pass& forward() const { return *code.manifest.find("forward"); }
  const kernel::Pass& backward() const { return *code.manifest.find("backward"); }
  const std::vector<kernel::Scalar>& scalars() const { return code.manifest.scalars; }
};

Result<LigerForm> liger_form(const profile::Profile& profile, const std::vector<profile::ScheduleRow>& schedules = {});

std::vector<kernel::Buffer> with_role(const kernel::Pass& pass, kernel::Role role);
std::vector<std::string> names_of(const std::vector<kernel::Buffer>& buffers);
std::vector<std::string> names_of(const std::vector<kernel::Scalar>& scalars);
std::string python_default(const kernel::Scalar& scalar);  // "1e-6", "True"; empty: there is none

}  // namespace kw::act::liger
