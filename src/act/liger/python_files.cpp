#include "act/liger/python_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "act/emit/skeleton.h"
#include "act/liger/insert.h"
#include "act/loop/identifier.h"
#include "base/text.h"
#include "ir/text/parse.h"
#include "kernel/expression.h"

namespace kw::act::liger {
namespace {

using kernel::Buffer;
using kernel::Role;
using Names = std::vector<std::string>;

constexpr const char* kOp = "templates/liger/op.py";

std::string licence_of(const LigerForm& form) { return form.licence.empty() ? "NONE" : form.licence; }
std::string tuple(const Names& names) { return "(" + join(names, ", ") + (names.size() == 1 ? ",)" : ")"); }
std::string reference_name(const LigerForm& form) { return "torch_" + form.op; }

Names tensors_of(const LigerForm& form) { return names_of(with_role(form.forward(), Role::Input)); }
Names with_defaults(const std::vector<kernel::Scalar>& scalars) {
  Names names;
  for (const kernel::Scalar& scalar : scalars)
    names.push_back(scalar.name + (scalar.default_value.empty() ? "" : "=" + python_default(scalar)));
  return names;
}

// "x[..., :n//2]" → "x[..., : n // 2]", as a formatter has it.
std::string spaced_slices(const std::string& line) {
  std::string out;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t open = line.find('[', at), close = line.find(']', open);
    if (open == std::string::npos || close == std::string::npos) return out + line.substr(at);
    Names items;
    for (const std::string& item : split(line.substr(open + 1, close - open - 1), ',')) {
      const std::string range(trim(item));
      if (range.find(':') == std::string::npos || range.find_first_of("+-*/") == std::string::npos) {
        items.push_back(range);
        continue;
      }
      Names ends;
      for (const std::string& end : split(range, ':')) ends.push_back(python_size(end));
      items.emplace_back(trim(join(ends, " : ")));
    }
    out += line.substr(at, open + 1 - at) + join(items, ", ") + "]";
    at = close + 1;
  }
  return out;
}

// The reference's functions by themselves, without notes on shapes.
Result<Lines> reference_text(const LigerForm& form, const Ingredients& kernel) {
  KW_TRY(const ir::Graph read, ir::text::parse(kernel.profile.math.read, "math.read"));
  const std::size_t begin = kernel.reference.find("\ndef "), end = kernel.reference.find("\ndef example_inputs(");
  if (begin == std::string::npos || end == std::string::npos || end <= begin ||
      kernel.reference.find("\ndef " + read.name + "(") == std::string::npos)
    return bad_input(fmt::format("reference.py has no function {}", read.name), {}, "kw understand writes it again");
  Lines lines;
  for (std::string line : split_lines(trim(std::string_view(kernel.reference).substr(begin, end - begin)))) {
    if (trim(line).starts_with("#")) continue;
    if (const std::size_t note = line.find("  # ["); note != std::string::npos) line.resize(note);
    if (line.starts_with("def " + read.name + "("))
      line = "def " + reference_name(form) + line.substr(4 + read.name.size());
    lines.line(spaced_slices(line));
  }
  return lines;
}

struct InputShapes {
  std::string text;  // ((4, 8), (8,))
  std::int64_t elements = 0;
};

Result<InputShapes> shapes_at(const LigerForm& form, const profile::Shape& sizes) {
  kernel::Facts facts;
  InputShapes out;
  for (const auto& [size, value] : sizes) facts.sizes[size] = value;
  Names shapes;
  for (const Buffer& input : with_role(form.forward(), Role::Input)) {
    Names shape;
    std::int64_t elements = 1;
    for (const std::string& size : input.shape) {
      KW_TRY(const std::int64_t value, kernel::evaluate_size(size, facts));
      shape.push_back(std::to_string(value));
      elements *= value;
    }
    out.elements = std::max(out.elements, elements);
    shapes.push_back(shape.empty() ? "()" : tuple(shape));
  }
  out.text = tuple(shapes);
  return out;
}

// The profile's test shapes that an interpreter is done with soon, the largest first. A reduction over one element has
// a gradient of which rounding errors alone are left: nothing to compare.
Result<Lines> test_shapes(const LigerForm& form, const profile::Profile& profile) {
  constexpr std::int64_t kMost = 20000;
  constexpr std::size_t kLargest = 4, kSmallest = 2;
  std::vector<InputShapes> all;
  for (const profile::Shape& sizes : profile.shapes.test) {
    const bool single = std::any_of(sizes.begin(), sizes.end(), [](const auto& size) { return size.second == 1; });
    if (single && profile.tier > 1) continue;
    KW_TRY(InputShapes shapes, shapes_at(form, sizes));
    if (shapes.elements <= kMost) all.push_back(std::move(shapes));
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.elements > b.elements; });
  if (all.size() > kLargest + kSmallest) all.erase(all.begin() + kLargest, all.end() - kSmallest);
  Lines lines;
  lines.line("SHAPES = [");
  for (const InputShapes& shapes : all) lines.line("    " + shapes.text + ",");
  lines.line("]");
  return lines;
}

