// Entries in files that are there already, each in its alphabetical place: before the first neighbour that comes after
// it, at the end of the list where none does. What is there stays as it is, sorted or not. An entry that is there
// already changes nothing.
#pragma once

#include <string>

#include "base/result.h"

namespace kw::act::liger {

// The order of imports, one a line, as isort has it: by module, then classes before functions, then by name.
bool import_before(const std::string& a, const std::string& b);

// `line`: "from liger_kernel.ops.swiglu import LigerSiLUMulFunction", among the top-level imports of the text that
// begin with `prefix`. Comments behind an import do not count.
Result<std::string> insert_import(const std::string& text, const std::string& prefix, const std::string& line);

// A name in the list of strings that begins at the line `list`: "__all__ = [".
Result<std::string> insert_name(const std::string& text, const std::string& list, const std::string& name);

// A function of the top level, among those whose names begin with `prefix`; one of that name is replaced.
Result<std::string> insert_function(const std::string& text, const std::string& prefix, const std::string& name,
                                    const std::string& function);
// The text of a top-level function; empty where there is none of that name.
std::string function_in(const std::string& text, const std::string& name);

}  // namespace kw::act::liger
