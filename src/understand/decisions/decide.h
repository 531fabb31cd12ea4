// From a reading to a profile: the math of both passes is derived, then every decider fills in its fields and records
// why. Decisions rest on the math, not on names. What a person has set (pins) is taken as given, and everything else is
// computed again from the reading, so that a changed decision reaches all that follows from it.
#pragma once

#include "base/result.h"
#include "profile/profile.h"
#include "understand/decisions/subject.h"
#include "understand/reading.h"

namespace kw::understand {

// Forward, backward, what is saved. `casting` and `wider` among the pins change the graph here.
Result<Derived> derive(const Reading& reading, const Pins& pins);

// The source's fields are given; everything else is decided.
Result<profile::Profile> decide(const Reading& reading, const std::string& name, const profile::Source& source,
                                const Pins& pins);

}  // namespace kw::understand
