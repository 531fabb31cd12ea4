// How the user's files are kept in the kernel's folder: a lone file as source.py (or source.kw, source.json), files of
// a package under source/ with their folders, so that they can be read again where they are.
#pragma once

#include <string>
#include <string_view>

#include "profile/folder.h"
#include "understand/reading.h"

namespace kw::understand {

// The name, inside the kernel's folder, of a file that was read: "source.py", "source/models/llama/modeling.py".
std::string stored_name(const Reading& reading, std::string_view path);

// All of them, for writing.
profile::Files stored_files(const Reading& reading);

}  // namespace kw::understand
