#include "verify/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <random>
#include <thread>
#include <tuple>

#include "base/hash.h"
#include "base/text.h"
#include "device/cpu/compiler.h"
#include "device/emulate/device.h"
#include "verify/architectures.h"
#include "verify/builds.h"
#include "verify/casting.h"
#include "verify/gradient.h"
#include "verify/large.h"
#include "verify/launches.h"
#include "verify/reach.h"
#include "verify/record.h"
#include "verify/sanitized.h"
#include "verify/shapes.h"
#include "verify/torch_gate.h"
#include "verify/trial.h"

namespace kw::verify {
namespace {

constexpr std::size_t kMostCallsAgain = 3;              // under a sanitizer, in the emulation
constexpr std::int64_t kMostElementsWatched = 20'000;   // of a call that every access is watched in
constexpr std::int64_t kMostElementsInParts = 150'000;  // of a call whose sums have parts from many blocks
constexpr std::int64_t kMostElementsInARow = 60'000;    // of a call that others of another size go before
constexpr std::int64_t kMostAlongAxis = 1'400'000;      // of a call for a long axis' sake
constexpr std::int64_t kMostAlongAxisWatched = 60'000;  // likewise, where every access is watched
constexpr std::int64_t kMostThreadsWatched = 500'000;   // likewise, of all its launches
constexpr std::size_t kMostAloneOfAKind = 2;            // of each kernel that no call has chosen
constexpr int kLongerPast31Bits = 12;  // than another call may take: the host fills and reads gigabytes

std::uint64_t fresh_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

class Judge {
 public:
  Judge(const Subject& subject, const JudgeOptions& options)
      : subject_(subject),
        options_(options),
        record_(subject, options.cases.seed != 0 ? options.cases.seed : fresh_seed()) {}

  Result<Report> run() {
    const auto start = std::chrono::steady_clock::now();
    KW_CHECK(run_gates());
    record_.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(record_.report);
  }

