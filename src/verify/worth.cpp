#include "verify/worth.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/embedded.h"
#include "base/file.h"
#include "ir/text/parse.h"

namespace kw::verify {
namespace {

using nlohmann::json;

// The faster of the two times that it is measured counts: what the machine can do, it can do.
Result<measure::Limit> better(measure::Limit first, const Result<measure::Limit>& second) {
  if (!second) return Failure(second.error());
  if (second->memory.median < first.memory.median) first.memory = second->memory;
  return first;
}

std::string_view name_of(ir::InputKind kind) {
  constexpr std::string_view kNames[] = {"tensor", "parameter", "buffer", "scalar"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<std::vector<std::int64_t>> shape_of(const ir::Graph& graph, const ir::Input& input,
                                           const measure::Sizes& sizes) {
  std::vector<std::int64_t> shape;
  for (const ir::AxisId axis : input.dims) {
    if (axis == ir::kUnit) {
      shape.push_back(1);
      continue;
    }
    const auto size = graph.axes[static_cast<std::size_t>(axis)].size.evaluate([&](ir::SymbolId s) {
      const auto found = sizes.find(graph.symbols[static_cast<std::size_t>(s)].name);
      return found == sizes.end() ? std::nullopt : std::optional(found->second);
    });
    if (!size) return bad_input(fmt::format("a size of {} is not known", input.name));
    shape.push_back(*size);
  }
  return shape;
}

// The passes as the profile has them, so that what is saved counts.
Result<std::vector<ir::Graph>> passes_of(const profile::Profile& profile) {
  std::vector<ir::Graph> passes;
  for (const std::string* text : {&profile.math.forward, &profile.math.backward}) {
    if (text->empty()) continue;
    KW_TRY(ir::Graph pass, ir::text::parse(*text, "profile.yaml"));
    passes.push_back(std::move(pass));
  }
  return passes;
}

Result<std::vector<measure::Work>> works_of(const std::vector<ir::Graph>& passes, measure::Sizes& sizes,
                                            double most_bytes) {
  for (;;) {
    std::vector<measure::Work> works;
    double most = 0;
    for (const ir::Graph& pass : passes) {
      KW_TRY(measure::Work work, measure::work_of(pass, sizes));
      most = std::max(most, work.bytes());
      works.push_back(work);
    }
    // The first symbol is rows or a batch, which no row's length depends on.
    const std::string first = passes.front().symbols.empty() ? std::string() : passes.front().symbols.front().name;
    if (most <= most_bytes || first.empty() || sizes[first] < 2) return works;
    sizes[first] /= 2;
  }
}

Result<json> ask_torch(const ir::Graph& math, bool gradients, const TorchSource& source, const device::Device& device,
                       const Worth& worth, const WorthOptions& options) {
  const auto python = find_python_with_torch();
  if (!python) return missing_tool("no Python with PyTorch is here", "pip install torch");
  const ir::Graph graph = ir::bind_types(math, {});
  json request = {{"file", source.file},
                  {"entry", source.entry},
                  {"init", source.init},
                  {"eval", source.eval},
                  {"sizes", worth.sizes},
                  {"device", device.target() == kernel::Target::Cuda ? "cuda" : "cpu"},
                  {"inputs", json::array()},
                  {"evict_bytes", 2 * device.cache_bytes()},
                  {"seconds", static_cast<double>(options.budget.count()) / 1e3}};
  for (const ir::Input& input : graph.inputs) {
    KW_TRY(const std::vector<std::int64_t> shape, shape_of(graph, input, worth.sizes));
    const ir::DType dtype = input.type.floor();
    const bool tensor = input.kind != ir::InputKind::Scalar;
    request["inputs"].push_back({{"name", input.name},
                                 {"kind", name_of(input.kind)},
                                 {"dtype", tensor ? ir::info(dtype).torch_name : ""},
                                 {"shape", shape},
                                 {"gradient", gradients && tensor && input.differentiable && ir::is_floating(dtype)}});
  }
  KW_TRY(const TemporaryDirectory folder, TemporaryDirectory::make());
  for (const char* script : {"run_source.py", "time_source.py"})
    KW_CHECK(write_file_atomically(folder.path() + "/" + script,
                                   embedded::file(std::string("python/kernelwright/") + script)));
  Command command;
  command.argv = {*python, folder.path() + "/time_source.py"};
  command.environment = {{"PYTHONDONTWRITEBYTECODE", "1"}};
  KW_TRY(Child child, Child::start(command));
  KW_CHECK(child.write_line(request.dump()));
  KW_TRY(const std::string line, child.read_line(options.budget + std::chrono::minutes(4)));
  json answer = json::parse(line, nullptr, false);
  if (!answer.is_object()) return bad_input("the source printed something else than an answer");
  if (answer.contains("skip")) return bad_input("PyTorch cannot run it: " + answer["skip"].get<std::string>());
  return answer;
}

}  // namespace

std::string milliseconds(double seconds) {
  const double ms = 1e3 * seconds;
  return ms < 100 ? fmt::format("{:.3g} ms", ms) : fmt::format("{:.0f} ms", ms);
}

double Worth::best() const { return compiled ? std::min(eager.median, compiled->median) : eager.median; }

std::string Worth::advice() const {
  const bool by_compile = compiled && compiled->median <= eager.median;
  const std::string who = by_compile ? "torch.compile" : "PyTorch";
  const std::string bound = memory_bound
                                ? fmt::format("moving {:.3g} MB takes {} here", bytes / 1e6, milliseconds(limit))
                                : fmt::format("its arithmetic takes {} here", milliseconds(limit));
  constexpr double kSure = 0.9;  // what two timings may differ by
  if (best() < kSure * limit)
    return fmt::format(
        "Not known: {} needs {}, and {}, which cannot be: something else used this machine meanwhile. Try again when "
        "it "
        "is idle.",
        who, milliseconds(best()), bound);
  if (worthwhile())
    return fmt::format("A kernel can be up to {:.1f} times as fast as {}: it saves at most {} of a call.", gain(), who,
                       milliseconds(saved()));
  return fmt::format("Not worth a kernel: {} needs {}, and {}. A kernel saves at most {} of a call{}.", who,
                     milliseconds(best()), bound, milliseconds(std::max(0.0, saved())),
                     by_compile ? "; use torch.compile" : "");
}

Result<Worth> worth_of(const profile::Profile& profile, const TorchSource& source, device::Device& device,
                       const WorthOptions& options) {
  if (profile.tier > 2)
    return bad_input(
        fmt::format("{} is of tier {}, whose limit is not known from its bytes", profile.name, profile.tier));
  if (profile.shapes.measure.empty()) return bad_input(fmt::format("{} names no shape to be fast at", profile.name));
  Worth worth;
  worth.device = device.name();
  const profile::Shape& shape = profile.shapes.measure.front();
  worth.sizes = {shape.begin(), shape.end()};
  KW_TRY(const std::vector<ir::Graph> passes, passes_of(profile));
  KW_TRY(const std::vector<measure::Work> works, works_of(passes, worth.sizes, options.most_bytes));
  worth.backward = passes.size() > 1;
  for (const ir::TypeParameter& parameter : passes.front().type_parameters)
    worth.types += fmt::format("{}{} = {}", worth.types.empty() ? "" : ", ", parameter.name,
                               ir::info(parameter.default_dtype).name);
  KW_TRY(const measure::Plain plain, measure::Plain::make(device));
  KW_TRY(const measure::Plain::Rates rates, plain.rates());
  measure::StopRule rule;
  rule.budget = options.budget / 4;
  std::vector<measure::Limit> limits;
  for (const measure::Work& work : works) {
    KW_TRY(measure::Limit limit, measure::limit_of(device, plain, rates, work, rule));
    limits.push_back(limit);
  }
  KW_TRY(const ir::Graph math, ir::text::parse(profile.math.read, "profile.yaml"));
  KW_TRY(const json answer, ask_torch(math, worth.backward, source, device, worth, options));
  double memory = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    KW_TRY(const measure::Limit limit, better(limits[i], measure::limit_of(device, plain, rates, works[i], rule)));
    worth.limit += limit.seconds();
    memory += limit.memory.median;
    worth.bytes += works[i].bytes();
  }
  worth.memory_bound = memory >= 0.5 * worth.limit;
  try {
    worth.torch =
        fmt::format("PyTorch {}, {} threads", answer.at("torch").get<std::string>(), answer.at("threads").get<int>());
    worth.eager = measure::estimate(answer.at("eager").get<std::vector<double>>());
    if (answer.contains("compiled")) worth.compiled = measure::estimate(answer["compiled"].get<std::vector<double>>());
    worth.uncompiled = answer.value("uncompiled", "");
  } catch (const json::exception& error) {
    return bad_input(std::string("PyTorch's answer cannot be read: ") + error.what());
  }
  return worth;
}

}  // namespace kw::verify
