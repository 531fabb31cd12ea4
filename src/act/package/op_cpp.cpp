#include "act/package/op_cpp.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "act/emit/lines.h"
#include "act/package/expression_text.h"
#include "base/text.h"
#include "kernel/expression.h"

namespace kw::act {
namespace {

using kernel::Argument;
using kernel::Buffer;
using kernel::DType;
using kernel::Entry;
using kernel::Target;

struct Spelling {
  DType dtype;
  std::string_view element;  // in a kernel
  std::string_view torch;    // of kw_torch::Dtype
};
constexpr Spelling kSpellings[] = {
    {DType::Bool, "bool", "kBool"},     {DType::U8, "unsigned char", "kU8"}, {DType::I8, "signed char", "kI8"},
    {DType::I16, "short", "kI16"},      {DType::I32, "int", "kI32"},         {DType::I64, "long long", "kI64"},
    {DType::BF16, "kw::bf16", "kBF16"}, {DType::F16, "kw::f16", "kF16"},     {DType::F32, "float", "kF32"},
    {DType::F64, "double", "kF64"},
};

Result<const Spelling*> spelling_of(DType dtype) {
  for (const Spelling& spelling : kSpellings)
    if (spelling.dtype == dtype) return &spelling;
  return bad_input(fmt::format("an op of a package has no elements of type {}", ir::info(dtype).name));
}

std::string struct_name(const OpPass& pass) {
  std::string name = pass.name;
  name[0] = static_cast<char>(std::toupper(name[0]));
  return name;
}

// The element types of buffers, by mixture: "{kBF16, kBF16}, {kF32, kF32}".
Result<std::string> type_rows(const OpForm& form, const std::vector<Buffer>& buffers) {
  std::vector<std::string> rows;
  for (const kernel::TypeBinding& mixture : form.mixtures) {
    std::vector<std::string> row;
    for (const Buffer& buffer : buffers) {
      KW_TRY(const DType dtype, kernel::dtype_of(buffer.type, mixture));
      KW_TRY(const Spelling* spelling, spelling_of(dtype));
      row.push_back("Dtype::" + std::string(spelling->torch));
    }
    rows.push_back("{" + join(row, ", ") + "}");
  }
  return join(rows, ", ");
}

// The type of a scalar argument is the same in every mixture: those that are compiled compute in fp32 alike.
Result<std::string> scalar_type(const OpForm& form, const Argument& argument) {
  std::set<std::string> types;
  for (const kernel::TypeBinding& mixture : form.mixtures) {
    KW_TRY(const DType dtype, kernel::dtype_of(argument.type, mixture));
    KW_TRY(const Spelling* spelling, spelling_of(dtype));
    types.insert(std::string(spelling->element));
  }
  if (types.size() != 1)
    return bad_input(fmt::format("the scalar {} has another type in another mixture of types", argument.of));
  return *types.begin();
}

Result<std::vector<std::string>> sizes_of(const std::vector<std::string>& shape) {
  std::vector<std::string> sizes;
  for (const std::string& size : shape) {
    KW_TRY(std::string text, cpp_size(size));
    sizes.push_back(std::move(text));
  }
  return sizes;
}

Result<std::string> condition_of(const Entry& entry, bool on_gpu) {
  std::vector<std::string> conditions;
  for (const std::string& guard : entry.guards) {
    KW_TRY(const std::string text, cpp_condition(guard));
    conditions.push_back(text.find(" || ") == std::string::npos ? text : "(" + text + ")");
  }
  for (const Argument& argument : entry.arguments) {
    if (argument.type != "i32") continue;
    if (argument.kind == Argument::Kind::Stride)
      conditions.push_back(
          fmt::format("kw_torch::fits_i32(kw_torch::stride({}, {}))", argument.of, argument.dimension));
    if (argument.kind == Argument::Kind::Size && !parse_integer(argument.of)) {
      KW_TRY(const std::string text, cpp_size(argument.of));
      conditions.push_back("kw_torch::fits_i32(" + text + ")");
    }
  }
  if (on_gpu && entry.launch.shared_bytes != "0") {
    KW_TRY(const std::string bytes, cpp_size(entry.launch.shared_bytes));
    conditions.push_back(bytes + " <= kw_gpu.shared_limit");
  }
  return conditions.empty() ? std::string("true") : join(conditions, " && ");
}

Result<std::vector<std::string>> arguments_of(const OpForm& form, const Entry& entry, bool on_gpu) {
  std::vector<std::string> arguments;
  for (const Argument& argument : entry.arguments) {
    const std::string whole = argument.type == "i32" ? "std::int32_t" : "std::int64_t";
    if (kernel::is_pointer(argument.kind)) {
      arguments.push_back(on_gpu ? argument.of + ".data" : "kw_torch::pointer(" + argument.of + ")");
    } else if (argument.kind == Argument::Kind::Stride) {
      arguments.push_back(fmt::format("{}(kw_torch::stride({}, {}))", whole, argument.of, argument.dimension));
    } else if (argument.kind == Argument::Kind::Size) {
      KW_TRY(const std::string text, cpp_size(argument.of));
      arguments.push_back(whole + "(" + text + ")");
    } else {
      KW_TRY(const std::string type, scalar_type(form, argument));
      arguments.push_back(fmt::format("static_cast<{}>({})", type, argument.of));
    }
  }
  return arguments;
}

std::vector<std::string> symbols_of(const kernel::Pass& pass) {
  std::vector<std::string> symbols;
  for (const kernel::Step& step : pass.steps)
    for (const Entry& entry : step.entries)
      if (std::find(symbols.begin(), symbols.end(), entry.symbol) == symbols.end()) symbols.push_back(entry.symbol);
  return symbols;
}

class Writer {
 public:
  explicit Writer(const OpForm& form) : form_(form) {}