 private:
  Status run_gates() {
    options_.step("reading the contract");
    const std::vector<std::string> flaws = interface_flaws(subject_);
    for (const std::string& flaw : flaws) record_.fail({Gate::Interface, flaw}, "");
    if (!flaws.empty()) return {};
    KW_TRY(Runners runners, open());
    record_.report.device = runners.first->name();
    CaseOptions cases = options_.cases;
    cases.seed = record_.report.seed;
    cases.machine = runners.first->machine();
    if (subject_.manifest.target != kernel::Target::Cpu)
      cases.most_elements = std::min<std::int64_t>(cases.most_elements, 20'000);
    if (subject_.manifest.target == kernel::Target::Triton) cases.most_to_reach = cases.most_elements;
    if (subject_.manifest.target == kernel::Target::Cuda) cases.most_in_parts = kMostElementsInParts;
    // The emulation, or Triton's interpreter, sees every access, and takes its time for each.
    const bool emulated =
        record_.report.target != "cpu" && (record_.report.device.find("mulat") != std::string::npos ||
                                           record_.report.device.find("interpreter") != std::string::npos);
    if (subject_.manifest.target != kernel::Target::Triton)
      cases.most_along_axis = emulated ? kMostAlongAxisWatched : kMostAlongAxis;
    if (emulated) cases.most_threads = kMostThreadsWatched;
    cases.may_overlap = !writes_over_an_input();
    cases.vast = subject_.manifest.target == kernel::Target::Cpu && cases.may_overlap;
    const std::vector<Case> plan = plan_cases(subject_, cases);
    const std::vector<kernel::TypeBinding> mixtures = type_mixtures(subject_, cases.only_own_types);
    if (plan.empty()) {
      record_.fail(
          {Gate::Interface, mixtures.empty() ? "the kernels serve none of the types that the math can have"
                                             : "no shape is small enough to be judged and admitted by the math"},
          "");
      return {};
    }
    for (const kernel::TypeBinding& types : mixtures) record_.report.mixtures.push_back(kernel::text(types));

    std::future<TorchVerdict> torch = std::async(std::launch::async, [&] {
      const std::uint64_t seed = Hash64().add(record_.report.seed).add("torch").value();
      if (!options_.check_oracle) return TorchVerdict{{Gate::Torch, Outcome::Skipped, "not asked", {}}};
      return ask_torch(subject_, options_.torch, plan, seed);
    });
    KW_TRY(const auto compiler, open(options_.device, 1));
    if (!options_.brief) KW_CHECK(look_at_architectures(mixtures));
    if (subject_.manifest.target == kernel::Target::Cuda)
      for (const Finding& finding : launches_too_large(subject_, mixtures[0], cases.machine)) record_.fail(finding, "");
    if (!record_.report.passed()) return {};
    options_.step("compiling");
    Builds builds(*compiler, subject_.manifest, subject_.files, mixtures);
    if (options_.check_oracle) KW_CHECK(look_at_gradient(plan));
    KW_CHECK(run_cases(plan, builds, runners));
    if (record_.report.passed() && subject_.from_outside) KW_CHECK(look_at_calls_in_a_row(mixtures[0], builds));
    if (record_.report.passed() && !emulated)
      KW_CHECK(look_at_large(kPastTheCache, mixtures[0], builds.of(mixtures[0]), *runners.first));
    if (record_.report.passed() && !emulated) KW_CHECK(look_past_31_bits(mixtures, builds));
    if (record_.report.passed()) KW_CHECK(look_at_unreached(plan, builds, runners, emulated));
    KW_CHECK(look_through_the_sanitizer(builds, emulated));
    KW_CHECK(look_through_the_emulation(emulated));
    record_.report.compile_seconds = builds.seconds();
    record_.conclude(subject_, plan.size(), mixtures.size());
    options_.step("waiting for PyTorch");
    TorchVerdict asked = torch.get();
    record_.verdict(Gate::Torch) = std::move(asked.verdict);
    record_.verdict(Gate::Strides) = std::move(asked.strides);
    return {};
  }

  bool writes_over_an_input() const {
    const auto takes_an_input = [](const kernel::Pass& pass) {
      return std::any_of(pass.buffers.begin(), pass.buffers.end(), [&](const kernel::Buffer& buffer) {
        const kernel::Buffer* of = buffer.alias.empty() ? nullptr : pass.find(buffer.alias);
        return of != nullptr && of->role == kernel::Role::Input;
      });
    };
    const std::vector<kernel::Pass>& passes = subject_.manifest.passes;
    return std::any_of(passes.begin(), passes.end(), takes_an_input);
  }

  // A GPU that is not there is emulated.
  Result<std::unique_ptr<device::Device>> open(const device::DeviceOptions& options, std::uint64_t order,
                                               bool many_blocks = false) const {
    auto found = device::open_device(subject_.manifest.target, options);
    if (subject_.manifest.target != kernel::Target::Cuda) return found;
    if (found && (*found)->can_run()) return found;
    device::emulate::Options emulated;
    emulated.device = options;
    emulated.seed = order;
    if (many_blocks) emulated.multiprocessors = kManyMultiprocessors;
    return device::emulate::open(emulated);
  }

  // The second run of a call has one thread (in the emulation another order), in a process of its own.
  Result<Runners> open(bool many_blocks = false) const {
    Runners runners;
    device::DeviceOptions options = options_.device;
    if (options.limits.threads == 0)  // more than there are cores, where these are few: as many as stream their stores
      options.limits.threads = std::max<int>(4, static_cast<int>(std::thread::hardware_concurrency()));
    KW_TRY(runners.first, open(options, 1, many_blocks));
    options.limits.threads = 1;
    KW_TRY(runners.second, open(options, 2, many_blocks));
    return runners;
  }

  // For every architecture that is named, by the compiler of the target itself.
  Status look_at_architectures(const std::vector<kernel::TypeBinding>& mixtures) {
    if (subject_.manifest.target != kernel::Target::Cuda) return {};
    options_.step("compiling for every architecture");
    KW_TRY(ArchitectureBuilds builds, build_for_architectures(subject_, mixtures, options_.device, options_.spills));
    record_.not_built = builds.unable;
    for (const Finding& finding : builds.findings) record_.fail(finding, "");
    record_.report.kernels = std::move(builds.kernels);
    if (builds.architectures.empty()) return {};
    record_.built_for = ", for " + join(builds.architectures, ", ");
    if (builds.spilling > 0 && options_.spills)
      record_.built_for += fmt::format("; {} kernels spill, as the profile permits", builds.spilling);
    else
      record_.spilling_elsewhere = std::move(builds.spilling_elsewhere);
    return {};
  }

  Status run_cases(const std::vector<Case>& plan, Builds& builds, Runners& runners) {
    std::set<kernel::TypeBinding> unbuilt;
    std::optional<Runners> with_many_blocks;
    int failed = 0;
    // The oracle answers a case while the kernels answer the one before.
    const auto ask = [&](std::size_t i) {
      return i == plan.size() || unbuilt.contains(plan[i].types)
                 ? std::future<Result<BothAnswers>>()
                 : std::async(std::launch::async, [&, i] { return both_answers(plan[i]); });
    };
    auto ahead = ask(0);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const Case& c = plan[i];
      if (unbuilt.contains(c.types)) {
        ahead = ask(i + 1);
        continue;
      }
      options_.step(c.text());
      KW_TRY(const BothAnswers answers, ahead.get());
      ahead = ask(i + 1);
      if (c.types != plan.front().types) builds.foresee(record_.called);
      const Result<device::CompiledSet>& built = builds.of(c.types);
      if (!built) {
        if (built.error().kind != ErrorKind::GateFailed && built.error().kind != ErrorKind::BadInput)
          return Failure(built.error());
        record_.fail({Gate::Builds, built.error().message}, kernel::text(c.types));
        unbuilt.insert(c.types);
        if (++failed >= options_.most_failures) break;
        continue;
      }
      ++record_.report.cases;
      if (c.many_blocks && !with_many_blocks) {
        KW_TRY(with_many_blocks, open(true));
      }
      KW_TRY(const bool good, run_case(c, answers, *built, c.many_blocks ? *with_many_blocks : runners));
      if (!good && ++failed >= options_.most_failures) break;
    }
    record_.stopped_early = failed >= options_.most_failures;
    return {};
  }

