// kw verify NAME: puts every gate to the kernels of a profile, or to a kernel that a person wrote.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "act/act.h"
#include "base/file.h"
#include "base/progress.h"
#include "base/text.h"
#include "cli/checkpoint.h"
#include "cli/stages.h"
#include "cli/standing.h"
#include "profile/folder.h"
#include "profile/schedules.h"
#include "profile/yaml.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"
#include "verify/attempts.h"
#include "verify/gain.h"
#include "verify/hand_written.h"
#include "verify/judge.h"
#include "verify/speed.h"

namespace kw::cli {
namespace {

// What is to be judged, and where its attempts and reports are kept.
struct Job {
  std::string name;
  profile::Profile profile;
  verify::Subject subject;
  std::string identity;      // what must change after three strikes
  std::string profile_hash;  // empty without a profile in the workspace
  std::string folder;        // of attempts and reports
  std::optional<verify::TorchSource> torch;
  std::vector<std::string> notes;
};

const std::string kLean = "fewer registers";  // the plan's family, with fewer elements and threads

// A fallback that an earlier run found right, and why it was wanted.
std::vector<std::string> fallbacks_in_force(const std::vector<profile::ScheduleRow>& schedules, const Job& job,
                                            const std::string& target) {
  std::vector<std::string> notes;
  const std::string plan = act::plan_hash(job.profile);
  for (const char* pass : {"forward", "backward"})
    for (const profile::ScheduleRow& row : schedules)
      if (profile::stands_in(row, plan, target, pass))
        notes.push_back(fmt::format(
            "the {} {}: {}", pass, row.parameters.contains("lean") ? "takes " + kLean : "is the fallback " + row.family,
            row.evidence));
  return notes;
}

Result<Job> generated_job(const VerifyOptions& options, const profile::KernelFolder& folder, Job job,
                          kernel::Target target) {
  KW_TRY(const std::vector<profile::ScheduleRow> schedules, schedules_of(folder));
  KW_TRY(act::Generated kernels, act::act(job.profile, schedules, target));
  KW_TRY(std::optional<act::Generated> found, files_on_disk(folder, options.target));
  bool edited = false;
  if (found) {
    edited = verify::kernel_hash(found->manifest, found->files) != verify::kernel_hash(kernels.manifest, kernels.files);
    if (edited && are_outdated(folder, options.target, job.profile, *found))
      return bad_input(fmt::format("the files in act/{} are of an earlier profile of {}", options.target, job.name), {},
                       fmt::format("kw act {}{}, then verify", job.name,
                                   options.target == "cpu" ? "" : " --target " + options.target));
    if (edited) job.notes.push_back("the files in act/" + options.target + " are not what the profile generates");
    kernels = std::move(*found);
  }
  if (!edited) job.notes = fallbacks_in_force(schedules, job, options.target);
  job.identity = job.profile_hash + " " + verify::kernel_hash(kernels.manifest, kernels.files);
  KW_TRY(job.subject, verify::subject_of(job.profile, std::move(kernels.manifest), std::move(kernels.files), edited));
  return job;
}

Result<Job> hand_written_job(const VerifyOptions& options, Job job) {
  KW_TRY(verify::Subject math, verify::subject_of(job.profile, {}, {}, true));
  KW_TRY(verify::HandWritten kernel,
         verify::read_hand_written(options.kernel,
                                   options.manifest.empty() ? std::nullopt : std::optional(options.manifest),
                                   math.forward, math.joint));
  job.notes.push_back("the contract is from " + kernel.manifest_from);
  job.identity = job.profile_hash + " " + verify::kernel_hash(kernel.manifest, kernel.files);
  math.manifest = std::move(kernel.manifest);
  math.files = std::move(kernel.files);
  job.subject = std::move(math);
  return job;
}

Result<Job> job_of_profile(const Globals& globals, const VerifyOptions& options, kernel::Target target) {
  const profile::KernelFolder folder(globals.workspace, options.name);
  Job job;
  job.name = options.name;
  KW_TRY(job.profile, folder.read_profile());
  KW_TRY(const profile::ApprovalState approval, folder.profile_approval(job.profile));
  if (approval != profile::ApprovalState::Current)
    return fail(ErrorKind::NeedsApproval,
                fmt::format("the profile of {} {}", options.name,
                            approval == profile::ApprovalState::Missing ? "is not approved yet"
                                                                        : "changed since it was approved"),
                "kw review " + options.name + ", then kw approve " + options.name);
  job.profile_hash = profile::canonical_hash(job.profile);
  job.folder = folder.file("verify");
  const profile::Source& source = job.profile.source;
  if (source.kind == "torch" || source.kind == "words")
    job.torch = {folder.file(source.file), source.entry, source.options.eval, source.options.init};
  return options.kernel.empty() ? generated_job(options, folder, std::move(job), target)
                                : hand_written_job(options, std::move(job));
}

Result<Job> job_of_reference(const Globals& globals, const VerifyOptions& options) {
  Job job;
  KW_TRY(const understand::LocatedSource located, understand::locate_source(options.reference, std::nullopt));
  KW_TRY(const understand::Reading reading, understand::read_source(located, {}));
  const std::size_t slash = options.kernel.rfind('/');
  const std::string file = slash == std::string::npos ? options.kernel : options.kernel.substr(slash + 1);
  job.name = verify::identifier(file.substr(0, file.rfind('.')));
  profile::Source source;
  source.kind = located.kind;
  source.file = located.path;
  KW_TRY(job.profile, understand::decide(reading, job.name, source, {}));
  job.folder = globals.workspace + "/verify/" + job.name;
  if (located.kind == "torch") job.torch = {located.path, reading.entry, false, {}};
  KW_TRY(job, hand_written_job(options, std::move(job)));
  job.identity += " " + profile::canonical_hash(job.profile);
  return job;
}

Result<Job> job_of(const Globals& globals, const VerifyOptions& options) {
  KW_TRY(const kernel::Target target, target_of(options.target));
  if (!options.reference.empty()) {
    if (options.kernel.empty()) return bad_input("--reference needs --kernel FILE");
    if (!options.name.empty()) return bad_input("give NAME or --reference FILE, not both");
    return job_of_reference(globals, options);
  }
  if (options.name.empty())
    return bad_input("what is to be verified?", {}, "kw verify NAME, or kw verify --kernel FILE --reference ref.py");
  if (options.kernel.empty() && !options.manifest.empty()) return bad_input("--manifest needs --kernel FILE");
  return job_of_profile(globals, options, target);
}

// What is tried instead: where kernels only spilled, the same with fewer registers; then the families of both passes,
// in the order that the profile lists them; what is left for any pass comes last.
std::vector<std::string> fallbacks_of(const profile::Plan& plan, const verify::Report& failed) {
  std::vector<std::string> families = plan.forward.fallbacks;
  if (plan.backward)
    for (const std::string& family : plan.backward->fallbacks)
      if (std::find(families.begin(), families.end(), family) == families.end())
        families.insert(families.empty() ? families.end() : families.end() - 1, family);
  if (verify::only_spills(failed)) families.insert(families.begin(), kLean);
  return families;
}

// The passes of which a kernel spills in the op's own types.
std::set<std::string> spilling_passes(const kernel::Manifest& manifest, const verify::Report& report) {
  std::set<std::string> passes;
  for (const verify::KernelRow& row : report.kernels)
    for (const kernel::Pass& pass : manifest.passes)
      for (const kernel::Step& step : pass.steps)
        for (const kernel::Entry& entry : step.entries)
          if (verify::spills_in_own_types(report, row) && entry.symbol == row.kernel) passes.insert(pass.name);
  return passes;
}

// What is tried instead, as rows of schedules.yaml, and what it gives.
struct Fallback {
  std::vector<profile::ScheduleRow> schedules;  // with those that there were
  act::Generated kernels;
};

// None where it gives the kernels that failed.
Result<std::optional<Fallback>> fallback(const profile::KernelFolder& folder, Job& job, const std::string& family,
                                         kernel::Target target, const verify::Report& failed) {
  Fallback next;
  KW_TRY(next.schedules, schedules_of(folder));
  const std::string evidence =
      fmt::format("the plan's kernels did not pass {}", join(verify::failed_gates(failed), ", "));
  const std::string plan = act::plan_hash(job.profile);
  const bool lean = family == kLean;
  const std::set<std::string> spilling = spilling_passes(job.subject.manifest, failed);
  const std::string name(kernel::name_of(target));
  const auto is_by_hand = [&](const profile::ScheduleRow& row) {
    return row.instead_of.empty() && spilling.contains(row.pass) && profile::tunes(row, plan, name, row.pass);
  };
  if (lean && std::any_of(next.schedules.begin(), next.schedules.end(), is_by_hand)) {
    job.notes.push_back("schedules.yaml has parameters for what spills: " + kLean + " are not tried");
    return std::nullopt;
  }
  const auto take = [&](const std::string& pass, const profile::PassPlan& of_pass) {
    const auto& listed = of_pass.fallbacks;
    if (lean ? !spilling.contains(pass) : std::find(listed.begin(), listed.end(), family) == listed.end()) return;
    profile::ScheduleRow row{.target = name, .pass = pass, .family = lean ? of_pass.family : family};
    if (lean) row.parameters = {{"lean", "1"}};
    row.evidence = evidence;
    row.instead_of = plan;
    for (const profile::ScheduleRow& earlier : next.schedules)
      if (lean && profile::stands_in(earlier, plan, name, pass)) row.family = earlier.family;
    std::erase_if(next.schedules, [&](const profile::ScheduleRow& earlier) {
      return earlier.target == name && earlier.pass == pass && !earlier.instead_of.empty();
    });
    next.schedules.push_back(std::move(row));
  };
  take("forward", job.profile.plan.forward);
  if (job.profile.plan.backward) take("backward", *job.profile.plan.backward);
  auto kernels = act::act(job.profile, next.schedules, target);
  if (!kernels) {
    job.notes.push_back("the fallback " + family + " is refused: " + kernels.error().message);
    return std::nullopt;
  }
  next.kernels = std::move(*kernels);
  if (verify::kernel_hash(next.kernels.manifest, next.kernels.files) ==
      verify::kernel_hash(job.subject.manifest, job.subject.files)) {
    job.notes.push_back("the fallback " + family + " gives the same kernels");
    return std::nullopt;
  }
  return next;
}

// What was proven is what there is from now on: act, packages and libraries make these kernels of the same profile.
Status adopt(const profile::KernelFolder& folder, Job& job, const Fallback& taken, const std::string& target) {
  const std::map<std::string, std::string> schedules = {
      {"schedules.yaml", profile::schedules_to_yaml(taken.schedules)}};
  job.notes.push_back("schedules.yaml has the fallback from now on; without its rows the plan is tried again");
  if (!file_exists(folder.file("act/" + target + "/manifest.json"))) return folder.write(schedules);
  job.notes.push_back("the files in act/" + target + " are the fallback's");
  return write_kernels(folder, job.profile, taken.kernels, target, schedules);
}

std::chrono::milliseconds call_limit(const VerifyOptions& options) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(options.time_limit * 1000));
}

