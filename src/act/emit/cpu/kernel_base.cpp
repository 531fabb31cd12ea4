#include "act/emit/cpu/kernel_base.h"

#include <algorithm>

#include "act/emit/skeleton.h"
#include "act/loop/index.h"

namespace kw::act::cpu {
namespace {

// Kernels without slices have no worker of their own, and one that adds slices has an axis of that name.
std::vector<std::string_view> reserved_words(const LoopKernel& kernel) {
  const auto all = cpu_skeleton_words();
  std::vector<std::string_view> words(all.begin(), all.end());
  const bool has_slices = std::any_of(kernel.stages.begin(), kernel.stages.end(),
                                      [](const Stage& stage) { return !stage.accumulates.empty(); });
  if (!has_slices) std::erase(words, "worker");
  return words;
}

std::string collapse(size_t loops) { return loops > 1 ? "collapse(" + std::to_string(loops) + ")" : ""; }

}  // namespace

std::string parenthesised(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

KernelBase::KernelBase(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest, CppTypes& types)
    : program_(program),
      kernel_(kernel),
      types_(types),
      nest_(nest),
      names_(program, kernel, nest_.all(), reserved_words(kernel), types),
      scopes_(program, kernel, nest_, types, names_),
      inner_(program, kernel, nest_, types, names_, scopes_) {}

KernelText KernelBase::run() {
  for (const Stage& stage : kernel_.stages) text_.accumulates |= !stage.accumulates.empty();
  text_.function = kernel_.name + suffix();
  choose_parameters();
  write();
  if (!inner_.combines.definitions().empty()) {
    Lines with = inner_.combines.definitions();
    with.line("");
    with.append(text_.lines);
    text_.lines = std::move(with);
  }
  text_.nest = nest_;
  text_.unit_rows = scopes_.unit_rows();
  return std::move(text_);
}

void KernelBase::choose_parameters() {
  text_.tensors = tensors_of(program_, kernel_);
  text_.written = written_by(kernel_);
  text_.sizes = names_.sizes();
  for (const std::string& name : scalars_of(program_, kernel_))
    text_.scalars.emplace_back(name, scopes_.expressions.scalar_type(name));
}

std::vector<std::string> KernelBase::parameter_list() {
  std::vector<std::string> list;
  for (BufferId b : text_.tensors) {
    const Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    list.push_back("kw::Tensor<" + std::string(text_.written.contains(b) ? "" : "const ") + types_.stored(buffer.type) +
                   ", " + std::to_string(buffer.shape.size()) + "> " + buffer.name);
  }
  for (const SizeParameter& size : text_.sizes) list.push_back("int64_t " + size.name);
  for (const auto& [name, type] : text_.scalars) list.push_back(type + " " + name);
  return list;
}

std::string KernelBase::loop_header(LoopAxisId axis) const {
  const std::string& i = names_.variable(axis);
  return "for (int64_t " + i + " = 0; " + i + " < " + names_.size(axis) + "; ++" + i + ")";
}

Lines KernelBase::positions(const std::string& number, const Axes& axes) const {
  Lines out;
  if (axes.size() == 1 && number == names_.variable(axes[0])) return out;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axes inner(axes.begin() + static_cast<std::ptrdiff_t>(i) + 1, axes.end());
    std::string text = number;
    if (!inner.empty()) text += inner.size() > 1 ? " / (" + names_.product(inner) + ")" : " / " + names_.product(inner);
    if (i > 0) text += " % " + names_.size(axes[i]);
    out.line("const int64_t " + names_.variable(axes[i]) + " = " + text + ";");
  }
  return out;
}

void KernelBase::after(const Stage& stage, Lines& out) {
  std::vector<ValueId> roots;
  std::set<ValueId> stored;
  for (const Store& store : stage.after_stores) {
    roots.push_back(store.value);
    stored.insert(store.value);
  }
  scopes_.hoist(others(roots, stored), out, nullptr);
  scopes_.define(roots, out, stored);
  for (const Store& store : stage.after_stores)
    out.line(scopes_.element(store.buffer, store.at) + " = " + inner_.stored_text(store) + ";");
}

std::vector<ValueId> KernelBase::others(const std::vector<ValueId>& roots, const std::set<ValueId>& stored) const {
  std::vector<ValueId> out;
  for (ValueId v : roots)
    if (stored.contains(v) && scopes_.uses(v) == 1)
      for (ValueId operand : operands_of(kernel_[v])) out.push_back(operand);
    else
      out.push_back(v);
  return out;
}

void KernelBase::frame(const Lines& body, std::string_view file, std::string_view plain, std::string_view sliced,
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
      .name("workers", names_.text(ir::Size::symbol(*program_.workers)))
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

Lines KernelBase::empty_slices() const {
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

void KernelBase::finish(const std::vector<Accumulator>& sums, Lines& out) {
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

void KernelBase::finish(const std::vector<Ordered>& combined, Lines& out, const std::string& tuple) {
  for (const Ordered& one : combined)
    for (ValueId r : one.combination.reduced) {
      const std::string type = inner_.combines.type(r), name = names_.value(r);
      const std::string part = inner_.combines.part(one.combination, r, one.total + tuple);
      out.line("const " + type + " " + name + " = " + part + ";");
      scopes_.expressions.environment[r] = {name, Binding::Primary, type};
    }
}

void KernelBase::look_ahead(InnerLoop& inner) const {
  for (const std::string& row : scopes_.rows_gone_through()) inner.before.line("kw::look_ahead(" + row + ", tile);");
}

void KernelBase::leave(const Expressions::Environment& outside, const Expressions::Environment& hoisted) {
  scopes_.expressions.environment = outside;
  for (const auto& [v, expression] : hoisted)
    if (scopes_.level(v) <= Level::Point) scopes_.expressions.environment[v] = expression;
}

}  // namespace kw::act::cpu
