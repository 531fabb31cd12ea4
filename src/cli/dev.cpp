// kw dev SOURCE: understand, act and verify, one after the other, with a checkpoint after each. What is done and
// approved is not done again, so the same command goes on where it stopped.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"
#include "cli/standing.h"
#include "profile/review.h"

namespace kw::cli {
namespace {

using nlohmann::ordered_json;
using profile::ApprovalState;

struct Options {
  UnderstandOptions understand;
  std::string target = "cpu";
  std::string into;  // a file set to end with
  bool yes = false;
  bool own_types = false;
  bool torch_compile = false;
};

// The answer of a stage without its last line, which says what a person would type next.
std::string without_next(const std::string& text) {
  const std::size_t next = text.rfind("next: ");
  return next == std::string::npos ? text : text.substr(0, next);
}

class Development {
 public:
  Development(const Globals& globals, const Options& options)
      : globals_(globals),
        options_(options),
        at_terminal_(!globals.json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {}

  Result<Answer> run() {
    KW_CHECK(check_set());
    KW_CHECK(understand());
    const profile::KernelFolder folder(globals_.workspace, name_);
    KW_TRY(bool go_on, profile_checkpoint(folder));
    if (!go_on) return stopped("profile");
    KW_CHECK(generate(folder));
    KW_TRY(go_on, checkpoint(folder, "files"));
    if (!go_on) return stopped("files");
    KW_TRY(const bool passed, verify(folder));
    if (!passed) return ended("failed", 1);
    KW_TRY(go_on, checkpoint(folder, "files"));  // a fallback has files of its own
    if (!go_on) return stopped("files");
    KW_TRY(go_on, checkpoint(folder, "report"));
    if (!go_on) return stopped("report");
    return finished(folder);
  }

 private:
  // Said before anything is judged, which takes a while.
  Status check_set() const {
    const std::string& into = options_.into;
    if (into.empty()) return {};
    if (!into.starts_with("package:") && !into.starts_with("cpp:") && !into.starts_with("liger:"))
      return bad_input(fmt::format("'{}' is no set of files", into), {}, "package:DIR, cpp:DIR or liger:DIR");
    const bool wants_triton = into.starts_with("liger:");
    if (wants_triton != (options_.target == "triton"))
      return bad_input(fmt::format("{} takes kernels for {}, and the target is {}", into,
                                   wants_triton ? "triton" : "cpu and cuda", options_.target),
                       {}, wants_triton ? "--target triton" : "--target cpu or cuda");
    return {};
  }

  void say(const std::string& text) {
    if (at_terminal_) {
      std::fputs(text.c_str(), stdout);
      std::fflush(stdout);
    } else {
      text_ += text;
    }
  }

  void add(const char* stage, const Answer& answer) {
    object_[stage] = ordered_json::parse(answer.object);
    say(without_next(answer.text));
  }

  // The name of a kernel that is there already goes on with it; anything else is a source.
  Status understand() {
    const UnderstandOptions& given = options_.understand;
    if (kernel_named(globals_, given)) {
      name_ = given.source;
    } else {
      KW_TRY(const Answer answer, run_understand(globals_, given));
      add("understand", answer);
      name_ = object_["understand"]["name"];
    }
    object_["name"] = name_;
    object_["target"] = options_.target;
    return {};
  }

  Result<profile::Profile> read(const profile::KernelFolder& folder, Standing& standing) {
    KW_TRY(profile::Profile profile, folder.read_profile());
    KW_TRY(standing, standing_of(folder, profile));
    return profile;
  }

  // A changed profile is shown by what changed, a new one whole.
  Result<bool> profile_checkpoint(const profile::KernelFolder& folder) {
    Standing standing;
    KW_TRY(const profile::Profile profile, read(folder, standing));
    if (standing.profile == ApprovalState::Current) return true;
    if (!options_.yes) {
      if (standing.profile == ApprovalState::Void) {
        KW_TRY(const Answer changes, run_diff(globals_, name_));
        object_["diff"] = ordered_json::parse(changes.object)["changes"];
        say("changed since it was approved:\n" + changes.text);
      } else {
        KW_TRY(const Answer page, run_review(globals_, {name_, false, false}));
        say(page.text);
      }
    }
    return approved("profile");
  }

  Result<bool> checkpoint(const profile::KernelFolder& folder, const std::string& stage) {
    Standing standing;
    KW_TRY(const profile::Profile profile, read(folder, standing));
    const ApprovalState state = stage == "files" ? standing.files : standing.report;
    return state == ApprovalState::Current ? Result<bool>(true) : approved(stage);
  }

  // Asks, or takes --yes, or stops.
  Result<bool> approved(const std::string& stage) {
    if (!options_.yes) {
      if (!at_terminal_) return false;
      say(fmt::format("approve the {} of {}? [y/N] ", stage, name_));
      std::string line;
      if (!std::getline(std::cin, line) || (line != "y" && line != "yes")) return false;
    }
    KW_TRY(const Answer answer, run_approve(globals_, {name_, stage, options_.yes}));
    say(without_next(answer.text));
    return true;
  }

  // Files that a person changed and then approved stay as they are.
  Status generate(const profile::KernelFolder& folder) {
    Standing standing;
    KW_TRY(const profile::Profile profile, read(folder, standing));
    KW_TRY(const std::optional<act::Generated> found, files_on_disk(folder, options_.target));
    if (found && standing.files == ApprovalState::Current && standing.files_after) return {};
    KW_TRY(const Answer answer, run_act(globals_, {name_, options_.target}));
    add("act", answer);
    return {};
  }

  Result<bool> verify(const profile::KernelFolder& folder) {
    Standing standing;
    KW_TRY(const profile::Profile profile, read(folder, standing));
    if (standing.passed && standing.report_target == options_.target) {
      say(fmt::format("{}: verified on {} before, by {}\n", name_, options_.target, folder.file("verify/report.md")));
      return true;
    }
    VerifyOptions options;
    options.name = name_;
    options.target = options_.target;
    options.own_types = options_.own_types;
    options.torch_compile = options_.torch_compile;
    KW_TRY(const Answer answer, run_verify(globals_, options));
    add("verify", answer);
    return answer.exit_code == 0;
  }

  Answer ended(const std::string& stage, int exit_code) {
    object_["stage"] = stage;
    return {text_, dump(object_), exit_code};
  }

  Answer stopped(const std::string& stage) {
    const std::string approve = fmt::format("kw approve {}{}", name_, stage == "profile" ? "" : " --stage " + stage);
    const std::string again =
        fmt::format("kw dev {}{}{}", name_, options_.target == "cpu" ? "" : " --target " + options_.target,
                    options_.into.empty() ? "" : " --into " + options_.into);
    object_["next"] = {approve, again};
    say(fmt::format("the {} of {} wait{} for approval\nnext: {}, then {}\n", stage, name_, stage == "files" ? "" : "s",
                    approve, again));
    return ended(stage, static_cast<int>(ErrorKind::NeedsApproval));
  }

  Result<Answer> finished(const profile::KernelFolder& folder) {
    KW_TRY(const profile::Profile profile, folder.read_profile());
    const profile::Memory& memory = profile.memory;
    say(fmt::format("done: {}\n  kept for backward {}, eager about {}; peak {} and {}, eager about {} and {}\n",
                    folder.file("act/" + options_.target), profile::bytes_text(memory.kept),
                    profile::bytes_text(memory.eager_kept), profile::bytes_text(memory.forward_peak),
                    profile::bytes_text(memory.backward_peak), profile::bytes_text(memory.eager_forward_peak),
                    profile::bytes_text(memory.eager_backward_peak)));
    if (!options_.into.empty()) {
      // What was judged, and the CPU beside a GPU.
      const std::string targets = options_.target == "cuda" ? "cpu,cuda" : options_.target == "cpu" ? "cpu" : "";
      KW_TRY(const Answer files, run_file_set(globals_, {{name_}, targets, options_.into, false}));
      object_["into"] = ordered_json::parse(files.object);
      say(files.text);
    } else if (options_.target != "triton") {
      const std::vector<std::string> use = {fmt::format("kw act {}{} --into package:my_kernels", name_,
                                                        options_.target == "cuda" ? " --target cpu,cuda" : ""),
                                            "pip install ./my_kernels --no-build-isolation",
                                            fmt::format("from my_kernels import {}", name_)};
      object_["use"] = use;
      say("use it from PyTorch:\n  " + join(use, "\n  ") + "\n");
    }
    return ended("done", 0);
  }

  const Globals& globals_;
  const Options& options_;
  const bool at_terminal_;
  std::string name_, text_;
  ordered_json object_;
};

}  // namespace

Action add_dev(CLI::App& app) {
  auto options = std::make_shared<Options>();
  add_source_options(app, options->understand);
  app.get_option("SOURCE")->description("as for understand, or the name of a kernel that is there: goes on with it");
  app.add_option("--target", options->target, "cpu (the default), cuda or triton")->type_name("TARGET");
  add_into_option(app, options->into);
  app.add_flag("--yes", options->yes, "approves at every checkpoint; the record says that a flag did it");
  app.add_flag("--own-types", options->own_types, "verifies the types of the profile alone, not every mixture");
  app.add_flag("--torch-compile", options->torch_compile,
               "beside eager, time the source through torch.compile too (half a minute more)");
  return [options](const Globals& globals) { return Development(globals, *options).run(); };
}

}  // namespace kw::cli
