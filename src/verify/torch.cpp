#include "verify/torch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/embedded.h"
#include "base/file.h"
#include "base/python.h"
#include "base/text.h"
#include "kernel/layout.h"

namespace kw::verify {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPatience{60'000};
constexpr std::chrono::milliseconds kCompilePatience{300'000};  // torch.compile may build a library first
constexpr double kTorchSeconds = 0.4;                           // that each pass is timed for
constexpr double kGradientShare = 1e-4;                         // of the largest gradient

json number(double value) { return std::isfinite(value) ? json(value) : json(number_text(value)); }

double number(const json& value) {
  if (value.is_string()) return parse_number(value.get<std::string>()).value_or(NAN);
  return value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>();
}

json document(const ir::Array& array, ir::DType dtype) {
  json values = json::array();
  for (const double value : array.values) values.push_back(number(value));
  return {{"shape", array.shape}, {"dtype", ir::info(dtype).torch_name}, {"values", std::move(values)}};
}

std::string_view name_of(ir::InputKind kind) {
  constexpr std::string_view kNames[] = {"tensor", "parameter", "buffer", "scalar"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<std::int64_t> shape_at(const ir::Graph& graph, const ir::Input& input, const kernel::Sizes& sizes) {
  std::vector<std::int64_t> shape;
  for (const ir::AxisId dim : input.dims) {
    const auto size_of = [&](ir::SymbolId id) {
      const auto found = sizes.find(graph.symbols[static_cast<std::size_t>(id)].name);
      return found == sizes.end() ? std::nullopt : std::optional(found->second);
    };
    shape.push_back(dim == ir::kUnit ? 1 : graph.axis(dim).size.evaluate(size_of).value_or(1));
  }
  return shape;
}

// Where an input stands among those of the op: layouts that mix tell them apart by it.
std::size_t position_of(const Subject& subject, const std::string& name) {
  std::size_t position = 0;
  for (const ir::Input& input : subject.forward.inputs) {
    if (input.name == name) break;
    position += input.kind != ir::InputKind::Scalar;
  }
  return position;
}

// Strides that leave neither gaps nor overlaps; otherwise the tensor is a view of another.
bool is_packed(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
  kernel::Tensor tensor;
  tensor.shape = shape;
  tensor.strides = strides;
  return kernel::is_packed(tensor);
}

// Without values where the call is only timed.
json request_for(const Subject& subject, const TorchSource& source, const kernel::TypeBinding& types,
                 const ir::Environment& values, Layout layout, bool timed = false) {
  const ir::Graph graph = ir::bind_types(subject.math(), types);
  json request = {{"file", source.file},   {"entry", source.entry},   {"init", source.init},     {"eval", source.eval},
                  {"sizes", values.sizes}, {"inputs", json::array()}, {"outputs", json::array()}};
  for (const ir::Input& input : graph.inputs) {
    if (subject.forward.find_input(input.name) == nullptr) continue;  // a cotangent
    json given = {{"shape", json::array()}, {"dtype", ""}, {"values", json::array()}};
    if (const auto found = values.inputs.find(input.name); found != values.inputs.end())
      given = document(found->second, input.type.floor());
    if (layout != Layout::Dense)
      given["strides"] = strides_in(layout, shape_at(graph, input, values.sizes), position_of(subject, input.name));
    if (timed && input.kind != ir::InputKind::Scalar)
      given = {{"shape", shape_at(graph, input, values.sizes)},
               {"dtype", ir::info(input.type.floor()).torch_name},
               {"values", nullptr}};
    given["name"] = input.name;
    given["kind"] = name_of(input.kind);
    given["gradient"] = std::any_of(graph.outputs.begin(), graph.outputs.end(),
                                    [&](const ir::Output& output) { return output.name == "grad_" + input.name; });
    request["inputs"].push_back(std::move(given));
  }
  for (const ir::Output& output : subject.forward.outputs) {
    json wanted = {{"name", output.name}, {"cotangent", nullptr}, {"updates", nullptr}};
    if (output.updates) wanted["updates"] = *output.updates;
    const ir::Input* cotangent = graph.find_input("d_" + output.name);
    const auto found = values.inputs.find("d_" + output.name);
    if (cotangent != nullptr && found != values.inputs.end())
      wanted["cotangent"] = document(found->second, cotangent->type.floor());
    request["outputs"].push_back(std::move(wanted));
  }
  return request;
}

TorchAnswer::Tensor tensor_from(const json& object) {
  TorchAnswer::Tensor tensor;
  tensor.dtype = object.at("dtype").get<std::string>();
  tensor.shape = object.at("shape").get<std::vector<std::int64_t>>();
  tensor.strides = object.at("strides").get<std::vector<std::int64_t>>();
  for (const json& value : object.at("values")) tensor.values.push_back(number(value));
  return tensor;
}

bool has_torch(const std::string& python) {
  Command command;
  command.argv = {python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"};
  command.timeout = std::chrono::seconds(20);
  const auto finished = run(command);
  return finished && finished->ok();
}

}  // namespace

std::optional<std::string> find_python_with_torch() {
  for (const std::string& python : pythons_here())
    if (has_torch(python)) return python;
  return std::nullopt;
}

Result<TorchProcess> TorchProcess::start(const std::string& python) {
  Command command;
  command.argv = {python, "-c", std::string(embedded::file("python/kernelwright/run_source.py"))};
  command.environment = {{"OMP_NUM_THREADS", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}};
  KW_TRY(Child child, Child::start(command));
  return TorchProcess(std::move(child));
}

Result<std::string> TorchProcess::ask(const std::string& request, std::chrono::milliseconds patience) {
  KW_CHECK(child_.write_line(request));
  return child_.read_line(patience);
}

Result<TorchTimes> TorchProcess::time(const Subject& subject, const TorchSource& source,
                                      const kernel::TypeBinding& types, const kernel::Sizes& sizes,
                                      kernel::Target target, int threads, bool compile) {
  ir::Environment call;
  call.sizes = sizes;
  json request = request_for(subject, source, types, call, Layout::Dense, true);
  request["time"] = {{"device", target == kernel::Target::Cpu ? "cpu" : "cuda"},
                     {"threads", threads},
                     {"seconds", kTorchSeconds},
                     {"compile", compile}};
  KW_TRY(const std::string line, ask(request.dump(), compile ? kCompilePatience : kPatience));
  TorchTimes times;
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("eager")) {
    times.unable =
        object.is_object() && object.contains("skip") ? object["skip"].get<std::string>() : "it gave no answer";
    return times;
  }
  const auto costs = [&](const char* who) {
    std::map<std::string, TorchCost> out;
    if (object.contains(who))
      for (const auto& [pass, cost] : object[who].items())
        out[pass] = {cost.at("seconds").get<std::vector<double>>(), cost.at("bytes").get<std::int64_t>()};
    return out;
  };
  times.eager = costs("eager");
  times.compiled = costs("compiled");
  times.uncompiled = object.value("uncompiled", "");
  return times;
}

Result<TorchAnswer> TorchProcess::run(const Subject& subject, const TorchSource& source,
                                      const kernel::TypeBinding& types, const ir::Environment& values, Layout layout) {
  KW_TRY(const std::string line, ask(request_for(subject, source, types, values, layout).dump(), kPatience));
  TorchAnswer answer;
  const json object = json::parse(line, nullptr, false);
  if (!object.is_object()) {
    answer.unable = "the source printed something else than an answer";
    return answer;
  }
  if (object.contains("skip")) {
    answer.unable = object["skip"].get<std::string>();
    return answer;
  }
  for (const auto& [name, tensor] : object.at("outputs").items()) answer.tensors[name] = tensor_from(tensor);
  for (const auto& [name, tensor] : object.at("gradients").items())
    answer.tensors["grad_" + name] = tensor_from(tensor);
  return answer;
}

std::optional<Disagreement> disagreement(const Subject& subject, const kernel::TypeBinding& types,
                                         const Expected& expected, const TorchAnswer& answer) {
  const ir::Graph graph = ir::bind_types(subject.math(), types);
  const bool in_f64 = std::all_of(types.begin(), types.end(), [](const auto& t) { return t.second == ir::DType::F64; });
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const ir::Output& output = graph.outputs[i];
    const auto torch = answer.tensors.find(output.name);
    const auto oracle = expected.find(output.name);
    if (torch == answer.tensors.end() || oracle == expected.end()) continue;
    const ir::DType dtype = graph[output.node].type.floor();
    if (torch->second.shape != oracle->second.shape)
      return Disagreement{
          fmt::format("{} has another shape in PyTorch: [{}]", output.name, fmt::join(torch->second.shape, ", "))};
    if (!ir::is_weak(dtype) && torch->second.dtype != ir::info(dtype).torch_name)
      return Disagreement{fmt::format("{} is {} in PyTorch, and was read as {}", output.name, torch->second.dtype,
                                      ir::info(dtype).torch_name)};
    ir::Array wanted = oracle->second;
    if (i >= subject.forward.outputs.size()) {  // a gradient
      if (!in_f64) continue;
      double most = 0;
      for (const double value : wanted.values)
        if (std::isfinite(value)) most = std::max(most, std::fabs(value));
      wanted.bounds.resize(wanted.values.size());
      for (double& bound : wanted.bounds) bound += kGradientShare * most;
    }
    const ir::ErrorReport report = ir::compare(wanted, torch->second.values, dtype);
    if (!report.within())
      return Disagreement{output.name + " of PyTorch against the oracle: " + ir::describe(report), true};
  }
  return std::nullopt;
}

Result<std::optional<std::string>> other_strides(const Subject& subject, const kernel::TypeBinding& types,
                                                 const ir::Environment& values, Layout layout,
                                                 const TorchAnswer& answer) {
  const kernel::Pass* pass = subject.manifest.find("forward");
  if (pass == nullptr) return std::nullopt;
  kernel::Facts facts;
  for (const kernel::Buffer& buffer : pass->buffers) {
    const auto given = values.inputs.find(tensor_of(subject, *pass, buffer));
    if (buffer.role != kernel::Role::Input || given == values.inputs.end()) continue;
    kernel::Tensor& tensor = facts.tensors[buffer.name];
    KW_TRY(tensor.dtype, kernel::dtype_of(buffer.type, types));
    tensor.shape = given->second.shape;
    tensor.strides = strides_in(layout, tensor.shape, position_of(subject, tensor_of(subject, *pass, buffer)));
  }
  const auto sizes = kernel::bind_sizes(subject.manifest, *pass, facts.tensors, values.sizes);
  if (!sizes) return std::nullopt;  // another gate says so
  facts.sizes = *sizes;
  facts.machine = {1, 1};
  for (const kernel::Scalar& scalar : subject.manifest.scalars) {
    KW_TRY(facts.scalars[scalar.name], default_of(subject, scalar));
  }
  for (const kernel::Buffer& buffer : pass->buffers)
    if (buffer.role != kernel::Role::Input) {
      KW_TRY(facts.tensors[buffer.name], kernel::describe(buffer, types, facts));
    }
  for (const kernel::Step& step : pass->steps)
    if (!kernel::choose_next(step, facts)) return std::nullopt;
  for (const kernel::Buffer& buffer : pass->buffers) {
    const auto torch = answer.tensors.find(tensor_of(subject, *pass, buffer));
    if (buffer.role != kernel::Role::Output || !buffer.alias.empty() || torch == answer.tensors.end()) continue;
    const kernel::Tensor& own = facts.tensors.at(buffer.name);
    if (subject.own_layouts.contains(torch->first) || !is_packed(torch->second.shape, torch->second.strides)) continue;
    if (own.shape != torch->second.shape || std::count(own.shape.begin(), own.shape.end(), 0) > 0) continue;
    for (std::size_t d = 0; d < own.shape.size(); ++d)
      if (own.shape[d] > 1 && own.strides[d] != torch->second.strides[d])
        return std::optional(
            fmt::format("{} of the shape [{}] has the strides [{}], and in PyTorch [{}], where inputs are {}",
                        buffer.name, fmt::join(own.shape, ", "), fmt::join(own.strides, ", "),
                        fmt::join(torch->second.strides, ", "), name_of(layout)));
  }
  return std::nullopt;
}

}  // namespace kw::verify
