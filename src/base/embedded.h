// Files of this project that travel inside the binary: Python scripts, templates, machine models, schemas. The build
// gathers them (cmake/embed.cmake); a path is relative to the project's root.
//
//   std::string_view script = embedded::file("python/kernelwright/read_ast.py");
#pragma once

#include <span>
#include <string_view>

namespace kw::embedded {

struct File {
  std::string_view path;
  std::string_view content;
};

std::span<const File> all();  // sorted by path

// The content of an embedded file. A path that was not embedded is a bug of the build, not of the user.
std::string_view file(std::string_view path);

}  // namespace kw::embedded
