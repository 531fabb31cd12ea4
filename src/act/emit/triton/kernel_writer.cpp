#include "act/emit/triton/kernel_writer.h"

#include <algorithm>

#include "act/emit/access.h"
#include "act/emit/cpp/expand.h"
#include "act/emit/cpu/nest.h"
#include "act/emit/skeleton.h"
#include "act/emit/triton/expressions.h"
#include "act/loop/index.h"
#include "act/pass_contract.h"
#include "base/text.h"

namespace kw::act::triton {
namespace {

using Axes = std::vector<LoopAxisId>;
using Argument = kernel::Argument;

constexpr std::string_view kFile = "templates/triton/kernel.py";
constexpr std::string_view kReserved[] = {"tl",     "triton", "mask", "start", "BLOCK", "CHUNKS",  "chunk",
                                          "worker", "first",  "last", "point", "tile",  "in_tile", "range",
                                          "square", "cube",   "sign", "expm1", "log1p", "tanh",    "REDUCED"};
constexpr int64_t kLongestRow = 32768;  // elements of a row that one program holds
constexpr int64_t kElements = 1024, kTile = 4096, kColumns = 128, kReduced = 32, kChunks = 256;
constexpr size_t kLongestInline = 60;

bool has(const Axes& axes, LoopAxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }
bool meet(const Axes& a, const Axes& b) {
  return std::any_of(a.begin(), a.end(), [&](LoopAxisId axis) { return has(b, axis); });
}

enum class Shape : uint8_t { Elements, Row, Column, Whole };

class KernelWriter {
 public:
  // `streamed`: rows go by in tiles.
  KernelWriter(const LoopProgram& program, const LoopKernel& kernel, bool streamed)
      : program_(program),
        kernel_(kernel),
        streamed_(streamed),
        nest_(cpu::choose_nest(program, kernel)),
        types_(program.type_parameters),
        names_(program, kernel, nest_.all(), kReserved, types_),
        expressions_(program, kernel, names_) {
    parallel_ = nest_.parallel;
    loop_ = nest_.loop;
    if (nest_.inner >= 0) (nest_.reduces_inner() ? loop_ : parallel_).push_back(nest_.inner);
    if (kernel.parallel.empty() && !loop_.empty())
      shape_ = Shape::Whole;
    else if (loop_.empty())
      shape_ = Shape::Elements;
    else
      shape_ = nest_.reduces_inner() ? Shape::Row : Shape::Column;
    expressions_.loaded = [this](const Load& load) { return load_text(load); };
    expressions_.tensor_of_type = [this](ir::Type type) { return tensor_of_type(type); };
    count_uses();
  }

  Result<Written> run() {
    for (const Stage& stage : kernel_.stages) accumulates_ |= !stage.accumulates.empty();
    switch (shape_) {
      case Shape::Elements:
        elements();
        break;
      case Shape::Row:
        rows();
        break;
      case Shape::Column:
        columns();
        break;
      case Shape::Whole:
        whole();
        break;
    }
    if (!expressions_.refusal().empty())
      return bad_input("this is not generated for triton yet: rule " + expressions_.refusal());
    out_.functions = expressions_.functions();
    return std::move(out_);
  }
  bool is_row() const { return shape_ == Shape::Row; }
  std::string row_length() const {
    ir::Size n(1);
    for (LoopAxisId axis : loop_) n = n * axis_of(axis).size;
    return size_text(n, program_);
  }

 private:
  const LoopAxis& axis_of(LoopAxisId axis) const { return program_.axes[static_cast<size_t>(axis)]; }
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }
  std::string manifest_product(const Axes& axes) const {
    ir::Size n(1);
    for (LoopAxisId axis : axes) n = n * axis_of(axis).size;
    return size_text(n, program_);
  }
  std::string parenthesised(const std::string& text) const {
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
  }

  void count_uses() {
    uses_.assign(kernel_.values.size(), 0);
    std::set<ValueId> seen;
    auto use = [&](auto&& self, ValueId v) -> void {
      ++uses_[static_cast<size_t>(v)];
      if (!seen.insert(v).second) return;
      for (ValueId operand : operands_of(kernel_[v])) self(self, operand);
    };
    for (const Stage& stage : kernel_.stages) {
      for (ValueId r : stage.reductions) use(use, r);
      for (const auto* stores : {&stage.stores, &stage.after_stores})
        for (const Store& store : *stores) use(use, store.value);
      for (const Accumulate& sum : stage.accumulates) use(use, sum.value);
    }
  }

