// Neighbouring columns together: a tile has some of them, times some of what is reduced. Where columns alone are too
// few programs, the reduced axes are cut into chunks, and a second kernel adds up what these found.
#include <algorithm>

#include "act/emit/triton/launch.h"
#include "act/emit/triton/writer.h"
#include "act/pass_contract.h"

namespace kw::act::triton {

// The loop of one stage; `first` and `step`: which tiles are this program's own.
std::vector<Writer::Total> Writer::column_stage(const Stage& stage, const std::vector<Sum>& sums,
                                                const std::string& first, const std::string& step, Lines& out) {
  hoist(roots_of(stage), out);
  const std::map<ValueId, Text> outside = expressions_.environment;
  const std::vector<Total> totals = open_totals(stage, "REDUCED, BLOCK", out);
  const std::string i = running(loop_, "reduced"), count = text_product(loop_);
  row_mask_ = i + " < " + count;
  out.line("for start in range(" + first + ", " + count + ", " + step + "):");
  Lines body;
  const std::string tile = "start + tl.arange(0, REDUCED)[:, None]";
  body.line(i + " = " + (form_ == Form::General ? "(" + tile + ").to(tl.int64)" : tile));
  body.line("mask = (" + row_mask_ + ") & (" + column_mask_ + ")");
  body.append(positions(i, loop_));
  std::set<ValueId> stored;
  for (const Store& s : stage.stores) stored.insert(s.value);
  define(roots_of(stage), body, stored);
  add_to_totals(totals, body);
  add_to_sums(sums, stage, body);
  for (const Store& s : stage.stores) store(s, body);
  for (const std::string& line : body.all()) out.line("    " + line);
  expressions_.environment = outside;
  row_mask_.clear();
  return totals;
}

bool Writer::splits_columns() const {
  int loops = 0;
  for (const Stage& stage : kernel_.stages) loops += !stage.loop.empty();
  const bool over_workers =
      loop_.size() == 1 && program_.workers && axis_of(loop_[0]).size == ir::Size::symbol(*program_.workers);
  return loops == 1 && !over_workers;
}

void Writer::columns() {
  streamed_ = true;
  const LoopAxisId inner = parallel_.back();
  const Axes others(parallel_.begin(), parallel_.end() - 1);
  row_axes_ = loop_;
  column_axes_ = {inner};
  column_mask_ = names_.variable(inner) + " < " + names_.size(inner);
  mask_ = "mask";
  const bool split = splits_columns();
  const std::string cols = manifest_product({inner}), points = manifest_product(others);
  const ColumnTile tile = column_tile(cols, points, manifest_product(loop_), split);
  std::vector<Sum> sums = sums_of(false);
  for (const Sum& sum : sums)
    if (sum.kind != Sum::Kind::Total || !split) expressions_.refuse("sum-beside-columns");

  auto frame = [&](const Lines& setup, const Lines& body) {
    Skeleton skeleton = Skeleton::load(kSkeletons, "columns");
    skeleton.name("column", names_.variable(inner)).expression("columns", names_.size(inner));
    skeleton.statements("setup", setup).statements("body", body);
    return skeleton;
  };
  auto other_points = [&](Lines& out) {
    if (others.empty()) return;
    out.line(running(others, "point") + " = tile // tl.cdiv(" + names_.size(inner) + ", BLOCK)");
    out.append(positions(running(others, "point"), others));
  };
  const std::string tiles = "ceil_div(" + cols + ", " + tile.block + ")" + (points == "1" ? "" : "*(" + points + ")");
  const std::vector<std::pair<std::string, std::string>> constants = {{"BLOCK", tile.block}, {"REDUCED", tile.reduced}};

  Lines setup, body;
  other_points(setup);
  if (!split) {
    for (const Stage& stage : kernel_.stages) {
      if (stage.loop.empty())
        stage_once(stage, body);
      else
        for (const Total& total : column_stage(stage, {}, "0", "REDUCED", body))
          finish(total.value, reduce(total.value, total.variable, 0, true), body);
      after(stage, body);
    }
    Skeleton skeleton = frame(setup, body);
    finish_function(skeleton, kernel_.name, {constants, {tiles}, tile.warps, {}});
    return;
  }

  // Chunk by chunk.
  first_of_two_ = true;
  setup.line("chunk = tl.program_id(1).to(tl.int64)");
  if (accumulates_) setup.line("worker = tile * chunks + chunk");
  open_sums(sums, "REDUCED, ", setup);
  std::vector<Total> totals;
  for (const Stage& stage : kernel_.stages) {
    if (stage.loop.empty())
      stage_once(stage, body);
    else
      totals = column_stage(stage, sums, "chunk * REDUCED", "chunks * REDUCED", body);
  }
  std::vector<std::string> parts;
  auto part_address = [&](const std::string& part, const std::string& chunk) {
    std::string at = chunk;
    if (!others.empty())
      at = "(" + at + " * " + parenthesised(text_product(others)) + " + " + running(others, "point") + ")";
    return part + " + " + at + " * " + names_.size(inner) + " + " + names_.variable(inner);
  };
  for (const Total& total : totals) {
    const std::string part = parts_name(total.value);
    parts.push_back(part);
    body.line("tl.store(" + part_address(part, "chunk") + ", " + reduce(total.value, total.variable, 0, true) +
              ", mask=" + column_mask_ + ")");
    out_.workspace.push_back({part, kernel::Role::Workspace, part_type(total.value), {tile.chunks, points, cols}});
  }
  close_sums(sums, body);
  if (accumulates_) out_.workers = tiles + "*" + tile.chunks;
  Skeleton first = frame(setup, body);
  finish_function(first, kernel_.name, {constants, {tiles, tile.chunks}, tile.warps, {}}, parts, {},
                  {{"chunks", tile.chunks}});

  // And their sum.
  first_of_two_ = false;
  used_.clear();
  strides_.clear();
  written_.clear();
  expressions_.environment.clear();
  Lines point, last;
  other_points(point);
  std::vector<std::string> variables;
  for (const Total& total : totals) {
    variables.push_back(names_.fresh(names_.value(total.value) + "_found"));
    last.line(variables.back() + " = tl.full([REDUCED, BLOCK], " + reduction(total.value).neutral +
              ", dtype=" + expressions_.compute_type(kernel_[total.value].type) + ")");
  }
  last.line("for start in range(0, chunks, REDUCED):");
  last.line("    chunk = start + tl.arange(0, REDUCED)[:, None].to(tl.int64)");
  last.line("    mask = (chunk < chunks) & (" + column_mask_ + ")");
  for (size_t t = 0; t < totals.size(); ++t)
    last.line("    " + variables[t] + " = " +
              combined(totals[t].value, variables[t],
                       "tl.load(" + part_address(parts[t], "chunk") +
                           ", mask=mask, other=" + reduction(totals[t].value).neutral + ")"));
  for (size_t t = 0; t < totals.size(); ++t)
    finish(totals[t].value, reduce(totals[t].value, variables[t], 0, true), last);
  for (const Stage& stage : kernel_.stages) after(stage, last);
  out_.lines.line("");
  out_.lines.line("");
  Skeleton second = frame(point, last);
  const ColumnTile sums_tile = column_tile(cols, points, tile.chunks, false);
  const std::string few =
      "ceil_div(" + cols + ", " + sums_tile.block + ")" + (points == "1" ? "" : "*(" + points + ")");
  finish_function(second, kernel_.name + "_finish",
                  {{{"BLOCK", sums_tile.block}, {"REDUCED", sums_tile.reduced}}, {few}, sums_tile.warps, {}}, {}, parts,
                  {{"chunks", tile.chunks}});
}

std::string Writer::part_type(ValueId value) const {
  const ir::Type type = kernel_[value].type;
  if (!type.floating()) return "i64";
  return type_text(ir::promote(type, ir::DType::F32), program_.type_parameters);
}

}  // namespace kw::act::triton
