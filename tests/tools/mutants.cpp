// Generates kernels for examples, makes mutants of them and puts each to the judge.
//
//   mutants COUNT SEED JOBS EXAMPLE.py… > RESULTS.jsonl
//   mutants again RESULTS.jsonl SEED JOBS EXAMPLE.py…     those of an earlier run, as far as their lines still exist
//
// Every example is taken for both targets, cpu and cuda (emulated). One line per mutant: {"target", "example", "file",
// "line", "function", "kind", "before", "after", "ahead" (it fetches a row before its turn), "next" (the line behind
// it), "same_code", "reached", "caught_by": […], "seconds"}. A mutant that survives with the op's own types is put to
// every mixture before it counts as a survivor, and the other way about. What does not compile is no mutant; neither is
// what compiles to the same code in every mixture, nor a change of a line that no case comes to (these are listed,
// "same_code": true and "reached": false): another is drawn in its place. The mutants depend on COUNT, SEED and the
// examples alone, not on JOBS, which run side by side.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "act/act.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "device/cache.h"
#include "device/cpu/compile.h"
#include "device/cpu/compiler.h"
#include "device/emulate/device.h"
#include "device/worker_main.h"
#include "ir/random/dice.h"
#include "mutate.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"
#include "verify/judge.h"
#include "verify/plan.h"
#include "verify/reach.h"

namespace {

using namespace kw;

// Kernels for one example and target, and how many mutants of them are wanted.
struct Task {
  std::string path;
  kernel::Target target;
  int wanted = 0;
  std::vector<nlohmann::json> again;  // or these, of an earlier run
};

std::string name_of(const Task& task) {
  return task.path.substr(task.path.rfind('/') + 1, task.path.rfind('.') - task.path.rfind('/') - 1);
}

// As the kernels' own, but for the time that optimising takes.
std::vector<std::string> quick_flags() {
  std::vector<std::string> flags = device::cpu::kernel_flags();
  std::replace(flags.begin(), flags.end(), std::string("-O3"), std::string("-O1"));
  return flags;
}

class Original {
 public:
  static Result<Original> make(const Task& task, std::uint64_t seed) {
    KW_TRY(const understand::LocatedSource located, understand::locate_source(task.path, std::nullopt));
    KW_TRY(const understand::Reading reading, understand::read_source(located, {}));
    KW_TRY(const profile::Profile profile, understand::decide(reading, name_of(task), {}, {}));
    KW_TRY(act::Generated generated, act::act(profile, {}, task.target));
    Original out;
    out.seed_ = seed;
    KW_TRY(out.subject_, verify::subject_of(profile, std::move(generated.manifest), std::move(generated.files), false));
    KW_TRY(const verify::Report report, out.judged(true));
    KW_TRY(const std::set<std::string> unreached, out.unreached_in_any_mixture(report));
    for (const auto& [file, text] : out.subject_.files)
      for (test::Mutant& mutant : test::mutants_of(text, unreached, out.given()))
        out.by_kind_[mutant.kind].emplace_back(file, std::move(mutant));
    return out;
  }

  // The report on the kernels as they are: what is found in a mutant must not be found in them.
  Result<verify::Report> judged(bool own_types) const {
    KW_TRY(verify::Report report, verify::judge(subject_, options(own_types)));
    if (report.passed()) return report;
    return fail(ErrorKind::GateFailed, subject_.manifest.name + " itself is not verified:\n" + verify::to_text(report));
  }

  // The same in every mixture of types, once for all mutants that are caught there.
  Status verify_in_mixtures() {
    if (!verified_in_mixtures_) KW_CHECK(judged(false));
    verified_in_mixtures_ = true;
    return {};
  }

  // Are the op's own types such as values are computed in, so that nothing is rounded on the way?
  bool computes_in_own_types() const {
    const std::vector<kernel::TypeBinding> own = verify::type_mixtures(subject_, true);
    return std::all_of(own.begin(), own.end(), [](const kernel::TypeBinding& types) {
      return std::all_of(types.begin(), types.end(), [](const auto& type) {
        return type.second == ir::DType::F32 || type.second == ir::DType::F64;
      });
    });
  }