// How near the verified kernels come to the limit, in the user's own types at the first shape to be fast at. That they
// cannot be timed here is a note, not a failure; a wrong answer to the calls that are timed is one.
void time_passes(const VerifyOptions& options, Job& job, kernel::Target target, verify::Report& report) {
  if (job.profile.shapes.measure.empty()) return;
  kernel::TypeBinding types;
  int threads = 1;
  const auto timed = [&]() -> Result<verify::Speeds> {
    // Of a run: some calls, however slow they are, and many of what they are timed beside.
    constexpr int kCalls = 4;
    device::DeviceOptions device_options;
    device_options.limits.time = kCalls * call_limit(options) + std::chrono::seconds(30);
    KW_TRY(const std::unique_ptr<device::Device> device, device::open_device(target, device_options));
    KW_CHECK(device->can_run());
    threads = std::max(1, static_cast<int>(device->machine().threads));
    for (const ir::TypeParameter& parameter : job.subject.forward.type_parameters)
      types[parameter.name] = parameter.default_dtype;
    KW_TRY(const device::CompiledSet kernels,
           device->compile_when_called(job.subject.manifest, job.subject.files, types));
    const profile::Shape& shape = job.profile.shapes.measure.front();
    return verify::speeds_of(job.subject, *device, kernels, {shape.begin(), shape.end()}, {.seed = report.seed});
  }();
  if (!timed) {
    job.notes.push_back("not timed: " + timed.error().message);
    return;
  }
  verify::add(*timed, report);
  if (report.passed())
    report.verdicts[static_cast<std::size_t>(verify::Gate::Gain)] = verify::judge_gain(
        job.subject, job.torch, types, timed->passes, {threads, options.torch_compile}, report.speeds);
}

