// The gate that asks PyTorch: on a small case, in the op's own types and in f64, where gradients are compared too.
#pragma once

#include <optional>
#include <vector>

#include "verify/cases.h"
#include "verify/gates.h"
#include "verify/torch.h"

namespace kw::verify {

struct TorchVerdict {
  Verdict verdict;  // of the gate torch
  Verdict strides = {Gate::Strides, Outcome::Skipped, "PyTorch was not asked", {}};
};

// Takes its sizes from the plan. PyTorch's CPU kernels round some ops elsewhere than its CUDA kernels do
// (docs/rounding.md): in 16-bit types values that differ fail the gate only where they follow another order of casts,
// which is a misread source.
TorchVerdict ask_torch(const Subject& subject, const std::optional<TorchSource>& source, const std::vector<Case>& plan,
                       std::uint64_t seed);

}  // namespace kw::verify
