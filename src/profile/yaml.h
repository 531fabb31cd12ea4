// profile.yaml: read and written. Writing is deterministic to the byte and made to be read by people; reading refuses
// an unknown key, a missing field or a contradiction with its line and column.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/profile.h"

namespace kw::profile {

std::string to_yaml(const Profile& profile);

// `file` names the text in errors.
Result<Profile> from_yaml(std::string_view text, const std::string& file);

// The profile without comments, in the one order and spelling: what an approval is about. Equal profiles, and only
// they, have equal canonical texts.
std::string canonical_text(const Profile& profile);
std::string canonical_hash(const Profile& profile);  // SHA-256 of it

}  // namespace kw::profile