  Result<std::shared_ptr<const Answer>> answer_to(const Case& c, int turn) const {
    return options_.answers ? options_.answers->of(subject_, c, turn) : answer(subject_, c, turn);
  }

  // To a case, and to the call with other values that follows it in the same process.
  struct BothAnswers {
    std::shared_ptr<const Answer> first, fresh;
  };

  Result<BothAnswers> both_answers(const Case& c) const {
    BothAnswers both;
    KW_TRY(both.first, answer_to(c, 0));
    if (c.fresh) {
      KW_TRY(both.fresh, answer_to(c, 1));
    }
    return both;
  }

  Result<bool> run_case(const Case& c, const BothAnswers& answers, const device::CompiledSet& kernels,
                        Runners& runners) {
    const Answer& answer = *answers.first;
    const std::shared_ptr<const Answer>& fresh = answers.fresh;
    if (fresh) ++record_.fresh_cases;
    Trial trial(subject_, runners);
    KW_TRY(const TrialOutcome outcome,
           trial.run({c.types, answer.values, c.layout, c.at_start}, answer.expected, kernels,
                     fresh ? &fresh->values : nullptr, fresh ? &fresh->expected : nullptr));
    record_.called.insert(outcome.called.begin(), outcome.called.end());
    if (outcome.refused.empty() && !c.many_blocks) served_.emplace_back(&c, outcome.called);
    if (!outcome.refused.empty()) {
      record_.report.refused.push_back(c.text() + ": " + outcome.refused);
      // A guard may keep a kernel from strange calls, never from the plain ones that the profile names.
      if (c.layout == Layout::Dense)
        record_.fail({Gate::Interface, "a plain call is refused: " + outcome.refused}, c.text());
      return c.layout != Layout::Dense;
    }
    bool beyond = false;
    for (const Finding& finding : outcome.findings) {
      record_.fail(finding, c.text());
      beyond |= finding.gate == Gate::Error;
    }
    for (const OutputError& error : outcome.errors)
      record_.add(error, c.cotangents == Values::Ordinary ? c.values : c.cotangents);
    if (!options_.brief) KW_CHECK(look_at_casting(c, answer.values, answer.expected, outcome, beyond));
    return outcome.findings.empty();
  }

