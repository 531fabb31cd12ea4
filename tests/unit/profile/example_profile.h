// A small, complete profile for tests: a row-wise scaling, x * rsqrt(mean(x^2) + eps) * w.
#pragma once

#include "profile/profile.h"

namespace kw::profile {

Profile example_profile();

// `text` with the first `from` replaced by `to`; the test fails if there is none.
std::string replaced(const std::string& text, const std::string& from, const std::string& to);

}  // namespace kw::profile
