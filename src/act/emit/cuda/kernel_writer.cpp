#include "act/emit/cuda/kernel_writer.h"

#include "act/emit/cuda/row_writer.h"

namespace kw::act::cuda {
namespace {

class ElementWriter : public Writer {
 public:
  using Writer::Writer;
  KernelText run() {
    elements();
    return std::move(text_);
  }

 private:
  // Positions that took a division to find are known for every vector from when it was read: found again, they would
  // cost as much as several elements do. What the later loop then says in the place of their definitions.
  Lines keep(const Lines& definitions, Lines& declared, Lines& kept) {
    Lines out;
    for (const std::string& line : definitions.all()) {
      const std::string name = line.substr(12, line.find(" =") - 12);  // const Index NAME = …
      if (name == "element") {
        out.line(line);
        continue;
      }
      const std::string held = names_.fresh(name + "_v");
      declared.line("Index " + held + "[kVectors];");
      kept.line(held + "[v] = " + name + ";");
      out.line("const Index " + name + " = " + held + "[v];");
    }
    return out;
  }

  void elements() {
    const Axes axes = nest_.all();
    if (axes.size() > 1) first_ = names_.fresh("first_" + names_.variable(nest_.inner));
    Lines setup;
    Body body;
    values_.open(Level::Point, &setup);
    std::vector<ValueId> roots;
    std::set<ValueId> stored;
    std::vector<Store> stores;
    std::vector<Accumulate> sums;
    for (const Stage& stage : kernel_.stages) {
      for (const Store& s : stage.stores) stores.push_back(s);
      for (const Store& s : stage.after_stores) stores.push_back(s);
      for (const Accumulate& s : stage.accumulates) sums.push_back(s);
    }
    for (const Store& s : stores)
      if (run_of(s.at, nest_.inner).neighbours && is_large(s.at) && !like_) like_ = {s.buffer, s.at};
    for (const Store& s : stores) {
      roots.push_back(s.value);
      stored.insert(s.value);
    }
    for (const Accumulate& s : sums) roots.push_back(s.value);
    define(body, roots, stored);
    for (const Accumulate& s : sums) scalar_sum(s, body, values_.expressions.as(s.value, sum_type(s)));
    for (const Store& s : stores) store(s, body);
    finish(body);
    Lines position;
    position.line("const Index element = vector * kVector;");
    if (axes.size() > 1) position.append(positions("element", axes, true));
    Lines loads, fetch;
    for (const Held& held : held_)
      loads.line(held.name + "[v] = " +
                 (lies_alike(held.buffer, held.at) ? "kw::load_piece<kVector>(" + held.address + ", whole)"
                                                   : beside(held.buffer, held.at)) +
                 ";");
    const Lines tile_lines = tiles();
    Lines declared = tile_lines, kept;
    Lines again = used(position, body.all());
    if (!loads.empty()) again = used(keep(again, declared, kept), body.all());
    fetch.append(used(position, {&loads, &kept}));
    fetch.append(loads);
    fetch.append(kept);
    for (const Value& value : kernel_.values)
      if (level_of(value.axes) == Level::Element) text_.work += instructions(value);
    const bool summed = !sums.empty();
    Skeleton skeleton = Skeleton::load(kElementsFile, summed ? "summed_elements" : "elements");
    skeleton.name(summed ? "summed_kernel" : "kernel", text_.function)
        .list("parameters", parameter_list())
        .statements("setup", setup)
        .expression("elements", parenthesised(names_.product(axes)))
        .statements("tiles", declared)
        .statements("fetch", fetch)
        .statements("position", again)
        .statements("vector", body.vector)
        .statements("body", body.element)
        .statements("stores", body.stores);
    if (summed) skeleton.statements("shared", shared_).statements("sums", sums_).statements("finish", finish_);
    text_.lines = skeleton.fill();
    // By rows, which then may begin anywhere.
    if (summed || axes.size() < 2 || text_.vectors.empty()) return;
    text_.by_rows = text_.function + "_by_rows";
    text_.ragged = stored_alike_ && like_ && in_order(like_->second);
    Lines edges;
    edges.line(edges_of({nest_.inner}, "start + kw::thread()"));
    std::vector<const Lines*> users = body.all();
    users.insert(users.end(), {&loads, &edges});
    Lines place = used(positions("point", nest_.parallel, false), users);
    place.append(edges);
    text_.lines.line("");
    text_.lines.append(Skeleton::load(kElementsFile, "row_elements")
                           .name("row_kernel", text_.by_rows)
                           .list("parameters", parameter_list())
                           .statements("setup", setup)
                           .expression("length", names_.size(nest_.inner))
                           .statements("place", place)
                           .statements("tiles", tile_lines)
                           .name("first", first_)
                           .statements("fetch", loads)
                           .statements("vector", body.vector)
                           .statements("body", body.element)
                           .statements("stores", body.stores)
                           .fill());
  }
};

// Kernels that reduce outer axes, and what fits nowhere else.
class ColumnWriter : public Writer {
 public:
  using Writer::Writer;
  KernelText run() {
    columns();
    return std::move(text_);
  }

