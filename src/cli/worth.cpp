// kw worth SOURCE: what a kernel could gain on this machine, before one is written.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/progress.h"
#include "cli/assignment.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"
#include "understand/understand.h"
#include "verify/worth.h"

namespace kw::cli {
namespace {

struct Options {
  UnderstandOptions understand;
  std::string target = "cpu";
};

std::string row(const char* what, double seconds, double limit) {
  return fmt::format("  {:<14} {:>10}  {:.0f}% of the limit\n", what, verify::milliseconds(seconds),
                     100 * limit / seconds);
}

std::string as_text(const std::string& name, const verify::Worth& worth) {
  std::string sizes;
  for (const auto& [symbol, size] : worth.sizes) sizes += fmt::format(" {}={}", symbol, size);
  std::string text = fmt::format("{}, {},{}, {}\n{}; {}\n", name, worth.backward ? "forward and backward" : "forward",
                                 sizes, worth.types, worth.device, worth.torch);
  text += fmt::format("  {:<14} {:>10}  {:.0f} MB{}\n", "limit", verify::milliseconds(worth.limit), worth.bytes / 1e6,
                      worth.memory_bound ? "" : ", and more arithmetic than that");
  text += row("eager", worth.eager.median, worth.limit);
  text += worth.compiled ? row("torch.compile", worth.compiled->median, worth.limit)
                         : fmt::format("  {:<14} {}\n", "torch.compile", "failed: " + worth.uncompiled);
  return text + worth.advice() + "\n";
}

std::string as_object(const std::string& name, const verify::Worth& worth) {
  nlohmann::ordered_json object = {{"name", name},
                                   {"device", worth.device},
                                   {"torch", worth.torch},
                                   {"sizes", worth.sizes},
                                   {"bytes", worth.bytes},
                                   {"limit_seconds", worth.limit},
                                   {"memory_bound", worth.memory_bound},
                                   {"eager_seconds", worth.eager.median}};
  object["compiled_seconds"] = worth.compiled ? nlohmann::ordered_json(worth.compiled->median) : nullptr;
  if (!worth.uncompiled.empty()) object["uncompiled"] = worth.uncompiled;
  object["gain"] = worth.gain();
  object["saved_seconds"] = worth.saved();
  object["worthwhile"] = worth.worthwhile();
  object["advice"] = worth.advice();
  return dump(object);
}

Result<Answer> run(const Globals& globals, const Options& options) {
  KW_TRY(const kernel::Target target, target_of(options.target));
  KW_TRY(const understand::UnderstandRequest request, request_of(options.understand));
  Progress progress("worth", 3, progress_mode(globals.quiet || globals.json));
  progress.step("reading");
  KW_TRY(const TemporaryDirectory workspace, TemporaryDirectory::make());  // nothing is left behind
  std::optional<profile::KernelFolder> folder = kernel_named(globals, options.understand);
  if (!folder) {
    KW_TRY(understand::Understood read, understand::understand(request, workspace.path(), [](std::string_view) {}));
    folder = std::move(read.folder);
  }
  KW_TRY(const profile::Profile profile, folder->read_profile());
  const profile::Source& source = profile.source;
  if (source.kind != "torch" && source.kind != "words")
    return bad_input("there is no PyTorch source to compare with", {}, "give file.py");
  progress.step("opening the device");
  KW_TRY(const std::unique_ptr<device::Device> device, device::open_device(target));
  KW_CHECK(device->can_run());
  progress.step("timing PyTorch and the limit");
  KW_TRY(const verify::Worth worth,
         verify::worth_of(profile, {folder->file(source.file), source.entry, source.options.eval, source.options.init},
                          *device));
  return Answer{as_text(profile.name, worth), as_object(profile.name, worth)};
}

}  // namespace

Action add_worth(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_source_options(app, options->understand);
  app.add_option("--target", options->target, "cpu or cuda");
  return [options](const Globals& globals) { return run(globals, *options); };
}

}  // namespace kw::cli
