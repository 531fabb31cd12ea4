// kw doctor: what this machine has, and the command that installs what it lacks.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "device/machine.h"

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

std::string as_object(const device::Machine& machine) {
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
  return object.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Action add_doctor(CLI::App&) {
  return [](const Globals&) -> Result<Answer> {
    const device::Machine machine = device::look_around();
    return Answer{as_text(machine), as_object(machine)};
  };
}

}  // namespace kw::cli
