// kw understand SOURCE: reads an op and writes its profile.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "base/text.h"
#include "cli/assignment.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"
#include "understand/understand.h"

namespace kw::cli {

constexpr int kLastGeneratedTier = 2;

Result<understand::UnderstandRequest> request_of(const UnderstandOptions& options) {
  understand::UnderstandRequest request;
  request.source = options.source;
  request.math = options.math;
  request.name = options.name;
  request.replace = options.replace;
  request.options.eval = options.eval;
  KW_TRY(request.options.shape, assignments("--shape", options.shapes));
  for (const auto& [name, sizes] : request.options.shape)
    for (const std::string& size : split(sizes, ','))
      if (trim(size).empty())
        return fail(ErrorKind::BadInput, fmt::format("--shape {}={} has a size that is empty", name, sizes),
                    "one for each dimension, as in x=rows,cols");
  KW_TRY(request.options.dtype, assignments("--dtype", options.dtypes));
  KW_TRY(request.options.init, assignments("--init", options.init));
  return request;
}

std::optional<profile::KernelFolder> kernel_named(const Globals& globals, const UnderstandOptions& options) {
  if (options.math || !profile::check_kernel_name(options.source)) return std::nullopt;
  profile::KernelFolder folder(globals.workspace, options.source);
  return folder.exists() ? std::optional(std::move(folder)) : std::nullopt;
}

Result<Answer> run_understand(const Globals& globals, const UnderstandOptions& options) {
  if (options.math && !options.source.empty())
    return fail(ErrorKind::BadInput, "give a SOURCE or --math TEXT, not both");
  if (const auto known = kernel_named(globals, options)) {
    KW_TRY(const profile::Profile profile, known->read_profile());
    if (profile.source.given != options.source)
      return fail(ErrorKind::BadInput,
                  fmt::format("{} is a kernel that is here, read from {}", options.source, profile.source.given),
                  fmt::format("kw understand {} reads it again", profile.source.given));
  }
  KW_TRY(const understand::UnderstandRequest request, request_of(options));
  Progress progress("understand", 3, progress_mode(globals.quiet || globals.json));
  KW_TRY(const understand::Understood result,
         understand::understand(request, globals.workspace, [&](std::string_view step) { progress.step(step); }));
  std::string text =
      fmt::format("{}: tier {}, closest to {}, {} decisions\n  {}\n", result.profile.name, result.profile.tier,
                  result.profile.closest, result.profile.decisions.size(), result.folder.file("profile.yaml"));
  if (!result.kept.empty()) text += fmt::format("  kept what you had set: {}\n", fmt::join(result.kept, ", "));
  if (result.profile.tier > kLastGeneratedTier)
    text +=
        fmt::format("  note: it is understood, but no kernels are generated for tier {} yet\n", result.profile.tier);
  text += fmt::format("next: kw review {}\n", result.profile.name);
  nlohmann::ordered_json object = summary(result.profile);
  object["folder"] = result.folder.path();
  object["kept"] = result.kept;
  object["next"] = "kw review " + result.profile.name;
  return Answer{text, dump(object)};
}

void add_source_options(CLI::App& app, UnderstandOptions& options) {
  app.add_option("SOURCE", options.source, "file.py[:Name], - (stdin), file.kw, file.json, or words");
  app.add_option("--math", options.math, "the op as math text")->type_name("TEXT");
  app.add_option("--name", options.name, "the kernel's name; otherwise the source's own")->type_name("N");
  app.add_option("--shape", options.shapes, "x=rows,cols or x=4096,1024")
      ->type_name("X=SIZES")
      ->allow_extra_args(false);
  app.add_option("--dtype", options.dtypes, "x=bf16")->type_name("X=TYPE")->allow_extra_args(false);
  app.add_option("--init", options.init, "eps=1e-6: an argument of the constructor, or a scalar")
      ->type_name("X=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--eval", options.eval, "read the module in evaluation mode");
  app.add_flag("--replace", options.replace, "take the place of a kernel of that name from another source");
}

Action add_understand(CLI::App& app) {
  auto options = std::make_shared<UnderstandOptions>();
  add_source_options(app, *options);
  return [options](const Globals& globals) { return run_understand(globals, *options); };
}

}  // namespace kw::cli
