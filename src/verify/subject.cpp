#include "verify/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/hash.h"
#include "ir/derivative/derivative.h"
#include "ir/text/parse.h"
#include "kernel/types.h"

namespace kw::verify {
namespace {

// `buffer` as code spells a name; a keyword has an underscore behind it.
bool spells(const std::string& buffer, const std::string& name) {
  const std::string spelled = identifier(name);
  return buffer == spelled || buffer == spelled + "_";
}

std::string forward_tensor(const Subject& subject, const kernel::Pass& pass, const kernel::Buffer& buffer) {
  const bool input = buffer.role == kernel::Role::Input;
  if (input) {
    for (const ir::Input& candidate : subject.forward.inputs)
      if (candidate.kind != ir::InputKind::Scalar && spells(buffer.name, candidate.name)) return candidate.name;
  } else {
    for (const ir::Output& candidate : subject.forward.outputs)
      if (spells(buffer.name, candidate.name)) return candidate.name;
  }
  // Under another name: by position, where the two lists are equally long.
  std::vector<std::string> tensors, buffers;
  if (input) {
    for (const ir::Input& candidate : subject.forward.inputs)
      if (candidate.kind != ir::InputKind::Scalar) tensors.push_back(candidate.name);
  } else {
    for (const ir::Output& candidate : subject.forward.outputs) tensors.push_back(candidate.name);
  }
  for (const kernel::Buffer& other : pass.buffers)
    if (other.role == buffer.role) buffers.push_back(other.name);
  const auto at = std::find(buffers.begin(), buffers.end(), buffer.name) - buffers.begin();
  return tensors.size() == buffers.size() ? tensors[static_cast<std::size_t>(at)] : std::string();
}

bool is_backward(const kernel::Pass& pass) { return pass.name == "backward"; }

}  // namespace

std::string identifier(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  if (!out.empty() && std::isdigit(static_cast<unsigned char>(out[0])) != 0) out = "_" + out;
  return out;
}

Result<Subject> subject_of(const profile::Profile& profile, kernel::Manifest manifest, device::Sources files,
                           bool from_outside) {
  Subject subject;
  subject.name = profile.name;
  subject.manifest = std::move(manifest);
  subject.files = std::move(files);
  subject.from_outside = from_outside;
  subject.must_agree = profile.numerics.deterministic;
  for (const profile::OutputField& output : profile.interface.outputs) {
    const profile::Decision* decision = profile.find("layout." + output.name);
    const bool set = decision != nullptr && decision->set_by == profile::SetBy::User;
    if (output.layout.empty() || output.layout == "any" || set) subject.own_layouts.insert(output.name);
  }
  for (const profile::Alias& alias : profile.interface.aliases) subject.may_be_overwritten.insert(alias.input);
  const std::string file = "profile.yaml";
  KW_TRY(subject.forward, ir::text::parse(profile.math.read, file));
  subject.oracle = "the graph as it was read";
  KW_TRY(ir::Graph approved, ir::text::parse(profile.math.forward, file));
  if (!profile.numerics.wider.empty()) {
    // The profile keeps values wider than the source does: then its own forward, without what it saves, is the truth.
    const std::size_t outputs = subject.forward.outputs.size();
    ir::Graph wider = approved;
    wider.outputs.resize(outputs);
    subject.forward = std::move(wider);
    subject.oracle = "the forward of the profile, which keeps values wider than the source";
  }
  subject.approved_forward = std::move(approved);
  if (!profile.math.backward.empty()) {
    KW_TRY(subject.approved_backward, ir::text::parse(profile.math.backward, file));
    KW_TRY(subject.joint, ir::differentiate(subject.forward));
    subject.backward_is_derivative = profile.math.rule == "derivative";
  }
  for (const profile::Shape& shape : profile.shapes.test) subject.shapes.emplace_back(shape.begin(), shape.end());
  return subject;
}

Subject subject_of(const ir::Graph& forward, kernel::Manifest manifest, device::Sources files) {
  Subject subject;
  subject.name = manifest.name;
  subject.manifest = std::move(manifest);
  subject.files = std::move(files);
  subject.forward = forward;
  subject.oracle = "the graph";
  return subject;
}

std::string tensor_of(const Subject& subject, const kernel::Pass& pass, const kernel::Buffer& buffer) {
  if (buffer.role != kernel::Role::Input && buffer.role != kernel::Role::Output) return {};
  if (!is_backward(pass)) return forward_tensor(subject, pass, buffer);
  if (buffer.gradient_of.empty()) return {};
  const kernel::Pass* forward = subject.manifest.find("forward");
  const kernel::Buffer* of = forward == nullptr ? nullptr : forward->find(buffer.gradient_of);
  if (of == nullptr) return {};
  const std::string tensor = forward_tensor(subject, *forward, *of);
  if (tensor.empty()) return {};
  return (buffer.role == kernel::Role::Input ? "d_" : "grad_") + tensor;
}

const ir::Input* scalar_of(const Subject& subject, const kernel::Scalar& scalar) {
  for (const ir::Input& input : subject.forward.inputs)
    if (input.kind == ir::InputKind::Scalar && spells(scalar.name, input.name)) return &input;
  return nullptr;
}

std::vector<std::string> interface_flaws(const Subject& subject) {
  std::vector<std::string> flaws;
  const kernel::Pass* forward = subject.manifest.find("forward");
  if (forward == nullptr) return {"the manifest has no pass named forward"};
  const kernel::Pass* backward = subject.manifest.find("backward");
  if (subject.joint && backward == nullptr)
    flaws.emplace_back("the op has gradients, and the manifest has no pass named backward");
  const auto has = [&](const kernel::Pass& pass, const std::string& tensor) {
    return std::any_of(pass.buffers.begin(), pass.buffers.end(), [&](const kernel::Buffer& buffer) {
      return buffer.role == kernel::Role::Output && tensor_of(subject, pass, buffer) == tensor;
    });
  };
  for (const ir::Output& output : subject.math().outputs) {
    const bool gradient = output.name.starts_with("grad_") &&
                          std::none_of(subject.forward.outputs.begin(), subject.forward.outputs.end(),
                                       [&](const ir::Output& own) { return own.name == output.name; });
    const kernel::Pass* pass = gradient ? backward : forward;
    if (pass != nullptr && !has(*pass, output.name))
      flaws.push_back("no output of the " + pass->name + " pass is " + output.name);
  }
  for (const kernel::Pass& pass : subject.manifest.passes)
    for (const kernel::Buffer& buffer : pass.buffers) {
      const bool carried = is_backward(pass) && buffer.role == kernel::Role::Input && buffer.gradient_of.empty();
      const bool named = buffer.role == kernel::Role::Input || buffer.role == kernel::Role::Output;
      if (carried ? forward->find(buffer.name) == nullptr : named && tensor_of(subject, pass, buffer).empty())
        flaws.push_back("the math has no tensor for " + buffer.name + " of the " + pass.name + " pass");
    }
  for (const kernel::Pass& pass : subject.manifest.passes)
    for (const kernel::Buffer& buffer : pass.buffers) {
      const kernel::Buffer* held = buffer.alias.empty() ? nullptr : pass.find(buffer.alias);
      if (held == nullptr || held->role != kernel::Role::Input) continue;
      const std::string tensor = tensor_of(subject, pass, *held);
      if (!subject.may_be_overwritten.contains(tensor.empty() ? held->name : tensor))
        flaws.push_back(fmt::format("{} takes the memory of {}, which the profile does not give it (aliases)",
                                    buffer.name, held->name));
    }
  if (subject.must_agree && !subject.manifest.deterministic)
    flaws.emplace_back("the manifest lets two runs differ, and the profile does not (deterministic = yes)");
  for (const ir::TypeParameter& parameter : subject.forward.type_parameters)
    if (!subject.manifest.types.contains(parameter.name))
      flaws.push_back("the manifest does not say which dtypes " + parameter.name + " may be");
  return flaws;
}

std::string kernel_hash(const kernel::Manifest& manifest, const device::Sources& files) {
  std::string all = kernel::to_json(manifest);
  for (const auto& [path, text] : files) all += fmt::format("\n{} {}\n{}", path, text.size(), text);
  return sha256_hex(all);
}

}  // namespace kw::verify