  Status look_at_casting(const Case& c, const ir::Environment& values, const Expected& expected,
                         const TrialOutcome& outcome, bool beyond) {
    const bool ordinary = c.values == Values::Ordinary && c.layout == Layout::Dense && c.scalars == Scalars::AtDefault;
    if (!ordinary || outcome.got.empty() || (record_.orders_apart > 0 && !beyond) || looks_ >= 6) return {};
    std::int64_t elements = 0;
    for (const auto& [name, got] : outcome.got) elements = std::max(elements, static_cast<std::int64_t>(got.size()));
    if (elements < 32) return {};
    KW_TRY(const CastingEvidence evidence, casting_evidence(subject_, c.types, values, expected, outcome.got, beyond));
    if (evidence.orders == 0) return {};  // of f32; narrower mixtures may come
    ++looks_;
    record_.orders = std::max(record_.orders, evidence.orders);
    record_.orders_apart = std::max(record_.orders_apart, evidence.told_apart);
    if (!evidence.followed.empty())
      record_.fail({Gate::Casting, "the kernel follows another order: " + evidence.followed}, c.text());
    return {};
  }

  // At the shape nearest to thirty elements: enough that an axis cannot stand in for another, few enough for kinks.
  Status look_at_gradient(const std::vector<Case>& plan) {
    if (!subject_.joint) {
      record_.set(Gate::Gradient, Outcome::Skipped, "the op has no gradients");
      return {};
    }
    if (!subject_.backward_is_derivative) {
      record_.set(Gate::Gradient, Outcome::Skipped, "the profile declares a backward that is not the derivative");
      return {};
    }
    options_.step("differentiating by differences");
    const Case* best = nullptr;
    double nearest = 0;
    for (const Case& c : plan) {
      const double distance = std::fabs(std::log2(1 + most_elements(subject_, c.sizes)) - 5);
      if (most_elements(subject_, c.sizes) > 0 && (best == nullptr || distance < nearest))
        best = &c, nearest = distance;
    }
    if (best == nullptr) return {};
    KW_TRY(const GradientEvidence evidence, check_gradient(subject_, best->sizes, best->seed));
    if (!evidence.problem.empty())
      record_.fail({Gate::Gradient, evidence.problem}, "");
    else if (evidence.directions == 0)
      record_.set(Gate::Gradient, Outcome::Skipped,
                  "differences settle nowhere: the forward is not smooth at any point tried");
    else
      record_.set(Gate::Gradient, Outcome::Passed,
                  fmt::format("{} directions agree with differences of the forward to {:.1g}{}", evidence.directions,
                              evidence.largest,
                              evidence.at_kinks > 0 ? fmt::format("; {} ended at a kink", evidence.at_kinks) : ""));
    return {};
  }

  // Beyond what the interpreter can do: where stores go past the cache and every core works, or indices need more than
  // 31 bits.
  Status look_at_large(const LargeWish& wish, const kernel::TypeBinding& types,
                       const Result<device::CompiledSet>& built, device::Device& device) {
    const std::optional<RepeatingCall> call = large_call(subject_, types, wish);
    if (!call && wish.elements == 0)
      record_.no_large_call = "; no large call: no output repeats along an axis that can be made long";
    if (!call || !built) return {};
    std::vector<std::string> sizes;
    for (const auto& [name, size] : call->sizes) sizes.push_back(name + "=" + std::to_string(size));
    const std::string where = join(sizes, " ") + ", " + kernel::text(types);
    options_.step(where);
    if (wish.elements > 0) {
      KW_TRY(const std::int64_t bytes, bytes_of(subject_, *call, types, device.machine()));
      if (const std::int64_t free = available_memory() / 5 * 4; bytes > free) {
        record_.past_31_bits =
            fmt::format("; no call of more than 2^31 elements: it takes {:.0f} GB of memory, and {:.0f} are free",
                        1e-9 * static_cast<double>(bytes), 1e-9 * static_cast<double>(free));
        return {};
      }
    }
    const std::uint64_t seed = Hash64().add(record_.report.seed).add("large").value();
    const Result<LargeOutcome> ran = run_large(subject_, *call, types, *built, device, seed);
    if (!ran && ran.error().kind == ErrorKind::MissingTool) {  // a GPU with less memory
      record_.past_31_bits = "; no call of more than 2^31 elements: " + ran.error().message;
      return {};
    }
    if (!ran) return Failure(ran.error());
    if (!ran->refused.empty()) record_.report.refused.push_back(where + ": " + ran->refused);
    for (const Finding& finding : ran->findings) record_.fail(finding, where);
    record_.called.insert(ran->called.begin(), ran->called.end());
    (wish.elements > 0 ? record_.elements_past_31_bits : record_.large_elements) = ran->elements;
    return {};
  }

