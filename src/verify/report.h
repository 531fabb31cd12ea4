// What verify found: a verdict for each gate, and the measured errors beside their bounds. Stored as report.json
// (schema/report.schema.json), report.md and report.html.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/interpreter/compare.h"
#include "ir/type.h"
#include "verify/gates.h"

namespace kw::verify {

inline constexpr int kReportVersion = 1;

// One tensor in one element type, over all cases. Elements for which anything goes are counted, not measured.
struct ErrorRow {
  std::string pass, tensor, type;
  int cases = 0;
  std::int64_t elements = 0;
  std::int64_t beyond = 0;    // farther off than their bound
  std::int64_t unjudged = 0;  // for which anything goes
  // Of ordinary values, where they are largest: near the ends of the type an ulp says little.
  double max_error = 0, max_ulps = 0;
  double error_99_9 = 0, ulps_99_9 = 0;
  // Of all values.
  double max_share = 0;  // error / bound
  double bound = 0;      // of that element
  ir::ShareHistogram by_share{};
};

// As a report's lines say how many elements: "123456", "38 million".
std::string rounded_count(std::int64_t elements);

// What the assembler says of one kernel (cuda), for one architecture and mixture of types.
struct KernelRow {
  std::string kernel, architecture, types;
  int registers = 0;                                  // of each thread
  int spill_stored = 0, spill_loaded = 0, stack = 0;  // bytes of each thread
  int shared = 0;                                     // bytes of a block, without what the launch adds
};

// What a pass takes of PyTorch, running the source; zeros where it was not timed.
struct PeerCost {
  double milliseconds = 0;
  std::int64_t bytes = 0;
};

// One pass, timed beside its limit and, where there is a source, beside PyTorch.
struct SpeedRow {
  std::string pass, sizes, bound_by;   // memory or arithmetic
  double milliseconds = 0, width = 0;  // of the interval, as a share
  double limit_milliseconds = 0, share = 0;
  std::int64_t bytes = 0;  // the most that it holds beyond what was there when it began
  PeerCost eager, compiled;
};

// "1.234" (milliseconds), "1.50 GiB"; "-" where it was not measured.
std::string time_text(const PeerCost& cost);
std::string memory_text(const PeerCost& cost);

struct Report {
  std::string name, target;
  std::string device;        // "cpu (g++ 12.2.0)"
  std::string generator;     // who wrote the kernels
  std::string oracle;        // what they were judged by
  std::string profile_hash;  // empty without a profile
  std::string kernel_hash;
  std::uint64_t seed = 0;
  int attempt = 1;
  std::vector<std::string> notes;     // beside the gates: fallbacks taken, files edited, where the contract is from
  std::vector<std::string> mixtures;  // of types
  int cases = 0;
  std::vector<std::string> refused;    // cases that no kernel serves, and why
  std::vector<std::string> unreached;  // symbols of kernels that no case called
  std::vector<Verdict> verdicts;       // in the order of the gates
  std::vector<ErrorRow> errors;
  std::vector<KernelRow> kernels;  // empty where nothing was assembled
  std::vector<SpeedRow> speeds;    // empty where nothing was timed
  double seconds = 0, compile_seconds = 0;

  bool passed() const;
  const Verdict& verdict(Gate gate) const;
};

inline constexpr std::size_t kMostEvidence = 4;  // against a kernel, by one gate

// Its gate says no from now on, with this among the evidence.
void fail(Report& report, const Finding& finding, const std::string& where);

std::string to_json(const Report& report);
std::string to_markdown(const Report& report);
std::string to_html(const Report& report);  // one page that needs no other file
std::string to_text(const Report& report);  // for a terminal: one line per gate, evidence where one says no

}  // namespace kw::verify
