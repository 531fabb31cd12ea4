#include "understand/understand.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "ir/text/parse.h"
#include "profile/decision.h"
#include "profile/format.h"
#include "profile/schedules.h"
#include "profile/yaml.h"
#include "understand/decisions/decide.h"
#include "understand/decisions/names.h"
#include "understand/read_source.h"
#include "understand/reference/reference.h"
#include "understand/source_files.h"

namespace kw::understand {
namespace {

// Decisions about reading are options of the reader.
profile::ReadingOptions with_pins(profile::ReadingOptions options, const Pins& pins) {
  for (const auto& [id, value] : pins) {
    const std::size_t dot = id.find('.');
    const std::string kind = id.substr(0, dot);
    const std::string name = dot == std::string::npos ? "" : id.substr(dot + 1);
    if (kind == "type") options.dtype[name] = value;
    if (kind == "shape") options.shape[name] = replace_all(value, " ", "");
    if (kind == "value" || kind == "assumed") options.init[name] = value;
    if (id == "mode") options.eval = value == "eval";
  }
  return options;
}

// What a decision had said about the reading, taken back.
profile::ReadingOptions without(profile::ReadingOptions options, const std::string& id) {
  const std::size_t dot = id.find('.');
  const std::string kind = id.substr(0, dot);
  const std::string name = dot == std::string::npos ? "" : id.substr(dot + 1);
  if (kind == "type") options.dtype.erase(name);
  if (kind == "shape") options.shape.erase(name);
  if (kind == "value" || kind == "assumed") options.init.erase(name);
  if (id == "mode") options.eval = false;
  return options;
}

Pins pins_of(const profile::Profile& profile) {
  Pins pins;
  for (const profile::Decision& decision : profile.decisions)
    if (decision.set_by == profile::SetBy::User) pins[decision.id] = decision.value;
  return pins;
}

// What is written must read back as what was meant; anything else is a mistake of ours and must not reach the disk.
Status check_round_trip(const profile::Profile& profile, const std::string& yaml) {
  const Result<profile::Profile> back = profile::from_yaml(yaml, "profile.yaml");
  if (!back) {
    Error error = back.error();
    error.kind = ErrorKind::Internal;
    error.message = "the profile contradicts itself: " + error.message;
    error.hint = "this is a bug of kw; please report it with the source";
    return Failure(std::move(error));
  }
  if (!(*back == profile))
    return fail(ErrorKind::Internal, "the profile does not read back as it was written",
                "this is a bug of kw; please report it with the source");
  return {};
}

Result<profile::Files> folder_files(const profile::Profile& profile, const Reading& reading,
                                    const profile::KernelFolder& folder) {
  profile::Files files = stored_files(reading);
  // From the profile's own text: a casting mode that a person has set is in it.
  KW_TRY(const ir::Graph read, ir::text::parse(profile.math.read, "profile.yaml"));
  KW_TRY(files["reference.py"], write_reference(read));
  std::string yaml = profile::to_yaml(profile);
  KW_CHECK(check_round_trip(profile, yaml));
  files["profile.yaml"] = std::move(yaml);
  if (!file_exists(folder.file("schedules.yaml"))) files["schedules.yaml"] = profile::schedules_to_yaml({});
  return files;
}

// "level1/38_L1Norm_.py" → "L1Norm_".
std::string file_stem(const std::string& path) {
  std::string stem = path.substr(path.find_last_of('/') + 1);
  stem.resize(std::min(stem.size(), stem.find('.')));
  return stem.substr(std::min(stem.size(), stem.find_first_not_of("0123456789_-")));
}

std::string default_name(const Reading& reading, const LocatedSource& source) {
  if (!source.name.empty()) return snake_case(source.name);
  if (!reading.entry.empty()) {
    const std::string name = snake_case(reading.entry), stem = file_stem(source.path);
    return says_nothing(name) && !source.text && !stem.empty() ? snake_case(stem) : name;
  }
  return snake_case(reading.graph.name);
}

profile::Source source_fields(const LocatedSource& located, const Reading& reading,
                              const profile::ReadingOptions& options) {
  const SourceText& main = reading.sources[0];
  return {located.kind, stored_name(reading, main.path), reading.entry, located.given, sha256_hex(main.text), options};
}

// The files of an earlier reading that the new one does not have.
std::vector<std::string> stale_sources(const profile::KernelFolder& folder, const profile::Files& files) {
  std::vector<std::string> stale;
  for (const char* extension : {".py", ".kw", ".json"}) {
    const std::string name = std::string("source") + extension;
    if (file_exists(folder.file(name)) && !files.contains(name)) stale.push_back(name);
  }
  return stale;
}

Status check_pins_used(const profile::Profile& profile, const Pins& pins) {
  for (const auto& [id, value] : pins)
    if (!profile.find(id))
      return fail(ErrorKind::BadInput,
                  fmt::format("'{}' was set to '{}', but there is nothing to decide under it any more", id,
                              profile::shortened(value)),
                  "read the source anew with `kw understand --replace`");
  return {};
}

}  // namespace

Result<Understood> understand(const UnderstandRequest& request, const std::string& workspace, const Step& step) {
  step("reading");
  KW_TRY(const LocatedSource located, locate_source(request.source, request.math));
  if (!is_utf8(located.given)) return fail(ErrorKind::BadInput, "the source's name is not text");
  KW_TRY(Reading reading, read_source(located, request.options));
  const std::string name = request.name.empty() ? default_name(reading, located) : request.name;
  KW_CHECK(profile::check_kernel_name(name));
  const profile::KernelFolder folder(workspace, name);

  Pins pins;
  profile::ReadingOptions options = request.options;
  if (folder.exists() && !request.replace) {
    KW_TRY(const profile::Profile old, folder.read_profile());
    if (old.source.given != located.given)
      return fail(ErrorKind::BadInput,
                  fmt::format("there is a kernel '{}' already, and it came from {}", name, old.source.given),
                  "give another --name, or --replace to take its place");
    pins = pins_of(old);
    if (!pins.empty()) {
      options = with_pins(options, pins);
      KW_TRY(reading, read_source(located, options));
    }
  }

  step("deciding");
  KW_TRY(profile::Profile profile, decide(reading, name, source_fields(located, reading, options), pins));
  KW_CHECK(check_pins_used(profile, pins));

  step("writing");
  KW_TRY(const profile::Files files, folder_files(profile, reading, folder));
  KW_CHECK(folder.write(files, stale_sources(folder, files)));
  std::vector<std::string> kept;
  for (const auto& [id, _] : pins) kept.push_back(id);
  return Understood{std::move(profile), folder, std::move(kept)};
}

Result<Changed> set_decisions(const profile::KernelFolder& folder,
                              const std::vector<std::pair<std::string, std::string>>& assignments, const Step& step) {
  KW_TRY(profile::Profile before, folder.read_profile());
  Pins pins = pins_of(before);
  profile::ReadingOptions given = before.source.options;
  for (const auto& [word, value] : assignments) {
    const std::vector<std::string> known = profile::expected_decisions(before);
    const std::optional<std::string> id = profile::resolve_decision(before, word);
    if (!id) {
      std::vector<std::string> ends;
      for (const std::string& candidate : known)
        if (candidate.ends_with("." + word)) ends.push_back(candidate);
      std::string hint = ends.empty() ? did_you_mean(word, known) : "it could be " + profile::any_of(ends);
      if (hint.empty()) hint = fmt::format("`kw review {} --all` shows every decision", folder.name());
      return fail(ErrorKind::BadInput,
                  fmt::format("there is no decision '{}' in {}", profile::shortened(word), folder.name()), hint);
    }
    const profile::DecisionKind& kind = *profile::find_kind(*id);
    if (!kind.settable)
      return fail(ErrorKind::BadInput, fmt::format("'{}' follows from the math and cannot be set", *id),
                  "change the source, or a decision that it follows from");
    if (value.empty()) {
      if (pins.erase(*id) == 0)
        return fail(ErrorKind::BadInput, fmt::format("'{}' is the engine's own choice already", *id));
      given = without(std::move(given), *id);
      continue;
    }
    if (id->starts_with("assumed.size_") || id->starts_with("assumed.scalar_"))
      return fail(ErrorKind::BadInput,
                  fmt::format("'{}' says what the program needs as a number, and cannot be set", *id),
                  "set what it comes from: a shape with its number (shape.x=rows,cols:1024), or an argument");
    if (*id == "mode" && value != "train" && value != "eval")
      return fail(ErrorKind::BadInput,
                  fmt::format("'mode' cannot be '{}': it must be train or eval", profile::shortened(value)));
    if (!is_utf8(value) || value.find('\n') != std::string::npos)
      return fail(ErrorKind::BadInput, fmt::format("the value of '{}' must be one line of text", *id));
    pins[*id] = value;
  }

  step("reading");
  const profile::ReadingOptions options = with_pins(given, pins);
  const LocatedSource kept{before.source.kind,
                           folder.file(before.source.file),
                           before.source.kind == "torch" ? before.source.entry : "",
                           before.source.given,
                           std::nullopt,
                           ""};
  KW_TRY(const Reading reading, read_source(kept, options));
  if (sha256_hex(reading.sources[0].text) != before.source.sha256)
    return bad_input("the kept source has been edited", Place{folder.file(before.source.file)},
                     "read it anew: `kw understand " + before.source.given + " --replace`");

  step("deciding");
  profile::Source source = before.source;
  source.options = options;
  KW_TRY(profile::Profile after, decide(reading, before.name, source, pins));
  KW_CHECK(check_pins_used(after, pins));

  step("writing");
  KW_TRY(const profile::Files files, folder_files(after, reading, folder));
  KW_CHECK(folder.write(files));
  std::vector<profile::Change> changes = profile::difference(before, after);
  return Changed{std::move(before), std::move(after), std::move(changes)};
}

}  // namespace kw::understand