  // ---- memory ----
  // The mask of an access: that of the tiles that its address runs through.
  std::string mask_of(const std::vector<Index>& at) const {
    Axes axes;
    for (const Index& index : at) {
      for (LoopAxisId a : axes_of(index)) axes.push_back(a);
      for (ValueId v : values_of(index)) axes.insert(axes.end(), kernel_[v].axes.begin(), kernel_[v].axes.end());
    }
    switch (shape_) {
      case Shape::Elements:
        return axes.empty() ? "" : "mask";
      case Shape::Row:
      case Shape::Whole:
        return meet(axes, loop_) ? "mask" : "";
      case Shape::Column:
        if (meet(axes, loop_)) return "mask";
        return has(axes, nest_.inner) ? "in_tile" : "";
    }
    return "";
  }
  // A tensor of the function, or else one that it takes along for its type alone.
  std::string tensor_of_type(ir::Type type) {
    std::optional<BufferId> other;
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      const auto id = static_cast<BufferId>(b);
      if (!(program_.buffers[b].type == type)) continue;
      if (used_.contains(id)) return buffer(id).name;
      if (!other && program_.buffers[b].role == Buffer::Role::Input) other = id;
    }
    if (!other) return {};
    used_.insert(*other);
    return buffer(*other).name;
  }
  std::string address(BufferId id, const std::vector<Index>& at, bool slice = false) {
    std::string text = buffer(id).name;
    used_.insert(id);
    auto add = [&](const std::string& index, size_t dimension) {
      const std::string stride = buffer(id).name + "_stride_" + std::to_string(dimension);
      strides_.insert({id, dimension});
      text += " + " + parenthesised(index) + " * " + stride;
    };
    if (slice) add("worker", 0);
    for (size_t d = 0; d < at.size(); ++d)
      if (!(at[d] == size_index(0))) add(expressions_.index(at[d]), d + (slice ? 1 : 0));
    return text;
  }
  std::string load_text(const Load& load) {
    std::string mask = mask_of(load.at), other;
    if (load.guard != kNoValue) {
      const Text guard = expressions_.of(load.guard);
      const std::string holds = guard.atom ? guard.text : "(" + guard.text + ")";
      mask = mask.empty() ? guard.text : mask + " & " + holds;
      const Text otherwise = expressions_.of(load.otherwise);
      other = ", other=" + otherwise.text;
      if (!std::holds_alternative<Number>(kernel_[load.otherwise].what)) expressions_.refuse("guarded-load");
    } else if (!mask.empty()) {
      other = ", other=0";
    }
    return "tl.load(" + address(load.buffer, load.at) + (mask.empty() ? "" : ", mask=" + mask + other) + ")";
  }
  void store(const Store& store, Lines& out) {
    written_.insert(store.buffer);
    const Text value = expressions_.of(store.value, !(kernel_[store.value].type == buffer(store.buffer).type));
    const std::string mask = mask_of(store.at);
    out.line("tl.store(" + address(store.buffer, store.at) + ", " + value.text +
             (mask.empty() ? "" : ", mask=" + mask) + ")");
  }

