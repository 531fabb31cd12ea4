// `kw`: reads the command line, runs one command, prints its answer or its error, and ends with the exit code that the
// error's kind is.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/commands.h"
#include "device/worker_main.h"

namespace kw::cli {
namespace {

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::GateFailed:
      return "gate-failed";
    case ErrorKind::BadInput:
      return "bad-input";
    case ErrorKind::NeedsApproval:
      return "needs-approval";
    case ErrorKind::MissingTool:
      return "missing-tool";
    case ErrorKind::Internal:
      return "internal";
  }
  return "internal";
}

std::string error_object(const Error& error) {
  nlohmann::ordered_json object = {{"kind", kind_name(error.kind)}, {"message", error.message}};
  if (error.place) {
    object["file"] = error.place->file;
    if (error.place->line > 0) object["line"] = error.place->line;
    if (error.place->column > 0) object["column"] = error.place->column;
  }
  if (!error.source_line.empty()) object["source_line"] = error.source_line;
  if (!error.hint.empty()) object["hint"] = error.hint;
  const nlohmann::ordered_json whole = {{"error", object}, {"exit_code", static_cast<int>(error.kind)}};
  return whole.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Prints to stdout; false when not all of it could be written.
bool print(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
}

int report(const Error& error, bool json) {
  if (json) {
    print(error_object(error) + "\n");
  } else {
    std::fputs(render(error).c_str(), stderr);
  }
  return static_cast<int>(error.kind);
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const CommandRow& row : commands()) names.emplace_back(row.name);
  return names;
}

// CLI11's own words name an unknown command only as an extra argument; ours suggest the one that was meant.
Error usage_error(const CLI::App& app, const CLI::ParseError& problem) {
  if (app.get_subcommands().empty()) {
    for (const std::string& word : app.remaining()) {
      if (word.starts_with('-')) continue;
      const std::string hint = did_you_mean(word, command_names());
      return bad_input("there is no command " + word, {}, hint.empty() ? "kw --help lists the commands" : hint).value();
    }
  }
  std::string command = "kw";
  for (const CLI::App* chosen : app.get_subcommands()) command += " " + chosen->get_name();
  return bad_input(problem.what(), {}, command + " --help shows what it takes").value();
}

int run(int argc, char** argv) {
  CLI::App app("Kernelwright turns a tensor operation into reviewed, proven, fast GPU kernels.", "kw");
  Globals globals;
  app.add_flag("--json", globals.json, "one JSON object on stdout, nothing else");
  app.add_flag("--quiet", globals.quiet, "no progress on stderr");
  app.add_option("--workspace", globals.workspace, "the folder that holds kernels/ and models/")->type_name("DIR");
  app.set_version_flag("--version", "kw " KW_VERSION);
  app.require_subcommand(0, 1);

  std::map<const CLI::App*, Action> actions;
  for (const CommandRow& row : commands()) {
    CLI::App* command = app.add_subcommand(row.name, row.help);
    command->fallthrough();  // --json, --quiet and --workspace may stand behind the command too
    command->footer("Every command also takes --json, --quiet and --workspace DIR.");
    actions[command] = row.add(*command);
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& problem) {
    return report(usage_error(app, problem), globals.json);
  }
  if (app.get_subcommands().empty()) {
    std::fputs(app.help().c_str(), stderr);
    return static_cast<int>(ErrorKind::BadInput);
  }

  const Result<Answer> answer = actions.at(app.get_subcommands().front())(globals);
  if (!answer) return report(answer.error(), globals.json);
  if (!print(globals.json ? answer->object + "\n" : answer->text)) {
    return report(bad_input("cannot write to stdout").value(), false);
  }
  return answer->exit_code;
}

}  // namespace
}  // namespace kw::cli

int main(int argc, char** argv) {
  try {
    if (const auto code = kw::device::worker_main(argc, argv)) return *code;
    return kw::cli::run(argc, argv);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "kw: error: %s\nhint: this is a bug of kw; please report it with the command line\n",
                 exception.what());
    return static_cast<int>(kw::ErrorKind::Internal);
  }
}
