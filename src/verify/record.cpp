#include "verify/record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "verify/style.h"

namespace kw::verify {
namespace {

constexpr double kNearBound = 0.9;

std::string error_line(const Record& record) {
  const ErrorRow* worst = nullptr;
  std::int64_t elements = 0, unjudged = 0;
  for (const ErrorRow& row : record.report.errors) {
    elements += row.elements;
    unjudged += row.unjudged;
    if (worst == nullptr || row.max_share > worst->max_share) worst = &row;
  }
  if (worst == nullptr) return "nothing to compare";
  return fmt::format(
             "{} elements; nearest to its bound: {} ({}), {:.0f} %, ordinary values at most {:.3g} ulps off, 99.9 % "
             "within {:.3g}{}",
             elements, worst->tensor, worst->type, 100 * worst->max_share, worst->max_ulps, worst->ulps_99_9,
             unjudged > 0 ? fmt::format("; {} at a kink or out of range", unjudged) : "") +
         (record.large_elements > 0 ? "; " + rounded_count(record.large_elements) + " in a large call"
                                    : record.no_large_call) +
         (record.elements_past_31_bits > 0 ? "; " + rounded_count(record.elements_past_31_bits) + " in one past 2^31"
                                           : "") +
         record.past_31_bits;
}

void near_bound(Record& record) {
  std::vector<std::string> near;
  for (const ErrorRow& row : record.report.errors)
    if ((row.type == "f32" || row.type == "f64") && row.beyond == 0 && row.max_share > kNearBound)
      near.push_back(fmt::format("{} of the {} pass in {}: {:.0f} % of its bound", row.tensor, row.pass, row.type,
                                 100 * row.max_share));
  record.set(Gate::NearBound, near.empty() ? Outcome::Passed : Outcome::Flagged,
             near.empty() ? fmt::format("every error in f32 and f64 is below {:.0f} % of its bound", 100 * kNearBound)
                          : near.front());
  record.verdict(Gate::NearBound).evidence = std::move(near);
}

void reach(Record& record, const Subject& subject, std::size_t planned) {
  std::vector<std::string> missed;
  for (const kernel::Pass& pass : subject.manifest.passes)
    for (const kernel::Step& step : pass.steps)
      for (const kernel::Entry& entry : step.entries)
        if (!record.called.contains(entry.symbol)) record.report.unreached.push_back(entry.symbol);
  for (const std::string& symbol : record.report.unreached) missed.push_back("never called: " + symbol);
  for (const std::string& refused : record.report.refused) missed.push_back("refused: " + refused);
  if (static_cast<std::size_t>(record.report.cases) < planned)
    missed.push_back(fmt::format("{} of {} cases were not tried any more",
                                 planned - static_cast<std::size_t>(record.report.cases), planned));
  record.set(Gate::Reach, missed.empty() ? Outcome::Passed : Outcome::Flagged,
             missed.empty() ? "every kernel was called, and every case was served" : missed.front());
  if (missed.size() > kMostEvidence) missed.resize(kMostEvidence);
  record.verdict(Gate::Reach).evidence = std::move(missed);
}

}  // namespace

Record::Record(const Subject& subject, std::uint64_t seed) {
  for (const GateInfo& gate : gates()) report.verdicts.push_back({gate.gate, Outcome::Skipped, "not reached", {}});
  report.name = subject.name;
  report.target = kernel::name_of(subject.manifest.target);
  report.generator = subject.manifest.generator;
  report.oracle = subject.oracle;
  report.kernel_hash = kernel_hash(subject.manifest, subject.files);
  report.seed = seed;
}

void Record::set(Gate gate, Outcome outcome, std::string line) {
  verdict(gate).outcome = outcome;
  verdict(gate).line = std::move(line);
}

void Record::fail(const Finding& finding, const std::string& where) { verify::fail(report, finding, where); }

void Record::add(const OutputError& error, Values values) {
  const std::string type(ir::info(error.dtype).name);
  auto row = std::find_if(report.errors.begin(), report.errors.end(), [&](const ErrorRow& r) {
    return r.pass == error.pass && r.tensor == error.tensor && r.type == type;
  });
  if (row == report.errors.end()) row = report.errors.insert(row, ErrorRow{error.pass, error.tensor, type});
  ++row->cases;
  row->elements += error.report.elements;
  row->beyond += error.report.beyond;
  row->unjudged += error.unjudged;
  for (std::size_t i = 0; i < row->by_share.size(); ++i) row->by_share[i] += error.measured.by_share[i];
  if (values == Values::Ordinary) {
    row->max_error = std::max(row->max_error, error.measured.max_error);
    row->max_ulps = std::max(row->max_ulps, error.measured.max_ulps);
    row->error_99_9 = std::max(row->error_99_9, error.measured.error_99_9);
    row->ulps_99_9 = std::max(row->ulps_99_9, error.measured.ulps_99_9);
  }
  if (error.measured.max_share > row->max_share) {
    row->max_share = error.measured.max_share;
    row->bound = error.measured.worst.bound;
  }
}

void Record::conclude(const Subject& subject, std::size_t planned, std::size_t mixtures) {
  const int refused = static_cast<int>(report.refused.size()), served = report.cases - refused;
  const std::string all = stopped_early ? fmt::format("in the {} cases that were tried", report.cases)
                                        : fmt::format("in all {} cases", served);
  const auto pass = [&](Gate gate, std::string line) {
    if (verdict(gate).outcome == Outcome::Skipped) set(gate, Outcome::Passed, std::move(line));
  };
  const bool built = verdict(Gate::Builds).outcome != Outcome::Failed;
  pass(Gate::Interface, "shapes, types and strides are the op's own");
  if (built && !not_built.empty())
    set(Gate::Builds, Outcome::Flagged, "for the emulation alone, spills are not known: " + not_built);
  if (built && !spilling_elsewhere.empty())
    set(Gate::Builds, Outcome::Flagged,
        fmt::format(
            "{} files for {} mixtures of types{}; in types that are not the op's own, kernels spill registers: {}",
            subject.manifest.files().size(), mixtures, built_for, join(spilling_elsewhere, "; ")));
  pass(Gate::Builds,
       fmt::format("{} files for {} mixtures of types{}", subject.manifest.files().size(), mixtures, built_for));
  verdict(Gate::Style) = judge_style(subject.manifest, subject.files);
  set(Gate::Gain, Outcome::Skipped, "not timed");
  if (served == 0) return;
  if (!built && report.errors.empty()) return;
  pass(Gate::Runs, "every call ends in time, " + all);
  const bool faulty = verdict(Gate::Runs).outcome == Outcome::Failed;
  if (faulty && report.errors.empty()) return;
  pass(Gate::Written, "every element is written, " + all);
  pass(Gate::Outside, "nothing outside is touched, " + all);
  pass(Gate::Inputs, "inputs are as they were, " + all);
  pass(Gate::Error, error_line(*this));
  if (orders == 0)
    set(Gate::Casting, Outcome::Skipped, "nothing is rounded on the way in these types");
  else if (orders_apart == 0 && verdict(Gate::Casting).outcome == Outcome::Skipped)
    set(Gate::Casting, Outcome::Flagged,
        fmt::format("none of {} other orders of rounding would have been seen", orders));
  else
    pass(Gate::Casting, fmt::format("{} of {} other orders of rounding would have been seen", orders_apart, orders));
  if (subject.manifest.target == kernel::Target::Cuda && report.device.find("emulated") != std::string::npos)
    pass(Gate::Synchronised, "no race and no divergent barrier in two orders of threads, " + all);
  else if (subject.manifest.target != kernel::Target::Cuda)
    set(Gate::Synchronised, Outcome::Skipped, "only the emulation of a GPU can see it");
  if (!subject.deterministic())
    set(Gate::Deterministic, Outcome::Skipped, "the profile lets runs differ, and the kernels make use of it");
  else
    pass(Gate::Deterministic, "two runs agree to the bit, with one thread and with several, " + all);
  pass(Gate::Fresh,
       fmt::format(
           "a second call with other inputs is right, in {} cases{}", fresh_cases,
           calls_in_a_row > 0 ? fmt::format(", and {} calls of other sizes in one process", calls_in_a_row) : ""));
  near_bound(*this);
  reach(*this, subject, planned);
}

}  // namespace kw::verify