  // ---- values ----
  bool is_trivial(ValueId v) const {
    const auto& what = kernel_[v].what;
    return std::holds_alternative<Number>(what) || std::holds_alternative<Scalar>(what) ||
           std::holds_alternative<IndexValue>(what);
  }
  std::vector<ValueId> pending(const std::vector<ValueId>& roots) const {
    std::vector<ValueId> order;
    std::set<ValueId> seen;
    auto visit = [&](auto&& self, ValueId v) -> void {
      if (expressions_.environment.contains(v) || is_trivial(v) || !seen.insert(v).second) return;
      for (ValueId operand : operands_of(kernel_[v])) self(self, operand);
      order.push_back(v);
    };
    for (ValueId root : roots) visit(visit, root);
    return order;
  }
  static bool is_named(const std::string& name) {
    return !(name.size() > 1 && name[0] == 'v' &&
             std::all_of(name.begin() + 1, name.end(), [](char c) { return (c >= '0' && c <= '9') || c == '_'; }));
  }
  // Makes the roots known: as variables, or as expressions where they are short and wanted once. What is only stored
  // stays inside its store, which rounds it.
  void define(const std::vector<ValueId>& roots, Lines& out, const std::set<ValueId>& stored = {},
              bool as_variables = false) {
    std::map<ValueId, int> here;
    const std::vector<ValueId> order = pending(roots);
    for (ValueId v : order)
      for (ValueId operand : operands_of(kernel_[v])) ++here[operand];
    for (ValueId root : roots) ++here[root];
    for (ValueId v : order) {
      const Value& value = kernel_[v];
      const int wanted =
          streamed_ && meet(value.axes, loop_) ? here[v] : std::max(here[v], uses_[static_cast<size_t>(v)]);
      if (stored.contains(v) && wanted == 1) continue;
      Text text = expressions_.of(v);
      const bool is_root = std::find(roots.begin(), roots.end(), v) != roots.end();
      const bool variable = !is_identifier(text.text) &&
                            (wanted > 1 || std::holds_alternative<Load>(value.what) || is_named(value.name) ||
                             (as_variables && is_root) || text.text.size() > kLongestInline);
      if (variable) {
        const std::string name = names_.value(v);
        out.line(name + " = " + text.text);
        text = {name, text.kind};
      }
      expressions_.environment[v] = std::move(text);
    }
  }
  // What a loop's body needs of values that do not run along it.
  void hoist(const std::vector<ValueId>& roots, Lines& out) {
    std::vector<ValueId> outside;
    auto note = [&](ValueId v) {
      if (!is_trivial(v) && !expressions_.environment.contains(v) && !meet(kernel_[v].axes, loop_) &&
          std::find(outside.begin(), outside.end(), v) == outside.end())
        outside.push_back(v);
    };
    for (ValueId root : roots) note(root);
    for (ValueId v : pending(roots))
      if (meet(kernel_[v].axes, loop_))
        for (ValueId operand : operands_of(kernel_[v])) note(operand);
    define(outside, out, {}, true);
  }
  std::vector<ValueId> roots_of(const Stage& stage) const {
    std::vector<ValueId> roots;
    for (ValueId r : stage.reductions) roots.push_back(std::get<Reduced>(kernel_[r].what).arg);
    for (const Accumulate& sum : stage.accumulates) roots.push_back(sum.value);
    for (const Store& s : stage.stores) roots.push_back(s.value);
    return roots;
  }
  static std::set<ValueId> stored_by(const std::vector<Store>& stores) {
    std::set<ValueId> values;
    for (const Store& s : stores) values.insert(s.value);
    return values;
  }
  void after(const Stage& stage, Lines& out) {
    std::vector<ValueId> roots;
    for (const Store& s : stage.after_stores) roots.push_back(s.value);
    define(roots, out, stored_by(stage.after_stores));
    for (const Store& s : stage.after_stores) store(s, out);
  }

  // ---- reductions ----
  struct Reduction {
    ValueId value;
    std::string neutral, combine, finish;  // 0.0; sum; tl.sum
  };
  Reduction reduction(ValueId id) {
    switch (std::get<Reduced>(kernel_[id].what).op) {
      case ir::Op::Sum:
      case ir::Op::Mean:
        return {id, "0.0", "+", "tl.sum"};
      case ir::Op::ReduceMax:
        return {id, "float(\"-inf\")", "tl.maximum", "tl.max"};
      case ir::Op::ReduceMin:
        return {id, "float(\"inf\")", "tl.minimum", "tl.min"};
      default:
        expressions_.refuse("reduction." + std::string(info(std::get<Reduced>(kernel_[id].what).op).name));
        return {id, "0.0", "+", "tl.sum"};
    }
  }
  std::string masked(const Reduction& r) {
    const ValueId arg = std::get<Reduced>(kernel_[r.value].what).arg;
    if (Expressions::kind_of(kernel_[arg].type) != Kind::Float) expressions_.refuse("reduction-of-integers");
    return "tl.where(mask, " + expressions_.as_float(arg) + ", " + r.neutral + ")";
  }
  std::string combined(const Reduction& r, const std::string& total, const std::string& term) const {
    if (r.combine == "+") return total + " + " + term;
    return r.combine + "(" + total + ", " + term + ", propagate_nan=tl.PropagateNan.ALL)";
  }
  // The result from the reduced tile.
  void finish(const Reduction& r, const std::string& reduced, Lines& out) {
    const Value& value = kernel_[r.value];
    std::string text = reduced;
    if (std::get<Reduced>(value.what).op == ir::Op::Mean)
      text += " / " + parenthesised(names_.product(std::get<Reduced>(value.what).over));
    if (Expressions::rounds(value.type))
      text = "(" + text + ").to(" + expressions_.type_name(value.type) + ").to(tl.float32)";
    const std::string name = names_.value(r.value);
    out.line(name + " = " + text);
    expressions_.environment[r.value] = {name};
  }
  std::string reduce(const Reduction& r, const std::string& tile, const std::string& axis) const {
    return r.finish + "(" + tile + ", axis=" + axis + ")";
  }

