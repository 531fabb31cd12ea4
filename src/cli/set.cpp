// kw set NAME decision=value: changes a decision and what follows from it, and shows the difference. decision= gives it
// back to the engine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "cli/assignment.h"
#include "cli/checkpoint.h"
#include "cli/commands.h"
#include "understand/understand.h"

namespace kw::cli {
namespace {

struct Options {
  std::string name;
  std::vector<std::string> assignments;
};

Result<Answer> run(const Globals& globals, const Options& options) {
  std::vector<std::pair<std::string, std::string>> assigned;
  for (const std::string& text : options.assignments) {
    if (text.size() > 1 && text.find('=') == text.size() - 1) {
      assigned.emplace_back(text.substr(0, text.size() - 1), "");
      continue;
    }
    KW_TRY(auto pair, assignment("decision", text));
    assigned.push_back(std::move(pair));
  }
  const profile::KernelFolder folder(globals.workspace, options.name);
  Progress progress("set", 3, progress_mode(globals.quiet || globals.json));
  KW_TRY(const understand::Changed changed,
         understand::set_decisions(folder, assigned, [&](std::string_view step) { progress.step(step); }));
  std::string text = changed.changes.empty() ? "nothing changed\n" : profile::to_text(changed.changes);
  text += fmt::format("next: kw review {0}, then kw approve {0}\n", options.name);
  nlohmann::ordered_json object = {{"name", options.name}};
  object["changes"] = nlohmann::ordered_json::array();
  for (const profile::Change& change : changed.changes)
    object["changes"].push_back({{"what", change.what}, {"before", change.before}, {"after", change.after}});
  return Answer{text, dump(object)};
}

}  // namespace

Action add_set(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("NAME", options->name, "the kernel")->required();
  app.add_option("DECISION=VALUE", options->assignments,
                 "which decision, and what it should be; nothing after the =: the engine's own choice again")
      ->required();
  return [options](const Globals& globals) { return run(globals, *options); };
}

}  // namespace kw::cli
