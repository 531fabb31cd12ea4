// kw doctor: what this machine has and reaches, and the command that installs what it lacks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "device/device.h"
#include "device/machine.h"
#include "measure/ceilings.h"

namespace kw::cli {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

std::string as_text(const device::Machine& machine) {
  const device::Processor& cpu = machine.processor;
  std::string text = fmt::format("{:<9} {}, {} {}, {}, {:.1f} GiB\n", "cpu", cpu.name, cpu.cores,
                                 cpu.cores == 1 ? "core" : "cores", cpu.vector_units, cpu.memory_bytes / kGiB);
  for (const device::Gpu& gpu : machine.gpus) {
    text +=
        fmt::format("{:<9} {}, sm_{}{}, {:.1f} GiB\n", "gpu", gpu.name, gpu.major, gpu.minor, gpu.memory_bytes / kGiB);
  }
  for (const device::Tool& tool : machine.tools) {
    text += tool.present ? fmt::format("{:<9} {:<16} {}", tool.name, tool.version, tool.path)
                         : fmt::format("{:<9} missing          {}: {}", tool.name, tool.serves, tool.install);
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

// Of every device that kernels can run on; why there is none where there is none.
struct Measured {
  std::vector<measure::Ceilings> ceilings;
  std::vector<std::string> obstacles;
};

Measured measure_devices() {
  Measured measured;
  for (kernel::Target target : {kernel::Target::Cpu, kernel::Target::Cuda}) {
    auto device = device::open_device(target);
    if (!device || !(*device)->can_run()) continue;  // what is missing stands among the tools
    auto ceilings = measure::ceilings_of(**device);
    if (ceilings)
      measured.ceilings.push_back(std::move(*ceilings));
    else
      measured.obstacles.push_back(fmt::format("{}: {}", (*device)->name(), ceilings.error().message));
  }
  return measured;
}

std::string as_text(const Measured& measured) {
  std::string text;
  for (const measure::Ceilings& c : measured.ceilings) {
    text += fmt::format("\n{} reaches, with {:.2f} GB at a time:\n", c.device, c.bytes / 1e9);
    for (const measure::Traffic& t : c.traffic)
      text += fmt::format("  {:<24} {:>8.1f} GB/s ± {:.0f}%\n", t.name, t.bytes_per_second / 1e9, 50 * t.width);
    if (c.rates.simple > 0) {
      text += fmt::format("  {:<24} {:>8.1f} G/s\n", "multiply, add (fp32)", c.rates.simple / 1e9);
      text += fmt::format("  {:<24} {:>8.1f} G/s\n", "exponential (fp32)", c.rates.special / 1e9);
    }
  }
  for (const std::string& obstacle : measured.obstacles) text += fmt::format("\nnot measured: {}\n", obstacle);
  return text;
}

std::string as_object(const device::Machine& machine, const Measured& measured) {
  using Json = nlohmann::ordered_json;
  const device::Processor& cpu = machine.processor;
  Json object;
  object["cpu"] = {
      {"name", cpu.name}, {"cores", cpu.cores}, {"vector_units", cpu.vector_units}, {"memory_bytes", cpu.memory_bytes}};
  object["gpus"] = Json::array();
  for (const device::Gpu& gpu : machine.gpus) {
    object["gpus"].push_back(
        {{"name", gpu.name}, {"sm", gpu.major * 10 + gpu.minor}, {"memory_bytes", gpu.memory_bytes}});
  }
  for (const device::Tool& tool : machine.tools) {
    Json& row = object["tools"][tool.name] = {{"present", tool.present}, {"serves", tool.serves}};
    if (tool.present) row["version"] = tool.version;
    if (!tool.path.empty()) row["path"] = tool.path;
    if (!tool.present) row["install"] = tool.install;
  }
  object["ceilings"] = Json::array();
  for (const measure::Ceilings& c : measured.ceilings) {
    Json row = {{"device", c.device}, {"bytes", c.bytes}};
    for (const measure::Traffic& t : c.traffic)
      row["traffic"].push_back(
          {{"name", t.name}, {"reads", t.reads}, {"writes", t.writes}, {"bytes_per_second", t.bytes_per_second}});
    if (c.rates.simple > 0) row["operations_per_second"] = {{"simple", c.rates.simple}, {"special", c.rates.special}};
    object["ceilings"].push_back(std::move(row));
  }
  for (const std::string& obstacle : measured.obstacles) object["not_measured"].push_back(obstacle);
  return object.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Action add_doctor(CLI::App& command) {
  auto quick = std::make_shared<bool>(false);
  command.add_flag("--quick", *quick, "look, and measure nothing");
  return [quick](const Globals&) -> Result<Answer> {
    const device::Machine machine = device::look_around();
    const Measured measured = *quick ? Measured{} : measure_devices();
    return Answer{as_text(machine) + as_text(measured), as_object(machine, measured)};
  };
}

}  // namespace kw::cli
