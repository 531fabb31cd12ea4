#include "act/pass_contract.h"

#include <algorithm>

#include "act/loop/identifier.h"
#include "base/text.h"

namespace kw::act {
namespace {

std::string scalar_type(ir::Type type) {
  if (type.boolean()) return "bool";
  return type.floating() ? "real" : "int";
}

std::string default_text(const std::optional<ir::Literal>& value, const std::string& type) {
  if (!value) return {};
  if (type == "bool") return value->number() != 0 ? "true" : "false";
  if (const int64_t* whole = std::get_if<int64_t>(&value->value)) return std::to_string(*whole);
  return number_text(value->number());
}

}  // namespace

std::string type_text(ir::Type type, const std::vector<ir::TypeParameter>& parameters) {
  std::string out;
  for (size_t i = 0; i < parameters.size(); ++i)
    if (type.params() & (1u << i)) out += (out.empty() ? "" : "|") + parameters[i].name;
  ir::DType floor = type.floor();
  // Memory holds a plain number in the widest type of its kind.
  if (type.weak()) floor = type.floating() ? ir::DType::F64 : ir::DType::I64;
  if (floor != ir::DType::None) out += (out.empty() ? "" : "|") + std::string(info(floor).name);
  return out;
}

std::string size_text(const ir::Size& size, const LoopProgram& program) {
  return size.text([&](ir::SymbolId s) { return program.symbols[static_cast<size_t>(s)].name; });
}

ManifestBuilder::ManifestBuilder(const OpMath& math, kernel::Target target) : math_(math) {
  manifest_.name = math.name;
  manifest_.target = target;
  manifest_.generator = kGenerator;
}

Status ManifestBuilder::add(const LoopProgram& program, kernel::Pass pass,
                            const std::map<std::string, std::string>& shared) {
  const bool backward = !manifest_.passes.empty();
  for (size_t s = 0; s < program.symbols.size(); ++s)
    if (program.workers != static_cast<ir::SymbolId>(s)) {
      const std::string& name = program.symbols[s].name;
      if (std::find(manifest_.sizes.begin(), manifest_.sizes.end(), name) == manifest_.sizes.end())
        manifest_.sizes.push_back(name);
    }
  for (const ir::TypeParameter& parameter : program.type_parameters)
    manifest_.types[parameter.name] = {"bf16", "f16", "f32", "f64"};
  for (size_t i = 0; i < program.scalars.size(); ++i) {
    const auto& [name, type] = program.scalars[i];
    const bool known = std::any_of(manifest_.scalars.begin(), manifest_.scalars.end(),
                                   [&](const kernel::Scalar& scalar) { return scalar.name == name; });
    if (known) continue;
    const std::string kind = scalar_type(type);
    manifest_.scalars.push_back({name, kind, default_text(program.scalar_sources[i].default_value, kind)});
  }
  for (const ir::SizeConstraint& constraint : program.constraints) {
    const std::string left = size_text(constraint.left, program), right = size_text(constraint.right, program);
    const std::string text = constraint.kind == ir::SizeConstraint::Kind::Equal
                                 ? left + " == " + right
                                 : "(" + left + ") % (" + right + ") == 0";
    if (std::find(manifest_.constraints.begin(), manifest_.constraints.end(), text) == manifest_.constraints.end())
      manifest_.constraints.push_back(text);
  }
  std::vector<kernel::Buffer> workspace = std::move(pass.buffers);
  pass.buffers.clear();
  for (const Buffer& b : program.buffers)
    if (b.role != Buffer::Role::Workspace) pass.buffers.push_back(buffer(program, b, backward));
  Identifiers names;
  for (const Buffer& b : program.buffers) names.take(b.name, "buffer");
  for (const auto& [name, type] : program.scalars) names.take(name, "scalar");
  for (const auto& [gradient, same] : shared) {
    const auto holds =
        std::find_if(program.buffers.begin(), program.buffers.end(), [&](const Buffer& b) { return b.tensor == same; });
    Buffer twin = *holds;
    twin.tensor = gradient;
    twin.name = names.take(free_of_skeletons(gradient), "output");
    kernel::Buffer result = buffer(program, twin, backward);
    result.alias = holds->name;
    const auto place = std::find_if(pass.buffers.begin(), pass.buffers.end(),
                                    [&](const kernel::Buffer& b) { return b.name == holds->name; });
    pass.buffers.insert(place + 1, std::move(result));
  }
  for (kernel::Buffer& b : workspace) pass.buffers.push_back(std::move(b));
  if (!backward)
    for (const Buffer& b : program.buffers) forward_names_[b.tensor] = b.name;
  manifest_.passes.push_back(std::move(pass));
  return {};
}

// The operands that a result's strides follow: those that the profile names; for a gradient the tensor that it is of,
// so that PyTorch takes it for that tensor's .grad as it is; otherwise those of its shape, as for a pointwise op.
std::vector<std::string> ManifestBuilder::strides_like(const LoopProgram& program, const Buffer& b,
                                                       bool backward) const {
  const auto input_of = [&](const std::string& tensor) -> const Buffer* {
    for (const Buffer& input : program.buffers)
      if (input.role == Buffer::Role::Input && input.tensor == tensor) return &input;
    return nullptr;
  };
  std::vector<std::string> out;
  if (const auto decided = math_.layouts.find(b.tensor); !backward && decided != math_.layouts.end()) {
    for (const ir::LayoutOperand& operand : decided->second.like) {
      for (const std::string& tensor : ir::inputs_of(operand))
        if (input_of(tensor) == nullptr) return {};  // no kernel reads it
      out.push_back(
          ir::text_of(ir::rename_inputs(operand, [&](const std::string& tensor) { return input_of(tensor)->name; })));
    }
    return out;
  }
  if (b.shape.empty()) return out;
  const Buffer* of = backward && b.tensor.starts_with("grad_") ? input_of(b.tensor.substr(5)) : nullptr;
  if (of != nullptr && of->shape == b.shape) return {of->name};
  for (const Buffer& input : program.buffers)
    if (input.role == Buffer::Role::Input && input.shape == b.shape) out.push_back(input.name);
  return out;
}

kernel::Buffer ManifestBuilder::buffer(const LoopProgram& program, const Buffer& b, bool backward) const {
  kernel::Buffer out;
  out.name = b.name;
  out.type = type_text(b.type, program.type_parameters);
  for (const ir::Size& size : b.shape) out.shape.push_back(size_text(size, program));
  out.role = b.role == Buffer::Role::Input ? kernel::Role::Input : kernel::Role::Output;
  if (out.role == kernel::Role::Output) {
    if (!backward && std::find(math_.saved.begin(), math_.saved.end(), b.tensor) != math_.saved.end())
      out.role = kernel::Role::Saved;
    out.strides_like = strides_like(program, b, backward);
    if (!backward)
      for (const auto& [output, input] : math_.aliases)
        if (output == b.tensor)
          for (const Buffer& other : program.buffers)
            if (other.tensor == input) out.alias = other.name;
  }
  if (backward) {
    const std::string prefix = b.role == Buffer::Role::Input ? "d_" : "grad_";
    const bool kept = b.role == Buffer::Role::Input && forward_names_.contains(b.tensor);
    if (!kept && b.tensor.starts_with(prefix)) {
      auto original = forward_names_.find(b.tensor.substr(prefix.size()));
      if (original != forward_names_.end()) out.gradient_of = original->second;
    }
  }
  return out;
}

}  // namespace kw::act
