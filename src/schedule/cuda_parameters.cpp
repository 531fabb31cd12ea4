#include "schedule/cuda_parameters.h"

#include <algorithm>

#include "base/text.h"

namespace kw::schedule {
namespace {

struct Parameter {
  const char* name;
  int64_t CudaParameters::*field;
  int64_t least, most;
  int64_t step = 1;  // it is a multiple of
};

constexpr int64_t kVector = 8, kWarp = 32;  // elements of the longest, threads
constexpr Parameter kParameters[] = {
    {"element_threads", &CudaParameters::element_threads, 32, 1024, kWarp},
    {"element_elements", &CudaParameters::element_elements, 8, 128, kVector},
    {"whole_elements", &CudaParameters::whole_elements, 8, 128, kVector},
    {"narrow_elements", &CudaParameters::narrow_elements, 1, 64},
    {"row_elements", &CudaParameters::row_elements, 8, 128, kVector},
    {"row_threads", &CudaParameters::row_threads, 32, 1024, kWarp},
    {"row_blocks", &CudaParameters::row_blocks, 1, 8},
    {"long_elements", &CudaParameters::long_elements, 8, 128, kVector},
    {"long_threads", &CudaParameters::long_threads, 32, 1024, kWarp},
    {"long_keeps", &CudaParameters::long_keeps, 0, 1},
    {"wide_elements", &CudaParameters::wide_elements, 8, 128, kVector},
    {"narrow_wide_elements", &CudaParameters::narrow_wide_elements, 8, 128, kVector},
    {"wide_threads", &CudaParameters::wide_threads, 32, 1024, kWarp},
    {"lane_threads", &CudaParameters::lane_threads, 32, 1024, kWarp},
    {"stream_elements", &CudaParameters::stream_elements, 8, 128, kVector},
    {"narrow_part_elements", &CudaParameters::narrow_part_elements, 8, 128, kVector},
    {"stream_threads", &CudaParameters::stream_threads, 32, 1024, kWarp},
    {"rare_kernels", &CudaParameters::rare_kernels, 0, 1},
    {"sum_elements", &CudaParameters::sum_elements, 8, 128, kVector},
    {"narrow_sum_elements", &CudaParameters::narrow_sum_elements, 8, 64, kVector},
    {"narrow_threads", &CudaParameters::narrow_threads, 32, 1024, kWarp},
    {"narrow_from", &CudaParameters::narrow_from, 0, 1 << 20},
    {"shared_sum_elements", &CudaParameters::shared_sum_elements, 8, 128, kVector},
    {"shared_sum_bytes", &CudaParameters::shared_sum_bytes, 16, 256, 16},
    {"sum_threads", &CudaParameters::sum_threads, 32, 1024, kWarp},
    {"worker_threads", &CudaParameters::worker_threads, 32, 2048},
    {"column_warps", &CudaParameters::column_warps, 1, 32},
    {"column_elements", &CudaParameters::column_elements, 1, 1024},
    {"shared_bytes", &CudaParameters::shared_bytes, 1024, 232448},
    {"lean", &CudaParameters::lean, 0, 1},
};

constexpr int64_t kOtherRegisters = 32;  // addresses, indices and what is being computed
constexpr int64_t kNarrowOtherRegisters = 16;
constexpr int64_t kLeastElements = 8;    // a vector of the narrowest type
constexpr int64_t kMostSums = 3;         // beside which the registers of narrow_threads hold a row
constexpr int64_t kMuchWork = 10;        // instructions for an element
constexpr int64_t kRowBusy = 30;         // registers of a stage beside which all threads have enough
constexpr int64_t kPartBusy = 16;        // likewise, of the warps that go over parts of rows
constexpr int64_t kSummedPartBusy = 32;  // and have fewer threads for sums that ride along

// Half of the elements for a thread, and half of the threads, so that each has twice the registers.
CudaParameters leaner(CudaParameters p) {
  for (int64_t CudaParameters::*elements :
       {&CudaParameters::element_elements, &CudaParameters::whole_elements, &CudaParameters::row_elements,
        &CudaParameters::long_elements, &CudaParameters::wide_elements, &CudaParameters::narrow_wide_elements,
        &CudaParameters::stream_elements, &CudaParameters::narrow_part_elements, &CudaParameters::sum_elements,
        &CudaParameters::narrow_sum_elements, &CudaParameters::shared_sum_elements})
    p.*elements = std::max(kLeastElements, p.*elements / 2 / kVector * kVector);
  for (int64_t CudaParameters::*threads :
       {&CudaParameters::row_threads, &CudaParameters::long_threads, &CudaParameters::wide_threads,
        &CudaParameters::lane_threads, &CudaParameters::stream_threads, &CudaParameters::sum_threads,
        &CudaParameters::narrow_threads})
    p.*threads = std::max(kWarp, p.*threads / 2 / kWarp * kWarp);
  p.row_blocks = std::max<int64_t>(1, p.row_blocks / 2);
  p.narrow_elements = std::max<int64_t>(1, p.narrow_elements / 2);
  p.shared_sum_bytes = std::max<int64_t>(16, p.shared_sum_bytes / 2);
  p.column_warps = std::max<int64_t>(1, p.column_warps / 2);
  p.lean = 1;
  return p;
}

// Fewer threads have registers enough where a stage takes many beside what is held. A multiprocessor gives them out to
// four warps at a time.
CudaParameters with_room(CudaParameters p, const CudaKernelFacts& facts) {
  const auto take = [](int64_t& threads, int64_t eighths) {
    threads = std::max(4 * kWarp, threads * eighths / 8 / (4 * kWarp) * (4 * kWarp));
  };
  if (!facts.in_parts && facts.busy > kRowBusy)
    for (int64_t CudaParameters::*threads : {&CudaParameters::wide_threads, &CudaParameters::stream_threads,
                                             &CudaParameters::sum_threads, &CudaParameters::narrow_threads})
      take(p.*threads, facts.beside > 1 ? 5 : 6);
  const bool summed = facts.scalar_sums > 0;
  if (facts.in_parts && facts.busy > (summed ? kSummedPartBusy : kPartBusy)) {
    const bool is_tight = !summed && facts.stages == 1 && (facts.at_once || facts.busy > 2 * kPartBusy);
    take(p.stream_threads, is_tight ? 5 : 6);
    if (is_tight) p.narrow_part_elements = std::min<int64_t>(p.narrow_part_elements, 16);
  }
  return p;
}

}  // namespace

CudaParameters start_parameters(const CudaMachine& machine, const CudaKernelFacts& facts) {
  CudaParameters p;
  const int64_t held = std::max<int64_t>(1, facts.held);
  p.shared_bytes = machine.shared_bytes;
  // Half of the threads that a multiprocessor takes keep memory busy, at two bytes an element.
  const int64_t wanted = machine.flight_bytes / (machine.threads / 2 * 2);
  // Blocks enough keep memory busy: nothing moves bytes faster than one vector each. Where there is much to compute,
  // two share what a thread does once, and small blocks make room for the next ones sooner, unless a few go over all.
  if (facts.work >= kMuchWork) {
    p.element_elements = 2 * kLeastElements;
    if (facts.scalar_sums == 0) p.element_threads = 128;
  }
  p.whole_elements = std::clamp<int64_t>(2 * wanted / held / kLeastElements * kLeastElements, kLeastElements, 32);
  // An element takes a register while it is held (half of one, if it is narrow, and room to unfold it). What a thread
  // has, where all blocks of a multiprocessor have so many threads together:
  auto fits = [&](int64_t elements, int64_t threads) {
    return held * elements + kOtherRegisters <= machine.registers / threads;
  };
  while (p.row_blocks > 1 && !fits(p.row_elements, p.row_threads * p.row_blocks)) --p.row_blocks;
  while (p.row_elements > kLeastElements && !fits(p.row_elements, p.row_threads * p.row_blocks)) p.row_elements /= 2;
  p.wide_threads = machine.block_threads;
  while (p.wide_elements > kLeastElements && !fits(p.wide_elements, p.wide_threads)) p.wide_elements /= 2;
  // Truth values are unfolded, each into a register, and what they choose from with them.
  const int64_t narrow_held = facts.truths > 0 ? 2 * held : facts.narrow_held;
  auto narrow_row_fits = [&](int64_t elements, int64_t threads) {
    return narrow_held * elements / 2 + kNarrowOtherRegisters + 8 * facts.truths <= machine.registers / threads;
  };
  // Two blocks share a multiprocessor. Long rows keep no result of a stage for the next one where they then have twice
  // the threads.
  if (facts.loads * p.long_elements / 2 + kNarrowOtherRegisters > machine.registers / (2 * p.long_threads)) {
    p.long_threads /= 2;
    p.long_keeps = 1;
    while (p.long_elements > kLeastElements && !narrow_row_fits(p.long_elements, 2 * p.long_threads))
      p.long_elements /= 2;
  }
  while (p.narrow_wide_elements > p.wide_elements && !narrow_row_fits(p.narrow_wide_elements, p.wide_threads))
    p.narrow_wide_elements /= 2;
  while (p.narrow_part_elements > kLeastElements && !narrow_row_fits(p.narrow_part_elements, p.stream_threads))
    p.narrow_part_elements /= 2;
  // Streaming takes more registers than holding: it has two places to read from.
  while (p.stream_elements > kLeastElements && !fits(p.stream_elements + 8, p.stream_threads)) p.stream_elements /= 2;
  // Of a column eight elements of every tensor are read at once, each with an address of two registers.
  const int64_t column = 3 * 8 * facts.loads + std::max(kOtherRegisters, facts.work);
  while (p.column_warps > 1 && column > machine.registers / (kWarp * p.column_warps)) p.column_warps /= 2;
  const int64_t other = std::max(kOtherRegisters, kNarrowOtherRegisters + facts.busy);
  auto shared_fits = [&](int64_t bytes) {
    // For the terms of further sums, and further vectors beside.
    const int64_t more =
        24 * std::max<int64_t>(0, facts.column_sums - 1) + kVector * std::max<int64_t>(0, facts.beside - 1);
    return held * (bytes / 4 + 8) + more + other <= machine.registers / p.sum_threads;
  };
  while (p.shared_sum_bytes > 16 && !shared_fits(p.shared_sum_bytes)) p.shared_sum_bytes /= 2;
  // Beside sums that are in registers, what all rows share is too.
  auto sums_fit = [&](int64_t elements) {
    const int64_t each = std::max(held, facts.made) + facts.column_sums + (facts.column_sums > 0 ? facts.beside : 0);
    return elements * each + other <= machine.registers / p.sum_threads;
  };
  while (p.sum_elements > kLeastElements && !sums_fit(p.sum_elements)) p.sum_elements /= 2;
  if (facts.column_sums == 0) {
    p.narrow_sum_elements = 32;
    while (p.narrow_sum_elements > p.sum_elements && !narrow_row_fits(p.narrow_sum_elements, p.sum_threads))
      p.narrow_sum_elements /= 2;
    return with_room(p, facts);
  }
  if (facts.column_sums + facts.scalar_sums < kMostSums) p.narrow_from /= 2;
  if (facts.column_sums + facts.scalar_sums > kMostSums) {
    p.narrow_threads = p.narrow_threads * 5 / 6;
    p.stream_threads = p.stream_threads * 7 / 8;
  }
  auto narrow_fits = [&](int64_t elements) {  // half a register for an element, and room to unfold a vector
    return elements * held / 2 + kOtherRegisters + 16 <= machine.registers / p.narrow_threads;
  };
  while (p.narrow_sum_elements > kLeastElements && !narrow_fits(p.narrow_sum_elements)) p.narrow_sum_elements /= 2;
  return with_room(p, facts);
}

Result<CudaParameters> with_moves(CudaParameters parameters, const std::map<std::string, std::string>& moves) {
  if (const auto lean = moves.find("lean"); lean != moves.end() && lean->second == "1") parameters = leaner(parameters);
  for (const auto& [name, value] : moves) {
    const auto* parameter = std::find_if(std::begin(kParameters), std::end(kParameters),
                                         [&](const Parameter& p) { return p.name == name; });
    if (parameter == std::end(kParameters)) {
      std::vector<std::string> names;
      for (const Parameter& p : kParameters) names.emplace_back(p.name);
      return bad_input("a cuda schedule has no parameter '" + name + "'", {}, did_you_mean(name, names));
    }
    const std::optional<int64_t> number = parse_integer(value);
    const bool whole = number && *number % parameter->step == 0;
    if (!whole || *number < parameter->least || *number > parameter->most)
      return bad_input(
          "'" + value + "' is no value for " + name, {},
          (parameter->step == 1 ? std::string("a whole number") : "a multiple of " + std::to_string(parameter->step)) +
              " from " + std::to_string(parameter->least) + " to " + std::to_string(parameter->most));
    parameters.*(parameter->field) = *number;
  }
  return parameters;
}

std::map<std::string, std::string> to_moves(const CudaParameters& parameters) {
  std::map<std::string, std::string> moves;
  for (const Parameter& p : kParameters) moves[p.name] = std::to_string(parameters.*(p.field));
  return moves;
}

}  // namespace kw::schedule
