#include "act/liger/liger_form.h"

#include <fmt/format.h>

#include <algorithm>

#include "act/shared_gradients.h"

namespace kw::act::liger {
namespace {

Status may_serve(const profile::Profile& profile) {
  const std::string cannot = fmt::format("{} cannot become a Liger op: ", profile.name);
  if (profile.math.backward.empty()) return bad_input(cannot + "it has no backward");
  for (const profile::OutputField& output : profile.interface.outputs)
    if (!output.updates.empty()) return bad_input(cannot + fmt::format("{} updates {}", output.name, output.updates));
  if (!profile.interface.aliases.empty())
    return bad_input(cannot + fmt::format("{} takes the memory of {}", profile.interface.aliases[0].output,
                                          profile.interface.aliases[0].input),
                     {}, fmt::format("kw set {} aliases=none", profile.name));
  for (const profile::InputField& input : profile.interface.inputs) {
    if (input.kind == "scalar") continue;
    const bool parameter = std::any_of(profile.interface.types.begin(), profile.interface.types.end(),
                                       [&](const auto& type) { return type.first == input.type; });
    const auto dtype = ir::dtype_from_name(input.type);
    if (!parameter && !(dtype && ir::is_floating(*dtype)))
      return bad_input(cannot +
                       fmt::format("{} holds {}, and its tests draw floating tensors only", input.name, input.type));
  }
  return {};
}

}  // namespace

std::vector<kernel::Buffer> with_role(const kernel::Pass& pass, kernel::Role role) {
  std::vector<kernel::Buffer> buffers;
  for (const kernel::Buffer& buffer : pass.buffers)
    if (buffer.role == role) buffers.push_back(buffer);
  return buffers;
}

std::vector<std::string> names_of(const std::vector<kernel::Buffer>& buffers) {
  std::vector<std::string> names;
  for (const kernel::Buffer& buffer : buffers) names.push_back(buffer.name);
  return names;
}
std::vector<std::string> names_of(const std::vector<kernel::Scalar>& scalars) {
  std::vector<std::string> names;
  for (const kernel::Scalar& scalar : scalars) names.push_back(scalar.name);
  return names;
}

std::string python_default(const kernel::Scalar& scalar) {
  if (scalar.type != "bool" || scalar.default_value.empty()) return scalar.default_value;
  return scalar.default_value == "true" ? "True" : "False";
}

Result<LigerForm> liger_form(const profile::Profile& profile, const std::vector<profile::ScheduleRow>& schedules) {
  KW_CHECK(may_serve(profile));
  LigerForm form;
  KW_TRY(form.math, math_of(profile));
  form.op = form.math.name;
  form.module = "Liger" + profile.names.module;
  form.autograd = form.module + "Function";
  form.functional = "liger_" + form.op;
  form.licence = profile.licence;
  form.shared = share_gradients(*form.math.backward);
  KW_TRY(form.code, generate_dense_triton(form.math, schedules));

  const std::vector<kernel::Buffer> inputs = with_role(form.forward(), kernel::Role::Input);
  const auto tensors = std::count_if(profile.interface.inputs.begin(), profile.interface.inputs.end(),
                                     [](const profile::InputField& input) { return input.kind != "scalar"; });
  if (static_cast<std::size_t>(tensors) != inputs.size())
    return bad_input(fmt::format("{} cannot become a Liger op: its math does not use every tensor", profile.name));
  for (const kernel::Buffer& input : inputs) {
    std::string gradient = "None";
    for (const kernel::Buffer& output : with_role(form.backward(), kernel::Role::Output))
      if (output.gradient_of == input.name) gradient = output.name;
    const auto same = form.shared.find("grad_" + input.name);
    form.gradients.push_back(same == form.shared.end() ? gradient : same->second);
  }
  return form;
}

}  // namespace kw::act::liger
