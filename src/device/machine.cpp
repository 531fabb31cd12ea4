#include "device/machine.h"

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/embedded.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "device/nvidia.h"

namespace kw::device {
namespace {

constexpr std::chrono::seconds kPatience{30};

std::string vector_units() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
  return "SSE2";
#elif defined(__aarch64__)
  return "NEON";
#else
  return "no known vector units";
#endif
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return std::string(trim(line.substr(line.find(':') + 1)));
  }
  return "unknown processor";
}

Processor look_at_processor() {
  Processor processor{processor_name(), 1, vector_units(), 0};
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) processor.cores = CPU_COUNT(&set);
  processor.memory_bytes =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return processor;
}

Tool look_for_compiler() {
  Tool tool{"compiler", "cpu kernels", "apt-get install g++"};
  for (const char* name : {"c++", "g++", "clang++"}) {
    const auto path = find_program(name);
    if (!path) continue;
    Command command;
    command.argv = {*path, "--version"};
    command.timeout = kPatience;
    const auto finished = run(command);
    if (!finished || !finished->ok()) continue;
    const std::vector<std::string> words = split(split(finished->output, '\n').front(), ' ');
    tool.present = true;
    tool.path = *path;
    for (const std::string& word : words) {  // "g++ (Debian 12.2.0-14) 12.2.0", "Debian clang version 14.0.6"
      if (!word.empty() && word.find_first_not_of("0123456789.") == std::string::npos) tool.version = word;
    }
    return tool;
  }
  return tool;
}

struct PythonSide {
  Tool python{"python", "reading PyTorch source", "apt-get install python3"};
  Tool torch{"torch", "the reference that kernels are judged by", "pip install torch"};
  Tool triton{"triton", "triton kernels", "pip install triton"};
  std::vector<std::string> nvrtc_libraries;  // from Python packages
};

void note_package(const nlohmann::json& report, Tool& tool) {
  const auto& packages = report.at("packages");
  if (!packages.contains(tool.name)) return;
  tool.present = true;
  tool.version = packages.at(tool.name).get<std::string>();
}

PythonSide look_at_python(const std::string& path) {
  PythonSide side;
  Command command;
  command.argv = {path, "-c", std::string(embedded::file("python/kernelwright/probe.py"))};
  command.timeout = kPatience;
  const auto finished = run(command);
  if (!finished || !finished->ok()) return side;
  const auto report = nlohmann::json::parse(finished->output, nullptr, false);
  if (!report.is_object()) return side;
  side.python.present = true;
  side.python.path = report.at("executable").get<std::string>();
  side.python.version = report.at("version").get<std::string>();
  note_package(report, side.torch);
  note_package(report, side.triton);
  side.nvrtc_libraries = report.at("nvrtc").get<std::vector<std::string>>();
  return side;
}

// The one that has torch, as whoever runs a source looks for it; where none has, the first.
PythonSide look_at_pythons(const std::vector<std::string>& pythons) {
  std::optional<PythonSide> first;
  for (const std::string& path : pythons) {
    PythonSide side = look_at_python(path);
    if (side.torch.present) return side;
    if (!first && side.python.present) first = std::move(side);
  }
  return first.value_or(PythonSide{});
}

}  // namespace

Machine look_around(const std::vector<std::string>& pythons) {
  const PythonSide side = look_at_pythons(pythons);
  Machine machine;
  machine.processor = look_at_processor();
  machine.tools = {look_for_compiler(), side.python, side.torch, side.triton};
  machine.tools.push_back(look_for_nvrtc(side.nvrtc_libraries));
  machine.tools.push_back(look_for_driver(machine.gpus));
  return machine;
}

}  // namespace kw::device
