#include "act/emit/cpu/kernel_writer.h"

#include <algorithm>

#include "act/emit/cpu/accumulators.h"
#include "act/emit/cpu/scopes.h"
#include "act/emit/skeleton.h"
#include "act/loop/index.h"
#include "base/text.h"

namespace kw::act::cpu {
namespace {

using Axes = std::vector<LoopAxisId>;

// Words that the skeletons use themselves.
constexpr std::string_view kReserved[] = {"kw",     "std",   "tile",    "end",     "terms", "block",
                                          "chunk",  "point", "points",  "kUnit",   "kTile", "kChain",
                                          "blocks", "tiles", "kChunks", "int64_t", "size_t"};

constexpr std::string_view kRowFile = "templates/cpu/row.cpp";
constexpr std::string_view kColumnFile = "templates/cpu/column.cpp";
constexpr std::string_view kWholeFile = "templates/cpu/whole.cpp";

bool has(const Axes& axes, LoopAxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

class KernelWriter {
 public:
  KernelWriter(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types)
      : program_(program),
        kernel_(kernel),
        types_(types),
        nest_(choose_nest(program, kernel)),
        names_(program, kernel, nest_.all(), kReserved, types),
        scopes_(program, kernel, nest_, types, names_) {}

  KernelText run() {
    for (const Stage& stage : kernel_.stages) text_.accumulates |= !stage.accumulates.empty();
    constexpr std::string_view kSuffix[] = {"_rows", "_elements", "_whole"};
    text_.function = kernel_.name + std::string(kSuffix[static_cast<size_t>(nest_.shape)]);
    if (nest_.shape == Nest::Shape::Column && !nest_.loop.empty()) text_.function = kernel_.name + "_columns";
    choose_parameters();
    if (nest_.inner < 0)
      single();
    else if (nest_.shape == Nest::Shape::Row)
      rows();
    else if (nest_.shape == Nest::Shape::Column)
      columns();
    else
      whole();
    text_.nest = nest_;
    text_.unit_rows = scopes_.unit_rows();
    return std::move(text_);
  }

 private:
  // ---- parameters ----
  void choose_parameters() {
    std::set<BufferId> used;
    for (const Access& access : accesses_of(kernel_)) used.insert(access.buffer);
    for (const Stage& stage : kernel_.stages) {
      for (const Store& store : stage.stores) text_.written.insert(store.buffer);
      for (const Store& store : stage.after_stores) text_.written.insert(store.buffer);
      for (const Accumulate& sum : stage.accumulates) text_.written.insert(sum.buffer);
    }
    for (size_t b = 0; b < program_.buffers.size(); ++b)
      if (used.contains(static_cast<BufferId>(b))) text_.tensors.push_back(static_cast<BufferId>(b));
    text_.sizes = names_.sizes();
    std::set<std::string> scalars;
    for (const Value& value : kernel_.values)
      if (const Scalar* scalar = std::get_if<Scalar>(&value.what)) scalars.insert(scalar->name);
    for (const auto& [name, type] : program_.scalars)
      if (scalars.contains(name)) text_.scalars.emplace_back(name, scopes_.expressions.scalar_type(name));
  }

  std::vector<std::string> parameter_list() {
    std::vector<std::string> list;
    for (BufferId b : text_.tensors) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
      list.push_back("kw::Tensor<" + std::string(text_.written.contains(b) ? "" : "const ") +
                     types_.stored(buffer.type) + ", " + std::to_string(buffer.shape.size()) + "> " + buffer.name);
    }
    for (const SizeParameter& size : text_.sizes) list.push_back("int64_t " + size.name);
    for (const auto& [name, type] : text_.scalars) list.push_back(type + " " + name);
    return list;
  }

  std::string elements() const { return names_.product(nest_.all()); }
  std::string loop_header(LoopAxisId axis) const {
    const std::string& i = names_.variable(axis);
    return "for (int64_t " + i + " = 0; " + i + " < " + names_.size(axis) + "; ++" + i + ")";
  }
  // The indices of several axes from one running number.
  Lines positions(const std::string& number, const Axes& axes) const {
    Lines out;
    if (axes.size() == 1 && number == names_.variable(axes[0])) return out;
    for (size_t i = 0; i < axes.size(); ++i) {
      const Axes inner(axes.begin() + static_cast<std::ptrdiff_t>(i) + 1, axes.end());
      std::string text = number;
      if (!inner.empty())
        text += inner.size() > 1 ? " / (" + names_.product(inner) + ")" : " / " + names_.product(inner);
      if (i > 0) text += " % " + names_.size(axes[i]);
      out.line("const int64_t " + names_.variable(axes[i]) + " = " + text + ";");
    }
    return out;
  }
  static std::string collapse(size_t loops) { return loops > 1 ? "collapse(" + std::to_string(loops) + ")" : ""; }

  // ---- one element ----
  void single() {
    Lines point;
    scopes_.open_rows(Level::Point, &point);
    for (const Stage& stage : kernel_.stages) after(stage, point);
    text_.lines = Skeleton::load(kWholeFile, "whole")
                      .name("kernel", text_.function)
                      .list("parameters", parameter_list())
                      .statements("setup", scopes_.setup)
                      .statements("stages", point)
                      .fill();
  }

  // Stores of a stage's results where they are scalars.
  void after(const Stage& stage, Lines& out) {
    std::vector<ValueId> roots;
    std::set<ValueId> stored;
    for (const Store& store : stage.after_stores) {
      roots.push_back(store.value);
      stored.insert(store.value);
    }
    scopes_.hoist(others(roots, stored), out, nullptr);
    scopes_.define(roots, out, stored);
    for (const Store& store : stage.after_stores)
      out.line(scopes_.element(store.buffer, store.at) + " = " + stored_text(store) + ";");
  }
  // What the stored values are made of, if they are to stay inside the store.
  std::vector<ValueId> others(const std::vector<ValueId>& roots, const std::set<ValueId>& stored) const {
    std::vector<ValueId> out;
    for (ValueId v : roots)
      if (stored.contains(v) && scopes_.uses(v) == 1)
        for (ValueId operand : operands_of(kernel_[v])) out.push_back(operand);
      else
        out.push_back(v);
    return out;
  }
  std::string stored_text(const Store& store) {
    return scopes_.expressions.stored(store.value, program_.buffers[static_cast<size_t>(store.buffer)].type);
  }

  // ---- the innermost loop of a stage ----
  struct Inner {
    Lines before, body, after;
    std::vector<std::string> clauses;
  };

  static std::vector<ValueId> roots_of(const Stage& stage, const LoopKernel& kernel) {
    std::vector<ValueId> roots;
    for (ValueId r : stage.reductions) roots.push_back(std::get<Reduced>(kernel[r].what).arg);
    for (const Store& store : stage.stores) roots.push_back(store.value);
    for (const Accumulate& sum : stage.accumulates) roots.push_back(sum.value);
    return roots;
  }

  std::vector<Accumulator> accumulators(const Stage& stage) {
    const auto partials = std::count_if(stage.reductions.begin(), stage.reductions.end(),
                                        [&](ValueId r) { return has_partials(kernel_, r); });
    std::vector<Accumulator> all;
    for (ValueId r : stage.reductions)
      all.push_back(make_accumulator(kernel_, r, partials + sums_inside(stage) == 1, types_, names_));
    return all;
  }
  // Accumulations whose place does not move along the innermost axis: they are reduced along it first.
  int64_t sums_inside(const Stage& stage) const {
    return std::count_if(stage.accumulates.begin(), stage.accumulates.end(),
                         [&](const Accumulate& sum) { return !moves(sum); });
  }
  bool moves(const Accumulate& sum) const {
    return std::any_of(sum.at.begin(), sum.at.end(),
                       [&](const Index& index) { return has(axes_of(index), nest_.inner); });
  }
  // The size that an index adds to the innermost axis, if it is a sum of the two.
  std::optional<Index> offset_along(const Index& index) const {
    if (index == axis_index(nest_.inner)) return size_index(0);
    if (index.kind != Index::Kind::Add) return std::nullopt;
    for (size_t i : {0, 1})
      if (index.operands[i] == axis_index(nest_.inner) && index.operands[1 - i].kind == Index::Kind::Size)
        return index.operands[1 - i];
    return std::nullopt;
  }
  // Results as large as the iteration space, along the innermost axis.
  bool is_streamed(const Store& store) const {
    Axes axes;
    for (const Index& index : store.at)
      for (LoopAxisId a : axes_of(index))
        if (!has(axes, a)) axes.push_back(a);
    return axes.size() == nest_.around().size() + 1 && !store.at.empty() && offset_along(store.at.back()) &&
           std::count_if(store.at.begin(), store.at.end(),
                         [&](const Index& index) { return has(axes_of(index), nest_.inner); }) == 1;
  }

  // `at` is the index into arrays of accumulators; empty where these are scalars of the loop.
  Inner inner(const Stage& stage, const std::vector<Accumulator>& sums, const std::string& at,
              const std::vector<Store>& stores) {
    Inner out;
    std::vector<ValueId> roots;
    std::set<ValueId> stored;
    for (const Accumulator& sum : sums) roots.push_back(sum.arg);
    for (const Accumulate& sum : stage.accumulates) roots.push_back(sum.value);
    for (const Store& store : stores) {
      roots.push_back(store.value);
      stored.insert(store.value);
    }
    scopes_.define(roots, out.body, stored);
    for (const Accumulator& sum : sums) {
      const std::string term = scopes_.expressions.as(sum.arg, sum.type);
      if (at.empty() && sum.adds_tiles()) {
        out.before.line("alignas(64) " + array(sum.type, sum.name) + ";");
        out.body.line(sum.name + in_tile() + " = " + term + ";");
        continue;
      }
      out.body.line(sum.combine(term, at));
      if (!at.empty()) continue;
      if (sum.partial()) out.before.line(sum.type + " " + sum.name + " = " + sum.start + ";");
      out.clauses.push_back("reduction(" + sum.clause + " : " + sum.name + ")");
    }
    for (const Accumulate& sum : stage.accumulates) {
      const std::string type = types_.computed(kernel_[sum.value].type);
      const std::string wide = types_.stored(program_.buffers[static_cast<size_t>(sum.buffer)].type);
      const std::string term = scopes_.expressions.as(sum.value, wide);
      if (moves(sum)) {
        out.body.line(scopes_.element(sum.buffer, sum.at, true) + " += " + term + ";");
        continue;
      }
      const std::string name = names_.fresh(names_.tensor(sum.buffer) + "_terms");
      out.before.line("alignas(64) " + array(wide, name) + ";");
      out.body.line(name + in_tile() + " = " + term + ";");
      out.after.line(scopes_.element(sum.buffer, sum.at, true) + " += kw::tile_sum(" + name + ", end - tile);");
    }
    for (const Store& store : stores) {
      const std::string target = scopes_.element(store.buffer, store.at);
      const std::string value = stored_text(store);
      if (!is_streamed(store)) {
        out.body.line(target + " = " + value + ";");
        continue;
      }
      const Buffer& buffer = program_.buffers[static_cast<size_t>(store.buffer)];
      const std::string row = *scopes_.row(store.buffer, store.at);
      const std::string block = names_.fresh(buffer.name + "_block"), place = names_.fresh(buffer.name + "_tile");
      const Index offset = *offset_along(store.at.back());
      const std::string first = offset == size_index(0) ? "tile" : "tile + " + names_.factor(offset);
      out.before.line("kw::OutputTile<" + types_.stored(buffer.type) + ", kUnit, kTile> " + block + "(" + row + ", " +
                      first + ", " + stream_flag(store) + ");");
      out.before.line("const auto " + place + " = " + block + ".row();");
      out.body.line(place + "[" + names_.variable(nest_.inner) + " - tile] = " + value + ";");
      out.after.line(block + ".finish(end - tile);");
    }
    return out;
  }

  // One element of accumulators' arrays.
  std::string in_tile() const { return "[" + names_.variable(nest_.inner) + " - tile]"; }

  std::string stream_flag(const Store& store) {
    const Buffer& buffer = program_.buffers[static_cast<size_t>(store.buffer)];
    auto known = stream_flags_.find(store.buffer);
    if (known != stream_flags_.end()) return known->second;
    Axes axes;
    for (const Index& index : store.at)
      for (LoopAxisId a : axes_of(index))
        if (!has(axes, a)) axes.push_back(a);
    const std::string flag = names_.fresh("stream_" + buffer.name);
    scopes_.setup.line("const bool " + flag + " = kw::streams<" + types_.stored(buffer.type) + ">(" +
                       names_.product(axes) + ", " + names_.size(nest_.inner) + ", kStreamBytes);");
    return stream_flags_[store.buffer] = flag;
  }

  Lines line_loop(const Inner& inner, bool tiled) const {
    Skeleton skeleton = Skeleton::load(kRowFile, tiled ? "tiles" : "line");
    skeleton.name("i", names_.variable(nest_.inner))
        .expression("size", names_.size(nest_.inner))
        .clauses("reductions", join(inner.clauses, " "))
        .statements("body", inner.body);
    if (tiled) skeleton.statements("before", inner.before).statements("after", inner.after);
    return skeleton.fill();
  }

  // ---- rows ----
  void rows() {
    Lines point;
    scopes_.open_rows(Level::Point, &point_rows_);
    for (const Stage& stage : kernel_.stages) {
      if (!stage.loop.empty()) row_stage(stage, point);
      after(stage, point);
    }
    Lines body;
    body.append(point_rows_);
    body.append(point);
    frame(body, kRowFile, "row", "sliced_row", {});
  }

  void frame(const Lines& body, std::string_view file, std::string_view plain, std::string_view sliced,
             const std::vector<std::string>& more_loops) {
    if (!text_.accumulates) {
      std::vector<std::string> loops;
      for (LoopAxisId axis : nest_.parallel) loops.push_back(loop_header(axis));
      loops.insert(loops.end(), more_loops.begin(), more_loops.end());
      Skeleton skeleton = Skeleton::load(file, plain);
      skeleton.name("kernel", text_.function)
          .list("parameters", parameter_list())
          .statements("setup", scopes_.setup)
          .expression("elements", elements())
          .clauses("collapse", collapse(loops.size()))
          .loops("points", loops)
          .statements("point", body);
      if (file == kColumnFile) skeleton.expression("size", names_.size(nest_.inner));
      text_.lines = skeleton.fill();
      return;
    }
    const bool column = file == kColumnFile;
    const std::string number =
        column ? "block / tiles"
               : (nest_.parallel.size() == 1 ? names_.variable(nest_.parallel[0]) : std::string("point"));
    Skeleton skeleton = Skeleton::load(file, sliced);
    skeleton.name("kernel_sliced", text_.function)
        .list("parameters", parameter_list())
        .statements("setup", scopes_.setup)
        .expression("elements", elements())
        .expression("points", parenthesised(names_.product(nest_.parallel)))
        .statements("slices", empty_slices())
        .statements("position", positions(number, nest_.parallel))
        .statements("body", body);
    if (column)
      skeleton.expression("size", names_.size(nest_.inner));
    else
      skeleton.name("point", number);
    text_.lines = skeleton.fill();
  }
  static std::string parenthesised(const std::string& text) {
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
  }

  Lines empty_slices() const {
    Lines out;
    std::set<BufferId> seen;
    for (const Stage& stage : kernel_.stages)
      for (const Accumulate& sum : stage.accumulates) {
        if (!seen.insert(sum.buffer).second) continue;
        std::string count, zeros;
        for (size_t d = 0; d < sum.at.size(); ++d) {
          const Index& index = sum.at[d];
          count += (d ? " * " : "") +
                   (index.kind == Index::Kind::Axis
                        ? names_.size(index.axis)
                        : parenthesised(names_.text(program_.buffers[static_cast<size_t>(sum.buffer)].shape[d + 1])));
          zeros += ", 0";
        }
        out.line("kw::fill(&" + names_.tensor(sum.buffer) + "(worker" + zeros + "), " + (count.empty() ? "1" : count) +
                 ", 0);");
      }
    return out;
  }

  void row_stage(const Stage& stage, Lines& out) {
    const std::vector<Accumulator> sums = accumulators(stage);
    for (const Accumulator& sum : sums)
      out.line(sum.partial() ? "double " + sum.total + " = " + sum.start + ";"
                             : sum.type + " " + sum.name + " = " + sum.start + ";");
    Lines row;
    const Expressions::Environment outside = scopes_.expressions.environment;
    scopes_.open_rows(Level::Row, nest_.loop.empty() ? nullptr : &row);
    scopes_.hoist(roots_of(stage, kernel_), out, nest_.loop.empty() ? nullptr : &row);
    const Expressions::Environment hoisted = scopes_.expressions.environment;
    Inner in = inner(stage, sums, {}, stage.stores);
    for (const Accumulator& sum : sums)
      if (sum.partial()) in.after.line(sum.add_partial());
    const bool tiled = !in.before.empty() || !in.after.empty();
    for (LoopAxisId axis : nest_.loop) out.open(loop_header(axis) + " {");
    out.append(row);
    out.append(line_loop(in, tiled));
    for (size_t i = 0; i < nest_.loop.size(); ++i) out.close();
    scopes_.open_rows(Level::Row, nullptr);
    // Values further out stay known; those of the loops do not.
    scopes_.expressions.environment = outside;
    for (const auto& [v, expression] : hoisted)
      if (scopes_.level(v) <= Level::Point) scopes_.expressions.environment[v] = expression;
    finish(sums, out);
  }

  void finish(const std::vector<Accumulator>& sums, Lines& out) {
    for (const Accumulator& sum : sums) {
      const Reduced& reduced = std::get<Reduced>(kernel_[sum.value].what);
      std::string result = sum.result(parenthesised(names_.product(reduced.over)));
      const ir::Type type = kernel_[sum.value].type;
      if (sum.partial()) {
        if (types_.rounds(type)) result = "kw::round_to<" + types_.stored(type) + ">(" + result + ")";
        const std::string name = names_.value(sum.value);
        out.line("const " + sum.type + " " + name + " = " + result + ";");
        result = name;
      }
      scopes_.expressions.environment[sum.value] = {result, Binding::Primary, sum.type};
    }
  }

  // ---- columns, and pointwise ----
  void columns() {
    Lines point;
    scopes_.open_rows(Level::Point, &point_rows_);
    for (size_t s = 0; s < kernel_.stages.size(); ++s) {
      const Stage& stage = kernel_.stages[s];
      std::vector<Accumulator> sums;
      if (!stage.loop.empty()) sums = column_stage(stage, point);
      column_after(s, sums, point);
    }
    Lines body;
    body.append(point_rows_);
    body.append(point);
    frame(body, kColumnFile, "column", "sliced_column",
          {"for (int64_t tile = 0; tile < " + names_.size(nest_.inner) + "; tile += kTile)"});
  }

  Lines within(const Inner& inner) const {
    Lines out;
    out.append(inner.before);
    out.append(Skeleton::load(kColumnFile, "within")
                   .name("i", names_.variable(nest_.inner))
                   .clauses("reductions", join(inner.clauses, " "))
                   .statements("body", inner.body)
                   .fill());
    out.append(inner.after);
    return out;
  }
  static std::string array(const std::string& type, const std::string& name) { return type + " " + name + "[kTile]"; }

  std::vector<Accumulator> column_stage(const Stage& stage, Lines& out) {
    std::vector<Accumulator> sums = accumulators(stage);
    Inner run;
    for (const Accumulator& sum : sums) {
      const std::string type = sum.partial() ? "double" : sum.type, name = sum.partial() ? sum.total : sum.name;
      declare_array(type, name, sum.start, out);
      if (!sum.partial()) continue;
      declare_array(sum.type, sum.name, sum.start, run.before);
      run.after.line(sum.add_partial(in_tile()));
    }
    Lines row;
    const Expressions::Environment outside = scopes_.expressions.environment;
    scopes_.open_rows(Level::Row, &row);
    scopes_.hoist(roots_of(stage, kernel_), out, &row);
    const Expressions::Environment hoisted = scopes_.expressions.environment;
    Inner in = inner(stage, sums, in_tile(), stage.stores);
    Lines body;
    body.append(row);
    body.append(within(in));
    if (!run.after.empty()) {
      Inner add;
      add.body = run.after;
      const std::string number = nest_.loop.size() == 1 ? names_.variable(nest_.loop[0]) : "point";
      out.append(Skeleton::load(kColumnFile, "runs")
                     .expression("points", names_.product(nest_.loop))
                     .name("point", number)
                     .statements("before", run.before)
                     .statements("position", positions(number, nest_.loop))
                     .statements("body", body)
                     .statements("after", within(add))
                     .fill());
    } else {
      std::vector<std::string> loops;
      for (LoopAxisId axis : nest_.loop) loops.push_back(loop_header(axis));
      out.append(Skeleton::load(kColumnFile, "around").loops("points", loops).statements("body", body).fill());
    }
    scopes_.open_rows(Level::Row, nullptr);
    scopes_.expressions.environment = outside;
    for (const auto& [v, expression] : hoisted)
      if (scopes_.level(v) <= Level::Point) scopes_.expressions.environment[v] = expression;
    return sums;
  }

  static void declare_array(const std::string& type, const std::string& name, const std::string& start, Lines& out) {
    if (start == "0" || start == "false") {
      out.line(array(type, name) + " = {};");
      return;
    }
    out.line(array(type, name) + ";");
    out.line("kw::fill(" + name + ", kTile, " + start + ");");
  }

  // What later stages need of a stage's results, per point of the tile.
  std::vector<ValueId> kept_after(size_t stage) const {
    std::set<ValueId> known;  // reductions that are over by then
    for (size_t s = 0; s <= stage; ++s)
      known.insert(kernel_.stages[s].reductions.begin(), kernel_.stages[s].reductions.end());
    auto computable = [&](auto&& self, ValueId v) -> bool {
      if (std::holds_alternative<Reduced>(kernel_[v].what)) return known.contains(v);
      const std::vector<ValueId> operands = operands_of(kernel_[v]);
      return std::all_of(operands.begin(), operands.end(), [&](ValueId o) { return self(self, o); });
    };
    auto keepable = [&](ValueId v) {
      return scopes_.depends_on_reduction(v) && computable(computable, v) &&
             std::none_of(kernel_[v].axes.begin(), kernel_[v].axes.end(),
                          [&](LoopAxisId a) { return has(nest_.loop, a); });
    };
    std::set<ValueId> found, seen;
    auto visit = [&](auto&& self, ValueId v) -> void {
      if (keepable(v)) {
        found.insert(v);
        return;
      }
      if (!seen.insert(v).second) return;
      for (ValueId operand : operands_of(kernel_[v])) self(self, operand);
    };
    for (size_t s = stage + 1; s < kernel_.stages.size(); ++s) {
      const Stage& later = kernel_.stages[s];
      for (ValueId root : roots_of(later, kernel_)) visit(visit, root);
      for (const Store& store : later.after_stores) visit(visit, store.value);
    }
    return {found.begin(), found.end()};
  }

  void column_after(size_t s, const std::vector<Accumulator>& sums, Lines& out) {
    const Stage& stage = kernel_.stages[s];
    std::vector<ValueId> kept;
    for (ValueId v : kept_after(s))
      if (!kept_.contains(v)) kept.push_back(v);
    Inner in;
    const Expressions::Environment outside = scopes_.expressions.environment;
    for (const Accumulator& sum : sums) {
      if (!sum.partial()) {
        scopes_.expressions.environment[sum.value] = {sum.name + in_tile(), Binding::Primary, sum.type};
        kept_.insert(sum.value);
        std::erase(kept, sum.value);
      }
    }
    if (kept.empty() && stage.after_stores.empty()) return;
    for (const Accumulator& sum : sums)
      if (sum.partial()) finish_in_tile(sum, in.body);
    const Expressions::Environment finished = scopes_.expressions.environment;
    std::vector<ValueId> roots = kept;
    for (const Store& store : stage.after_stores) roots.push_back(store.value);
    scopes_.hoist(roots, out, nullptr);
    const Expressions::Environment hoisted = scopes_.expressions.environment;
    Stage only_stores;
    Inner stores;
    std::vector<std::pair<ValueId, std::string>> arrays;
    for (ValueId v : kept) {
      scopes_.define({v}, in.body);
      const std::string type = kernel_[v].type.boolean() ? "bool" : types_.computed(kernel_[v].type);
      const std::string name = names_.fresh(names_.value(v) + "_of");
      out.line(array(type, name) + ";");
      in.body.line(name + in_tile() + " = " + scopes_.expressions.as(v, type) + ";");
      arrays.emplace_back(v, name);
    }
    stores = inner(only_stores, {}, {}, stage.after_stores);
    in.before.append(stores.before);
    in.body.append(stores.body);
    in.after.append(stores.after);
    out.append(within(in));
    scopes_.expressions.environment = outside;
    for (const auto& [v, expression] : hoisted)
      if (scopes_.level(v) <= Level::Point) scopes_.expressions.environment[v] = expression;
    for (const auto& [v, name] : arrays) {
      const std::string type = kernel_[v].type.boolean() ? "bool" : types_.computed(kernel_[v].type);
      scopes_.expressions.environment[v] = {name + in_tile(), Binding::Primary, type};
      kept_.insert(v);
    }
    for (const Accumulator& sum : sums)
      if (!sum.partial())
        scopes_.expressions.environment[sum.value] = {sum.name + in_tile(), Binding::Primary, sum.type};
  }

  void finish_in_tile(const Accumulator& sum, Lines& body) {
    const Reduced& reduced = std::get<Reduced>(kernel_[sum.value].what);
    std::string result = sum.result(parenthesised(names_.product(reduced.over)), in_tile());
    const ir::Type type = kernel_[sum.value].type;
    if (types_.rounds(type)) result = "kw::round_to<" + types_.stored(type) + ">(" + result + ")";
    const std::string name = names_.value(sum.value);
    body.line("const " + sum.type + " " + name + " = " + result + ";");
    scopes_.expressions.environment[sum.value] = {name, Binding::Primary, sum.type};
  }

  // ---- everything ----
  void whole() {
    Lines stages;
    scopes_.setup.line("const int64_t tiles = (" + names_.size(nest_.inner) + " + kTile - 1) / kTile;");
    scopes_.setup.line("const int64_t blocks = " + (nest_.loop.empty() ? "" : names_.product(nest_.loop) + " * ") +
                       "tiles;");
    for (const Stage& stage : kernel_.stages) {
      if (!stage.loop.empty()) whole_stage(stage, stages);
      after(stage, stages);
    }
    text_.lines = Skeleton::load(kWholeFile, "whole")
                      .name("kernel", text_.function)
                      .list("parameters", parameter_list())
                      .statements("setup", scopes_.setup)
                      .statements("stages", stages)
                      .fill();
  }

  void whole_stage(const Stage& stage, Lines& out) {
    std::vector<Accumulator> sums = accumulators(stage);
    Lines partials, start, finish_chunk, combine;
    std::map<ValueId, std::string> parts;
    for (const Accumulator& sum : sums) {
      const std::string parts_name = names_.fresh(names_.value(sum.value) + "_parts");
      const std::string type = sum.partial() ? "double" : sum.type, name = sum.partial() ? sum.total : sum.name;
      partials.line(type + " " + parts_name + "[kChunks];");
      start.line(type + " " + name + " = " + sum.start + ";");
      finish_chunk.line(parts_name + "[chunk] = " + name + ";");
      if (sum.op == ir::Op::Sum || sum.op == ir::Op::Mean) {
        combine.line(std::string(sum.partial() ? "const " : "const ") + type + " " + name + " = kw::sum_of(" +
                     parts_name + ", kChunks);");
      } else {
        combine.line(type + " " + name + " = " + sum.start + ";");
        Accumulator over_chunks = sum;
        over_chunks.name = name;
        combine.line("for (const " + type + " chunk : " + parts_name + ") " + over_chunks.combine("chunk"));
      }
    }
    Lines row;
    const Expressions::Environment outside = scopes_.expressions.environment;
    scopes_.open_rows(Level::Row, &row);
    scopes_.hoist(roots_of(stage, kernel_), out, &row);
    const Expressions::Environment hoisted = scopes_.expressions.environment;
    Inner in = inner(stage, sums, {}, stage.stores);
    for (const Accumulator& sum : sums)
      if (sum.partial()) in.after.line(sum.add_partial());
    Lines before;
    before.append(row);
    before.append(in.before);
    out.append(Skeleton::load(kWholeFile, "chunks")
                   .statements("partials", partials)
                   .expression("elements", elements())
                   .statements("start", start)
                   .expression("size", names_.size(nest_.inner))
                   .statements("position", positions("block / tiles", nest_.loop))
                   .statements("before", before)
                   .clauses("reductions", join(in.clauses, " "))
                   .name("i", names_.variable(nest_.inner))
                   .statements("body", in.body)
                   .statements("after", in.after)
                   .statements("finish", finish_chunk)
                   .statements("combine", combine)
                   .fill());
    scopes_.open_rows(Level::Row, nullptr);
    scopes_.expressions.environment = outside;
    for (const auto& [v, expression] : hoisted)
      if (scopes_.level(v) <= Level::Point) scopes_.expressions.environment[v] = expression;
    finish(sums, out);
  }

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  CppTypes& types_;
  Nest nest_;
  KernelNames names_;
  Scopes scopes_;
  KernelText text_;
  Lines point_rows_;  // rows of the parallel point, declared at its start
  std::map<BufferId, std::string> stream_flags_;
  std::set<ValueId> kept_;
};

}  // namespace

KernelText write_kernel(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types) {
  return KernelWriter(program, kernel, types).run();
}

}  // namespace kw::act::cpu
