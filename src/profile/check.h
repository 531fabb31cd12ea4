// Finds where a profile contradicts itself: a decision that says something else than the field it decides, math that
// does not fit the interface, a backward that is not the derivative, a saved value that the math does not have. The
// schema has been checked before; the document gives the places for the errors.
#pragma once

#include "base/document.h"
#include "base/result.h"
#include "profile/profile.h"

namespace kw::profile {

Status check(const Profile& profile, const Document& document);

// The part that reads the math (math_check.cpp).
Status check_math(const Profile& profile, const Document& document);

}  // namespace kw::profile
