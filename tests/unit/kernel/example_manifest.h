// A manifest of a norm with both passes, written as a person would, and a way to change it in one place.
#pragma once

#include <string>

#include "kernel/manifest.h"

namespace kw::kernel {

extern const char* const kNormJson;

Manifest norm_manifest();

// The text with one piece replaced; the piece must be there.
std::string norm_json_with(const std::string& from, const std::string& to);

}  // namespace kw::kernel
