// The names of base/format.h, as the folders from here on know them.
#pragma once

#include "base/format.h"

namespace kw::profile {

using kw::all_of;
using kw::any_of;
using kw::is_decision_id;
using kw::is_identifier;
using kw::is_relative_path;
using kw::is_sha256;
using kw::shortened;

}  // namespace kw::profile
