// The gates: what a set of kernels must be before it may be used. A hard gate stops the job; a soft one is flagged and
// left to a person. Each has a name, a question, a one-line verdict and the evidence for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw::verify {

enum class Gate : std::uint8_t {
  Interface,
  Builds,
  Runs,
  Written,
  Outside,
  Inputs,
  Error,
  Casting,
  Synchronised,
  Sanitized,
  Deterministic,
  Fresh,
  Gradient,
  Torch,
  Strides,
  NearBound,
  Reach,
  Gain,
  Style,
};

struct GateInfo {
  Gate gate;
  std::string_view name;  // "inputs-intact"
  std::string_view asks;  // "no input is changed, but those declared to be"
  bool hard;
};

std::span<const GateInfo> gates();  // in the order of a report
const GateInfo& info(Gate gate);

enum class Outcome : std::uint8_t {
  Passed,
  Failed,   // a hard gate says no
  Flagged,  // a soft one does
  Skipped,  // there was nothing to ask, or nothing to ask it with: the line says which
};
std::string_view name_of(Outcome outcome);

struct Verdict {
  Gate gate = Gate::Interface;
  Outcome outcome = Outcome::Skipped;
  std::string line;
  std::vector<std::string> evidence;  // the first few cases that speak for it
};

// What one case has shown against the kernels.
struct Finding {
  Gate gate = Gate::Interface;
  std::string message;
};

}  // namespace kw::verify