  // The indices of several axes from one running number; the tile's own name where there is one axis.
  Lines positions(const std::string& number, const Axes& axes) const {
    Lines out;
    for (size_t i = 0; axes.size() > 1 && i < axes.size(); ++i) {
      const Axes inner(axes.begin() + static_cast<std::ptrdiff_t>(i) + 1, axes.end());
      std::string text = number;
      if (!inner.empty()) text += " // " + parenthesised(names_.product(inner));
      if (i > 0) text += " % " + names_.size(axes[i]);
      out.line(names_.variable(axes[i]) + " = " + text);
    }
    return out;
  }
  std::string running(const Axes& axes, const std::string& fallback) const {
    return axes.size() == 1 ? names_.variable(axes[0]) : fallback;
  }

  // ---- families ----
  void elements() {
    Lines body = positions("tile", parallel_);
    for (const Stage& stage : kernel_.stages) {
      define(roots_of(stage), body, stored_by(stage.stores));
      for (const Store& s : stage.stores) store(s, body);
      after(stage, body);
    }
    Skeleton skeleton = Skeleton::load(kFile, "elements");
    skeleton.name("i", running(parallel_, "tile"))
        .expression("count", names_.product(parallel_))
        .statements("body", body);
    finish_function(skeleton, kernel_.name, {{"BLOCK", std::to_string(kElements)}},
                    {"ceil_div(" + manifest_product(parallel_) + ", " + std::to_string(kElements) + ")"}, 4);
  }

  void loop_tile(Lines& out, const std::string& start) const {
    const std::string i = running(loop_, "tile");
    out.line(i + " = " + start + "tl.arange(0, BLOCK)");
    out.line("mask = " + i + " < " + names_.product(loop_));
    out.append(positions(i, loop_));
  }

  void rows() {
    Lines body = positions("point", parallel_), setup, slices;
    Lines* tile_at = accumulates_ ? &setup : &body;
    if (!streamed_) loop_tile(*tile_at, "");
    for (const Stage& stage : kernel_.stages)
      for (const Accumulate& sum : stage.accumulates) open_slice(sum, setup);
    for (const Stage& stage : kernel_.stages) {
      if (stage.loop.empty()) {
        define(roots_of(stage), body, stored_by(stage.stores));
        for (const Store& s : stage.stores) store(s, body);
      } else if (streamed_) {
        streamed_stage(stage, body);
      } else {
        define(roots_of(stage), body, stored_by(stage.stores));
        for (ValueId r : stage.reductions) finish(reduction(r), reduce(reduction(r), masked(reduction(r)), "0"), body);
        add_to_slices(stage, body);
        for (const Store& s : stage.stores) store(s, body);
      }
      after(stage, body);
    }
    for (const Stage& stage : kernel_.stages)
      for (const Accumulate& sum : stage.accumulates) close_slice(sum, slices);
    const std::string name = kernel_.name + (streamed_ ? "_streamed" : "");
    const std::string block = streamed_ ? std::to_string(kTile) : "next_pow2(" + manifest_product(loop_) + ")";
    if (accumulates_) {
      Skeleton skeleton = Skeleton::load(kFile, "sliced_row");
      skeleton.name("point", running(parallel_, "point"))
          .expression("points", parenthesised(names_.product(parallel_)))
          .statements("setup", setup)
          .statements("body", body)
          .statements("slices", slices);
      finish_function(skeleton, name, {{"BLOCK", block}}, {"workers"}, 8);
    } else {
      Skeleton skeleton = Skeleton::load(kFile, "row");
      skeleton.name("point", running(parallel_, "point")).statements("body", body);
      finish_function(skeleton, name, {{"BLOCK", block}}, {manifest_product(parallel_)}, 8);
    }
    if (!streamed_)
      out_.steps.back().entries.back().guards.push_back(manifest_product(loop_) + " <= " + std::to_string(kLongestRow));
  }

