#include "act/emit/triton/kernel_writer.h"

#include <algorithm>

#include "act/emit/cpp/expand.h"
#include "act/emit/triton/writer.h"
#include "act/loop/uses.h"
#include "act/pass_contract.h"

namespace kw::act::triton {
namespace {

constexpr std::string_view kReserved[] = {
    "tl",      "triton",  "mask",     "start",   "BLOCK",   "ROWS",   "REDUCED", "CHUNKS",    "STAGES",
    "chunk",   "chunks",  "worker",   "point",   "first",   "tile",   "place",   "range",     "float",
    "square",  "cube",    "sign",     "expm1",   "log1p",   "tanh",   "wide",    "wide_tanh", "wide_sqrt",
    "nan_max", "nan_min", "promoted", "divided", "reduced", "element"};  // the last: only where a loop runs along
                                                                         // several axes

std::span<const std::string_view> reserved(const cpu::Nest& nest) {
  const std::span<const std::string_view> all(kReserved);
  return nest.loop.size() > 1 || (!nest.loop.empty() && nest.inner >= 0) ? all : all.first(all.size() - 1);
}

}  // namespace

bool meet(const Axes& a, const Axes& b) {
  return std::any_of(a.begin(), a.end(), [&](LoopAxisId axis) { return has(b, axis); });
}
std::string parenthesised(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

Writer::Writer(const LoopProgram& program, const LoopKernel& kernel, Form form, std::string workers)
    : program_(program),
      kernel_(kernel),
      form_(form),
      workers_(std::move(workers)),
      nest_(cpu::choose_nest(program, kernel)),
      types_(program.type_parameters),
      names_(program, kernel, nest_.all(), reserved(nest_), types_),
      expressions_(program, kernel, names_, form) {
  parallel_ = nest_.parallel;
  loop_ = nest_.loop;
  if (nest_.inner >= 0) (nest_.reduces_inner() ? loop_ : parallel_).push_back(nest_.inner);
  if (loop_.empty())
    family_ = parallel_.empty() ? Family::Once : Family::Elements;
  else if (kernel.parallel.empty())
    family_ = Family::Whole;
  else
    family_ = nest_.reduces_inner() ? Family::Rows : Family::Columns;
  expressions_.loaded = [this](const Load& load) { return load_text(load); };
  expressions_.tensor_of_type = [this](ir::Type type) { return tensor_of_type(type); };
  for (const Stage& stage : kernel_.stages) accumulates_ |= !stage.accumulates.empty();
  uses_ = use_counts(kernel_);
}

Result<Written> Writer::run() {
  switch (family_) {
    case Family::Once:
      once();
      break;
    case Family::Elements:
      elements();
      break;
    case Family::Rows:
      rows();
      break;
    case Family::Columns:
      columns();
      break;
    case Family::Whole:
      whole();
      break;
  }
  if (!expressions_.refusal().empty())
    return bad_input("this is not generated for triton yet: rule " + expressions_.refusal());
  out_.functions = expressions_.functions();
  return std::move(out_);
}

void Writer::stage_once(const Stage& stage, Lines& out) {
  std::set<ValueId> stored;
  for (const Store& s : stage.stores) stored.insert(s.value);
  define(roots_of(stage), out, stored);
  for (const Store& s : stage.stores) store(s, out);
}

void Writer::after(const Stage& stage, Lines& out) {
  std::vector<ValueId> roots;
  std::set<ValueId> stored;
  for (const Store& s : stage.after_stores) {
    roots.push_back(s.value);
    stored.insert(s.value);
  }
  define(roots, out, stored);
  for (const Store& s : stage.after_stores) store(s, out);
}

std::string Writer::manifest_product(const Axes& axes) const {
  ir::Size n(1);
  for (LoopAxisId axis : axes) n = n * axis_of(axis).size;
  return size_text(n, program_);
}

std::string Writer::text_product(const Axes& axes) const { return names_.product(axes); }

std::string Writer::size_text_of(const ir::Size& size) {
  for (LoopAxisId axis : nest_.all())
    if (axis_of(axis).size == size) return names_.size(axis);
  names_.need(size);
  return expressions_.size(size);
}

// The indices of several axes from one running number; the number's own name where there is one axis.
Lines Writer::positions(const std::string& number, const Axes& axes) const {
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

std::string Writer::running(const Axes& axes, const std::string& fallback) const {
  return axes.size() == 1 ? names_.variable(axes[0]) : fallback;
}

Result<Written> write_kernel(const LoopProgram& program, const LoopKernel& kernel, Form form,
                             const std::string& workers) {
  const LoopKernel expanded = cpp::expand_reductions(kernel);
  return Writer(program, expanded, form, workers).run();
}

}  // namespace kw::act::triton
