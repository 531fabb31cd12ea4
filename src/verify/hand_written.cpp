#include "verify/hand_written.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "verify/subject.h"

namespace kw::verify {
namespace {

using kernel::Argument;
using kernel::Buffer;
using kernel::Role;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string name_in_folder(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string stem_of(const std::string& path) {
  const std::string name = name_in_folder(path);
  return name.substr(0, name.rfind('.'));
}

std::string type_text(ir::Type type, const ir::Graph& graph) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < graph.type_parameters.size(); ++i)
    if ((type.params() & (1u << i)) != 0) parts.push_back(graph.type_parameters[i].name);
  if (type.floor() != ir::DType::None) parts.emplace_back(ir::info(type.floor()).name);
  return join(parts, "|");
}

std::vector<std::string> shape_text(const std::vector<ir::AxisId>& dims, const ir::Graph& graph) {
  std::vector<std::string> shape;
  for (const ir::AxisId dim : dims) shape.push_back(dim == ir::kUnit ? "1" : graph.size_text(graph.axis(dim).size));
  return shape;
}

Buffer input_buffer(const ir::Input& input, const ir::Graph& graph) {
  Buffer buffer;
  buffer.name = identifier(input.name);
  buffer.type = type_text(input.type, graph);
  buffer.shape = shape_text(input.dims, graph);
  return buffer;
}

Buffer output_buffer(const ir::Output& output, const ir::Graph& graph) {
  Buffer buffer;
  buffer.name = identifier(output.name);
  buffer.role = Role::Output;
  buffer.type = type_text(graph[output.node].type, graph);
  buffer.shape = shape_text(output.dims, graph);
  return buffer;
}

// One kernel that takes every buffer, then the sizes, then the scalars.
kernel::Step call_of(const std::string& symbol, const std::string& file, const std::vector<Buffer>& buffers,
                     const kernel::Manifest& manifest) {
  kernel::Entry entry;
  entry.symbol = symbol;
  entry.file = file;
  const auto argument = [&](Argument::Kind kind, const std::string& of, const std::string& type) {
    Argument one;
    one.kind = kind;
    one.of = of;
    one.type = type;
    entry.arguments.push_back(std::move(one));
  };
  for (const Buffer& buffer : buffers)
    argument(buffer.role == Role::Input ? Argument::Kind::Read : Argument::Kind::Write, buffer.name, "");
  for (const std::string& size : manifest.sizes) argument(Argument::Kind::Size, size, "i64");
  for (const kernel::Scalar& scalar : manifest.scalars)
    argument(Argument::Kind::Scalar, scalar.name,
             scalar.type == "real"  ? "f64"
             : scalar.type == "int" ? "i64"
                                    : "bool");
  for (const Buffer& buffer : buffers)
    if (buffer.role == Role::Input) entry.guards.push_back("dense(" + buffer.name + ")");
  kernel::Step step;
  step.entries.push_back(std::move(entry));
  return step;
}

bool mentions(std::string_view source, const std::string& word) { return source.find(word) != std::string_view::npos; }

}  // namespace

std::optional<std::string_view> manifest_in_comment(std::string_view source) {
  constexpr std::string_view kOpen = "/* kw manifest", kClose = "*/";
  const std::size_t open = source.find(kOpen);
  if (open == std::string_view::npos) return std::nullopt;
  const std::size_t begin = open + kOpen.size(), end = source.find(kClose, begin);
  return source.substr(begin, (end == std::string_view::npos ? source.size() : end) - begin);
}