  void streamed_stage(const Stage& stage, Lines& out) {
    if (!stage.accumulates.empty()) expressions_.refuse("sum-beside-a-long-row");
    hoist(roots_of(stage), out);
    const std::map<ValueId, Text> outside = expressions_.environment;
    std::vector<std::pair<Reduction, std::string>> totals;
    for (ValueId r : stage.reductions) {
      const Reduction how = reduction(r);
      const std::string total = names_.fresh(names_.value(r) + "_tile");
      out.line(total + " = tl.full([BLOCK], " + how.neutral + ", dtype=tl.float32)");
      totals.emplace_back(how, total);
    }
    out.line("for start in range(0, " + names_.product(loop_) + ", BLOCK):");
    Lines body;
    loop_tile(body, "start + ");
    define(roots_of(stage), body, stored_by(stage.stores));
    for (const auto& [how, total] : totals) body.line(total + " = " + combined(how, total, masked(how)));
    for (const Store& s : stage.stores) store(s, body);
    for (const std::string& line : body.all()) out.line("    " + line);
    expressions_.environment = outside;
    for (const auto& [how, total] : totals) finish(how, reduce(how, total, "0"), out);
  }

  // ---- sums that ride along ----
  enum class Sum : uint8_t { Tile, One };
  Sum sum_kind(const Accumulate& sum) {
    Axes axes;
    for (const Index& index : sum.at)
      for (LoopAxisId a : axes_of(index)) axes.push_back(a);
    if (axes.empty()) return Sum::One;
    bool is_tile = axes.size() == loop_.size() &&
                   std::all_of(loop_.begin(), loop_.end(), [&](LoopAxisId a) { return has(axes, a); });
    if (!is_tile) expressions_.refuse("sum-over-a-part-of-the-row");
    return Sum::Tile;
  }
  void open_slice(const Accumulate& sum, Lines& out) {
    const std::string name = names_.fresh(names_.tensor(sum.buffer) + "_sum");
    slice_sums_[sum.buffer] = name;
    out.line(name + (sum_kind(sum) == Sum::One ? " = tl.full([], 0.0, dtype=tl.float32)"
                                               : " = tl.full([BLOCK], 0.0, dtype=tl.float32)"));
  }
  void add_to_slices(const Stage& stage, Lines& out) {
    for (const Accumulate& sum : stage.accumulates) {
      const std::string& name = slice_sums_.at(sum.buffer);
      std::string term = expressions_.as_float(sum.value);
      if (sum_kind(sum) == Sum::One && meet(kernel_[sum.value].axes, loop_))
        term = "tl.sum(tl.where(mask, " + term + ", 0.0), axis=0)";
      out.line(name + " += " + term);
    }
  }
  void close_slice(const Accumulate& sum, Lines& out) {
    written_.insert(sum.buffer);
    const std::string mask = sum_kind(sum) == Sum::One ? "" : ", mask=mask";
    out.line("tl.store(" + address(sum.buffer, sum.at, true) + ", " + slice_sums_.at(sum.buffer) + mask + ")");
  }