Result<verify::Report> attempt(const Globals& globals, const VerifyOptions& options, Job& job, kernel::Target target,
                               const std::string& variant, const verify::AttemptLog& log) {
  verify::JudgeOptions judge_options;
  judge_options.cases.only_own_types = options.own_types;
  judge_options.device.limits.time = call_limit(options);
  if (!options.seed.empty()) {
    char* end = nullptr;
    judge_options.cases.seed = std::strtoull(options.seed.c_str(), &end, 16);
    if (*end != '\0') return bad_input("the seed is a hexadecimal number, as a report gives it");
  }
  Progress progress("verify " + job.name, 100, progress_mode(globals.quiet || globals.json));
  judge_options.step = [&](std::string_view step) { progress.step(step); };
  judge_options.torch = job.torch;
  judge_options.spills = job.profile.limits.spills;
  judge_options.past_31_bits =
      !options.no_huge && (options.huge || job.subject.manifest.target == kernel::Target::Cuda);
  KW_TRY(const std::vector<verify::Attempt> before, log.read());
  KW_TRY(verify::Report report, verify::judge(job.subject, judge_options));
  report.profile_hash = job.profile_hash;
  report.attempt = verify::strikes(before, report.target, job.identity) + 1;
  if (report.passed() && !options.no_timing) time_passes(options, job, target, report);
  KW_CHECK(log.add(verify::attempt_of(report, job.identity, variant, profile::now_utc())));
  return report;
}

