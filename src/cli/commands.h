// The commands of `kw`: one file each, one row each in the table of commands.cpp. A command's file reads its options
// with CLI11, calls the engine and words the answer; it decides nothing itself. main.cpp prints answers and errors.
//
//   // src/cli/review.cpp
//   Action add_review(CLI::App& app) {
//     auto options = std::make_shared<Options>();            // lives as long as the action
//     app.add_option("NAME", options->name)->required();
//     return [options](const Globals& globals) { return review(globals, *options); };
//   }
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/result.h"

namespace CLI {
class App;
}

namespace kw::cli {

// What every command takes.
struct Globals {
  bool json = false;
  bool quiet = false;
  std::string workspace = ".";  // the folder that holds kernels/ and models/
};

// What a command says when it has not failed. With --json the object is printed, the text otherwise.
struct Answer {
  std::string text;    // ends with a newline
  std::string object;  // one JSON object
  int exit_code = 0;   // 1 when the answer is that a gate failed, 3 when an approval is missing
};

using Action = std::function<Result<Answer>(const Globals&)>;

struct CommandRow {
  const char* name;
  const char* help;          // one line for `kw --help`
  Action (*add)(CLI::App&);  // adds its options and gives what runs after they are read
};

std::span<const CommandRow> commands();  // in the order in which `kw --help` shows them

}  // namespace kw::cli