  Result<std::string> write() {
    out_.line("// " + form_.name +
              " as PyTorch ops: how its kernels are called. One namespace holds the kernels of a pass");
    out_.line("// for one mixture of types.");
    out_.line("// Generated by " + std::string(kGenerator) + ". Change the profile, not this file.");
    for (const std::string& header : headers()) out_.line("#include " + header);
    out_.line("");
    out_.line("#include \"kw_torch/gpu.h\"");
    out_.line("#include \"kw_torch/op.h\"");
    for (const OpPass& pass : form_.passes)
      if (pass.code.contains(Target::Cpu)) KW_CHECK(cpu_kernels(pass));
    out_.line("");
    out_.line("namespace {");
    out_.line("");
    out_.line("using kw_torch::Dtype;");
    out_.line(fmt::format("constexpr int kMixtures = {};", form_.mixtures.size()));
    for (const OpPass& pass : form_.passes) {
      KW_CHECK(call_struct(pass));
      if (pass.code.contains(Target::Cpu)) KW_CHECK(run_on_cpu(pass));
      if (pass.code.contains(Target::Cuda)) KW_CHECK(run_on_gpu(pass));
      KW_CHECK(boxed(pass));
    }
    if (result_count() < form_.forward().outputs.size()) results_alone();
    registration();
    out_.line("");
    out_.line("}  // namespace");
    // A text in quotes stays on its line.
    std::string text;
    for (const std::string& line : out_.all()) {
      Lines one;
      one.line(line);
      text += line.find('"') == std::string::npos ? wrapped(one).text() : line + "\n";
    }
    return text;
  }

 private:
  // What the kernels include must be read before they are, since they stand in namespaces.
  std::vector<std::string> headers() const {
    std::set<std::string> system, own;
    for (const OpPass& pass : form_.passes) {
      const auto code = pass.code.find(Target::Cpu);
      if (code == pass.code.end()) continue;
      for (const std::string& line : split_lines(code->second.text)) {
        constexpr std::string_view kInclude = "#include ";
        if (!line.starts_with(kInclude)) continue;
        const std::string name = line.substr(kInclude.size());
        (name[0] == '<' ? system : own).insert(name);
      }
    }
    std::vector<std::string> all(system.begin(), system.end());
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }

