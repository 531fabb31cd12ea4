// Decisions on ops given as math text, for tests.
#pragma once

#include <string>

#include "understand/decisions/decide.h"

namespace kw::understand {

Reading reading_of(const std::string& math);
// The profile of the op; the test fails if there is none.
profile::Profile decided(const std::string& math, const Pins& pins = {});
std::string error_of(const std::string& math, const Pins& pins);

// The same from PyTorch source, by the static reader.
profile::Profile decided_torch(const std::string& source, const profile::ReadingOptions& options = {},
                               const Pins& pins = {});

const profile::Decision& decision(const profile::Profile& profile, const std::string& id);
std::string value(const profile::Profile& profile, const std::string& id);

}  // namespace kw::understand
