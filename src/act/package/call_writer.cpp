#include "act/package/call_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "act/package/call_text.h"
#include "act/package/expression_text.h"
#include "act/package/kernel_tables.h"
#include "base/text.h"
#include "kernel/expression.h"

namespace kw::act {

using kernel::Argument;
using kernel::Entry;
using kernel::Target;

std::string CallWriter::struct_name(const OpPass& pass) {
  std::string name = pass.name;
  name[0] = static_cast<char>(std::toupper(name[0]));
  return name;
}

Status CallWriter::call_struct(const OpPass& pass) {
  out_.line("");
  out_.line("// A call of the " + pass.name + " pass.");
  out_.open("struct " + struct_name(pass) + " {");
  for (const kernel::Buffer& buffer : pass.inputs) out_.line("kw_host::View " + buffer.name + ";");
  for (const kernel::Buffer& buffer : pass.outputs) out_.line("kw_host::View " + buffer.name + ";");
  for (const std::string& size : sizes(pass)) out_.line("std::int64_t " + size + " = 0;");
  for (const kernel::Scalar& scalar : pass.scalars) out_.line(scalar_member(scalar) + " " + scalar.name + "{};");
  out_.line(place_.type + " " + place_.name + "{};");
  out_.line("int kw_mixture = 0;");
  out_.close("};");
  return {};
}

std::string CallWriter::scalar_member(const kernel::Scalar& scalar) {
  return scalar.type == "real" ? "double" : scalar.type == "int" ? "std::int64_t" : "bool";
}

// The sizes that a pass knows: those that its inputs show, and those that it is given.
std::vector<std::string> CallWriter::sizes(const OpPass& pass) const {
  std::vector<std::string> known;
  for (const std::string& size : form_.sizes) {
    const bool shown = std::any_of(pass.inputs.begin(), pass.inputs.end(), [&](const kernel::Buffer& input) {
      return std::find(input.shape.begin(), input.shape.end(), size) != input.shape.end();
    });
    const bool given = std::find(pass.given_sizes.begin(), pass.given_sizes.end(), size) != pass.given_sizes.end();
    if (shown || given) known.push_back(size);
  }
  return known;
}

std::string CallWriter::members(const OpPass& pass) const {
  std::vector<std::string> names;
  for (const kernel::Buffer& buffer : pass.inputs) names.push_back(buffer.name);
  for (const kernel::Buffer& buffer : pass.outputs) names.push_back(buffer.name);
  for (const std::string& size : sizes(pass)) names.push_back(size);
  for (const kernel::Scalar& scalar : pass.scalars) names.push_back(scalar.name);
  names.push_back(place_.name);
  names.emplace_back("kw_mixture");
  return "[[maybe_unused]] const auto& [" + join(names, ", ") + "] = kw_call;";
}

// One allocation for all, since each costs the host.
Status CallWriter::workspace(const PassCode& code, bool on_gpu) {
  std::vector<std::string> tensors;
  Lines views;
  for (const kernel::Buffer& buffer : code.pass.buffers) {
    if (buffer.role != kernel::Role::Workspace) continue;
    KW_TRY(const std::string types, type_rows(form_, {buffer}));
    KW_TRY(const std::vector<std::string> shape, sizes_of(buffer.shape));
    std::string flat = replace_all(replace_all(types, "{", ""), "}", "");
    out_.line(fmt::format("static constexpr Dtype kw_type_of_{}[] = {{{}}};", buffer.name, flat));
    out_.line(fmt::format("kw_host::Tensor kw_memory_of_{0}(nullptr, kw_type_of_{0}[kw_mixture], {{{1}}});",
                          buffer.name, join(shape, ", ")));
    tensors.push_back("&kw_memory_of_" + buffer.name);
    views.line(fmt::format("const kw_host::View {0} = kw_memory_of_{0}.view();", buffer.name));
  }
  if (tensors.empty()) return {};
  out_.line(allocation(join(tensors, ", "), on_gpu));
  out_.append(views);
  return {};
}

// The entries of a step in their order: the first whose guards hold is called.
Status CallWriter::steps(const PassCode& code, bool on_gpu, const Call& call) {
  for (std::size_t s = 0; s < code.pass.steps.size(); ++s) {
    const kernel::Step& step = code.pass.steps[s];
    if (step.kind == kernel::Step::Kind::Fill) {
      out_.line(on_gpu
                    ? clear_on_gpu(step.buffer)
                    : fmt::format("std::memset({0}.data, 0, std::size_t(kw_host::numel({0}) * kw_host::bytes({0})));",
                                  step.buffer));
      continue;
    }
    const bool counts = asks_for(code.pass, fmt::format("blocks({})", s));
    if (counts) out_.line(fmt::format("std::int64_t kw_blocks_{} = 0;", s));
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
      if (counts) body.line(fmt::format("kw_blocks_{} = kw_launch.grid[0];", s));
      for (const std::string& line : body.all()) out_.line("  " + line);
    }
    if (!always) {
      out_.line("} else {");
      out_.line(fmt::format("  kw_host::unsupported(\"no kernel of {} serves this call\");", step.entries[0].symbol));
    }
    out_.line("}");
  }
  return {};
}

