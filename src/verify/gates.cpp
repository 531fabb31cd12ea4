#include "verify/gates.h"

#include <array>

#include "base/result.h"

namespace kw::verify {
namespace {

constexpr std::array<GateInfo, 19> kGates = {{
    {Gate::Interface, "interface", "shapes, types and strides are the op's own", true},
    {Gate::Builds, "builds", "every file compiles for every mixture of types and architecture, without spills", true},
    {Gate::Runs, "runs", "every call ends, in time, without a crash", true},
    {Gate::Written, "written", "every element of every output is written", true},
    {Gate::Outside, "outside", "no memory outside the buffers is touched", true},
    {Gate::Inputs, "inputs-intact", "no input is changed, but those declared to be", true},
    {Gate::Error, "error", "every element is within its bound of the rounded oracle", true},
    {Gate::Casting, "casting", "values are rounded where the source rounds them", true},
    {Gate::Synchronised, "synchronised", "what one thread reads of another was waited for", true},
    {Gate::Sanitized, "sanitized",
     "no index is beyond an array; compute-sanitizer has nothing to say of memory and races", true},
    {Gate::Deterministic, "deterministic", "two runs agree to the bit, on any number of threads", true},
    {Gate::Fresh, "fresh", "a second call in the same process computes from its own inputs", true},
    {Gate::Gradient, "gradient", "the backward is the derivative of the forward, by differences", true},
    {Gate::Torch, "torch", "PyTorch, running the source, gives what the oracle gives", true},
    {Gate::Strides, "strides", "outputs lie in memory as PyTorch's own do, however the inputs lie", true},
    {Gate::NearBound, "near-bound", "no error is nearly as large as its bound", false},
    {Gate::Reach, "reach", "every kernel of the manifest was called, and no case was refused", false},
    {Gate::Gain, "gain", "it is faster than the reference", false},
    {Gate::Style, "style", "the file reads as the house writes", false},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kGates.size(); ++i)
    if (kGates[i].gate != static_cast<Gate>(i)) return false;
  return true;
}
static_assert(in_order(), "the table has one row for each gate, in their order");

}  // namespace

std::span<const GateInfo> gates() { return kGates; }

const GateInfo& info(Gate gate) { return kGates[static_cast<std::size_t>(gate)]; }

std::string_view name_of(Outcome outcome) {
  constexpr std::string_view kNames[] = {"passed", "failed", "flagged", "skipped"};
  return kNames[static_cast<std::size_t>(outcome)];
}

}  // namespace kw::verify