  std::string space(const OpPass& pass, std::size_t mixture) const {
    return fmt::format("kw_{}_{}_{}", form_.name, pass.name, mixture);
  }

  Status cpu_kernels(const OpPass& pass) {
    const PassCode& code = pass.code.at(Target::Cpu);
    const std::vector<std::string> symbols = symbols_of(code.pass);
    for (std::size_t m = 0; m < form_.mixtures.size(); ++m) {
      KW_TRY(const auto macros, type_macros(form_.mixtures[m]));
      out_.line("");
      out_.line("namespace " + space(pass, m) + " {");
      for (const auto& [macro, type] : macros) out_.line("#define " + macro + " " + type);
      for (const std::string& symbol : symbols) out_.line(fmt::format("#define {0} {0}_m{1}", symbol, m));
      out_.line("#include \"" + code.file + "\"");
      out_.line("struct Kernels {");
      for (const std::string& symbol : symbols)
        out_.line(fmt::format("  static constexpr auto kw_{}_ = &{};", kernel_name(symbols, symbol), symbol));
      out_.line("};");
      for (const std::string& symbol : symbols) out_.line("#undef " + symbol);
      for (const auto& [macro, _] : macros) out_.line("#undef " + macro);
      out_.line("}  // namespace " + space(pass, m));
    }
    return {};
  }

  // A symbol is a macro where its kernel is compiled, so its pointer bears a number.
  static std::string kernel_name(const std::vector<std::string>& symbols, const std::string& symbol) {
    return "kernel_" + std::to_string(std::find(symbols.begin(), symbols.end(), symbol) - symbols.begin());
  }

  Status call_struct(const OpPass& pass) {
    out_.line("");
    out_.line("// A call of the " + pass.name + " pass.");
    out_.open("struct " + struct_name(pass) + " {");
    for (const Buffer& buffer : pass.inputs) out_.line("kw_torch::View " + buffer.name + ";");
    for (const Buffer& buffer : pass.outputs) out_.line("kw_torch::View " + buffer.name + ";");
    for (const std::string& size : sizes(pass)) out_.line("std::int64_t " + size + " = 0;");
    for (const kernel::Scalar& scalar : pass.scalars) out_.line(scalar_member(scalar) + " " + scalar.name + "{};");
    out_.line("kw_torch::Device kw_device;");
    out_.line("int kw_mixture = 0;");
    out_.close("};");
    return {};
  }

  static std::string scalar_member(const kernel::Scalar& scalar) {
    return scalar.type == "real" ? "double" : scalar.type == "int" ? "std::int64_t" : "bool";
  }

  // The sizes that a pass knows: those that its inputs show, and those that it is given.
  std::vector<std::string> sizes(const OpPass& pass) const {
    std::vector<std::string> known;
    for (const std::string& size : form_.sizes) {
      const bool shown = std::any_of(pass.inputs.begin(), pass.inputs.end(), [&](const Buffer& input) {
        return std::find(input.shape.begin(), input.shape.end(), size) != input.shape.end();
      });
      const bool given = std::find(pass.given_sizes.begin(), pass.given_sizes.end(), size) != pass.given_sizes.end();
      if (shown || given) known.push_back(size);
    }
    return known;
  }

  std::string members(const OpPass& pass) const {
    std::vector<std::string> names;
    for (const Buffer& buffer : pass.inputs) names.push_back(buffer.name);
    for (const Buffer& buffer : pass.outputs) names.push_back(buffer.name);
    for (const std::string& size : sizes(pass)) names.push_back(size);
    for (const kernel::Scalar& scalar : pass.scalars) names.push_back(scalar.name);
    names.emplace_back("kw_device");
    names.emplace_back("kw_mixture");
    return "[[maybe_unused]] const auto& [" + join(names, ", ") + "] = kw_call;";
  }