  // In the narrowest types that the kernels serve.
  Status look_past_31_bits(const std::vector<kernel::TypeBinding>& mixtures, Builds& builds) {
    if (!options_.past_31_bits) return {};
    const auto width = [](const kernel::TypeBinding& types) {
      int bytes = 0;
      for (const auto& [name, dtype] : types) bytes += ir::info(dtype).bytes;
      return bytes;
    };
    const kernel::TypeBinding* narrowest = &mixtures[0];
    for (const kernel::TypeBinding& types : mixtures)
      if (width(types) < width(*narrowest)) narrowest = &types;
    device::DeviceOptions longer = options_.device;
    longer.limits.time *= kLongerPast31Bits;
    KW_TRY(const std::unique_ptr<device::Device> device, open(longer, 1));
    KW_CHECK(look_at_large(kPast31Bits, *narrowest, builds.of(*narrowest), *device));
    if (record_.past_31_bits.empty() && record_.elements_past_31_bits == 0 && record_.report.passed())
      record_.past_31_bits = "; no call of more than 2^31 elements: no output repeats along an axis";
    return {};
  }

  // One call after another in the same processes, each of another size: what a kernel keeps of a call, such as scratch
  // memory, is too small or too old for the next. Each was right in a process of its own.
  Status look_at_calls_in_a_row(const kernel::TypeBinding& types, Builds& builds) {
    const auto elements = [&](std::size_t i) { return most_elements(subject_, served_[i].first->sizes); };
    std::map<std::string, std::pair<std::size_t, std::size_t>> ends;  // by kernel: the smallest call, and the largest
    for (std::size_t i = 0; i < served_.size(); ++i) {
      const Case& c = *served_[i].first;
      const bool plain = c.types == types && c.layout == Layout::Dense && c.values == Values::Ordinary;
      if (!plain || elements(i) == 0 || elements(i) > kMostElementsInARow) continue;
      for (const std::string& symbol : served_[i].second) {
        auto& [smallest, largest] = ends.try_emplace(symbol, i, i).first->second;
        if (elements(i) < elements(smallest)) smallest = i;
        if (elements(i) > elements(largest)) largest = i;
      }
    }
    std::vector<std::size_t> calls;
    for (const auto& [symbol, both] : ends) calls.insert(calls.end(), {both.first, both.second});
    std::sort(calls.begin(), calls.end(),
              [&](std::size_t a, std::size_t b) { return std::pair(elements(a), a) < std::pair(elements(b), b); });
    calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
    if (calls.size() < 2) return {};
    calls.push_back(calls.front());
    KW_TRY(const device::CompiledSet kernels, builds.of(types));
    KW_TRY(Runners runners, open());  // nobody else meets their processes
    for (const std::size_t i : calls) {
      const Case& c = *served_[i].first;
      options_.step("after other sizes: " + c.text());
      KW_TRY(const std::shared_ptr<const Answer> answer, answer_to(c, 0));
      Trial trial(subject_, runners);
      const TrialCall call{c.types, answer->values, c.layout, c.at_start, true};
      KW_TRY(const TrialOutcome outcome, trial.run(call, answer->expected, kernels));
      for (const Finding& finding : outcome.findings)
        record_.fail({Gate::Fresh, "wrong after calls of other sizes in the same process: " + finding.message},
                     c.text());
      if (!outcome.findings.empty()) return {};
      ++record_.calls_in_a_row;
    }
    return {};
  }