kernel::Manifest conventional_manifest(const std::string& file, std::string_view source, const ir::Graph& forward,
                                       const std::optional<ir::Graph>& joint) {
  kernel::Manifest manifest;
  manifest.name = identifier(stem_of(file));
  manifest.generator = "a person";
  for (const ir::Symbol& symbol : forward.symbols) manifest.sizes.push_back(symbol.name);
  for (const ir::TypeParameter& parameter : forward.type_parameters) {
    // A file that does not ask for the type is written for the user's own.
    if (mentions(source, "KW_" + parameter.name))
      manifest.types[parameter.name] = {"bf16", "f16", "f32", "f64"};
    else
      manifest.types[parameter.name] = {std::string(ir::info(parameter.default_dtype).name)};
  }
  kernel::Pass pass;
  pass.name = "forward";
  for (const ir::Input& input : forward.inputs) {
    if (input.kind != ir::InputKind::Scalar) {
      pass.buffers.push_back(input_buffer(input, forward));
      continue;
    }
    const std::string type = input.type.boolean() ? "bool" : input.type.floating() ? "real" : "int";
    std::string value = input.default_value ? number_text(input.default_value->number()) : "";
    if (type == "bool" && !value.empty()) value = value == "0" ? "false" : "true";
    manifest.scalars.push_back({identifier(input.name), type, value});
  }
  const std::size_t inputs = pass.buffers.size();
  for (const ir::Output& output : forward.outputs) pass.buffers.push_back(output_buffer(output, forward));
  pass.steps.push_back(call_of(manifest.name + "_forward", name_in_folder(file), pass.buffers, manifest));
  const std::string backward = manifest.name + "_backward";
  if (joint && mentions(source, backward)) {
    kernel::Pass second;
    second.name = "backward";
    second.buffers.assign(pass.buffers.begin(), pass.buffers.begin() + static_cast<std::ptrdiff_t>(inputs));
    for (const ir::Input& input : joint->inputs) {
      if (forward.find_input(input.name) != nullptr) continue;
      Buffer cotangent = input_buffer(input, *joint);
      cotangent.gradient_of = identifier(input.name.substr(2));
      second.buffers.push_back(std::move(cotangent));
    }
    for (std::size_t i = forward.outputs.size(); i < joint->outputs.size(); ++i) {
      Buffer gradient = output_buffer(joint->outputs[i], *joint);
      gradient.gradient_of = identifier(joint->outputs[i].name.substr(5));
      second.buffers.push_back(std::move(gradient));
    }
    second.steps.push_back(call_of(backward, name_in_folder(file), second.buffers, manifest));
    manifest.passes = {std::move(pass), std::move(second)};
  } else {
    manifest.passes = {std::move(pass)};
  }
  return manifest;
}

Result<HandWritten> read_hand_written(const std::string& kernel_file, const std::optional<std::string>& manifest_file,
                                      const ir::Graph& forward, const std::optional<ir::Graph>& joint) {
  HandWritten out;
  KW_TRY(const std::string source, read_text(kernel_file));
  const std::string file = name_in_folder(kernel_file), folder = folder_of(kernel_file);
  out.files[file] = source;
  const std::string beside = folder + "/" + stem_of(kernel_file) + ".manifest.json";
  if (manifest_file || (!manifest_in_comment(source) && file_exists(beside))) {
    const std::string path = manifest_file.value_or(beside);
    KW_TRY(const std::string text, read_text(path));
    KW_TRY(out.manifest, kernel::manifest_from_json(text, path));
    out.manifest_from = path;
  } else if (const auto comment = manifest_in_comment(source)) {
    // The lines before it are kept empty, so that errors name the kernel's own lines.
    const auto at = static_cast<std::size_t>(comment->data() - source.data());
    const auto lines = std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    KW_TRY(out.manifest, kernel::manifest_from_json(
                             std::string(static_cast<std::size_t>(lines), '\n') + std::string(*comment), kernel_file));
    out.manifest_from = "a comment of " + file;
  } else {
    out.manifest = conventional_manifest(file, source, forward, joint);
    const std::string named = out.manifest.name + "_";
    if (!mentions(source, named + "forward") && !mentions(source, named + "backward"))
      return bad_input(
          fmt::format("{} has no function {}forward: without a manifest, functions are named after the file", file,
                      named),
          Place{kernel_file, 1, 1, 0}, "docs/contract.md says what a kernel by hand must offer");
    KW_CHECK(kernel::check(out.manifest));
    out.manifest_from = "the signature";
  }
  for (const std::string& other : out.manifest.files()) {
    if (out.files.contains(other)) continue;
    KW_TRY(out.files[other], read_text(folder + "/" + other));
  }
  return out;
}

}  // namespace kw::verify
