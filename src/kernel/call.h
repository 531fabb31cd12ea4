// One call of a pass: from the manifest's expressions to numbers. What the caller's tensors are decides the sizes, the
// sizes decide what must be allocated, and both decide which entries run with which arguments.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "kernel/expression.h"
#include "kernel/manifest.h"
#include "kernel/types.h"

namespace kw::kernel {

using Sizes = std::map<std::string, std::int64_t>;

// The sizes that the shapes of the given tensors fix (tensors by buffer name). A symbol is found where a dimension is
// that symbol, or one known multiple of it plus a known rest; every other dimension is then checked. `given` holds
// sizes that no shape shows.
Result<Sizes> bind_sizes(const Manifest& manifest, const Pass& pass, const std::map<std::string, Tensor>& tensors,
                         Sizes given = {});

// Do the sizes fulfil the manifest's constraints?
Status check_constraints(const Manifest& manifest, const Sizes& sizes);

// Shape and element type of a buffer; for outputs and saved values also PyTorch's strides, from those of the inputs in
// `facts`; other strides are dense. The address is 0.
Result<Tensor> describe(const Buffer& buffer, const TypeBinding& types, const Facts& facts);

// The entry of a step that serves this call: the first whose guards hold and whose i32 arguments fit. Where none does,
// the error names the guard that each failed.
Result<const Entry*> choose(const Step& step, const Facts& facts);

// The same for the steps of a pass in their order, a fill among them (null); `facts` learn how many blocks each has.
Result<const Entry*> choose_next(const Step& step, Facts& facts);

// An argument's value: a buffer by name, or a number of a type.
struct BufferArgument {
  std::string buffer;
  bool operator==(const BufferArgument&) const = default;
};
struct NumberArgument {
  DType dtype = DType::None;
  ScalarValue value;
  bool operator==(const NumberArgument&) const = default;
};
using ArgumentValue = std::variant<BufferArgument, NumberArgument>;

// In the order of the entry's signature, without constants.
Result<std::vector<ArgumentValue>> arguments_of(const Entry& entry, const TypeBinding& types, const Facts& facts);

// What a Triton kernel is given by name, and its warps.
Result<std::map<std::string, std::int64_t>> constants_of(const Entry& entry, const Facts& facts);
Result<std::int64_t> warps_of(const Entry& entry, const Facts& facts);

struct LaunchShape {
  std::array<std::int64_t, 3> grid{}, block{};
  std::int64_t shared_bytes = 0;
};
Result<LaunchShape> launch_of(const Entry& entry, const Facts& facts);

}  // namespace kw::kernel
