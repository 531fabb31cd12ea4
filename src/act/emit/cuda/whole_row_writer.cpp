#include "act/emit/cuda/whole_row_writer.h"

#include <algorithm>

#include "base/text.h"

namespace kw::act::cuda {
namespace {

constexpr std::string_view kFile = "templates/cuda/rows.cu";

}  // namespace

WholeRowWriter::WholeRowWriter(const LoopProgram& program, const LoopKernel& kernel, const KernelPlan& plan,
                               CppTypes& types)
    : RowWriter(program, kernel, plan, types) {
  if (row_axes().size() > 1) first_ = names_.fresh("first_" + names_.variable(nest_.inner));
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates)
      if (kind_of(plan_, sum) == SumKind::Column) text_.slices.insert(sum.buffer);
}

Lines WholeRowWriter::frame(const Lines& point) {
  Lines edges;
  if (plan_.accumulates)
    edges.line("if (inside) edges = {" + row_offset(row_axes()) + ", length, lane};");
  else
    edges.line(edges_of(row_axes(), "lane"));
  text_.ragged = begins_alike() && !plan_.has_parts;
  Lines before = caches(sums_room());
  if (is_scarce()) before.line("constexpr bool kFull = kBlockRow && " + full() + ";");
  Skeleton skeleton = kernel_skeleton(kFile, "rows", edges, point);
  skeleton.expression("length", names_.product(row_axes()))
      .statements("outside", outside("!kBlockRow && !inside", point))
      .statements("caches", before);
  if (plan_.accumulates)
    skeleton.statements("sum_tiles", sum_tiles()).statements("ahead", ahead()).statements("advance", advance());
  return skeleton.fill();
}

std::string WholeRowWriter::keeps() const {
  return plan_.accumulates ? "!kStreamed && kPlace == kw::Place::Registers" : "";
}

// Whether a thread that holds much of a row may want the registers of its lane: beside sums of columns, and where it
// has read what only a later stage uses.
bool WholeRowWriter::is_scarce() const {
  const auto is_early = [](const Held& held) { return *held.stages.begin() > 0; };
  if (plan_.accumulates) return text_.column_sums > 0 && !held_.empty();
  return std::any_of(held_.begin(), held_.end(), is_early);
}

std::string WholeRowWriter::full() const {
  const int columns = text_.column_sums;
  const bool much = columns > 0 && (text_.live > 2 || columns + text_.other_sums > 3);
  std::string types;
  for (const Held& held : held_) types += ", " + types_.stored(buffer(held.buffer).type);
  const std::string edges = much ? "kRagged" : columns > 1 ? "kRagged && kStreamed" : "false";
  return "kw::is_full<kElements, " + edges + types + ">()";
}

// ---- stages ----

Lines WholeRowWriter::stage_loop(const StageText& stage, size_t number) {
  const Axes row = row_axes();
  const Lines position = row.size() > 1 ? positions("element", row, true) : Lines{};
  const bool again = is_scarce() && (plan_.accumulates || number > 0);  // a stage is before it
  return stage_skeleton(kFile, stage, fetch(number, position))
      .expression("anew", again ? "kw::lane_anew<kFull>(lane)" : "kw::anew(lane)")
      .expression("lane", stage.holds_on ? "kw::anew(lane)" : "lane")
      .statements("position", used(position, stage.body.all()))
      .fill();
}

// What a stage reads: the first one for all, where the row is held.
Lines WholeRowWriter::fetch(size_t number, const Lines& position) const {
  Lines now, early;  // read for this stage; held for a later one
  for (const Held& held : held_) {
    const size_t first = *held.stages.begin();
    const std::string cache = cache_of(held) + "[slot]";
    if (held.stages.contains(number)) {
      if (number == first) {
        now.line(read(held));
        if (is_read_again(held))
          now.line("if (kStreamed && whole && slot * kVector < cached) " + cache + " = " + held.name + "[v];");
      } else {
        now.line("if (whole && slot * kVector < cached)");
        now.line("  " + held.name + "[v] = " + cache + ";");
        now.line("else");
        now.line("  " + read(held));
      }
    } else if (number == 0 && first > 0) {
      early.line(read(held));
    }
  }
  Lines out;
  auto add = [&](const Lines& loads, const std::string& condition) {
    if (loads.empty()) return;
    Lines with = used(position, {&loads});
    with.append(loads);
    if (!condition.empty()) out.open("if (" + condition + ") {");
    out.append(Skeleton::load(kFile, "fetch").statements("loads", with).fill());
    if (!condition.empty()) out.close();
  };
  add(now, number > 0 ? "kStreamed" : prefetches() ? "!kAhead" : "");
  add(early, prefetches() ? "!kStreamed && !kAhead" : "!kStreamed");
  return out;
}