  // A kernel that no call has chosen, since another one before it serves them all: alone, it has to be right wherever
  // its guards admit a call. One that is reached by nothing has not been judged. The emulation, and Triton's
  // interpreter, reach less than a GPU does: there it is a note.
  Status look_at_unreached(const std::vector<Case>& plan, Builds& builds, Runners& runners, bool emulated) {
    const bool must_be_reached = subject_.from_outside && !options_.cases.only_own_types && !emulated;
    for (std::size_t p = 0; p < subject_.manifest.passes.size(); ++p)
      for (std::size_t s = 0; s < subject_.manifest.passes[p].steps.size(); ++s) {
        const std::vector<kernel::Entry>& entries = subject_.manifest.passes[p].steps[s].entries;
        for (std::size_t e = 0; e < entries.size(); ++e) {
          const std::string& symbol = entries[e].symbol;
          if (record_.called.contains(symbol)) continue;
          Subject without = subject_;
          auto& left = without.manifest.passes[p].steps[s].entries;
          left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(e));
          KW_TRY(const bool good, run_alone(without, symbol, plan, builds, runners));
          if (!good) return {};
          if (must_be_reached && !record_.called.contains(symbol))
            record_.fail(
                {Gate::Interface, symbol + " has not been judged: its guards admit no call that can be made here"}, "");
        }
      }
    return {};
  }

  // A few cases of each kind.
  Result<bool> run_alone(const Subject& without, const std::string& symbol, const std::vector<Case>& plan,
                         Builds& builds, Runners& runners) {
    std::map<std::tuple<kernel::TypeBinding, Layout, Values, Values>, std::size_t> tried;
    for (const Case& c : plan) {
      const auto kind = std::tuple(c.types, c.layout, c.values, c.cotangents);
      if (c.many_blocks || tried[kind] >= kMostAloneOfAKind) continue;
      if (!reached(without, c.sizes, c.types, runners.first->machine(), c.layout).contains(symbol)) continue;
      options_.step(symbol + " alone: " + c.text());
      KW_TRY(const std::shared_ptr<const Answer> answer, answer_to(c, 0));
      KW_TRY(const device::CompiledSet kernels, builds.of(c.types));
      Trial trial(without, runners);
      KW_TRY(const TrialOutcome outcome,
             trial.run({c.types, answer->values, c.layout, c.at_start}, answer->expected, kernels));
      if (!outcome.refused.empty()) continue;
      ++tried[kind];
      for (const Finding& finding : outcome.findings) record_.fail(finding, symbol + " alone: " + c.text());
      if (!outcome.findings.empty()) return false;
      record_.called.insert(outcome.called.begin(), outcome.called.end());
    }
    return true;
  }

  // The calls that reach every kernel, put to other runners: how many kernels they reach.
  using Kernels = std::function<Result<device::CompiledSet>(const kernel::TypeBinding&)>;
  Result<std::size_t> look_again(const std::string& with, Runners& runners, const Kernels& kernels, bool few = false) {
    std::vector<std::set<std::string>> reached;
    std::vector<std::int64_t> elements, shortness;
    for (const auto& [c, symbols] : served_) {
      elements.push_back(most_elements(subject_, c->sizes));
      shortness.push_back(-last_size(subject_, c->sizes));
      const bool watched = elements.back() > 0 && elements.back() <= kMostElementsWatched;
      reached.push_back(watched ? symbols : std::set<std::string>());
    }
    std::vector<std::size_t> calls =
        few ? calls_that_reach_all(reached, kMostCallsAgain) : smallest_calls_that_reach_all(reached, elements);
    // What holds a tile of a row is full where rows are long.
    if (!few)
      for (const std::size_t i : smallest_calls_that_reach_all(reached, shortness))
        if (std::find(calls.begin(), calls.end(), i) == calls.end()) calls.push_back(i);
    std::set<std::string> seen;
    for (const std::size_t i : calls) {
      const Case& c = *served_[i].first;
      options_.step(with + ": " + c.text());
      KW_TRY(const std::shared_ptr<const Answer> answer, answer_to(c, 0));
      KW_TRY(const device::CompiledSet built, kernels(c.types));
      Trial trial(subject_, runners);
      KW_TRY(const TrialOutcome outcome,
             trial.run({c.types, answer->values, c.layout, c.at_start}, answer->expected, built));
      for (const Finding& finding : outcome.findings) record_.fail(finding, with + ": " + c.text());
      seen.insert(outcome.called.begin(), outcome.called.end());
    }
    return seen.size();
  }