// Whether the math takes the logarithm or a root of what it is given: normal numbers would give NaN.
bool wants_positive(const profile::Profile& profile) {
  for (const profile::InputField& input : profile.interface.inputs)
    for (const char* function : {"log(", "sqrt(", "rsqrt("})
      for (const std::string& argument : {input.name + ")", "wide(" + input.name + ")", "f32(" + input.name + ")"})
        if (profile.math.forward.find(function + argument) != std::string::npos) return true;
  return false;
}

// A parameter of a module inside of the source's is one of the module itself here: norm.weight → norm_weight.
std::string attribute_of(const profile::ModuleParameter& parameter) { return replace_all(parameter.name, ".", "_"); }

// torch.full((1,), alpha_init): what it is filled with, a name of the source's constructor or a number.
std::string filled_with(const std::string& init) {
  constexpr std::string_view kFull = "torch.full((";
  const std::size_t full = init.find(kFull);
  const std::size_t shape = full == std::string::npos ? full : init.find("), ", full);
  if (shape == std::string::npos) return {};
  const std::size_t begin = shape + 3, end = init.find_first_of(",) ", begin);
  const std::string value = init.substr(begin, end - begin);
  const bool number = !value.empty() && value.find_first_not_of("0123456789.-e") == std::string::npos;
  return number || is_identifier(value) ? value : "";
}

// ones, zeros, or the text of the source. Normalisations of torch.nn begin as the identity.
std::string beginning(const profile::ModuleParameter& parameter) {
  const std::string& init = parameter.init;
  const bool norm = init.starts_with("nn.") && init.find("Norm") < init.find('(');
  if (norm && parameter.name.ends_with(".weight")) return "ones";
  if (norm && parameter.name.ends_with(".bias")) return "zeros";
  return init;
}

// What `torch.` makes a parameter with: ones(hidden); full((1,), alpha_init).
std::string maker(const profile::ModuleParameter& parameter, const Names& shape) {
  if (const std::string value = filled_with(parameter.init); !value.empty())
    return fmt::format("full({}, {})", tuple(shape), value);
  return fmt::format("{}({})", beginning(parameter), shape.size() == 1 ? shape[0] : tuple(shape));
}

