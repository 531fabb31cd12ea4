// A pass, resolved for one call: which kernels run, in which order, with which values. It knows addresses only as
// offsets into an arena, so it can be sent to a worker.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "device/arena.h"
#include "device/cpu/compile.h"
#include "kernel/call.h"

namespace kw::device {

struct BufferSlot {
  std::uint64_t offset = 0;
};
using Slot = std::variant<BufferSlot, std::int64_t, double>;

struct KernelCall {
  std::string library;  // the shared object
  std::string symbol;   // of its shim
  std::string kernel;   // as the manifest calls it, for messages
  std::vector<Slot> slots;
};

struct FillCall {
  std::string buffer;  // for messages
  std::uint64_t offset = 0;
  std::uint64_t count = 0;    // elements
  int element_bytes = 0;      // 1, 2, 4 or 8
  std::uint64_t pattern = 0;  // the element, in the lowest bytes
};

using Call = std::variant<KernelCall, FillCall>;

struct Program {
  std::vector<Call> calls;
};

// The bits of a number as an element.
Result<std::uint64_t> element_bits(kernel::DType dtype, double value);

namespace cpu {

// Facts hold every buffer of the pass, as Arena::tensors gives them.
Result<Program> prepare(const kernel::Pass& pass, const CompiledSet& kernels, const kernel::Facts& facts);

}  // namespace cpu
}  // namespace kw::device
