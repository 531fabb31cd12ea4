#include "act/package/op_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "act/package/partial_backward.h"
#include "base/text.h"
#include "ir/graph.h"
#include "ir/text/parse.h"
#include "kernel/expression.h"

namespace kw::act {
namespace {

using kernel::Argument;
using kernel::Buffer;
using kernel::Role;

template <class Range, class Value>
bool has(const Range& range, const Value& value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

// Every size expression and condition of a pass on one target.
std::vector<std::pair<std::string, kernel::Expression::Kind>> expressions(const kernel::Pass& pass) {
  using Kind = kernel::Expression::Kind;
  std::vector<std::pair<std::string, Kind>> found;
  for (const Buffer& buffer : pass.buffers)
    for (const std::string& size : buffer.shape) found.emplace_back(size, Kind::Size);
  for (const kernel::Step& step : pass.steps) {
    for (const kernel::Entry& entry : step.entries) {
      for (const std::string& guard : entry.guards) found.emplace_back(guard, Kind::Condition);
      for (const Argument& argument : entry.arguments)
        if (argument.kind == Argument::Kind::Size) found.emplace_back(argument.of, Kind::Size);
      for (const auto& part : {entry.launch.grid, entry.launch.block})
        for (const std::string& size : part) found.emplace_back(size, Kind::Size);
      found.emplace_back(entry.launch.shared_bytes, Kind::Size);
    }
  }
  return found;
}

Result<std::set<std::string>> names_in(const kernel::Pass& pass) {
  std::set<std::string> names;
  for (const auto& [text, kind] : expressions(pass)) {
    KW_TRY(const kernel::Expression expression, kernel::Expression::parse(text, kind));
    for (const std::string& name : expression.size_names()) names.insert(name);
  }
  for (const kernel::Step& step : pass.steps)
    for (const kernel::Entry& entry : step.entries)
      for (const Argument& argument : entry.arguments)
        if (argument.kind == Argument::Kind::Scalar) names.insert(argument.of);
  return names;
}

bool shows(const OpPass& pass, const std::string& size) {
  return std::any_of(pass.inputs.begin(), pass.inputs.end(),
                     [&](const Buffer& input) { return has(input.shape, size); });
}

// Joins what one target generated to the form of its pass.
Status add(OpPass& form, const Generated& generated, const kernel::Pass& pass) {
  const kernel::Manifest& manifest = generated.manifest;
  std::vector<Buffer> inputs, outputs;
  for (const Buffer& buffer : pass.buffers) {
    KW_ASSERT(buffer.alias.empty(), "an op whose profile has no aliases");
    if (buffer.role == Role::Input) inputs.push_back(buffer);
    if (buffer.role == Role::Output || buffer.role == Role::Saved) outputs.push_back(buffer);
  }
  std::stable_sort(outputs.begin(), outputs.end(),
                   [](const Buffer& a, const Buffer& b) { return a.role < b.role; });  // Output before Saved
  PassCode code{pass, {}, {}};
  for (const kernel::Step& step : pass.steps) {
    if (step.kind == kernel::Step::Kind::Fill && step.value != 0)
      return bad_input(fmt::format("{} is filled with {}: a package clears only", step.buffer, step.value));
    for (const kernel::Entry& entry : step.entries) {
      KW_ASSERT(code.file.empty() || code.file == entry.file, "the kernels of a pass are in one file");
      code.file = entry.file;
    }
  }
  if (!code.file.empty()) code.text = generated.files.at(code.file);
  if (form.code.empty()) {
    form.inputs = inputs;
    form.outputs = outputs;
  }
  KW_ASSERT(form.inputs == inputs && form.outputs == outputs, "a pass has the same tensors on every target");
  KW_TRY(const std::set<std::string> names, names_in(pass));
  for (const kernel::Scalar& scalar : manifest.scalars)
    if (names.contains(scalar.name) && !has(form.scalars, scalar)) form.scalars.push_back(scalar);
  for (const std::string& size : manifest.sizes)
    if (names.contains(size) && !shows(form, size) && !has(form.given_sizes, size)) form.given_sizes.push_back(size);
  form.code.emplace(manifest.target, std::move(code));
  return {};
}

// One type for all; and, where there are several parameters, bf16 tensors with everything else in fp32: weights are
// often kept so. Other mixtures run the reference.
std::vector<kernel::TypeBinding> mixtures_of(const kernel::Manifest& manifest, const profile::Interface& interface) {
  std::vector<kernel::TypeBinding> mixtures;
  const auto add = [&](const kernel::TypeBinding& mixture) {
    for (const auto& [parameter, dtype] : mixture) {
      const auto& allowed = manifest.types.at(parameter);
      if (!has(allowed, std::string(ir::info(dtype).name))) return;
    }
    if (!has(mixtures, mixture)) mixtures.push_back(mixture);
  };
  kernel::TypeBinding own;
  for (const auto& [parameter, dtype] : interface.types)
    if (manifest.types.contains(parameter)) own[parameter] = *ir::dtype_from_name(dtype);
  if (own.size() == manifest.types.size()) add(own);
  using ir::DType;
  for (const DType dtype : {DType::BF16, DType::F16, DType::F32}) {
    kernel::TypeBinding same;
    for (const auto& [parameter, _] : manifest.types) same[parameter] = dtype;
    add(same);
  }
  std::string main;
  for (const profile::InputField& input : interface.inputs)
    if (main.empty() && input.kind == "tensor" && manifest.types.contains(input.type)) main = input.type;
  if (manifest.types.size() > 1 && !main.empty()) {
    kernel::TypeBinding mixed;
    for (const auto& [parameter, _] : manifest.types) mixed[parameter] = parameter == main ? DType::BF16 : DType::F32;
    add(mixed);
  }
  return mixtures;
}

// A gradient may have a type that no tensor of its pass shows (of a weight that its own gradient does not depend on).
// Then the pass is handed the tensor itself, for its type alone; it is there anyway.
Status show_types(const OpPass& forward, OpPass& pass) {
  for (const Buffer& output : pass.outputs) {
    KW_TRY(const std::vector<std::string> parts, kernel::type_parts(output.type));
    for (const std::string& part : parts) {
      const auto shown = [&](const Buffer& input) { return input.type == part; };
      if (ir::dtype_from_name(part) || std::any_of(pass.inputs.begin(), pass.inputs.end(), shown)) continue;
      const auto tensor = std::find_if(forward.inputs.begin(), forward.inputs.end(), shown);
      if (tensor == forward.inputs.end())
        return bad_input(fmt::format("no tensor shows the type {} of {}: such an op has no package or library yet",
                                     part, output.name));
      pass.inputs.push_back(*tensor);
    }
  }
  return {};
}

}  // namespace

std::vector<profile::ScheduleRow> packaged_schedules(const std::vector<profile::ScheduleRow>& given) {
  std::vector<profile::ScheduleRow> rows;
  for (const char* pass : {"forward", "backward"})
    rows.push_back({.target = "cuda", .pass = pass, .parameters = {{"rare_kernels", "0"}}});
  rows.insert(rows.end(), given.begin(), given.end());
  return rows;
}

Result<OpForm> op_form(const Ingredients& kernel, const std::vector<kernel::Target>& targets) {
  const profile::Profile& profile = kernel.profile;
  for (const profile::OutputField& output : profile.interface.outputs)
    if (!output.updates.empty())
      return bad_input(
          fmt::format("{} updates {}: such an op has no package or library yet", output.name, output.updates));
  if (!profile.interface.aliases.empty()) {
    const profile::Alias& alias = profile.interface.aliases.front();
    return bad_input(
        fmt::format("{} takes the memory of {}: its caller may use that elsewhere, so such a pass is in no "
                    "package or library",
                    alias.output, alias.input),
        {}, fmt::format("kw set {} aliases=none", profile.name));
  }
  OpForm form;
  KW_TRY(const OpMath math, math_of(profile));
  form.name = math.name;
  form.module = profile.names.module;
  form.autograd = profile.names.autograd;
  KW_TRY(const ir::Graph read, ir::text::parse(profile.math.read, "math.read"));
  form.reference_function = read.name;
  form.passes.push_back({"forward"});
  if (math.backward) form.passes.push_back({"backward"});
  const std::size_t whole = form.passes.size();
  const std::vector<PartialBackward> partial = partial_backwards(math, profile);
  for (const PartialBackward& some : partial) form.passes.push_back({"backward_" + some.suffix});
  const std::vector<profile::ScheduleRow> schedules = packaged_schedules(kernel.schedules);
  for (const kernel::Target target : targets) {
    KW_TRY(const Generated generated, generate(math, target, schedules));
    for (std::size_t i = 0; i < whole; ++i)
      KW_CHECK(add(form.passes[i], generated, *generated.manifest.find(form.passes[i].name)));
    for (std::size_t i = 0; i < partial.size(); ++i) {
      KW_TRY(const Generated some, generate(partial[i].math, target, schedules));
      KW_CHECK(add(form.passes[whole + i], some, *some.manifest.find("backward")));
    }
    form.sizes = generated.manifest.sizes;
    form.scalars = generated.manifest.scalars;
    form.constraints = generated.manifest.constraints;
    form.mixtures = mixtures_of(generated.manifest, profile.interface);
  }
  for (std::size_t i = 1; i < form.passes.size(); ++i) KW_CHECK(show_types(form.forward(), form.passes[i]));
  form.passes.front().scalars = form.scalars;  // those of the reference, used or not
  const auto tensors = std::count_if(profile.interface.inputs.begin(), profile.interface.inputs.end(),
                                     [](const profile::InputField& input) { return input.kind != "scalar"; });
  if (static_cast<std::size_t>(tensors) != form.forward().inputs.size())
    return bad_input("the math does not use every tensor of the interface: such an op has no package or library yet");
  if (kernel.reference.find("def " + form.reference_function + "(") == std::string::npos)
    return bad_input(fmt::format("reference.py has no function {}", form.reference_function), {},
                     "kw understand writes it again");
  if (!form.forward().given_sizes.empty())
    return bad_input(fmt::format("no tensor shows the size '{}'", form.forward().given_sizes.front()));
  return form;
}

std::string schema(const OpPass& pass, const std::string& name) {
  std::vector<std::string> arguments;
  for (const kernel::Buffer& input : pass.inputs) arguments.push_back("Tensor " + input.name);
  for (const kernel::Scalar& scalar : pass.scalars) {
    const std::string type = scalar.type == "real" ? "float" : scalar.type;
    std::string value = scalar.default_value;
    if (scalar.type == "bool" && !value.empty()) value[0] = value[0] == 't' ? 'T' : 'F';
    arguments.push_back(type + " " + scalar.name + (value.empty() ? "" : "=" + value));
  }
  for (const std::string& size : pass.given_sizes) arguments.push_back("SymInt " + size);
  const std::string results = join(std::vector<std::string>(pass.outputs.size(), "Tensor"), ", ");
  return name + "(" + join(arguments, ", ") + ") -> " + (pass.outputs.size() == 1 ? results : "(" + results + ")");
}

}  // namespace kw::act