std::string what_failed(const verify::Report& report) {
  std::string text =
      fmt::format("attempt {} does not pass {}", report.attempt, join(verify::failed_gates(report), ", "));
  for (const verify::Verdict& verdict : report.verdicts)
    if (verdict.outcome == verify::Outcome::Failed) return text + ": " + verdict.line;
  return text;
}

// Until one passes, which then is what the report is about; else it stays about the plan's kernels.
Status try_fallbacks(const Globals& globals, const VerifyOptions& options, Job& job, kernel::Target target,
                     const verify::AttemptLog& log, verify::Report& report) {
  const profile::KernelFolder folder(globals.workspace, job.name);
  int attempts = report.attempt;
  bool was_lean = false;
  const std::vector<std::string> ways = fallbacks_of(job.profile.plan, report);
  for (const std::string& family : ways) {
    if (report.passed() || attempts >= verify::kMostAttempts) break;
    // The last attempt is for what serves any pass, where one went to fewer registers.
    if (was_lean && attempts + 1 == verify::kMostAttempts && family != ways.back()) continue;
    KW_TRY(const std::optional<Fallback> next, fallback(folder, job, family, target, report));
    if (!next) continue;
    was_lean |= family == kLean;
    const verify::Subject planned = job.subject;
    if (attempts == report.attempt) job.notes.push_back(what_failed(report));
    job.notes.push_back(
        fmt::format("attempt {} takes {}{}", ++attempts, family == kLean ? "" : "the fallback ", family));
    job.subject.manifest = next->kernels.manifest;
    job.subject.files = next->kernels.files;
    KW_TRY(verify::Report tried,
           attempt(globals, options, job, target, (family == kLean ? "" : "fallback: ") + family, log));
    if (tried.passed()) {
      report = std::move(tried);
      return adopt(folder, job, *next, options.target);
    }
    job.notes.push_back(what_failed(tried));
    job.subject = planned;
  }
  return {};
}

}  // namespace

Result<Answer> run_verify(const Globals& globals, const VerifyOptions& options) {
  KW_TRY(Job job, job_of(globals, options));
  const kernel::Target target = job.subject.manifest.target;  // a kernel by hand says itself what it is for
  const verify::AttemptLog log(job.folder + "/attempts.jsonl");
  KW_CHECK(log.may_go_on(job.name, std::string(kernel::name_of(target)), job.identity));
  KW_TRY(verify::Report report, attempt(globals, options, job, target, "as planned", log));
  // What a person wrote or edited has none.
  if (!job.subject.from_outside) KW_CHECK(try_fallbacks(globals, options, job, target, log, report));
  report.notes = job.notes;
  KW_CHECK(write_file_atomically(job.folder + "/report.json", verify::to_json(report) + "\n"));
  KW_CHECK(write_file_atomically(job.folder + "/report.md", verify::to_markdown(report)));
  KW_CHECK(write_file_atomically(job.folder + "/report.html", verify::to_html(report)));
  const std::string text = verify::to_text(report) + "  " + job.folder + "/report.md\n";
  auto object = nlohmann::ordered_json::parse(verify::to_json(report));
  object["folder"] = job.folder;
  return Answer{text, dump(object), report.passed() ? 0 : 1};
}

Action add_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("NAME", options->name, "the kernel");
  app.add_option("--target", options->target, "cpu (the default), cuda or triton")->type_name("T");
  app.add_option("--kernel", options->kernel, "a kernel that a person wrote")->type_name("FILE");
  app.add_option("--manifest", options->manifest, "its contract (docs/contract.md)")->type_name("FILE");
  app.add_option("--reference", options->reference, "what it must compute, where there is no profile")
      ->type_name("FILE.py[:NAME]");
  app.add_flag("--own-types", options->own_types, "only the types of the profile, not every mixture");
  app.add_flag("--no-timing", options->no_timing, "right or wrong alone, without the share of the limit");
  app.add_flag("--torch-compile", options->torch_compile,
               "beside eager, time the source through torch.compile too (half a minute more)");
  auto* huge = app.add_flag("--huge", options->huge,
                            "one call of more than 2^31 elements too, where memory allows: as it is on a GPU");
  app.add_flag("--no-huge", options->no_huge, "no such call on a GPU either")->excludes(huge);
  app.add_option("--seed", options->seed, "draws the same inputs as the report with this seed")->type_name("HEX");
  app.add_option("--time-limit", options->time_limit, "seconds that one call may take")
      ->type_name("S")
      ->check(CLI::Range(0.1, 3600.0));
  return [options](const Globals& globals) { return run_verify(globals, *options); };
}

}  // namespace kw::cli
