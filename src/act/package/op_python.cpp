#include "act/package/op_python.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "act/emit/lines.h"
#include "act/emit/skeleton.h"
#include "act/package/layout_text.h"
#include "base/text.h"
#include "kernel/expression.h"

namespace kw::act {
namespace {

using kernel::Buffer;
using kernel::Role;
using Names = std::vector<std::string>;

constexpr const char* kTemplate = "templates/package/op.py";

Names names_of(const std::vector<Buffer>& buffers) {
  Names names;
  for (const Buffer& buffer : buffers) names.push_back(buffer.name);
  return names;
}
Names names_of(const std::vector<kernel::Scalar>& scalars) {
  Names names;
  for (const kernel::Scalar& scalar : scalars) names.push_back(scalar.name);
  return names;
}
Names both(Names a, const Names& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
std::string tuple(const Names& names) { return "(" + join(names, ", ") + (names.size() == 1 ? ",)" : ")"); }

std::string quoted(const std::string& text) {
  return "\"" + replace_all(replace_all(text, "\\", "\\\\"), "\"", "\\\"") + "\"";
}

std::string python_default(const kernel::Scalar& scalar) {
  if (scalar.type != "bool") return scalar.default_value;
  return scalar.default_value == "true" ? "True" : "False";
}

std::string torch_dtype(ir::DType dtype) { return "torch." + std::string(ir::info(dtype).torch_name); }

// The shapes of an op's tensors at some sizes, as a tuple of tuples.
Result<std::string> shapes_at(const OpForm& form, const profile::Shape& sizes) {
  kernel::Facts facts;
  for (const auto& [size, value] : sizes) facts.sizes[size] = value;
  Names shapes;
  for (const Buffer& input : form.forward().inputs) {
    Names shape;
    for (const std::string& size : input.shape) {
      KW_TRY(const std::int64_t value, kernel::evaluate_size(size, facts));
      shape.push_back(std::to_string(value));
    }
    shapes.push_back(shape.empty() ? "()" : tuple(shape));
  }
  return tuple(shapes);
}

class Writer {
 public:
  Writer(const OpForm& form, const Ingredients& kernel) : form_(form), kernel_(kernel) {}

  Result<std::string> write() {
    head();
    for (const OpPass& pass : form_.passes) KW_CHECK(fake(pass));
    if (form_.backward() != nullptr) {
      KW_CHECK(gradient());
      KW_CHECK(formula());
    }
    KW_CHECK(roads());
    module();
    return text_;
  }

 private:
  void add(const Lines& lines) { text_ += (text_.empty() ? "" : "\n\n") + lines.text(); }

  const std::vector<kernel::Scalar>& scalars() const { return form_.forward().scalars; }
  Names tensors() const { return names_of(form_.forward().inputs); }
  Names arguments() const { return both(tensors(), names_of(scalars())); }
  Names outputs() const { return names_of(form_.forward().outputs); }
  Names results() const {  // what the caller gets
    Names names;
    for (const Buffer& output : form_.forward().outputs)
      if (output.role == Role::Output) names.push_back(output.name);
    return names;
  }

  void head() {
    Lines imports, inner;
    imports.line(fmt::format("from .reference.{} import {} as reference", form_.name, form_.reference_function));
    if (has_source_module(kernel_))
      imports.line(fmt::format("from .source.{} import {} as _Source", form_.name, kernel_.profile.source.entry));
    for (const OpPass& pass : form_.passes)
      inner.line(fmt::format("_{0} = _op.direct(torch.ops.kw._{1}_{0}.default)", pass.name, form_.name));
    if (results().size() < outputs().size())
      inner.line(fmt::format("_results = _op.direct(torch.ops.kw._{}_results.default)", form_.name));
    text_ = Skeleton::load(kTemplate, "head")
                .name("op", form_.name)
                .expression("generator", kGenerator)
                .expression("licence", kernel_.profile.licence.empty() ? "NONE" : kernel_.profile.licence)
                .statements("imports", imports)
                .statements("inner", inner)
                .fill()
                .text();
  }

  // Where a type parameter is read from: the first input that is of just that type.
  Result<std::string> dtype_text(const OpPass& pass, const std::string& type) const {
    KW_TRY(const Names parts, kernel::type_parts(type));
    Names texts;
    for (const std::string& part : parts) {
      if (const auto dtype = ir::dtype_from_name(part)) {
        texts.push_back(torch_dtype(*dtype));
        continue;
      }
      const auto input = std::find_if(pass.inputs.begin(), pass.inputs.end(),
                                      [&](const Buffer& buffer) { return buffer.type == part; });
      if (input == pass.inputs.end())
        return bad_input(
            fmt::format("no tensor of the {} pass shows the type {}: such an op has no package yet", pass.name, part));
      texts.push_back(input->name + ".dtype");
    }
    return texts.size() == 1 ? texts[0] : "_op.join(" + join(texts, ", ") + ")";
  }

  // The sizes that inputs show, as statements.
  void sizes(const OpPass& pass, Lines& lines) const {
    Names known = pass.given_sizes;
    for (const Buffer& input : pass.inputs) {
      const bool all_new =
          !input.shape.empty() && std::all_of(input.shape.begin(), input.shape.end(), [&](const auto& s) {
            return has(form_.sizes, s) && !has(known, s) && std::count(input.shape.begin(), input.shape.end(), s) == 1;
          });
      if (all_new) {
        lines.line(join(input.shape, ", ") + (input.shape.size() == 1 ? "," : "") + " = " + input.name + ".shape");
        known.insert(known.end(), input.shape.begin(), input.shape.end());
        continue;
      }
      for (std::size_t d = 0; d < input.shape.size(); ++d) {
        if (!has(form_.sizes, input.shape[d]) || has(known, input.shape[d])) continue;
        lines.line(fmt::format("{} = {}.shape[{}]", input.shape[d], input.name, d));
        known.push_back(input.shape[d]);
      }
    }
  }

  Status fake(const OpPass& pass) {
    const std::string outer = pass.name == "forward" ? form_.name : form_.name + "_" + pass.name;
    Lines lines;
    lines.line(fmt::format("@_op.register_fake(\"{0}\", \"_{1}_{2}\")", outer, form_.name, pass.name));
    const bool saves = pass.name == "forward" && results().size() < outputs().size();
    Names parameters = names_of(pass.inputs);
    for (const kernel::Scalar& scalar : pass.scalars)
      parameters.push_back(scalar.name + (scalar.default_value.empty() ? "" : "=" + python_default(scalar)));
    lines.line(fmt::format("def _{}_shapes({}):", pass.name, join(both(parameters, pass.given_sizes), ", ")));
    Lines body;
    sizes(pass, body);
    Names made;
    for (const Buffer& output : pass.outputs) {
      KW_TRY(const std::string dtype, dtype_text(pass, output.type));
      KW_TRY(const std::string operands, layout_in_python(output, pass.inputs, tuple(output.shape)));
      const std::string like = output.strides_like.empty() ? "" : ", like=" + operands;
      made.push_back(fmt::format("_op.empty({}, {}, {}{})", pass.inputs[0].name, tuple(output.shape), dtype, like));
    }
    if (made.size() == 1) {
      body.line("return " + made[0]);
    } else {
      body.line("return (");
      for (const std::string& one : made) body.line("    " + one + ",");
      body.line(")");
    }
    for (const std::string& line : body.all()) lines.line("    " + line);
    add(lines);
    if (saves) {
      Lines alone;
      alone.line(fmt::format("@_op.register_fake(\"_{}_results\")", form_.name));
      alone.line("def _results_shapes(*arguments):");
      alone.line("    return _forward_shapes(*arguments)" +
                 (results().size() == 1 ? "[0]" : fmt::format("[:{}]", results().size())));
      add(alone);
    }
    return {};
  }

  // What the backward pass asks for that is no cotangent, as the forward pass knows it.
  Names kept() const {
    Names names;
    for (const Buffer& input : form_.backward()->inputs)
      if (input.gradient_of.empty()) names.push_back(input.name);
    return names;
  }
  Names cotangents() const {  // one for each result that the caller gets
    Names names;
    for (const std::string& result : results()) {
      std::string name = "d_" + result;
      for (const Buffer& input : form_.backward()->inputs)
        if (input.gradient_of == result) name = input.name;
      names.push_back(name);
    }
    return names;
  }

  // An input of the forward pass and its dimension that is this size.
  std::pair<std::size_t, std::size_t> shown_by(const std::string& size) const {
    const std::vector<Buffer>& inputs = form_.forward().inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      for (std::size_t d = 0; d < inputs[i].shape.size(); ++d)
        if (inputs[i].shape[d] == size) return {i, d};
    KW_ASSERT(false, "a size that the backward is given is one that an input of the forward shows");
  }

  void keep(Lines& lines, bool formula) const {
    const OpPass& backward = *form_.backward();
    lines.line("ctx.save_for_backward(" + join(kept(), ", ") + ")");
    for (const kernel::Scalar& scalar : backward.scalars) lines.line(fmt::format("ctx.{0} = {0}", scalar.name));
    for (const std::string& size : backward.given_sizes) {
      const auto [input, dimension] = shown_by(size);
      lines.line(fmt::format("ctx.{} = {}.shape[{}]", size, tensors()[input], dimension));
    }
    Names whole;
    for (const Buffer& output : form_.forward().outputs) {
      const bool floating = has({"T"}, output.type) || !ir::dtype_from_name(output.type) ||
                            ir::is_floating(*ir::dtype_from_name(output.type));
      if ((formula && output.role == Role::Saved) || (output.role == Role::Output && !floating))
        whole.push_back(output.name);
    }
    if (!whole.empty()) lines.line("ctx.mark_non_differentiable(" + join(whole, ", ") + ")");
  }

  std::vector<const OpPass*> backwards() const {  // the op that computes least comes first
    std::vector<const OpPass*> passes;
    for (std::size_t i = 1; i < form_.passes.size(); ++i) passes.push_back(&form_.passes[i]);
    std::stable_sort(passes.begin(), passes.end(),
                     [](const OpPass* a, const OpPass* b) { return a->outputs.size() < b->outputs.size(); });
    return passes;
  }

  // Calls the backward op for the gradients that are wanted and sorts its results by the arguments of the forward.
  void call_backward(Lines& lines, const std::string& op_prefix, bool tie) const {
    if (!kept().empty()) lines.line(join(kept(), ", ") + (kept().size() == 1 ? "," : "") + " = ctx.saved_tensors");
    for (const OpPass* pass : backwards()) {
      Names needless, answers;
      for (std::size_t i = 0; i < arguments().size(); ++i) {
        const std::string argument = arguments()[i];
        std::string answer = "None";
        for (const Buffer& output : pass->outputs)
          if (output.gradient_of == argument) answer = output.name;
        if (answer == "None" && i < tensors().size() && has_gradient(i))
          needless.push_back(fmt::format("ctx.needs_input_grad[{}]", i));
        answers.push_back(answer);
      }
      Names values = names_of(pass->inputs);
      for (const kernel::Scalar& scalar : pass->scalars) values.push_back("ctx." + scalar.name);
      for (const std::string& size : pass->given_sizes) values.push_back("ctx." + size);
      const std::string pad = needless.empty() ? "" : "    ";
      if (!needless.empty())
        lines.line(fmt::format("if not {}:", needless.size() == 1 ? needless[0] : "(" + join(needless, " or ") + ")"));
      lines.line(fmt::format("{}{} = {}{}({})", pad, join(names_of(pass->outputs), ", "), op_prefix, pass->name,
                             join(values, ", ")));
      if (tie) {
        lines.line(pad + "if torch.is_grad_enabled():  # create_graph=True");
        lines.line(fmt::format("{}    return _op.once(\"{}\", {}, {})", pad, form_.name, tuple(answers),
                               tuple(names_of(pass->inputs))));
      }
      lines.line(pad + "return " + join(answers, ", "));
    }
  }

  Status gradient() {
    Lines forward, backward;
    forward.line(join(outputs(), ", ") + " = _forward(" + join(arguments(), ", ") + ")");
    keep(forward, false);
    if (results().size() == 1) forward.line("ctx.set_materialize_grads(False)  # the only result has a gradient");
    forward.line("return " + join(results(), ", "));
    call_backward(backward, "_", true);
    add(Skeleton::load(kTemplate, "gradient")
            .name("autograd", form_.autograd)
            .name("op", form_.name)
            .list("parameters", arguments())
            .list("cotangents", cotangents())
            .statements("forward", forward)
            .statements("backward", backward)
            .fill());
    return {};
  }

  // Where each argument of a backward op comes from, in the words of runtime/torch/gradient.cpp.
  std::string sources(const OpPass& pass) const {
    const auto at = [](const Names& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) - names.begin();
    };
    Names words = {"_" + form_.name + "_" + pass.name};
    for (const Buffer& input : pass.inputs) {
      if (!input.gradient_of.empty()) {
        words.push_back(fmt::format("g{}", at(results(), input.gradient_of)));
      } else if (has(tensors(), input.name)) {
        words.push_back(fmt::format("i{}", at(tensors(), input.name)));
      } else {
        words.push_back(fmt::format("o{}", at(outputs(), input.name)));
      }
    }
    for (const kernel::Scalar& scalar : pass.scalars) words.push_back(fmt::format("i{}", at(arguments(), scalar.name)));
    for (const std::string& size : pass.given_sizes) {
      const auto [input, dimension] = shown_by(size);
      words.push_back(fmt::format("i{}.{}", input, dimension));
    }
    words.emplace_back(">");
    for (const Buffer& output : pass.outputs) words.push_back(std::to_string(at(tensors(), output.gradient_of)));
    return join(words, " ");
  }

  void native(Lines& lines, bool saves_nothing) const {
    if (form_.backward() == nullptr) return lines.line("_eager = _in_python");
    lines.line("_eager = (");
    lines.line("    _library.gradients.attach(");
    lines.line("        " + quoted(form_.name) + ",");
    lines.line("        " + quoted(form_.autograd + "Backward") + ",");
    lines.line(fmt::format("        \"_{}_{}\",", form_.name, saves_nothing ? "forward" : "results"));
    for (const OpPass* pass : backwards()) lines.line("        " + quoted(sources(*pass)) + ",");
    lines.line("    )");
    lines.line("    or _in_python");
    lines.line(")");
  }

  Status formula() {
    Lines setup, body;
    setup.line(join(arguments(), ", ") + (arguments().size() == 1 ? "," : "") + " = inputs");
    setup.line(join(outputs(), ", ") + " = output");
    keep(setup, true);
    call_backward(body, fmt::format("torch.ops.kw.{}_", form_.name), false);
    Names all = cotangents();
    for (const Buffer& output : form_.forward().outputs)
      if (output.role == Role::Saved) all.push_back("_" + output.name);
    Lines lines = Skeleton::load(kTemplate, "formula")
                      .name("op", form_.name)
                      .list("cotangents", all)
                      .statements("setup", setup)
                      .statements("formula", body)
                      .fill();
    for (std::size_t i = 1; i < form_.passes.size(); ++i)
      lines.line(fmt::format("_op.refuse_second_derivative(\"{0}\", \"{0}_{1}\")", form_.name, form_.passes[i].name));
    add(lines);
    return {};
  }

  Status roads() {
    const OpPass& forward = form_.forward();
    Lines in_python, eager, traced, serves;
    const std::string pick = results().size() == outputs().size() ? ""
                             : results().size() == 1              ? "[0]"
                                                                  : fmt::format("[:{}]", results().size());
    if (form_.backward() != nullptr) {
      Names wanting;
      for (const Buffer& gradient : form_.backward()->outputs)
        wanting.push_back(gradient.gradient_of + ".requires_grad");
      const std::string any = wanting.size() == 1 ? wanting[0] : "(" + join(wanting, " or ") + ")";
      in_python.line("if torch.is_grad_enabled() and " + any + ":");
      in_python.line("    return _apply(" + join(arguments(), ", ") + ")");
    }
    in_python.line(pick.empty() ? "return _forward(" + join(arguments(), ", ") + ")"
                                : "return _results(" + join(arguments(), ", ") + ")");
    native(eager, pick.empty());
    traced.line(fmt::format("return torch.ops.kw.{}({}){}", form_.name, join(arguments(), ", "), pick));

    Names rows;
    for (const kernel::TypeBinding& mixture : form_.mixtures) {
      Names row;
      for (const Buffer& input : forward.inputs) {
        KW_TRY(const ir::DType dtype, kernel::dtype_of(input.type, mixture));
        row.push_back(torch_dtype(dtype));
      }
      rows.push_back(tuple(row));
    }
    Names types, ranks;
    for (const Buffer& input : forward.inputs) {
      types.push_back(input.name + ".dtype");
      ranks.push_back(fmt::format("{}.dim() == {}", input.name, input.shape.size()));
    }
    Names gradients, backwards;
    for (std::size_t i = 0; i < forward.inputs.size(); ++i) gradients.emplace_back(has_gradient(i) ? "True" : "False");
    for (std::size_t p = 1; p < form_.passes.size(); ++p) {
      Names computed;
      for (std::size_t i = 0; i < forward.inputs.size(); ++i)
        for (const Buffer& output : form_.passes[p].outputs)
          if (output.gradient_of == forward.inputs[i].name) computed.push_back(std::to_string(i));
      backwards.push_back(tuple(computed));
    }
    serves.line("if " + tuple(types) + " not in _TYPES:");
    serves.line("    return False");
    Names targets;
    for (const auto& [target, _] : forward.code) targets.push_back("\"" + std::string(kernel::name_of(target)) + "\"");
    serves.line(fmt::format("if {}.device.type not in {} or not ({}):", forward.inputs[0].name, tuple(targets),
                            join(ranks, " and ")));
    serves.line("    return False");
    sizes(forward, serves);
    Names conditions;
    for (const Buffer& input : forward.inputs)
      if (!input.shape.empty())
        conditions.push_back(fmt::format("tuple({}.shape) == {}", input.name, tuple(input.shape)));
    for (const std::string& constraint : form_.constraints) conditions.push_back(constraint);
    serves.line("return " + (conditions.empty() ? "True" : join(conditions, " and ")));

    Names signature = tensors();
    for (const kernel::Scalar& scalar : scalars())
      signature.push_back(scalar.name + (scalar.default_value.empty() ? "" : "=" + python_default(scalar)));
    const Names with_defaults = signature;
    signature.emplace_back("*");
    signature.emplace_back("strict=False");
    KW_TRY(const std::string example, example_shapes());
    const Names numbers = names_of(scalars());
    add(Skeleton::load(kTemplate, "roads")
            .list("arguments", with_defaults)
            .list("tensors", tensors())
            .list("signature", signature)
            .name("op", form_.name)
            .list("types", rows)
            .expression("gradients", tuple(gradients))
            .expression("backwards", backwards.empty() ? "()" : tuple(backwards))
            .expression("example", example)
            .expression("summary", summary())
            .expression("tensors_given", tuple(tensors()))
            .expression("scalars", tuple(numbers))
            .expression("call", join(arguments(), ", "))
            .statements("in_python", in_python)
            .statements("eager", eager)
            .statements("traced", traced)
            .statements("serves", serves)
            .fill());
    return {};
  }

  bool has_gradient(std::size_t input) const {
    if (form_.backward() == nullptr) return false;
    const auto& outputs = form_.backward()->outputs;
    return std::any_of(outputs.begin(), outputs.end(),
                       [&](const Buffer& output) { return output.gradient_of == form_.forward().inputs[input].name; });
  }

  std::string summary() const {
    Names inputs;
    for (const Buffer& input : form_.forward().inputs)
      inputs.push_back(fmt::format("{}[{}]", input.name, join(input.shape, ", ")));
    Names outputs;
    for (const Buffer& output : form_.forward().outputs)
      if (output.role == Role::Output) outputs.push_back(fmt::format("{}[{}]", output.name, join(output.shape, ", ")));
    return join(inputs, ", ") + " -> " + join(outputs, ", ");
  }

  // The user's own sizes, for what autocast would do to the reference.
  Result<std::string> example_shapes() const { return shapes_at(form_, kernel_.profile.interface.sizes); }

  void module() {
    const std::vector<profile::InputField>& inputs = kernel_.profile.interface.inputs;
    Names given, passed;
    std::size_t tensor = 0;
    for (const profile::InputField& input : inputs) {
      if (input.kind == "scalar") continue;
      const std::string name = form_.forward().inputs[tensor++].name;
      const bool own = has_source_module(kernel_) && (input.kind == "parameter" || input.kind == "buffer");
      if (!own) given.push_back(name);
      passed.push_back(own ? "self." + input.name : name);
    }
    if (has_source_module(kernel_)) {
      source_module(given, passed);
      return;
    }
    Lines body;
    Names settings;
    Lines settings_kept;
    for (const kernel::Scalar& scalar : scalars()) {
      settings.push_back(scalar.name + (scalar.default_value.empty() ? "" : "=" + python_default(scalar)));
      settings_kept.line(fmt::format("self.{0} = {0}", scalar.name));
      passed.push_back("self." + scalar.name);
    }
    settings.emplace_back("*");
    settings.emplace_back("strict=False");
    settings_kept.line("self.strict = strict");
    passed.emplace_back("strict=self.strict");
    body.line(fmt::format("return {}({})", form_.name, join(passed, ", ")));
    add(Skeleton::load(kTemplate, "function_module")
            .name("module", form_.module)
            .name("op", form_.name)
            .list("settings", settings)
            .list("inputs", given)
            .statements("settings_kept", settings_kept)
            .statements("body", body)
            .fill());
  }

  // What the source calls it: a kernel's own name has an underscore where the word means something in a kernel.
  std::string source_name(const std::string& name) const {
    const std::vector<profile::InputField>& inputs = kernel_.profile.interface.inputs;
    const auto is_input = [&](const std::string& word) {
      return std::any_of(inputs.begin(), inputs.end(), [&](const profile::InputField& in) { return in.name == word; });
    };
    const std::string shorter = name.substr(0, name.size() - 1);
    return name.ends_with('_') && !is_input(name) && is_input(shorter) ? shorter : name;
  }

  // A module that was read, with all that its kernels take as given of how it is constructed.
  void source_module(const Names& given, Names passed) {
    const profile::Profile& profile = kernel_.profile;
    Names init, run_time, sizes, fixed, tensors;
    for (const auto& [name, value] : profile.source.options.init) init.push_back(quoted(name) + ": " + quoted(value));
    for (std::size_t i = 0; i < scalars().size(); ++i) {
      const kernel::Scalar& scalar = scalars()[i];
      run_time.push_back(quoted(source_name(scalar.name)) + ": " +
                         (scalar.default_value.empty() ? "None" : python_default(scalar)));
      passed.push_back(fmt::format("self._scalars[{}]", i));
    }
    for (const auto& [name, value] : profile.interface.assumed) {
      constexpr std::string_view kSize = "size_", kScalar = "scalar_";
      if (name.starts_with(kSize)) sizes.push_back(quoted(name.substr(kSize.size())) + ": " + value);
      if (name.starts_with(kScalar)) fixed.push_back(quoted(name.substr(kScalar.size())));
    }
    for (const profile::InputField& input : profile.interface.inputs)
      if (input.kind == "parameter" || input.kind == "buffer") tensors.push_back(quoted(input.name));
    add(Skeleton::load(kTemplate, "module")
            .name("module", form_.module)
            .name("op", form_.name)
            .expression("init", "{" + join(init, ", ") + "}")
            .expression("scalars", "{" + join(run_time, ", ") + "}")
            .expression("sizes", "{" + join(sizes, ", ") + "}")
            .expression("fixed", tuple(fixed))
            .expression("tensors", tuple(tensors))
            .expression("training", profile.source.options.eval ? "False" : "True")
            .list("inputs", given)
            .list("passed", passed)
            .fill());
  }

  const OpForm& form_;
  const Ingredients& kernel_;
  std::string text_;
};

}  // namespace

Result<TestShapes> test_shapes(const OpForm& form, const profile::Profile& profile) {
  constexpr std::int64_t kMost = 20000;
  Names some, none;
  for (const profile::Shape& sizes : profile.shapes.test) {
    std::int64_t elements = 1;
    for (const auto& [_, value] : sizes) elements *= value;
    if (elements > kMost) continue;
    KW_TRY(const std::string shapes, shapes_at(form, sizes));
    (elements == 0 ? none : some).push_back(shapes);
  }
  // The largest first: what is tried once is tried with it.
  std::reverse(some.begin(), some.end());
  return TestShapes{"[" + join(some, ", ") + "]", "[" + join(none, ", ") + "]"};
}

bool has_source_module(const Ingredients& kernel) {
  const profile::Source& source = kernel.profile.source;
  return source.kind == "torch" && kernel.source.find("class " + source.entry + "(") != std::string::npos;
}

Result<std::string> op_python(const OpForm& form, const Ingredients& kernel) { return Writer(form, kernel).write(); }

}  // namespace kw::act
