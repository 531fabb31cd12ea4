// Generates kernels for examples, makes mutants of them and puts each to the judge.
//
//   mutants COUNT SEED EXAMPLE.py… > RESULTS.jsonl
//
// One line per mutant: {"example", "file", "line", "kind", "before", "after", "caught_by": […], "seconds"}. A mutant
// that survives with the op's own types is put to every mixture before it counts as a survivor. What does not compile
// is no mutant: another is drawn in its place.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "act/act.h"
#include "base/text.h"
#include "device/worker_main.h"
#include "ir/random/dice.h"
#include "mutate.h"
#include "understand/decisions/decide.h"
#include "understand/read_source.h"
#include "verify/judge.h"

namespace {

using namespace kw;

struct Original {
  std::string example;
  verify::Subject subject;
  std::vector<std::pair<std::string, test::Mutant>> mutants;  // by file
};

verify::JudgeOptions options_for(std::uint64_t seed, bool own_types) {
  verify::JudgeOptions options;
  options.cases.seed = seed;
  options.cases.only_own_types = own_types;
  options.cases.most_elements = 40'000;
  options.device.limits.time = std::chrono::milliseconds(5000);
  options.device.limits.threads = 2;
  options.check_oracle = false;
  options.most_failures = 1;
  return options;
}

Result<Original> original(const std::string& path, std::uint64_t seed) {
  KW_TRY(const understand::LocatedSource located, understand::locate_source(path, std::nullopt));
  KW_TRY(const understand::Reading reading, understand::read_source(located, {}));
  const std::string name = path.substr(path.rfind('/') + 1, path.rfind('.') - path.rfind('/') - 1);
  KW_TRY(const profile::Profile profile, understand::decide(reading, name, {}, {}));
  KW_TRY(act::Generated generated, act::act(profile, {}, kernel::Target::Cpu));
  Original out;
  out.example = name;
  KW_TRY(out.subject, verify::subject_of(profile, std::move(generated.manifest), std::move(generated.files), false));
  KW_TRY(const verify::Report report, verify::judge(out.subject, options_for(seed, true)));
  if (!report.passed())
    return fail(ErrorKind::GateFailed, name + " itself is not verified:\n" + verify::to_text(report));
  // What no admitted call reaches cannot be wrong.
  std::set<std::string> unreached;
  for (const std::string& line : report.verdict(verify::Gate::Reach).evidence)
    if (line.starts_with("never called: ")) unreached.insert(line.substr(14));
  for (const auto& [file, text] : out.subject.files)
    for (test::Mutant& mutant : test::mutants_of(text, unreached)) out.mutants.emplace_back(file, std::move(mutant));
  return out;
}

// Names of the gates that said no.
Result<std::vector<std::string>> caught_by(const verify::Subject& subject, std::uint64_t seed, bool own_types) {
  KW_TRY(const verify::Report report, verify::judge(subject, options_for(seed, own_types)));
  std::vector<std::string> gates;
  for (const verify::Verdict& verdict : report.verdicts)
    if (verdict.outcome == verify::Outcome::Failed) gates.emplace_back(verify::info(verdict.gate).name);
  return gates;
}

int fail_with(const Error& error) {
  std::cerr << render(error) << "\n";
  return static_cast<int>(error.kind);
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto code = device::worker_main(argc, argv)) return *code;
  if (argc < 4) return fail_with({ErrorKind::BadInput, "mutants COUNT SEED EXAMPLE.py…", {}, {}, {}});
  const int count = std::stoi(argv[1]);
  const std::uint64_t seed = std::stoull(argv[2]);
  ir::random::Dice dice(seed);
  std::vector<Original> originals;
  for (int i = 3; i < argc; ++i) {
    auto made = original(argv[i], seed + 1);
    if (!made) return fail_with(made.error());
    originals.push_back(std::move(*made));
  }
  for (int done = 0; done < count;) {
    Original& from = originals[static_cast<std::size_t>(done) % originals.size()];
    if (from.mutants.empty())
      return fail_with({ErrorKind::Internal, from.example + " has no more mutants", {}, {}, {}});
    const auto at = static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(from.mutants.size())));
    const auto [file, mutant] = from.mutants[at];
    from.mutants.erase(from.mutants.begin() + static_cast<std::ptrdiff_t>(at));
    verify::Subject subject = from.subject;
    subject.files[file] = mutant.text;
    const auto start = std::chrono::steady_clock::now();
    auto gates = caught_by(subject, seed + 2, true);
    if (gates && std::find(gates->begin(), gates->end(), "builds") != gates->end()) continue;
    if (gates && gates->empty()) gates = caught_by(subject, seed + 3, false);
    if (!gates) return fail_with(gates.error());
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::cout << nlohmann::ordered_json{{"example", from.example}, {"file", file},
                                        {"line", mutant.line},     {"kind", mutant.kind},
                                        {"before", mutant.before}, {"after", mutant.after},
                                        {"caught_by", *gates},     {"seconds", seconds}}
                     .dump()
              << std::endl;
    ++done;
  }
  return 0;
}