  // Of the kinds that are left each is as likely as any other. False: there is none.
  bool draw(ir::random::Dice& dice, std::string& file, test::Mutant& mutant) {
    if (by_kind_.empty()) return false;
    const auto kind = std::next(by_kind_.begin(), dice.below(static_cast<std::int64_t>(by_kind_.size())));
    const auto at = dice.below(static_cast<std::int64_t>(kind->second.size()));
    std::tie(file, mutant) = kind->second[static_cast<std::size_t>(at)];
    kind->second.erase(kind->second.begin() + at);
    if (kind->second.empty()) by_kind_.erase(kind);
    return true;
  }

  // One of an earlier run: the same change of the same line, the nearest to where it was.
  bool find(const nlohmann::json& earlier, std::string& file, test::Mutant& mutant) const {
    int nearest = std::numeric_limits<int>::max();
    for (const auto& [kind, all] : by_kind_)
      for (const auto& [name, found] : all) {
        if (name != earlier.at("file") || found.function != earlier.at("function") ||
            found.before != earlier.at("before") || found.after != earlier.at("after"))
          continue;
        const int distance = std::abs(found.line - earlier.at("line").get<int>());
        if (distance < nearest) nearest = distance, file = name, mutant = found;
      }
    return nearest < std::numeric_limits<int>::max();
  }

  // Names of the gates that say no to the kernels with another text in one file.
  Result<std::vector<std::string>> caught_by(const std::string& file, const std::string& text, bool own_types) const {
    verify::Subject subject = subject_;
    subject.files[file] = text;
    KW_TRY(const verify::Report report, verify::judge(subject, options(own_types)));
    std::vector<std::string> gates;
    for (const verify::Verdict& verdict : report.verdicts)
      if (verdict.outcome == verify::Outcome::Failed) gates.emplace_back(verify::info(verdict.gate).name);
    return gates;
  }

  // Does an optimising compiler make the same bytes of the file as without the change, whatever the types? Then it has
  // proven that the change changes nothing.
  Result<bool> compiles_to_the_same(const std::string& file, const std::string& text) const {
    device::Sources changed = subject_.files;
    changed[file] = text;
    for (const kernel::TypeBinding& types : verify::type_mixtures(subject_, false)) {
      KW_TRY(const std::string before, code_of(subject_.files, file, types));
      KW_TRY(const std::string after, code_of(changed, file, types));
      if (before != after) return false;
    }
    return true;
  }

  // Does any case come to a line of the original? Where it is in doubt, yes.
  Result<bool> reaches(const std::string& file, int line) const {
    const std::string trap = test::with_trap(subject_.files.at(file), line);
    KW_TRY(std::vector<std::string> gates, caught_by(file, trap, true));
    if (gates.empty()) {
      KW_TRY(gates, caught_by(file, trap, false));
    }
    return !gates.empty();
  }

 private:
  // What no admitted call reaches cannot be wrong.
  Result<std::set<std::string>> unreached_in_any_mixture(const verify::Report& own_types) const {
    std::set<std::string> unreached(own_types.unreached.begin(), own_types.unreached.end());
    if (unreached.empty()) return unreached;
    const verify::JudgeOptions how = options(false);
    verify::CaseOptions cases = how.cases;
    if (subject_.manifest.target == kernel::Target::Cuda) {
      KW_TRY(const auto device, device::emulate::open({.device = how.device}));
      cases.machine = device->machine();
    } else {
      KW_TRY(const auto device, device::open_device(subject_.manifest.target, how.device));
      cases.machine = device->machine();
    }
    for (const verify::Case& c : verify::plan_cases(subject_, cases))
      for (const std::string& symbol : verify::reached(subject_, c.sizes, c.types, cases.machine, c.layout))
        unreached.erase(symbol);
    return unreached;
  }

