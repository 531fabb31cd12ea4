// What the cases of one judgement have shown so far, and the verdicts that it comes to: gates that nothing spoke
// against pass once all cases were put.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "verify/report.h"
#include "verify/subject.h"
#include "verify/trial.h"
#include "verify/values.h"

namespace kw::verify {

struct Record {
  Report report;
  std::set<std::string> called;                 // symbols of entries
  int orders = 0, orders_apart = 0;             // other orders of rounding, and how many of them would have been seen
  int fresh_cases = 0;                          // with a second call
  int calls_in_a_row = 0;                       // of other sizes, in one process
  std::int64_t large_elements = 0;              // compared in a call too large for the interpreter
  std::string no_large_call;                    // why there was none
  std::int64_t elements_past_31_bits = 0;       // in one of more than 2^31
  std::string past_31_bits;                     // why there was none
  std::string built_for;                        // ", for sm_80, sm_90"
  std::vector<std::string> spilling_elsewhere;  // types and architectures where kernels spill, not the op's own types
  std::string not_built;                        // why the target's own compiler did not see the kernels
  bool stopped_early = false;

  // Every gate begins as not reached.
  explicit Record(const Subject& subject, std::uint64_t seed);

  Verdict& verdict(Gate gate) { return report.verdicts[static_cast<std::size_t>(gate)]; }
  void set(Gate gate, Outcome outcome, std::string line);
  void fail(const Finding& finding, const std::string& where);
  void add(const OutputError& error, Values values);

  // The gates that no case spoke against. `planned` cases were there to be tried, in so many mixtures of types.
  void conclude(const Subject& subject, std::size_t planned, std::size_t mixtures);
};

}  // namespace kw::verify
