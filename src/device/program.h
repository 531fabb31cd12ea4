// A pass, resolved for one call: which kernels run, in which order, with which values. It knows addresses only as
// offsets into an arena, so it can be sent to a worker.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "device/arena.h"
#include "device/compiled.h"
#include "kernel/call.h"

namespace kw::device {

struct BufferSlot {
  std::uint64_t offset = 0;
  kernel::DType dtype = kernel::DType::None;  // for a worker that must name it
};
struct BitsSlot {  // a number as the kernel's own type has it, in the lowest bytes (launches on a GPU)
  std::uint64_t bits = 0;
};
using Slot = std::variant<BufferSlot, std::int64_t, double, BitsSlot>;

struct KernelCall {
  std::string library;  // the shared object, or the cubin
  std::string symbol;   // of its shim, or of the kernel itself where it is launched on a GPU
  std::string kernel;   // as the manifest calls it, for messages
  std::vector<Slot> slots;
  std::optional<kernel::LaunchShape> launch = {};  // on a GPU, or its emulation
  struct Python {                                  // what a launch of a Triton kernel has beside
    std::map<std::string, std::int64_t> constants;
    std::int64_t warps = 4;
  };
  std::optional<Python> python = {};
};

struct FillCall {
  std::string buffer;  // for messages
  std::uint64_t offset = 0;
  std::uint64_t count = 0;    // elements
  int element_bytes = 0;      // 1, 2, 4 or 8
  std::uint64_t pattern = 0;  // the element, in the lowest bytes
};

using Call = std::variant<KernelCall, FillCall>;

// What the emulation of a GPU must know beside the calls: the order that threads run in, and what the buffers are.
struct Emulation {
  struct Buffer {
    std::string name;
    std::uint64_t offset = 0, bytes = 0;
    int element_bytes = 1;
    std::vector<std::int64_t> shape, strides;
    bool input = false;   // holds values from the start
    bool output = false;  // must be written whole
    bool writable = false;
  };
  std::uint64_t seed = 1;
  std::vector<Buffer> buffers;
};

struct Program {
  std::vector<Call> calls;
  std::optional<Emulation> emulation = {};
};

// The limits of the launch itself, which are the same on every GPU; a smaller one of this GPU shows at the launch.
Status check_launch(const kernel::Entry& entry, const kernel::LaunchShape& launch);

// The bits of a number as an element.
Result<std::uint64_t> element_bits(kernel::DType dtype, double value);

// Facts hold every buffer of the pass, as Arena::tensors gives them.
Result<Program> prepare(const kernel::Pass& pass, const CompiledSet& kernels, const kernel::Facts& facts);

}  // namespace kw::device
