#include "device/cpu/compiler.h"

#include <algorithm>
#include <fstream>

#include "base/subprocess.h"
#include "base/text.h"

namespace kw::device::cpu {
namespace {

constexpr std::chrono::seconds kPatience{30};

std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::string found;
  for (std::string line; std::getline(file, line) && !line.empty();) {  // the first processor's paragraph
    const std::string_view text = trim(line);
    for (const std::string_view key : {"model name", "flags", "Features", "CPU part"})
      if (text.starts_with(key)) found += std::string(text) + "\n";
  }
  return found;
}

}  // namespace

Result<Compiler> find_compiler(const std::string& wanted) {
  std::vector<std::string> names = {"g++", "c++", "clang++"};
  if (!wanted.empty()) names = {wanted};
  for (const std::string& name : names) {
    const auto path = find_program(name);
    if (!path) continue;
    Command command;
    command.argv = {*path, "--version"};
    command.environment = {{"LC_ALL", "C"}};
    command.timeout = kPatience;
    const auto finished = run(command);
    if (!finished || !finished->ok() || finished->output.empty()) continue;
    return Compiler{*path, split_lines(finished->output).front(), processor()};
  }
  return missing_tool(wanted.empty() ? "there is no C++ compiler" : "there is no compiler " + wanted,
                      "apt-get install g++");
}

const std::vector<std::string>& kernel_flags() {
  static const std::vector<std::string> kFlags = {
    "-std=c++20",
    "-O3",
    "-march=native",
    "-fopenmp",
    "-ffp-contract=off",   // a*b + c is rounded twice, as it is written; fma() is there for who wants it
    "-fno-math-errno",     // sqrt need not set errno
    "-fno-trapping-math",  // no one looks at the flags of floating-point arithmetic
    kOfGccAlone,           // cases are selected; computed path by path they would fill a loop with masks
#if defined(__x86_64__)
    "-mprefer-vector-width=512",  // where there are such registers
#endif
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-w",
  };
  return kFlags;
}

std::vector<std::string> checking_flags() {
  std::vector<std::string> flags = kernel_flags();
  std::replace(flags.begin(), flags.end(), std::string("-O3"), std::string("-O1"));  // compiles in half the time
  flags.insert(flags.end(), {"-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"});
  return flags;
}

}  // namespace kw::device::cpu