  // What the manifest hands to each parameter of a kernel that callers launch: parameters of one text have one value.
  test::Given given() const {
    test::Given given;
    for (const kernel::Pass& pass : subject_.manifest.passes)
      for (const kernel::Step& step : pass.steps)
        for (const kernel::Entry& entry : step.entries)
          for (const kernel::Argument& argument : entry.arguments) given[entry.symbol].push_back(text_of(argument));
    return given;
  }
  // A size, or a stride of what one pass saves for another: two of one shape are laid alike, and no caller lays them.
  std::string text_of(const kernel::Argument& argument) const {
    if (argument.kind == kernel::Argument::Kind::Size) return argument.of;
    if (argument.kind != kernel::Argument::Kind::Stride) return "";
    for (const kernel::Pass& pass : subject_.manifest.passes)
      for (const kernel::Buffer& buffer : pass.buffers)
        if (buffer.name == argument.of && buffer.role == kernel::Role::Saved)
          return "stride " + std::to_string(argument.dimension) + " of [" + join(buffer.shape, ", ") + "] like " +
                 join(buffer.strides_like, ", ");
    return "";
  }

  Result<std::string> code_of(const device::Sources& files, const std::string& file,
                              const kernel::TypeBinding& types) const {
    device::cpu::CompileOptions how;
    if (subject_.manifest.target == kernel::Target::Cuda) {
      how.runtime = {"runtime/cuda/", "runtime/emulate/"};
      how.flags = {"-std=c++20", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden", "-w"};
    }
    KW_TRY(const device::cpu::Compiler compiler, device::cpu::find_compiler());
    const device::Cache cache(device::default_cache_folder());
    KW_TRY(const device::CompiledSet set, device::cpu::compile(subject_.manifest, files, types, compiler, cache, how));
    for (const device::CompiledFile& compiled : set.files)
      if (compiled.file == file) return read_file(compiled.library);
    return fail(ErrorKind::Internal, file + " was not compiled");
  }

  verify::JudgeOptions options(bool own_types) const {
    verify::JudgeOptions options;
    options.cases.seed = seed_;
    options.cases.only_own_types = own_types;
    options.cases.most_elements = 40'000;
    options.device.limits.time = std::chrono::minutes(1);  // on a machine that is busy too: else it is a catch
    options.device.limits.threads = 2;
    options.device.compiler_flags = quick_flags();
    options.device.driver = "none";  // the emulation sees every access, as no GPU does
    options.check_oracle = false;
    options.brief = true;
    options.answers = answers_;
    options.most_failures = 1;
    return options;
  }

  std::uint64_t seed_ = 0;
  bool verified_in_mixtures_ = false;
  verify::Subject subject_;
  std::map<std::string, std::vector<std::pair<std::string, test::Mutant>>> by_kind_;  // each with its file
  std::shared_ptr<verify::Answers> answers_ = std::make_shared<verify::Answers>();
};

// Puts one mutant to the judge and prints what came of it. False: it is none that counts.
Result<bool> put(Original& original, const Task& task, const std::string& file, const test::Mutant& mutant,
                 std::mutex& output) {
  const auto start = std::chrono::steady_clock::now();
  // A rounding does nothing in types that are computed in: where the op's own are such, the mixtures see it first.
  bool own_types = mutant.kind != "rounding" || !original.computes_in_own_types();
  KW_TRY(std::vector<std::string> gates, original.caught_by(file, mutant.text, own_types));
  if (std::find(gates.begin(), gates.end(), "builds") != gates.end()) return false;
  bool same_code = false, reached = true;
  if (gates.empty()) {
    KW_TRY(same_code, original.compiles_to_the_same(file, mutant.text));
  }
  if (gates.empty() && !same_code) {
    own_types = !own_types;
    KW_TRY(gates, original.caught_by(file, mutant.text, own_types));
  }
  if (gates.empty() && !same_code) {
    KW_TRY(reached, original.reaches(file, mutant.line));
  }
  if (!gates.empty() && !own_types) KW_CHECK(original.verify_in_mixtures());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string target(kernel::name_of(task.target));
  const std::lock_guard lock(output);
  std::cout << nlohmann::ordered_json{{"target", target},        {"example", name_of(task)},    {"file", file},
                                      {"line", mutant.line},     {"function", mutant.function}, {"kind", mutant.kind},
                                      {"before", mutant.before}, {"after", mutant.after},       {"ahead", mutant.ahead},
                                      {"next", mutant.next},     {"same_code", same_code},      {"reached", reached},
                                      {"caught_by", gates},      {"seconds", seconds}}
                   .dump()
            << std::endl;
  return reached && !same_code;
}

Status run(const Task& task, std::uint64_t seed, std::mutex& output) {
  KW_TRY(Original original, Original::make(task, seed + 1));
  std::string file;
  test::Mutant mutant;
  for (const nlohmann::json& earlier : task.again) {
    if (original.find(earlier, file, mutant)) {
      KW_CHECK(put(original, task, file, mutant, output));
    } else {
      const std::lock_guard lock(output);
      std::cerr << name_of(task) << " has no such line any more: " << earlier.at("before") << "\n";
    }
  }
  ir::random::Dice dice(Hash64().add(seed).add(kernel::name_of(task.target)).add(name_of(task)).value());
  for (int done = 0; done < task.wanted;) {
    if (!original.draw(dice, file, mutant)) return fail(ErrorKind::Internal, name_of(task) + " has no more mutants");
    KW_TRY(const bool counts, put(original, task, file, mutant, output));
    done += counts ? 1 : 0;
  }
  return {};
}

int fail_with(const Error& error) {
  std::cerr << render(error) << "\n";
  return static_cast<int>(error.kind);
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = device::worker_main(argc, argv)) return *code;
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool again = !words.empty() && words[0] == "again";
  if (again) words.erase(words.begin());
  if (words.size() < 4)
    return fail_with(
        {ErrorKind::BadInput, "mutants COUNT SEED JOBS EXAMPLE.py…, or again RESULTS.jsonl SEED …", {}, {}, {}});
  const std::uint64_t seed = std::stoull(words[1]);
  std::vector<Task> tasks;
  for (std::size_t i = 3; i < words.size(); ++i)
    for (const kernel::Target target : {kernel::Target::Cpu, kernel::Target::Cuda}) tasks.push_back({words[i], target});
  if (again) {
    const auto results = read_file(words[0]);
    if (!results) return fail_with(results.error());
    for (const std::string& line : split_lines(*results)) {
      const nlohmann::json earlier = nlohmann::json::parse(line);
      for (Task& task : tasks)
        if (name_of(task) == earlier.at("example") && kernel::name_of(task.target) == earlier.at("target"))
          task.again.push_back(earlier);
    }
  } else {
    // Where the count does not divide evenly, or does not reach all, the seed says who gives more.
    ir::random::Dice dice(seed);
    for (std::size_t i = tasks.size(); i > 1; --i)
      std::swap(tasks[i - 1], tasks[static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(i)))]);
    const int count = std::stoi(words[0]);
    for (int i = 0; i < count; ++i) ++tasks[static_cast<std::size_t>(i) % tasks.size()].wanted;
  }
  std::erase_if(tasks, [](const Task& task) { return task.wanted == 0 && task.again.empty(); });

  std::atomic<std::size_t> next = 0;
  std::mutex output;
  std::optional<Error> problem;
  std::vector<std::thread> threads;
  for (int t = 0; t < std::max(1, std::stoi(words[2])); ++t)
    threads.emplace_back([&] {
      for (std::size_t at = next++; at < tasks.size(); at = next++) {
        const Status done = run(tasks[at], seed, output);
        if (done) continue;
        const std::lock_guard lock(output);
        problem = done.error();
        next = tasks.size();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return problem ? fail_with(*problem) : 0;
}