  Status workspace(const PassCode& code) {
    for (const Buffer& buffer : code.pass.buffers) {
      if (buffer.role != kernel::Role::Workspace) continue;
      KW_TRY(const std::string types, type_rows(form_, {buffer}));
      KW_TRY(const std::vector<std::string> shape, sizes_of(buffer.shape));
      std::string flat = replace_all(replace_all(types, "{", ""), "}", "");
      out_.line(fmt::format("static constexpr Dtype kw_type_of_{}[] = {{{}}};", buffer.name, flat));
      out_.line("kw_torch::View " + buffer.name + ";");
      out_.line(fmt::format(
          "const kw_torch::Tensor kw_{0} = kw_torch::empty({0}, kw_type_of_{0}[kw_mixture], kw_device, {{{1}}});",
          buffer.name, join(shape, ", ")));
    }
    return {};
  }

  static bool asks_for(const kernel::Pass& pass, const std::string& machine) {
    const auto in = [&](const std::string& text) { return text.find(machine) != std::string::npos; };
    for (const Buffer& buffer : pass.buffers)
      if (std::any_of(buffer.shape.begin(), buffer.shape.end(), in)) return true;
    for (const kernel::Step& step : pass.steps)
      for (const Entry& entry : step.entries) {
        if (std::any_of(entry.guards.begin(), entry.guards.end(), in)) return true;
        for (const Argument& argument : entry.arguments)
          if (argument.kind == Argument::Kind::Size && in(argument.of)) return true;
        for (const auto& part : {entry.launch.grid, entry.launch.block})
          if (std::any_of(part.begin(), part.end(), in)) return true;
        if (in(entry.launch.shared_bytes)) return true;
      }
    return false;
  }

  // The entries of a step in their order: the first whose guards hold is called.
  template <class Call>
  Status steps(const PassCode& code, bool on_gpu, const Call& call) {
    for (const kernel::Step& step : code.pass.steps) {
      if (step.kind == kernel::Step::Kind::Fill) {
        out_.line(
            on_gpu ? "kw_torch::clear_on_gpu(" + step.buffer + ", kw_stream);"
                   : fmt::format("std::memset({0}.data, 0, std::size_t(kw_torch::numel({0}) * kw_torch::bytes({0})));",
                                 step.buffer));
        continue;
      }
      bool always = false;
      for (std::size_t i = 0; i < step.entries.size() && !always; ++i) {
        const Entry& entry = step.entries[i];
        KW_TRY(const std::string condition, condition_of(entry, on_gpu));
        always = condition == "true";
        const std::string test = always ? "" : "if (" + condition + ") ";
        out_.line((i == 0 ? "" : "} else ") + test + "{");
        out_.line("  // " + entry.symbol);
        Lines body;
        KW_CHECK(call(entry, body));
        for (const std::string& line : body.all()) out_.line("  " + line);
      }
      if (!always) {
        out_.line("} else {");
        out_.line(
            fmt::format("  kw_torch::unsupported(\"no kernel of {} serves this call\");", step.entries[0].symbol));
      }
      out_.line("}");
    }
    return {};
  }

  Status run_on_cpu(const OpPass& pass) {
    const PassCode& code = pass.code.at(Target::Cpu);
    const std::vector<std::string> symbols = symbols_of(code.pass);
    out_.line("");
    out_.line("template <class Kernels>");
    out_.open("void run_on_cpu(const " + struct_name(pass) + "& kw_call) {");
    out_.line(members(pass));
    if (asks_for(code.pass, "threads")) out_.line("const std::int64_t kw_threads = kw_torch::threads();");
    KW_CHECK(workspace(code));
    KW_CHECK(steps(code, false, [&](const Entry& entry, Lines& body) -> Status {
      KW_TRY(const std::vector<std::string> arguments, arguments_of(form_, entry, false));
      body.line(fmt::format("Kernels::kw_{}_({});", kernel_name(symbols, entry.symbol), join(arguments, ", ")));
      return {};
    }));
    out_.close();
    return {};
  }