 private:
  void columns() {
    const bool shared = plan_.shape == Shape::Columns;
    Lines point;
    values_.open(Level::Point, &point);
    for (const Stage& stage : kernel_.stages) {
      values_.open(Level::Point, &point);
      if (!stage.loop.empty()) column_stage(stage, point, shared);
      values_.open(Level::Element, nullptr);
      if (plan_.shape == Shape::Points && stage.loop.empty()) point_sums(stage, point);
      after_stores(stage, point, shared ? "inside && kw::warp() == 0" : "");
    }
    Lines all = used(positions("point", point_axes(), false), {&point});
    all.append(point);
    Axes row = row_axes();
    const bool summed = plan_.accumulates;
    Skeleton skeleton = Skeleton::load(kColumnsFile, shared ? "columns" : "points");
    skeleton.name(shared ? "kernel" : "point_kernel", text_.function)
        .list("parameters", parameter_list())
        .expression("points", names_.product(point_axes()))
        .expression("length", names_.product(row))
        .statements("point", all);
    if (shared) {
      skeleton.statements("shared", shared_).statements("outside", outside("!inside", point));
    } else {
      const std::string count = workers();
      skeleton.statements("sums", sums_)
          .expression("workers", summed ? count : "points")
          .expression("next", summed ? "point + " + count : "points");
    }
    text_.lines = with_combines(skeleton.fill());
  }
  std::string workers() const {
    for (const SizeParameter& size : text_.sizes)
      if (program_.workers && size.size == ir::Size::symbol(*program_.workers)) return size.name;
    return "1";
  }
  void point_sums(const Stage& stage, Lines& out) {
    for (const Accumulate& sum : stage.accumulates) {
      values_.define({sum.value});
      point_sum(sum, out);
    }
  }
  void point_sum(const Accumulate& sum, Lines& out) {
    clear_slice(sum, "worker", false);
    const std::string to = address(sum.buffer, sum.at, false, slice("worker"));
    out.line(add_to(to, values_.expressions.as(sum.value, sum_type(sum)), joined_to(to)));
    ++text_.other_sums;
  }

  void column_stage(const Stage& stage, Lines& point, bool shared) {
    Body body;
    std::set<ValueId> stored;
    for (const Store& s : stage.stores) stored.insert(s.value);
    define(body, roots_of(stage, kernel_), stored);
    std::vector<std::string> parts, names;
    Lines after;
    const std::vector<ValueId> plain = plain_reductions(stage);
    for (ValueId r : plain) {
      const Reduction reduction = reduction_of(std::get<Reduced>(kernel_[r].what).op);
      const std::string type = accumulator_type(r), name = reduced_name(r);
      const std::string term = values_.expressions.as(std::get<Reduced>(kernel_[r].what).arg, type);
      std::string variable = name;
      if (has_partials(r)) {
        variable = names_.fresh(name + "_total");
        point.line("kw::Total<true, " + type + "> " + variable + " = " + reduction.start + ";");
        after.line(type + " " + name + " = static_cast<" + type + ">(" + variable + ");");
      } else {
        point.line(type + " " + variable + " = " + reduction.start + ";");
      }
      body.element.line(joined(reduction, variable, term));
      names.push_back(name);
      if (shared)
        parts.push_back("kw::lane_part<" + std::string(reduction.functor) + ">(" + name + ", " +
                        share(name, type, "kw::kMostWarps * 32") + ")");
    }
    Lines combined;
    const std::vector<Combination> combinations = combines_.of(stage);
    for (const Combination& one : combinations) {
      const std::string name = names_.value(one.reduced[0]), all = names_.fresh(name + "_all");
      const std::string run = names_.fresh(name + "_run"), type = "kw::Run<" + one.tuple + ">";
      point.line("kw::InOrder<" + one.tuple + ", 40> " + all + ";");
      body.element.line(all + ".add(" + tuple_text(one) + ");");
      after.line(type + " " + run + " = " + all + ".run();");
      if (shared)
        parts.push_back("kw::lane_part<kw::Joined>(" + run + ", " + share(run, type, "kw::kMostWarps * 32") + ")");
      combined_results(one, run, combined);
    }
    for (const Accumulate& sum : stage.accumulates) point_sum(sum, body.element);
    for (const Store& s : stage.stores) store(s, body);
    const Axes row = row_axes();
    std::string first = shared ? "kw::warp()" : "0", end = shared ? "end" : "length";
    const bool in_order = shared && !combinations.empty();
    if (in_order) {  // every warp has neighbours
      const std::string each = names_.fresh("share");
      first = names_.fresh("begin"), end = names_.fresh("last");
      point.line("const Index " + each + " = (length + kw::warps() - 1) / kw::warps(), " + first + " = kw::warp() * " +
                 each + ";");
      point.line("const Index " + end + " = " + first + " + " + each + " < end ? " + first + " + " + each + " : end;");
    }
    point.append(Skeleton::load(kColumnsFile, "column_stage")
                     .expression("first", first)
                     .expression("end", end)
                     .expression("step", shared && !in_order ? "kw::warps()" : "1")
                     .statements("position", used(positions("element", row, false), {&body.element}))
                     .statements("body", body.element)
                     .fill());
    values_.close();
    point.append(after);
    if (!parts.empty())
      for (const std::string& line : split_lines(bracketed("kw::warps_reduce(", parts, ");"))) point.line(line);
    for (size_t i = 0; i < names.size(); ++i) result(plain[i], names[i], point);
    point.append(combined);
  }
};

}  // namespace

KernelText write_kernel(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types) {
  const KernelPlan plan = plan_kernel(program, kernel);
  switch (plan.shape) {
    case Shape::Elements:
      return ElementWriter(program, kernel, plan, types).run();
    case Shape::Rows:
      return RowWriter(program, kernel, plan, types).run();
    case Shape::Columns:
    case Shape::Points:
      break;
  }
  return ColumnWriter(program, kernel, plan, types).run();
}

}  // namespace kw::act::cuda
