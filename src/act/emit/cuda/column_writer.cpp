#include "act/emit/cuda/column_writer.h"

#include <algorithm>

#include "act/loop/uses.h"
#include "base/text.h"

namespace kw::act::cuda {
namespace {

constexpr std::string_view kFile = "templates/cuda/columns.cu";

}  // namespace

Level ColumnWriter::level_of(const Axes& axes) const {
  const Axes row = row_axes();
  const bool runs = std::any_of(axes.begin(), axes.end(), [&](LoopAxisId axis) { return has(row, axis); });
  return runs ? Level::Element : Level::Point;
}

Axes ColumnWriter::point_axes() const {
  Axes axes = nest_.parallel;
  if (nest_.inner >= 0 && !nest_.reduces_inner()) axes.push_back(nest_.inner);
  return axes;
}

std::string ColumnWriter::workers() const {
  for (const SizeParameter& size : text_.sizes)
    if (program_.workers && size.size == ir::Size::symbol(*program_.workers)) return size.name;
  return "1";
}

Lines ColumnWriter::kernel() {
  Lines point;
  values_.open(Level::Point, &point);
  for (const Stage& stage : kernel_.stages) {
    if (!stage.loop.empty()) this->stage(stage, point);
    values_.open(Level::Element, nullptr);
    if (plan_.shape == Shape::Points && stage.loop.empty())
      for (const Accumulate& sum : stage.accumulates) {
        values_.define({sum.value});
        add_sum(sum, values_.expressions.as(sum.value, sum_type(sum)), point);
      }
    after_stores(stage, point, is_total() ? "kw::thread() == 0" : by_warps() ? "inside && kw::thread() < columns" : "");
  }
  Lines all = used(positions("point", point_axes(), false), {&point});
  all.append(point);
  Skeleton skeleton = Skeleton::load(kFile, is_total() ? "total" : by_warps() ? "columns" : "points");
  skeleton.name(is_total()   ? "total_kernel"
                : by_warps() ? "kernel"
                             : "point_kernel",
                text_.function)
      .list("parameters", parameter_list())
      .expression("length", names_.product(row_axes()))
      .statements("point", all);
  if (by_warps()) skeleton.statements("shared", shared_);
  if (is_total()) return skeleton.fill();
  skeleton.expression("points", names_.product(point_axes()));
  if (by_warps())
    skeleton.statements("outside", outside("!inside", point))
        .expression("columns", has_combine(kernel_) ? "32" : "kw::columns_of_block(points)");
  else
    skeleton.statements("sums", sums_)
        .expression("workers", plan_.accumulates ? workers() : "points")
        .expression("next", plan_.accumulates ? "point + " + workers() : "points");
  return skeleton.fill();
}

void ColumnWriter::add_sum(const Accumulate& sum, const std::string& value, Lines& out) {
  clear_slice(sum, "worker", false);
  const std::string to = address(sum.buffer, sum.at, false, slice("worker"));
  out.line(add_to(to, value, joined_to(to)));
  ++text_.other_sums;
}

// The elements of a point are added up by themselves, where they go to one place: a slice takes few in a row.
void ColumnWriter::add_elements(const Accumulate& sum, Lines& before, Lines& element, Lines& after) {
  const std::string type = sum_type(sum), term = values_.expressions.as(sum.value, type);
  const Axes row = row_axes(), to = axes_of_access(sum.at);
  if (std::any_of(to.begin(), to.end(), [&](LoopAxisId axis) { return has(row, axis); })) {
    add_sum(sum, term, element);
    return;
  }
  const std::string total = names_.fresh(buffer(sum.buffer).name + "_total");
  before.line("kw::Total<true, " + type + "> " + total + " = 0;");
  element.line(total + " += " + term + ";");
  add_sum(sum, "static_cast<" + type + ">(" + total + ")", after);
}

void ColumnWriter::count_work(const Stage& stage) {
  std::set<BufferId> loads;
  const auto is_of_point = [&](ValueId v) {
    return level_of(kernel_[v].axes) != Level::Element || std::holds_alternative<Reduced>(kernel_[v].what);
  };
  int work = 0;
  for (ValueId v : act::in_order(kernel_, roots_of(stage), is_of_point)) {
    if (const Load* load = std::get_if<Load>(&kernel_[v].what)) loads.insert(load->buffer);
    work += instructions(kernel_[v]);
  }
  text_.loads = std::max(text_.loads, static_cast<int>(loads.size()));
  text_.work = std::max(text_.work, work);
}

void ColumnWriter::stage(const Stage& stage, Lines& point) {
  Body body;
  define(body, statements_of(stage), stored_by(stage));
  count_work(stage);
  std::vector<std::string> parts, names;
  Lines after;
  const std::vector<ValueId> plain = plain_reductions(stage);
  for (ValueId r : plain) {
    const Reduction reduction = reduction_of(r);
    const std::string type = accumulator_type(r), name = reduced_name(r);
    std::string variable = name;
    if (has_partials(r)) {
      variable = names_.fresh(name + "_total");
      point.line("kw::Total<true, " + type + "> " + variable + " = " + reduction.start + ";");
      after.line(type + " " + name + " = static_cast<" + type + ">(" + variable + ");");
    } else {
      point.line(type + " " + variable + " = " + reduction.start + ";");
    }
    std::string term = term_of(r);
    if (is_total()) {  // read whether it counts or not, so that no read waits for an answer
      const std::string read = names_.fresh(name + "_slice");
      body.element.line("const " + type + " " + read + " = " + term + ";");
      term = "counts ? " + read + " : " + reduction.start;
    }
    body.element.line(reduction.joined(variable, term));
    names.push_back(name);
    if (by_warps())
      parts.push_back((is_total() ? "kw::part<" : "kw::lane_part<") + std::string(reduction.functor) + ">(" + name +
                      ", " + share(name, type, is_total() ? "kw::kMostWarps" : "kw::kMostWarps * 32") + ")");
  }
  Lines combined;
  const std::vector<Combination> combinations = combines_.of(stage);
  for (const Combination& one : combinations) {
    const std::string name = names_.value(one.reduced[0]), all = names_.fresh(name + "_all");
    const std::string run = names_.fresh(name + "_run"), type = "kw::Run<" + one.tuple + ">";
    point.line("kw::InOrder<" + one.tuple + ", 40> " + all + ";");
    body.element.line(all + ".add(" + tuple_text(one) + ");");
    after.line(type + " " + run + " = " + all + ".run();");
    if (by_warps())
      parts.push_back("kw::lane_part<kw::Joined>(" + run + ", " + share(run, type, "kw::kMostWarps * 32") + ")");
    combined_results(one, run, combined);
  }
  for (const Accumulate& sum : stage.accumulates) add_elements(sum, point, body.element, after);
  for (const Store& s : stage.stores) store(s, body);
  point.append(loop(body.element, !combinations.empty()));
  values_.close();
  point.append(after);
  if (!parts.empty())
    for (const std::string& line : split_lines(bracketed(has_combine(kernel_) ? "kw::warps_reduce("
                                                         : is_total()         ? "kw::block_reduce(0, "
                                                                              : "kw::columns_reduce(columns, ",
                                                         parts, ");")))
      point.line(line);
  for (size_t i = 0; i < names.size(); ++i) result(plain[i], names[i], point);
  point.append(combined);
}

Lines ColumnWriter::loop(const Lines& body, bool in_order) {
  Lines out;
  std::string first = "0", end = "length", step = "1";
  if (by_warps() && in_order) {
    const std::string each = names_.fresh("share");
    first = names_.fresh("begin"), end = names_.fresh("last");
    out.line("const Index " + each + " = (length + kw::warps() - 1) / kw::warps(), " + first + " = kw::warp() * " +
             each + ";");
    out.line("const Index " + end + " = " + first + " + " + each + " < end ? " + first + " + " + each + " : end;");
  } else if (by_warps() && !is_total()) {
    first = "kw::thread() / columns", end = "end", step = "kw::threads() / columns";
  }
  // Slices are few.
  const std::string counter = plan_.adds_slices ? "int" : "Index";
  if (plan_.adds_slices) end = "static_cast<int>(" + end + ")";
  Skeleton skeleton = Skeleton::load(kFile, is_total() ? "total_stage" : "column_stage");
  skeleton.name("counter", counter).expression("end", end);
  if (!is_total()) skeleton.expression("first", first).expression("step", step);
  out.append(skeleton.statements("position", used(positions("element", row_axes(), false), {&body}))
                 .statements("body", body)
                 .fill());
  return out;
}

}  // namespace kw::act::cuda
