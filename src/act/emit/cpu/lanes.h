// Which innermost loops go by lanes, sixty-four elements at once (runtime/cpu/lanes.h): those whose elements are floats
// or truths that lie side by side, and are computed by what the runtime has for lanes.
#pragma once

#include <functional>

#include "act/emit/cpu/nest.h"

namespace kw::act::cpu {

// Whether an access runs along the innermost axis of the tensor's last dimension, element by element.
bool runs_along(const std::vector<Index>& at, LoopAxisId inner);
// The size that an index adds to an axis, if it is a sum of the two.
std::optional<Index> offset_along(const Index& index, LoopAxisId axis);

// Whether everything that the roots need per element, other than what is known, can be computed by lanes.
bool fits_lanes(const LoopKernel& kernel, const Nest& nest, const std::vector<ValueId>& roots,
                const std::function<bool(ValueId)>& known);
// Whether memory of this type is read and written by lanes, unless it turns out to be wider.
bool fits_lanes(ir::Type type);

}  // namespace kw::act::cpu