// A module makes its parameters itself: how each begins.
Status parameters(const LigerForm& form, const profile::Profile& profile, Names& arguments, Lines& made) {
  for (const profile::ModuleParameter& parameter : profile.module.parameters) {
    const std::string cannot =
        fmt::format("{} cannot become a Liger module: its parameter {} ", profile.name, parameter.name);
    const std::string value = filled_with(parameter.init);
    if (const std::string begins = beginning(parameter); begins != "ones" && begins != "zeros" && value.empty())
      return bad_input(cannot + fmt::format("begins as {}, neither ones, zeros nor one value", begins));
    Names shape;
    for (const std::string& size : parameter.shape) {
      const bool number =
          !size.empty() && std::all_of(size.begin(), size.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
      if (!number && std::find(form.code.manifest.sizes.begin(), form.code.manifest.sizes.end(), size) ==
                         form.code.manifest.sizes.end())
        return bad_input(cannot + fmt::format("has a size that its constructor cannot be given: {}", size));
      if (!number && std::find(arguments.begin(), arguments.end(), size) == arguments.end()) arguments.push_back(size);
      shape.push_back(size);
    }
    if (is_identifier(value) && std::find(arguments.begin(), arguments.end(), value) == arguments.end())
      arguments.push_back(value);
    made.line(fmt::format("self.{} = nn.Parameter(torch.{})", attribute_of(parameter), maker(parameter, shape)));
  }
  return {};
}

bool is_parameter(const profile::Profile& profile, const std::string& name) {
  return std::any_of(profile.module.parameters.begin(), profile.module.parameters.end(),
                     [&](const auto& parameter) { return attribute_of(parameter) == name; });
}

// How the module's test makes and calls it.
Result<Lines> module_test(const LigerForm& form, const profile::Profile& profile) {
  Names given, values, own;
  std::map<std::string, std::string> where;
  const std::vector<Buffer> inputs = with_role(form.forward(), Role::Input);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t d = 0; d < inputs[i].shape.size(); ++d)
      where.emplace(inputs[i].shape[d], fmt::format("SHAPES[0][{}][{}]", i, d));
    if (is_parameter(profile, inputs[i].name))
      own.push_back(fmt::format("module.{}", inputs[i].name));
    else
      given.push_back(inputs[i].name);
  }
  Names arguments;
  Lines unused, out;
  KW_CHECK(parameters(form, profile, arguments, unused));
  // What is no size is what a parameter begins with; the test gives it other values.
  for (const std::string& argument : arguments) values.push_back(where.contains(argument) ? where.at(argument) : "0.5");
  out.line(fmt::format("module = {}({}).to(device).to(dtype)", form.module, join(values, ", ")));
  if (own.empty()) {
    out.line(
        fmt::format("assert_same_op(module, {}, random_tensors(SHAPES[0], dtype), tolerance)", reference_name(form)));
    return out;
  }
  // Parameters with values of their own; they come last, as the function's arguments do.
  const bool last = std::equal(own.rbegin(), own.rend(), inputs.rbegin(),
                               [](const std::string& a, const Buffer& b) { return a == "module." + b.name; });
  if (!last)
    return bad_input(fmt::format("{} cannot become a Liger module: a parameter comes before a tensor", form.op));
  out.line("tensors = random_tensors(SHAPES[0], dtype)");
  out.line(fmt::format("for parameter, values in zip(module.parameters(), tensors[{}:]):", given.size()));
  out.line("    parameter.data.copy_(values.detach())");
  out.line(fmt::format("parameters = copies({})", "[" + join(own, ", ") + "]"));
  out.line(fmt::format("outputs = as_tuple(module(*tensors[:{}]))", given.size()));
  out.line(fmt::format("expected = as_tuple({}(*tensors[:{}], *parameters))", form.functional, given.size()));
  out.line("gradients = [torch.randn_like(output) for output in outputs]");
  out.line("torch.autograd.backward(outputs, gradients)");
  out.line("torch.autograd.backward(expected, gradients)");
  out.line("for ours, theirs in zip(outputs, expected):");
  out.line("    assert torch.equal(ours, theirs)");
  out.line("for ours, theirs in zip(module.parameters(), parameters):");
  out.line("    assert_agree(ours.grad, theirs.grad, tolerance, \"parameter\")");
  return out;
}

// The field of a benchmark's model that a size of the op is; empty: the profile's own number.
std::string model_key(const std::string& size) {
  static const std::map<std::string, std::string> kKeys = {{"hidden", "hidden_size"},
                                                           {"cols", "hidden_size"},
                                                           {"intermediate", "intermediate_size"},
                                                           {"vocab", "vocab_size"},
                                                           {"head_dim", "head_dim"}};
  const auto key = kKeys.find(size);
  return key == kKeys.end() ? "" : key->second;
}

}  // namespace

std::string functional_text(const LigerForm& form) {
  Names signature = tensors_of(form), passed = tensors_of(form);
  for (const std::string& scalar : with_defaults(form.scalars())) signature.push_back(scalar);
  for (const kernel::Scalar& scalar : form.scalars()) passed.push_back(scalar.name);
  Lines body;
  body.line(fmt::format("return {}.apply({})", form.autograd, join(passed, ", ")));
  return Skeleton::load(kOp, "functional")
      .name("function", form.functional)
      .list("arguments", signature)
      .statements("body", body)
      .fill()
      .text();
}

Result<std::string> module_file(const LigerForm& form, const profile::Profile& profile) {
  Names arguments, given, passed, shown;
  Lines made, body, imports;
  KW_CHECK(parameters(form, profile, arguments, made));
  for (const std::string& tensor : tensors_of(form)) {
    if (!is_parameter(profile, tensor)) given.push_back(tensor);
    passed.push_back(is_parameter(profile, tensor) ? "self." + tensor : tensor);
  }
  for (const std::string& argument : with_defaults(form.scalars())) arguments.push_back(argument);
  for (const kernel::Scalar& scalar : form.scalars()) {
    made.line(fmt::format("self.{0} = {0}", scalar.name));
    passed.push_back("self." + scalar.name);
  }
  for (const profile::ModuleParameter& parameter : profile.module.parameters)
    if (shown.empty()) shown.push_back(fmt::format("{{tuple(self.{}.shape)}}", attribute_of(parameter)));
  for (const kernel::Scalar& scalar : form.scalars()) shown.push_back(fmt::format("{0}={{self.{0}}}", scalar.name));
  if (!profile.module.parameters.empty()) imports.line("import torch");
  imports.line("import torch.nn as nn");
  if (!made.empty()) {
    arguments.insert(arguments.begin(), "self");
    body.line("def __init__(" + join(arguments, ", ") + "):");
    body.line("    super().__init__()");
    for (const std::string& line : made.all()) body.line("    " + line);
    body.line("");
  }
  given.insert(given.begin(), "self");
  body.line("def forward(" + join(given, ", ") + "):");
  body.line(fmt::format("    return {}.apply({})", form.autograd, join(passed, ", ")));
  if (!shown.empty()) {
    body.line("");
    body.line("def extra_repr(self):");
    body.line("    return f\"" + join(shown, ", ") + "\"");
  }
  return Skeleton::load(kOp, "module")
      .expression("licence", licence_of(form))
      .name("autograd", form.autograd)
      .name("module", form.module)
      .statements("imports", imports)
      .statements("body", body)
      .fill()
      .text();
}