  void columns() {
    if (accumulates_) expressions_.refuse("sum-beside-columns");
    streamed_ = true;
    Lines body;
    const Axes others(parallel_.begin(), parallel_.end() - 1);
    if (!others.empty()) {
      body.line(running(others, "point") + " = tl.program_id(1).to(tl.int64)");
      body.append(positions("point", others));
    }
    for (const Stage& stage : kernel_.stages) {
      if (stage.loop.empty()) {
        define(roots_of(stage), body, stored_by(stage.stores));
        for (const Store& s : stage.stores) store(s, body);
      } else {
        column_stage(stage, body);
      }
      after(stage, body);
    }
    Skeleton skeleton = Skeleton::load(kFile, "column");
    skeleton.name("i", names_.variable(nest_.inner))
        .expression("size", names_.size(nest_.inner))
        .statements("body", body);
    finish_function(skeleton, kernel_.name,
                    {{"BLOCK", std::to_string(kColumns)}, {"REDUCED", std::to_string(kReduced)}},
                    {"ceil_div(" + manifest_product({nest_.inner}) + ", " + std::to_string(kColumns) + ")",
                     manifest_product(others)},
                    4);
  }
  void column_stage(const Stage& stage, Lines& out) {
    hoist(roots_of(stage), out);
    const std::map<ValueId, Text> outside = expressions_.environment;
    std::vector<std::pair<Reduction, std::string>> totals;
    for (ValueId r : stage.reductions) {
      const Reduction how = reduction(r);
      const std::string total = names_.fresh(names_.value(r) + "_tile");
      out.line(total + " = tl.full([REDUCED, BLOCK], " + how.neutral + ", dtype=tl.float32)");
      totals.emplace_back(how, total);
    }
    const std::string i = running(loop_, "tile");
    out.line("for start in range(0, " + names_.product(loop_) + ", REDUCED):");
    Lines body;
    body.line(i + " = (start + tl.arange(0, REDUCED))[:, None]");
    body.line("mask = (" + i + " < " + names_.product(loop_) + ") & in_tile[None, :]");
    body.append(positions(i, loop_));
    define(roots_of(stage), body, stored_by(stage.stores));
    for (const auto& [how, total] : totals) body.line(total + " = " + combined(how, total, masked(how)));
    for (const Store& s : stage.stores) store(s, body);
    for (const std::string& line : body.all()) out.line("    " + line);
    expressions_.environment = outside;
    for (const auto& [how, total] : totals) finish(how, reduce(how, total, "0"), out);
  }

  // Several dependent reductions of everything run in one program: each needs the whole of the one before.
  void whole() {
    std::vector<const Stage*> loops;
    for (const Stage& stage : kernel_.stages)
      if (!stage.loop.empty()) loops.push_back(&stage);
    if (loops.size() != 1) {
      whole_alone();
      return;
    }
    streamed_ = true;
    const Stage& stage = *loops[0];
    Lines setup, body, parts, last;
    hoist(roots_of(stage), setup);
    const std::map<ValueId, Text> outside = expressions_.environment;
    std::vector<std::pair<Reduction, std::string>> totals;
    for (ValueId r : stage.reductions) {
      const Reduction how = reduction(r);
      const std::string total = names_.fresh(names_.value(r) + "_tile");
      setup.line(total + " = tl.full([BLOCK], " + how.neutral + ", dtype=tl.float32)");
      totals.emplace_back(how, total);
    }
    body.append(positions("tile", loop_));
    define(roots_of(stage), body, stored_by(stage.stores));
    for (const auto& [how, total] : totals) body.line(total + " = " + combined(how, total, masked(how)));
    for (const Store& s : stage.stores) store(s, body);
    std::vector<std::string> part_names;
    for (const auto& [how, total] : totals) {
      const std::string name = names_.fresh(names_.value(how.value) + "_parts");
      parts.line("tl.store(" + name + " + chunk, " + reduce(how, total, "0") + ")");
      part_names.push_back(name);
      out_.workspace.push_back({name, kernel::Role::Workspace, "f32", {std::to_string(kChunks)}});
    }
    Skeleton first = Skeleton::load(kFile, "whole");
    first.name("i", running(loop_, "tile"))
        .expression("count", parenthesised(names_.product(loop_)))
        .statements("setup", setup)
        .statements("body", body)
        .statements("parts", parts);
    finish_function(first, kernel_.name, {{"BLOCK", std::to_string(kElements)}, {"CHUNKS", std::to_string(kChunks)}},
                    {std::to_string(kChunks)}, 4, part_names);
    // The second kernel.
    used_.clear();
    strides_.clear();
    written_.clear();
    expressions_.environment.clear();
    for (size_t t = 0; t < totals.size(); ++t)
      finish(totals[t].first, reduce(totals[t].first, "tl.load(" + part_names[t] + " + chunk)", "0"), last);
    for (const Stage& s : kernel_.stages) after(s, last);
    out_.lines.line("");
    out_.lines.line("");
    Skeleton finish = Skeleton::load(kFile, "finish");
    finish.statements("body", last);
    finish_function(finish, kernel_.name + "_finish", {{"CHUNKS", std::to_string(kChunks)}}, {"1"}, 4, {}, part_names);
  }
  void whole_alone() {
    streamed_ = true;
    shape_ = Shape::Row;
    Lines body;
    for (const Stage& stage : kernel_.stages) {
      if (!stage.loop.empty()) streamed_stage(stage, body);
      after(stage, body);
    }
    Skeleton skeleton = Skeleton::load(kFile, "row");
    skeleton.name("point", "point").statements("body", body);
    finish_function(skeleton, kernel_.name, {{"BLOCK", std::to_string(kTile)}}, {"1"}, 8);
  }