  Status run_on_gpu(const OpPass& pass) {
    const PassCode& code = pass.code.at(Target::Cuda);
    const std::vector<std::string> symbols = symbols_of(code.pass);
    const std::string file = "kw_" + pass.name + "_file", count = std::to_string(symbols.size());
    std::vector<std::string> quoted;
    for (const std::string& symbol : symbols) quoted.push_back("\"" + symbol + "\"");
    out_.line("");
    out_.line("#if KW_IMAGES");
    out_.line("}  // namespace");
    out_.line(fmt::format("extern const kw_torch::Image {}[kMixtures][KW_IMAGES];", images_name(form_, pass)));
    out_.line("namespace {");
    out_.line(fmt::format("constexpr const char* kw_{}_symbols[] = {{{}}};", pass.name, join(quoted, ", ")));
    out_.line(fmt::format("kw_torch::KernelFile<{}, kMixtures, KW_IMAGES> {}(kw_{}_symbols, {});", count, file,
                          pass.name, images_name(form_, pass)));
    out_.line("");
    out_.open("void run_on_gpu(const " + struct_name(pass) + "& kw_call) {");
    out_.line(members(pass));
    out_.line("const kw_torch::Gpu& kw_gpu = kw_torch::Gpu::at(kw_device.index);");
    if (asks_for(code.pass, "multiprocessors"))
      out_.line("const std::int64_t kw_multiprocessors = kw_gpu.multiprocessors;");
    KW_CHECK(workspace(code));
    out_.line("const kw_torch::OnDevice kw_on_device(kw_gpu);");
    out_.line("const kw_torch::CUstream kw_stream = kw_torch::current_stream(kw_device.index);");
    KW_CHECK(steps(code, true, [&](const Entry& entry, Lines& body) -> Status {
      KW_TRY(std::vector<std::string> arguments, arguments_of(form_, entry, true));
      KW_TRY(const std::vector<std::string> grid, sizes_of({entry.launch.grid.begin(), entry.launch.grid.end()}));
      KW_TRY(const std::vector<std::string> block, sizes_of({entry.launch.block.begin(), entry.launch.block.end()}));
      KW_TRY(const std::string shared, cpp_size(entry.launch.shared_bytes));
      body.line(fmt::format("const kw_torch::Launch kw_launch{{{{{}}}, {{{}}}, {}}};", join(grid, ", "),
                            join(block, ", "), shared));
      const auto index = std::find(symbols.begin(), symbols.end(), entry.symbol) - symbols.begin();
      arguments.insert(
          arguments.begin(),
          {fmt::format("{}.function(kw_gpu, kw_device.index, kw_mixture, {})", file, index), "kw_launch", "kw_stream"});
      body.line(fmt::format("kw_torch::launch({});", join(arguments, ", ")));
      return {};
    }));
    out_.close();
    out_.line("#endif");
    return {};
  }

  // Rank and sizes of the inputs: a size is read where a dimension is just that size, and every other dimension is
  // checked.
  Status read_sizes(const OpPass& pass) {
    for (const Buffer& input : pass.inputs)
      out_.line(fmt::format("kw_torch::need_rank(kw_op, \"{0}\", kw_call.{0}, {1});", input.name, input.shape.size()));
    std::vector<std::string> known;
    Lines checks;
    std::size_t slot = pass.inputs.size() + pass.scalars.size();
    for (const std::string& size : pass.given_sizes) {
      out_.line(fmt::format("const std::int64_t {0} = kw_call.{0} = kw_torch::whole(stack[{1}]);", size, slot++));
      known.push_back(size);
    }
    for (const Buffer& input : pass.inputs) {
      for (std::size_t d = 0; d < input.shape.size(); ++d) {
        const std::string& size = input.shape[d];
        if (is_symbol(size) && std::find(known.begin(), known.end(), size) == known.end()) {
          out_.line(fmt::format("const std::int64_t {0} = kw_call.{0} = kw_call.{1}.sizes[{2}];", size, input.name, d));
          known.push_back(size);
          continue;
        }
        KW_TRY(const std::string expected, cpp_size(size));
        checks.line(
            fmt::format("kw_torch::need_size(kw_op, \"{0}\", kw_call.{0}, {1}, {2});", input.name, d, expected));
      }
    }
    out_.append(checks);
    for (const std::string& constraint : form_.constraints) {
      KW_TRY(const kernel::Expression expression,
             kernel::Expression::parse(constraint, kernel::Expression::Kind::Condition));
      const std::vector<std::string> names = expression.size_names();
      if (!std::all_of(names.begin(), names.end(), [&](const std::string& name) {
            return std::find(known.begin(), known.end(), name) != known.end();
          }))
        continue;
      KW_TRY(const std::string text, cpp_condition(constraint));
      out_.line(fmt::format("kw_torch::need(kw_op, {}, \"{}\");", text, constraint));
    }
    return {};
  }