  // Buffers have fences, a kernel's own arrays have none: once more, where theirs are watched too.
  Status look_into_arrays() {
    if (!record_.report.passed()) return {};
    device::DeviceOptions options = options_.device;
    options.compiler_flags = device::cpu::checking_flags();
    Runners runners;
    KW_TRY(runners.first, open(options, 1));
    KW_TRY(runners.second, open(options, 2));
    KW_TRY(const std::size_t kernels, look_again("arrays checked", runners, [&](const auto& types) {
             return runners.first->compile(subject_.manifest, subject_.files, types);
           }));
    if (record_.report.passed())
      record_.set(Gate::Sanitized, Outcome::Passed,
                  fmt::format("nothing beyond an array of its own in {} kernels", kernels));
    return {};
  }

  // Once more on the GPU under compute-sanitizer: memory, then races.
  Status look_through_the_sanitizer(Builds& builds, bool emulated) {
    if (subject_.manifest.target == kernel::Target::Cpu) return look_into_arrays();
    if (subject_.manifest.target != kernel::Target::Cuda || emulated) {
      record_.set(Gate::Sanitized, Outcome::Skipped, "compute-sanitizer watches kernels on a GPU");
      return {};
    }
    if (!record_.report.passed()) return {};
    KW_TRY(auto memory, open(options_.device, 1));
    KW_TRY(auto races, open(options_.device, 1));
    if (const Status works = has_sanitizer(*memory); !works) {
      record_.set(Gate::Sanitized, Outcome::Skipped, works.error().message);
      return {};
    }
    using Check = device::Device::Check;
    Runners runners{std::make_unique<SanitizedDevice>(std::move(memory), Check::Memory),
                    std::make_unique<SanitizedDevice>(std::move(races), Check::Races)};
    KW_TRY(const std::size_t kernels,
           look_again(
               "compute-sanitizer", runners, [&](const auto& types) { return builds.of(types); }, true));
    if (record_.verdict(Gate::Sanitized).outcome != Outcome::Failed)
      record_.set(Gate::Sanitized, kernels > 0 ? Outcome::Passed : Outcome::Flagged,
                  fmt::format("memcheck and racecheck have nothing to say of {} of the {} kernels that were called",
                              kernels, record_.called.size()));
    return {};
  }

  // A GPU does not show what was not waited for, if it happens to be there: the emulation does.
  Status look_through_the_emulation(bool emulated) {
    if (subject_.manifest.target != kernel::Target::Cuda || emulated || !record_.report.passed()) return {};
    device::emulate::Options first, second;
    first.device = second.device = options_.device;
    first.seed = 1, second.seed = 2;
    auto one = device::emulate::open(first), other = device::emulate::open(second);
    if (!one || !other) {
      record_.set(Gate::Synchronised, Outcome::Skipped, (one ? other : one).error().message);
      return {};
    }
    Runners runners{std::move(*one), std::move(*other)};
    const auto kernels = look_again("emulated", runners, [&](const auto& types) {
      return runners.first->compile(subject_.manifest, subject_.files, types);
    });
    if (!kernels && kernels.error().kind == ErrorKind::GateFailed)  // inline PTX, or what the runtime has no twin of
      record_.set(Gate::Synchronised, Outcome::Skipped, "the emulation cannot run these kernels");
    else if (!kernels)
      return Failure(kernels.error());
    else if (record_.verdict(Gate::Synchronised).outcome != Outcome::Failed)
      record_.set(Gate::Synchronised, Outcome::Passed,
                  fmt::format("no race and no divergent barrier in the emulation of {} kernels", *kernels));
    return {};
  }

  const Subject& subject_;
  const JudgeOptions& options_;
  Record record_;
  int looks_ = 0;
  std::vector<std::pair<const Case*, std::set<std::string>>> served_;  // and the kernels that each case called
};

}  // namespace

Result<Report> judge(const Subject& subject, const JudgeOptions& options) { return Judge(subject, options).run(); }

}  // namespace kw::verify
