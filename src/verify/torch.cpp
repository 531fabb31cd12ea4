#include "verify/torch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/embedded.h"
#include "base/file.h"
#include "base/text.h"

namespace kw::verify {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kPatience{60'000};
constexpr double kGradientShare = 1e-4;  // of the largest gradient

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

json request_for(const Subject& subject, const TorchSource& source, const kernel::TypeBinding& types,
                 const ir::Environment& values) {
  const ir::Graph graph = ir::bind_types(subject.math(), types);
  json request = {{"file", source.file},   {"entry", source.entry},   {"init", source.init},     {"eval", source.eval},
                  {"sizes", values.sizes}, {"inputs", json::array()}, {"outputs", json::array()}};
  for (const ir::Input& input : graph.inputs) {
    if (subject.forward.find_input(input.name) == nullptr) continue;  // a cotangent
    json given = {{"shape", json::array()}, {"dtype", ""}, {"values", json::array()}};
    if (const auto found = values.inputs.find(input.name); found != values.inputs.end())
      given = document(found->second, input.type.floor());
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
  std::vector<std::string> candidates;
  if (const char* active = std::getenv("VIRTUAL_ENV")) candidates.push_back(std::string(active) + "/bin/python");
  candidates.emplace_back(".venv/bin/python");
  std::error_code ignored;
  const auto binary = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (!ignored) candidates.push_back((binary.parent_path().parent_path() / ".venv/bin/python").string());
  for (const std::string& candidate : candidates)
    if (file_exists(candidate) && has_torch(candidate)) return candidate;
  if (find_program("python3") && has_torch("python3")) return "python3";
  return std::nullopt;
}

Result<TorchProcess> TorchProcess::start(const std::string& python) {
  Command command;
  command.argv = {python, "-c", std::string(embedded::file("python/kernelwright/run_source.py"))};
  command.environment = {{"OMP_NUM_THREADS", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}};
  KW_TRY(Child child, Child::start(command));
  return TorchProcess(std::move(child));
}

Result<TorchAnswer> TorchProcess::run(const Subject& subject, const TorchSource& source,
                                      const kernel::TypeBinding& types, const ir::Environment& values) {
  KW_CHECK(child_.write_line(request_for(subject, source, types, values).dump()));
  KW_TRY(const std::string line, child_.read_line(kPatience));
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

}  // namespace kw::verify
