// The files that act writes into a kernel's folder for a target: kernels, their manifest, and the runtime's headers
// that they include, so that they compile on their own.
//
//   act/cpu/rms_norm_forward.cpp  act/cpu/rms_norm_backward.cpp  act/cpu/manifest.json  act/cpu/kw/element.h …
#pragma once

#include <map>
#include <string>

#include "act/act.h"

namespace kw::act {

std::map<std::string, std::string> file_set(const Generated& generated);  // path in the kernel's folder → text

// Adds the runtime's headers that a kernel's text includes, as base + "kw/NAME.h".
void add_runtime(const std::string& target, const std::string& text, const std::string& base,
                 std::map<std::string, std::string>& files);

// The file of a template, with KW_NAME replaced: a name that is legal where it stands.
std::string filled(std::string_view path, const std::map<std::string, std::string>& values);

// Adds every embedded file of a folder, as base + its name.
void add_all(std::string_view folder, const std::string& base, std::map<std::string, std::string>& files);

// What a file is, in a few words: for a review.
std::string description_of(const std::string& path);

// The same error, placed in the file profile.yaml (`yaml` is its text) where it was placed in the math of a pass.
Error placed_in_profile(Error error, const std::string& yaml, const std::string& path);

}  // namespace kw::act
