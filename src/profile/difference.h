// What differs between two profiles, as a person wants to hear it: decisions first, by id, with old and new value; then
// the texts of the math, line by line.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace kw::profile {

struct Change {
  std::string what;    // a decision's id, or "forward math", "because of saved", …
  std::string before;  // empty: was not there
  std::string after;   // empty: is gone
  bool operator==(const Change&) const = default;
};

// In the order of the profile. Empty exactly if the two are equal.
std::vector<Change> difference(const Profile& before, const Profile& after);

// "casting: llama → gemma", math as lines with - and +.
std::string to_text(const std::vector<Change>& changes);

// The lines of two texts with ' ', '-' or '+' in front: the shortest such script.
std::vector<std::string> line_difference(const std::string& before, const std::string& after);

}  // namespace kw::profile
