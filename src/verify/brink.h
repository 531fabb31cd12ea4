// Numbers at the brink: a value of the math that is rounded to a type of a smaller range than it is computed in has
// just left it. A kernel that rounds at another place is infinite where it should not be, or finite where it should not
// be, there alone: beyond it everything overflows, below it nothing does.
#pragma once

#include "base/result.h"
#include "ir/interpreter/interpreter.h"
#include "verify/subject.h"

namespace kw::verify {

// Values of the math that can leave a type's range by rounding, in a mixture of types.
std::vector<ir::NodeId> brinks(const Subject& subject, const kernel::TypeBinding& types);

// Multiplies one tensor that the value depends on by the smallest power of two that takes it out of its range; the
// values stay as they are where none does, or where the tensor itself would leave it before.
Status to_the_brink(const Subject& subject, const kernel::TypeBinding& types, ir::NodeId value,
                    ir::Environment& values);

}  // namespace kw::verify