  // ---- signature ----
  // Where a dimension of a buffer is several of its tensor, dense among themselves, the last has its stride.
  int tensor_dimension(BufferId id, size_t dimension) const {
    const auto& collapsed = buffer(id).collapsed;
    return collapsed ? collapsed->dims[dimension].back() : static_cast<int>(dimension);
  }
  using Constants = std::vector<std::pair<std::string, std::string>>;
  void finish_function(Skeleton& skeleton, const std::string& name, const Constants& constants,
                       const std::vector<std::string>& grid, int warps, const std::vector<std::string>& writes = {},
                       const std::vector<std::string>& reads = {}) {
    std::vector<std::string> parameters;
    kernel::Entry entry;
    entry.symbol = name;
    for (BufferId id : used_) {
      parameters.push_back(buffer(id).name);
      entry.arguments.push_back(
          {written_.contains(id) ? Argument::Kind::Write : Argument::Kind::Read, buffer(id).name});
    }
    for (const auto* names : {&reads, &writes})
      for (const std::string& part : *names) {
        parameters.push_back(part);
        entry.arguments.push_back({names == &reads ? Argument::Kind::Read : Argument::Kind::Write, part});
      }
    for (const auto& [id, dimension] : strides_) {
      parameters.push_back(buffer(id).name + "_stride_" + std::to_string(dimension));
      entry.arguments.push_back({Argument::Kind::Stride, buffer(id).name, tensor_dimension(id, dimension), "i64", ""});
    }
    for (const cpp::SizeParameter& size : names_.sizes()) {
      parameters.push_back(size.name);
      entry.arguments.push_back({Argument::Kind::Size, size_text(size.size, program_), 0, "i64", ""});
    }
    std::set<std::string> scalars;
    for (const Value& value : kernel_.values)
      if (const Scalar* scalar = std::get_if<Scalar>(&value.what)) scalars.insert(scalar->name);
    for (const auto& [scalar, type] : program_.scalars)
      if (scalars.contains(scalar)) {
        parameters.push_back(scalar);
        const Kind kind = Expressions::kind_of(type);
        entry.arguments.push_back({Argument::Kind::Scalar, scalar, 0,
                                   kind == Kind::Float ? "f32"
                                   : kind == Kind::Int ? "i64"
                                                       : "bool",
                                   ""});
      }
    for (const auto& [constant, value] : constants) {
      parameters.push_back(constant + ": tl.constexpr");
      entry.arguments.push_back({Argument::Kind::Constant, value, 0, "", constant});
    }
    skeleton.name("kernel", name).list("parameters", parameters);
    out_.lines.append(skeleton.fill());
    for (size_t d = 0; d < grid.size(); ++d) entry.launch.grid[d] = grid[d];
    entry.launch.warps = warps;
    for (BufferId id : used_)
      if (buffer(id).collapsed) entry.guards.push_back("dense(" + buffer(id).name + ")");
    kernel::Step step;
    step.entries.push_back(std::move(entry));
    out_.steps.push_back(std::move(step));
  }

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  bool streamed_;
  bool accumulates_ = false;
  cpu::Nest nest_;
  Shape shape_ = Shape::Elements;
  Axes parallel_, loop_;
  cpp::CppTypes types_;
  cpp::KernelNames names_;
  Expressions expressions_;
  std::vector<int> uses_;
  std::set<BufferId> used_, written_;
  std::set<std::pair<BufferId, size_t>> strides_;
  std::map<BufferId, std::string> slice_sums_;
  Written out_;
};

}  // namespace

Result<Written> write_kernel(const LoopProgram& program, const LoopKernel& kernel) {
  const LoopKernel expanded = cpp::expand_reductions(kernel);
  KernelWriter writer(program, expanded, false);
  const bool is_row = writer.is_row();
  KW_TRY(Written out, writer.run());
  if (!is_row) return out;
  // A row that one program cannot hold goes by in tiles.
  auto streamed = KernelWriter(program, expanded, true).run();
  if (!streamed) return out;
  out.lines.line("");
  out.lines.line("");
  out.lines.append(streamed->lines);
  out.steps[0].entries.push_back(std::move(streamed->steps[0].entries[0]));
  return out;
}

}  // namespace kw::act::triton
