#include "schedule/cpu_parameters.h"

#include <algorithm>

#include "base/text.h"

namespace kw::schedule {
namespace {

struct Parameter {
  const char* name;
  int64_t CpuParameters::*field;
  int64_t least, most;
};

constexpr Parameter kParameters[] = {
    {"chain", &CpuParameters::chain, 1, 64},
    {"tile", &CpuParameters::tile, 64, 16384},
    {"stream_bytes", &CpuParameters::stream_bytes, 0, int64_t{1} << 62},
    {"parallel_elements", &CpuParameters::parallel_elements, 1, int64_t{1} << 62},
    {"most_slices", &CpuParameters::most_slices, 1, 4096},
    {"points_per_slice", &CpuParameters::points_per_slice, 1, 4096},
    {"chunks", &CpuParameters::chunks, 1, 4096},
};

}  // namespace

CpuParameters start_parameters(const CpuMachine& machine) {
  constexpr int64_t kAccumulated = 4;  // bytes of what is accumulated: f32
  CpuParameters p;
  // A vector's lanes each take one term in turn, and compilers keep two vectors going.
  const int64_t lanes = 2 * machine.vector_bytes / kAccumulated;
  // A tile of output, and as much again of everything that it is made from, stay in the first level.
  p.tile = std::min(p.chain * lanes, machine.first_level_bytes / (8 * kAccumulated));
  p.stream_bytes = machine.last_level_bytes;
  p.parallel_elements = machine.thread_start_bytes / kAccumulated;
  p.most_slices = machine.threads;
  p.chunks = 4 * machine.threads;
  return p;
}

Result<CpuParameters> with_moves(CpuParameters parameters, const std::map<std::string, std::string>& moves) {
  for (const auto& [name, value] : moves) {
    const auto* parameter = std::find_if(std::begin(kParameters), std::end(kParameters),
                                         [&](const Parameter& p) { return p.name == name; });
    if (parameter == std::end(kParameters)) {
      std::vector<std::string> names;
      for (const Parameter& p : kParameters) names.emplace_back(p.name);
      return bad_input("a cpu schedule has no parameter '" + name + "'", {}, did_you_mean(name, names));
    }
    const std::optional<int64_t> number = parse_integer(value);
    if (!number || *number < parameter->least || *number > parameter->most)
      return bad_input(
          "'" + value + "' is no value for " + name, {},
          "a whole number from " + std::to_string(parameter->least) + " to " + std::to_string(parameter->most));
    parameters.*(parameter->field) = *number;
  }
  return parameters;
}

std::map<std::string, std::string> to_moves(const CpuParameters& parameters) {
  std::map<std::string, std::string> moves;
  for (const Parameter& p : kParameters) moves[p.name] = std::to_string(parameters.*(p.field));
  return moves;
}

}  // namespace kw::schedule
