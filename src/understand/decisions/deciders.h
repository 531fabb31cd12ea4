// Every decider: what it fills in and what it records. decide.cpp runs them in this order.
#pragma once

#include "base/result.h"
#include "understand/decisions/subject.h"

namespace kw::understand {

Status decide_interface(Subject& subject);  // mode, type.*, shape.*, value.*, gradients, parameters
Status decide_names(Subject& subject);      // name.*
Status decide_tier(Subject& subject);       // tier
Status decide_closest(Subject& subject);    // closest
Status decide_numerics(Subject& subject);   // casting, wider, accumulate, fp32, reassociate, deterministic
Status decide_memory(Subject& subject);     // backward, saved, recomputed, aliases
Status decide_layouts(Subject& subject);    // layout.*
Status decide_plan(Subject& subject);       // plan.forward, plan.backward, reduce.*
Status decide_shapes(Subject& subject);     // shapes.test, shapes.measure
Status decide_limits(Subject& subject);     // limits.*, licence

// "wrong value for ID: must be …": the error of `kw set` with a value that cannot be.
Failure bad_value(const std::string& id, const std::string& value, const std::string& must_be, std::string hint = {});

}  // namespace kw::understand