Result<std::string> test_file(const LigerForm& form, const Ingredients& kernel) {
  Names sources = {"from liger_kernel.ops import " + form.autograd,
                   "from liger_kernel.transformers.functional import " + form.functional,
                   "from liger_kernel.transformers." + form.op + " import " + form.module,
                   "from liger_kernel.utils import infer_device"};
  std::sort(sources.begin(), sources.end(), import_before);
  Lines imports;
  for (const std::string& line : sources) imports.line(line);
  Names applied = {"*tensors"};
  for (const kernel::Scalar& scalar : form.scalars())
    applied.push_back(scalar.default_value.empty() ? "1.0" : python_default(scalar));
  KW_TRY(const Lines shapes, test_shapes(form, kernel.profile));
  KW_TRY(const Lines reference, reference_text(form, kernel));
  KW_TRY(const Lines module, module_test(form, kernel.profile));
  return Skeleton::load("templates/liger/test_op.py", "test")
      .expression("licence", licence_of(form))
      .statements("imports", imports)
      .statements("shapes", shapes)
      .statements("reference", reference)
      .expression("random", wants_positive(kernel.profile) ? "torch.rand(shape, device=device).add(0.1)"
                                                           : "torch.randn(shape, device=device)")
      .name("functional", form.functional)
      .name("reference_name", reference_name(form))
      .name("autograd", form.autograd)
      .list("applied", applied)
      .statements("module", module)
      .fill()
      .text();
}

Result<std::string> benchmark_file(const LigerForm& form, const Ingredients& kernel) {
  const HostText host(form);
  const std::vector<Buffer> inputs = with_role(form.forward(), Role::Input);
  std::map<std::string, std::string> sizes;  // of the op → Python
  Names keys;
  for (const auto& [size, value] : kernel.profile.interface.sizes) {
    sizes[size] = std::to_string(value);
    if (const std::string key = model_key(size); !key.empty()) {
      sizes[size] = "config[\"" + key + "\"]";
      keys.push_back("\"" + key + "\"");
    }
  }
  // Tokens take the place of what leads: of the last of several, the others are one.
  const Buffer& first = *std::max_element(
      inputs.begin(), inputs.end(), [](const Buffer& a, const Buffer& b) { return a.shape.size() < b.shape.size(); });
  const std::size_t leading = first.shape.size() < 2 || !host.any_rank() ? std::size_t{1} : first.shape.size() - 1;
  for (std::size_t d = 0; d < leading && d < first.shape.size(); ++d)
    sizes[first.shape[d]] = d + 1 == leading ? "tokens" : "1";
  keys.emplace_back("\"dtype\"");
  Lines tensors, call;
  for (const Buffer& input : inputs) {
    Names shape;
    for (const std::string& size : input.shape) {
      const auto known = sizes.find(size);
      shape.push_back(known == sizes.end() ? python_size(size) : known->second);
    }
    tensors.line(fmt::format("{} = torch.randn({}, dtype=config[\"dtype\"], device=device, requires_grad=True)",
                             input.name, tuple(shape)));
  }
  const bool several = with_role(form.forward(), Role::Output).size() > 1;
  const std::string result = fmt::format("op({}){}", join(tensors_of(form), ", "), several ? "[0]" : "");
  call.line(fmt::format("return {}, lambda {}: {}", inputs[0].name, inputs[0].name, result));
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  KW_TRY(const Lines reference, reference_text(form, kernel));
  return Skeleton::load("templates/liger/benchmark_op.py", "benchmark")
      .expression("licence", licence_of(form))
      .name("functional", form.functional)
      .name("reference_name", reference_name(form))
      .name("op", form.op)
      .expression("keys", "[" + join(keys, ", ") + "]")
      .statements("reference", reference)
      .statements("tensors", python_wrapped(tensors, 120 - 4))
      .statements("call", python_wrapped(call, 120 - 4))
      .fill()
      .text();
}

}  // namespace kw::act::liger
