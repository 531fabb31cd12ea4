// What is wrong with a manifest, and where in it, as a path of keys and positions
// ("passes/0/steps/1/entries/0/guards/2"), so that a manifest that was read from a file can be blamed by line and
// column.
#pragma once

#include <optional>
#include <string>

#include "kernel/manifest.h"

namespace kw::kernel {

struct Flaw {
  std::string path;
  std::string message;
  std::string hint;
};

std::optional<Flaw> first_flaw(const Manifest& manifest);

}  // namespace kw::kernel
