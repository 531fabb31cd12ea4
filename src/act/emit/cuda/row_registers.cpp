// What the stages of a row take of a thread's registers, as the formulas of its schedule count them.
#include <algorithm>

#include "act/emit/cuda/row_writer.h"

namespace kw::act::cuda {
namespace {

// Registers, about, while a vector is worked on: of a value that waits for another, of a total or a vector that is
// being written, of a column's sum or another one that rides along, of a result that is kept for later stages, of
// functions and divisions with their rare cases, of truth values, which are unfolded.
constexpr int kWaiting = 2, kTotal = 4, kColumnSum = 3, kOtherSum = 1, kKept = 4, kFunctions = 8, kDivisions = 10,
              kTruths = 8;

}  // namespace

// What is alive at once: in each stage its own loads and those of later stages, and what is kept for these.
void RowWriter::count_live(const std::vector<const Stage*>& loops, const std::set<ValueId>& kept) {
  std::set<ValueId> done;
  for (size_t s = 0; s < loops.size(); ++s) {
    std::set<BufferId> loads, single;  // single: those of them whose elements are read one by one
    std::set<ValueId> alive;
    for (size_t t = s; t < loops.size(); ++t)
      for (ValueId v : computed_in(*loops[t], done)) {
        if (done.contains(v)) alive.insert(v);
        const Load* load = std::get_if<Load>(&kernel_[v].what);
        if (!load) continue;
        // In the first stage nothing keeps the compiler from reading what is beside a row as early as the row.
        const bool is_single = load->guard != kNoValue || !run_of(load->at, nest_.inner).neighbours;
        const bool is_early = t == 0 && !plan_.accumulates && (is_single || !plan_.in_parts);
        if (!is_early && (load->guard != kNoValue || !is_large(load->at))) continue;
        loads.insert(load->buffer);
        if (is_single) single.insert(load->buffer);
      }
    const int read = static_cast<int>(loads.size()), kept_here = static_cast<int>(alive.size());
    text_.live = std::max(text_.live, read + kept_here);
    text_.loads = std::max(text_.loads, read);
    text_.narrow_live = std::max(text_.narrow_live, read + static_cast<int>(single.size()) + 2 * kept_here);
    text_.busy = std::max(text_.busy, registers_beside(*loops[s], done, kept));
    const size_t before = done.size();
    for (ValueId v : computed_in(*loops[s]))
      if (kept.contains(v)) done.insert(v);
    text_.made = std::max(text_.made, read + kept_here + static_cast<int>(done.size() - before));
  }
  if (!plan_.in_parts && !plan_.accumulates && !loops.empty()) {
    // Where the last stage writes nothing of the row, all of it may be unfolded at once. Where it is the only one, what
    // it writes is made while the rest is being read.
    const bool writes = !loops.back()->stores.empty();
    for (int* count : {&text_.live, &text_.loads, &text_.narrow_live})
      *count = writes ? *count + (loops.size() == 1 ? 1 : 0) : std::max(*count, 2);
  }
  if (has_combine(kernel_)) {  // what its runs take
    text_.live += 2;
    text_.narrow_live += 4;
    text_.loads += 4;
  }
}

// Those that a stage takes beside the elements that a thread holds.
int RowWriter::registers_beside(const Stage& stage, const std::set<ValueId>& done, const std::set<ValueId>& kept) {
  const std::set<ValueId> computed = computed_in(stage, done);
  std::map<ValueId, ValueId> last_use;
  for (ValueId v : computed)
    for (ValueId operand : operands_of(kernel_[v])) last_use[operand] = v;
  for (ValueId root : roots_of(stage)) last_use[root] = static_cast<ValueId>(kernel_.values.size());
  bool divides = false, calls = false;
  int most_waiting = 0, newly_kept = 0;
  std::set<ValueId> waiting;
  std::set<BufferId> truths, beside;
  for (ValueId v : computed) {
    if (done.contains(v)) continue;
    if (const Load* load = std::get_if<Load>(&kernel_[v].what)) {
      if (kernel_[v].type.boolean()) truths.insert(load->buffer);
      if (!is_large(load->at)) beside.insert(load->buffer);
      continue;
    }
    const Map* map = std::get_if<Map>(&kernel_[v].what);
    const bool is_division = map && map->op == ir::Op::Div;
    divides |= is_division;
    calls |= map && !is_division && instructions(kernel_[v]) >= kFunction;
    newly_kept += kept.contains(v) ? 1 : 0;
    std::erase_if(waiting, [&](ValueId other) { return last_use[other] <= v; });
    waiting.insert(v);
    most_waiting = std::max(most_waiting, static_cast<int>(waiting.size()));
  }
  text_.truths = std::max(text_.truths, static_cast<int>(truths.size()));
  // A division asks whether its case is rare: functions beside it are not computed for many elements at once. What is
  // read beside a row is.
  text_.at_once |= (calls && !divides) || beside.size() > 1;
  int registers = kWaiting * most_waiting + kTotal * static_cast<int>(stage.reductions.size() + stage.stores.size()) +
                  kKept * newly_kept + kTruths * static_cast<int>(truths.size());
  for (const Accumulate& sum : stage.accumulates)
    registers += kind_of(plan_, sum) == SumKind::Column ? kColumnSum : kOtherSum;
  return registers + (calls ? kFunctions : 0) + (divides ? kDivisions : 0);
}

}  // namespace kw::act::cuda