  bool is_symbol(const std::string& size) const {
    return std::find(form_.sizes.begin(), form_.sizes.end(), size) != form_.sizes.end();
  }

  Status boxed(const OpPass& pass) {
    out_.line("");
    out_.open("void " + pass.name + "(StableIValue* stack, std::uint64_t, std::uint64_t) {");
    out_.line(fmt::format("static const std::string kw_op = \"kw::{}, {}: \";", form_.name, pass.name));
    out_.line(struct_name(pass) + " kw_call;");
    std::size_t slot = 0;
    std::vector<std::string> handles;
    for (const Buffer& input : pass.inputs) {
      out_.line(fmt::format("const kw_torch::Tensor kw_{0} = kw_torch::Tensor::take(stack[{1}]);", input.name, slot++));
      handles.push_back("&kw_" + input.name);
    }
    for (const Buffer& input : pass.inputs) out_.line(fmt::format("kw_call.{0} = kw_{0}.view();", input.name));
    for (const kernel::Scalar& scalar : pass.scalars) {
      const std::string read = scalar.type == "real" ? "real" : scalar.type == "int" ? "whole" : "truth";
      out_.line(fmt::format("[[maybe_unused]] const auto {0} = kw_call.{0} = kw_torch::{1}(stack[{2}]);", scalar.name,
                            read, slot++));
    }
    out_.line("kw_call.kw_device = kw_torch::device_of({" + join(handles, ", ") + "});");
    KW_TRY(const std::string types, type_rows(form_, pass.inputs));
    out_.line(fmt::format("static constexpr Dtype kw_types[kMixtures][{}] = {{{}}};", pass.inputs.size(), types));
    std::vector<std::string> views;
    for (const Buffer& input : pass.inputs) views.push_back("&kw_call." + input.name);
    out_.line(fmt::format("kw_call.kw_mixture = kw_torch::mixture_of(kw_op, kw_types, {{{}}});", join(views, ", ")));
    KW_CHECK(read_sizes(pass));
    KW_TRY(const std::string output_types, type_rows(form_, pass.outputs));
    out_.line(
        fmt::format("static constexpr Dtype kw_results[kMixtures][{}] = {{{}}};", pass.outputs.size(), output_types));
    for (std::size_t i = 0; i < pass.outputs.size(); ++i) {
      const Buffer& output = pass.outputs[i];
      KW_TRY(const std::vector<std::string> shape, sizes_of(output.shape));
      std::vector<std::string> like;
      for (const std::string& operand : output.strides_like) like.push_back("&kw_call." + operand);
      out_.line(
          fmt::format("kw_torch::Tensor kw_{0} = kw_torch::empty(kw_call.{0}, kw_results[kw_call.kw_mixture][{1}], "
                      "kw_call.kw_device, {{{2}}}{3});",
                      output.name, i, join(shape, ", "), like.empty() ? "" : ", {" + join(like, ", ") + "}"));
    }
    if (pass.code.contains(Target::Cuda)) {
      out_.line("#if KW_IMAGES");
      out_.line("if (kw_call.kw_device.type == kw_torch::cuda()) {");
      out_.line("  run_on_gpu(kw_call);");
      out_.line("} else");
      out_.line("#endif");
    }
    if (pass.code.contains(Target::Cpu)) {
      out_.open("switch (kw_call.kw_mixture) {");
      for (std::size_t m = 0; m < form_.mixtures.size(); ++m) {
        out_.line(fmt::format("case {}:", m));
        out_.line(fmt::format("  run_on_cpu<{}::Kernels>(kw_call);", space(pass, m)));
        out_.line("  break;");
      }
      out_.close();
    } else {
      out_.line("kw_torch::unsupported(kw_op + \"a tensor that is on no GPU\");");
    }
    for (std::size_t i = 0; i < pass.outputs.size(); ++i)
      out_.line(fmt::format("stack[{}] = kw_{}.release();", i, pass.outputs[i].name));
    out_.close();
    return {};
  }