Status CallWriter::run_on_cpu(const OpPass& pass) {
  const PassCode& code = pass.code.at(Target::Cpu);
  out_.line("");
  out_.open("void run_on_cpu(const " + struct_name(pass) + "& kw_call) {");
  out_.line(members(pass));
  if (asks_for(code.pass, "threads")) out_.line("const std::int64_t kw_threads = " + place_.threads + ";");
  KW_CHECK(workspace(code, false));
  KW_CHECK(steps(code, false, [&](const Entry& entry, Lines& body) -> Status {
    KW_TRY(const std::vector<std::string> arguments, arguments_of(form_, entry));
    body.line(fmt::format("{}[kw_mixture]({});",
                          kernel_table_name(form_, pass, Target::Cpu, symbol_index(code.pass, entry.symbol)),
                          join(arguments, ", ")));
    return {};
  }));
  out_.close();
  return {};
}

Status CallWriter::read_sizes(const OpPass& pass, const std::function<std::string(const std::string&)>& given) {
  for (const kernel::Buffer& input : pass.inputs)
    out_.line(fmt::format("kw_host::need_rank(kw_op, \"{0}\", kw_call.{0}, {1});", input.name, input.shape.size()));
  std::vector<std::string> known;
  Lines checks;
  for (const std::string& size : pass.given_sizes) {
    out_.line(fmt::format("const std::int64_t {0} = kw_call.{0} = {1};", size, given(size)));
    known.push_back(size);
  }
  for (const kernel::Buffer& input : pass.inputs) {
    for (std::size_t d = 0; d < input.shape.size(); ++d) {
      const std::string& size = input.shape[d];
      if (is_symbol(size) && std::find(known.begin(), known.end(), size) == known.end()) {
        out_.line(fmt::format("const std::int64_t {0} = kw_call.{0} = kw_call.{1}.sizes[{2}];", size, input.name, d));
        known.push_back(size);
        continue;
      }
      KW_TRY(const std::string expected, cpp_size(size));
      checks.line(fmt::format("kw_host::need_size(kw_op, \"{0}\", kw_call.{0}, {1}, {2});", input.name, d, expected));
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
    out_.line(fmt::format("kw_host::need(kw_op, {}, \"{}\");", text, constraint));
  }
  return {};
}

bool CallWriter::is_symbol(const std::string& size) const {
  return std::find(form_.sizes.begin(), form_.sizes.end(), size) != form_.sizes.end();
}

Status CallWriter::launches(const PassCode& code, const std::string& space,
                            const std::function<std::string(std::size_t)>& kernel) {
  return steps(code, true, [&](const Entry& entry, Lines& body) -> Status {
    KW_TRY(std::vector<std::string> arguments, arguments_of(form_, entry));
    KW_TRY(const std::vector<std::string> grid, sizes_of({entry.launch.grid.begin(), entry.launch.grid.end()}));
    KW_TRY(const std::vector<std::string> block, sizes_of({entry.launch.block.begin(), entry.launch.block.end()}));
    KW_TRY(const std::string shared, cpp_size(entry.launch.shared_bytes));
    body.line(fmt::format("const {}::Launch kw_launch{{{{{}}}, {{{}}}, {}}};", space, join(grid, ", "),
                          join(block, ", "), shared));
    arguments.insert(arguments.begin(), {kernel(symbol_index(code.pass, entry.symbol)), "kw_launch", "kw_stream"});
    body.line(fmt::format("{}::launch({});", space, join(arguments, ", ")));
    return {};
  });
}

Status CallWriter::tables(const OpPass& pass, Target target) {
  for (std::size_t i = 0; i < symbols_of(pass.code.at(target).pass).size(); ++i) {
    KW_TRY(const std::string declared, kernel_table(form_, pass, target, i));
    out_.line("extern " + declared + ";");
  }
  return {};
}

}  // namespace kw::act
