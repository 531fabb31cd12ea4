// Finds out what the user gave (a PyTorch file, an exported graph, math text, words) and reads it.
//
//   kw understand norm.py:RMSNorm       a PyTorch file, and which function or module of it
//   kw understand -                     the same text on stdin
//   kw understand norm.kw               math text
//   kw understand norm.json             an exported graph
//   kw understand "relu squared"        words
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "profile/profile.h"
#include "understand/reading.h"

namespace kw::understand {

struct LocatedSource {
  std::string kind;                 // torch, graph, math or words: as in the profile
  std::string path;                 // of the file, as messages show it
  std::string entry;                // the part behind the colon
  std::string given;                // what the user typed
  std::optional<std::string> text;  // where there is no file: stdin, --math, the source that words stand for
  std::string name;                 // where the words or the file suggest one
};

// `math` is the text of --math. Reads stdin for "-".
Result<LocatedSource> locate_source(const std::string& given, const std::optional<std::string>& math);

Result<Reading> read_source(const LocatedSource& source, const profile::ReadingOptions& options);

}  // namespace kw::understand