  // What nobody keeps is freed before Python sees it.
  void results_alone() {
    const OpPass& forward = form_.forward();
    const std::size_t inputs = forward.inputs.size() + forward.scalars.size(), outputs = forward.outputs.size();
    out_.line("");
    out_.line("// The results of the forward pass, without what is saved for the backward.");
    out_.open("void results(StableIValue* stack, std::uint64_t inputs, std::uint64_t outputs) {");
    out_.line(fmt::format("StableIValue all[{}] = {{}};", std::max(inputs, outputs)));
    out_.line(fmt::format("for (int i = 0; i < {}; ++i) all[i] = stack[i];", inputs));
    out_.line("forward(all, inputs, outputs);");
    for (std::size_t i = 0; i < outputs; ++i)
      out_.line(i < result_count() ? fmt::format("stack[{0}] = all[{0}];", i)
                                   : fmt::format("kw_torch::Tensor::take(all[{}]);", i));
    out_.close();
  }

  std::size_t result_count() const {
    const auto& outputs = form_.forward().outputs;
    return static_cast<std::size_t>(std::count_if(
        outputs.begin(), outputs.end(), [](const Buffer& output) { return output.role == kernel::Role::Output; }));
  }

  // Every pass is two ops: the public one, which carries the autograd formula, and the inner one, which costs less.
  void registration() {
    out_.line("");
    out_.open("const bool kw_registered = [] {");
    out_.line("kw_torch::Library ops;");
    std::vector<std::pair<std::string, std::string>> names;
    for (const OpPass& pass : form_.passes) {
      const std::string outer = pass.name == "forward" ? form_.name : form_.name + "_" + pass.name;
      for (const std::string& name : {outer, "_" + form_.name + "_" + pass.name}) {
        out_.line("ops.define(\"" + schema(pass, name) + "\");");
        names.emplace_back(name, pass.name);
      }
    }
    if (result_count() < form_.forward().outputs.size()) {
      OpPass alone = form_.forward();
      alone.outputs.resize(result_count());
      const std::string name = "_" + form_.name + "_results";
      out_.line("ops.define(\"" + schema(alone, name) + "\");");
      names.emplace_back(name, "results");
    }
    const auto implement = [&](const std::string& library, const std::string& key) {
      out_.line(fmt::format("kw_torch::Library {}(\"{}\");", library, key));
      for (const auto& [name, function] : names)
        out_.line(fmt::format("{}.implement(\"{}\", {});", library, name, function));
    };
    if (form_.forward().code.contains(Target::Cpu)) implement("cpu", "CPU");
    if (form_.forward().code.contains(Target::Cuda)) {
      out_.line("#if KW_IMAGES");
      implement("cuda", "CUDA");
      out_.line("#endif");
    }
    out_.line("return true;");
    out_.close("}();");
  }

  const OpForm& form_;
  Lines out_;
};

}  // namespace

std::string images_name(const OpForm& form, const OpPass& pass) { return "kw_images_" + form.name + "_" + pass.name; }

Result<std::map<std::string, std::string>> type_macros(const kernel::TypeBinding& mixture) {
  std::map<std::string, std::string> macros;
  for (const auto& [parameter, dtype] : mixture) {
    KW_TRY(const Spelling* spelling, spelling_of(dtype));
    macros["KW_" + parameter] = spelling->element;
  }
  return macros;
}

Result<std::string> op_cpp(const OpForm& form) { return Writer(form).write(); }

}  // namespace kw::act