void WholeRowWriter::reduce(const std::vector<std::string>& parts, Lines& out) const {
  out.line("if (kBlockRow)");
  add_call("  " + by_block(), parts, out);
  out.line("else");
  add_call("  kw::lanes_reduce(lanes, ", parts, out);
}

// What a thread's vectors became is joined with what others have, tile by tile, in the order of the row.
void WholeRowWriter::combine(const Combination& one, StageText& text) {
  const std::string name = names_.value(one.reduced[0]), all = names_.fresh(name + "_all");
  const std::string runs = names_.fresh(name + "_runs"), run = names_.fresh(name + "_run");
  const std::string type = "kw::Run<" + one.tuple + ">", none = "kw::no_run<" + one.tuple + ">()";
  text.before.line("kw::InOrder<" + one.tuple + ", kStreamed ? 40 : 6> " + all + ";");
  text.before_tile.line(type + " " + runs + "[kVectors];");
  text.before_tile.line("KW_UNROLL");
  text.before_tile.line("for (int v = 0; v < kVectors; ++v) " + runs + "[v] = " + none + ";");
  text.body.vector.line(type + " " + run + " = " + none + ";");
  text.body.element.line(run + ".add(" + tuple_text(one) + ");");
  text.body.stores.line(runs + "[v] = " + run + ";");
  text.after_tile.line("kw::add_tile<kBlockRow>(" + all + ", " + runs + ", lanes, " +
                       share(name, type, "2 * kw::kMostWarps") + ", turn);");
  combined_results(one, all + ".run()", text.after);
}

// ---- sums over the rows, one for every element: a thread has its own ----

void WholeRowWriter::sums_of_row(const Accumulate& sum, StageText& text) {
  const std::string type = sum_type(sum), name = names_.fresh(buffer(sum.buffer).name + "_sums");
  const std::string terms = names_.fresh(buffer(sum.buffer).name + "_terms");
  const std::string room = room_before(type);
  if (text_.column_sums == 1)
    sums_.line("const int room = kPlace == kw::Place::Shared ? sum_tiles * kElements * kw::threads() : 0;");
  const std::string head =
      "kw::Sums<" + type + ", kVector, kVectors, kPlace, kRagged" + (program_.atomic ? ", true> " : "> ") + name + "(";
  const std::string to = buffer(sum.buffer).name + ".at(" + slice("kw::block()") + ")";
  for (const std::string& line : split_lines(bracketed(head, {to, room, "length", "sum_tiles", "tiles"}, ");", 116)))
    sums_.line(line);
  text.body.vector.line("kw::Vector<" + type + ", kVector> " + terms + ";");
  Lines& loop = loop_of(text.body, {sum.value});
  loop.line(terms + "[k] = " + values_.expressions.as(sum.value, type) + ";");
  text.body.stores.line(name + ".add(tile, v, element, " + terms + ");");
  finish_.line(name + ".template finish<kStreamed>(lane, lanes, groups, edges);");
  ++text_.column_sums;
}

// What the sums before this one take of shared memory.
std::string WholeRowWriter::room_before(const std::string& type) {
  const std::vector<std::string> before = sum_types_;
  sum_types_.push_back(type);
  if (before.empty()) return "0";
  const std::string times = before.size() > 1 ? std::to_string(before.size()) + " * " : "";
  if (std::count(before.begin(), before.end(), before[0]) == std::ssize(before))
    return times + "room * static_cast<int>(sizeof(" + before[0] + "))";
  std::string bytes;
  for (const std::string& one : before) bytes += (bytes.empty() ? "sizeof(" : " + sizeof(") + one + ")";
  return "room * static_cast<int>(" + bytes + ")";
}

std::string WholeRowWriter::bytes_of_sums() const {
  std::string sums;
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates)
      if (kind_of(plan_, sum) == SumKind::Column)
        sums += (sums.empty() ? "" : " + ") + ("sizeof(" + types_.stored(buffer(sum.buffer).type) + ")");
  return sums.empty() ? "" : "static_cast<int>(" + sums + ")";
}

std::string WholeRowWriter::sums_room() const {
  const std::string bytes = bytes_of_sums();
  if (bytes.empty()) return "";
  return "(kPlace == kw::Place::Shared ? sum_tiles * kElements * kw::threads() * " + bytes + " : 0)";
}

// Tiles whose sums shared memory has room for.
Lines WholeRowWriter::sum_tiles() const {
  Lines out;
  const std::string bytes = bytes_of_sums();
  if (bytes.empty()) return out;
  out.line("const Index most = kw::dynamic_bytes() / (kElements * kw::threads() * " + bytes + ");");
  out.line("const Index sum_tiles = kStreamed && kPlace == kw::Place::Shared && most < tiles ? most : tiles;");
  return out;
}

}  // namespace kw::act::cuda
