// Rows that a program holds whole: everything about them is read once. Short rows share a program.
#include <algorithm>

#include "act/emit/triton/launch.h"
#include "act/emit/triton/writer.h"

namespace kw::act::triton {

bool Writer::is_resident() const {
  if (form_ == Form::General || loop_.size() != 1) return false;
  // Two rows of a tile may not add to one place in memory.
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates)
      if (meet(axes_of_access(sum.at), parallel_)) return false;
  return true;
}

// What a stage takes from earlier ones along the row: it stays in registers in between.
std::set<ValueId> Writer::held_for(const Stage& stage) const {
  std::set<ValueId> held;
  const std::vector<ValueId> roots = roots_of(stage);
  const auto note = [&](ValueId v) {
    if (expressions_.environment.contains(v) && meet(kernel_[v].axes, loop_)) held.insert(v);
  };
  for (ValueId root : roots) note(root);
  for (ValueId v : pending(roots))
    for (ValueId operand : operands_of(kernel_[v])) note(operand);
  return held;
}

// Where registers cannot hold so much of a row until its reduction is done, it is read again, from the cache: what is
// beyond one tensor, or all of it; or, beside sums, what one tensor tells, if the rest then fits.
void Writer::reload(const Stage& stage, size_t sums, Lines& out) {
  const std::set<ValueId> held = held_for(stage);
  if (held.size() + sums < 2) return;
  const std::map<ValueId, Text> before = expressions_.environment;
  std::erase_if(expressions_.environment, [&](const auto& known) { return meet(kernel_[known.first].axes, loop_); });
  std::set<ValueId> again, last;  // of all, and of all but the first
  std::string of;
  size_t rows = held.size() + sums, kept = rows;
  for (ValueId v : held) {
    std::set<BufferId> loaded;
    const std::vector<ValueId> needed = pending({v});
    for (ValueId n : needed)
      if (const Load* load = std::get_if<Load>(&kernel_[n].what)) loaded.insert(load->buffer);
    if (loaded.empty() || (sums > 0 && loaded.size() > 1)) continue;
    const bool first = of.empty();
    if (first) of = buffer(*loaded.begin()).name;
    --kept;
    for (ValueId n : needed)
      if (before.contains(n)) {
        again.insert(n);
        if (!first) last.insert(n);
      }
  }
  Lines lines, last_lines;
  reloading_ = true;
  const std::map<ValueId, Text> without = expressions_.environment;
  define({last.begin(), last.end()}, last_lines);
  expressions_.environment = without;
  define({again.begin(), again.end()}, lines);
  reloading_ = false;
  expressions_.environment = before;
  int64_t too_long = 1;
  while (too_long * static_cast<int64_t>(rows) < kRegisters) too_long *= 2;
  const bool fits = too_long <= kLongestRow && too_long * static_cast<int64_t>(kept) < kRegisters;
  if (again.empty() || (sums > 0 && !fits)) return;
  const auto where = [&](const std::string& condition, const Lines& reads) {
    if (reads.empty()) return;
    out.line(condition + ":");
    for (const std::string& line : reads.all()) out.line("    " + line);
  };
  const std::string bytes = "BLOCK * " + of + ".dtype.element_ty.primitive_bitwidth > 8 * " + std::to_string(kMostHeld);
  where("if " + (sums > 0 ? "BLOCK >= " + std::to_string(too_long) : bytes), lines);
  if (sums == 0) where("elif BLOCK > " + std::to_string(kMostWide), last_lines);
}

void Writer::rows() {
  if (!is_resident()) {
    streamed_rows();
    return;
  }
  row_axes_ = parallel_;
  column_axes_ = loop_;
  const std::string row = running(parallel_, "point"), column = names_.variable(loop_[0]);
  const std::string count = text_product(parallel_), length = names_.size(loop_[0]);
  row_mask_ = row + " < " + count;
  column_mask_ = column + " < " + length;
  mask_ = "mask";
  expressions_.along_columns = [this](ValueId v) { return meet(kernel_[v].axes, column_axes_); };
  Lines setup, body, ends;
  std::vector<Sum> sums = sums_of(true);
  open_sums(sums, "ROWS, ", setup);
  std::set<BufferId> loaded, per_row;  // along the row; and of each row another one
  for (const Value& value : kernel_.values)
    if (const Load* load = std::get_if<Load>(&value.what); load && meet(axes_of_access(load->at), loop_)) {
      loaded.insert(load->buffer);
      if (meet(axes_of_access(load->at), parallel_)) per_row.insert(load->buffer);
    }
  const auto lanes = static_cast<size_t>(
      std::count_if(sums.begin(), sums.end(), [](const Sum& sum) { return sum.kind == Sum::Kind::Lanes; }));
  const bool reloads = accumulates_ ? lanes > 0 : per_row.size() > 1;
  body.append(positions(row, parallel_));
  for (const Stage& stage : kernel_.stages) {
    std::set<ValueId> stored;
    for (const Store& s : stage.stores) stored.insert(s.value);
    if (reloads && !stage.loop.empty()) reload(stage, lanes, body);
    // What goes into a sum is then done with: fewer values of a row are held at once.
    std::vector<ValueId> terms;
    for (const Accumulate& sum : stage.accumulates) terms.push_back(sum.value);
    define(terms, body, stored);
    add_to_sums(sums, stage, body);
    define(roots_of(stage), body, stored);
    // What is written goes out while the rest is reduced.
    for (const Store& s : stage.stores) store(s, body);
    for (ValueId r : stage.reductions) finish(r, reduce(r, masked(r), 1, true), body);
    after(stage, body);
  }
  close_sums(sums, ends);
  const std::string n = manifest_product(loop_), points = manifest_product(parallel_);
  const std::vector<std::string> fits = {n + " <= " + std::to_string(kLongestRow)};
  std::vector<std::string> names;
  for (const std::set<BufferId>& some : {per_row, loaded})
    for (BufferId id : some)
      if (const std::string& name = buffer(id).name; std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
  const Tile tile = row_tile(n, names, accumulates_);
  if (!accumulates_) {
    Skeleton skeleton = Skeleton::load(kSkeletons, "rows");
    skeleton.name("row", row).name("column", column).expression("count", count).expression("length", length);
    skeleton.statements("body", body);
    finish_function(skeleton, kernel_.name,
                    {{{"ROWS", tile.rows}, {"BLOCK", tile.block}},
                     {"ceil_div(" + points + ", " + tile.rows + ")"},
                     tile.warps,
                     fits});
    return;
  }
  out_.workers = row_workers(points, tile);
  Skeleton skeleton = Skeleton::load(kSkeletons, "rows_with_sums");
  skeleton.name("row", row).name("column", column).expression("count", count).expression("length", length);
  skeleton.statements("setup", setup).statements("body", body).statements("ends", ends);
  finish_function(
      skeleton, kernel_.name,
      {{{"ROWS", tile.rows}, {"BLOCK", tile.block}, {"STAGES", tile.stages}}, {"workers"}, tile.warps, fits});
}

}  // namespace kw::act::triton
