// The profiles of the examples of tiers 1 and 2, as the engine reads them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace kw::test {

const std::vector<std::string>& generated_examples();  // names of files in examples/, without .py
// Fails the test if the example is not understood.
profile::Profile example_profile(const std::string& name, const std::map<std::string, std::string>& pins = {});
// The family in the plan of every pass that lists it as a fallback.
void take_family(profile::Profile& profile, const std::string& family);

// A run of the slow tests too (make test-all).
bool slow_tests();

}  // namespace kw::test
