#include "act/emit/cuda/writer.h"

#include <algorithm>

#include "act/emit/words.h"
#include "act/loop/uses.h"

namespace kw::act::cuda {
namespace {

constexpr std::string_view kSuffix[] = {"_elements", "_rows", "_columns", "_points"};  // of functions, by shape

}  // namespace

Axes axes_of_access(const std::vector<Index>& at) {
  Axes axes;
  for (const Index& index : at)
    for (LoopAxisId a : axes_of(index))
      if (!has(axes, a)) axes.push_back(a);
  return axes;
}

std::string parenthesised(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

Writer::Writer(const LoopProgram& program, const LoopKernel& kernel, const KernelPlan& plan, CppTypes& types)
    : program_(program),
      kernel_(kernel),
      types_(types),
      plan_(plan),
      nest_(plan_.nest),
      names_(program, kernel, nest_.all(), cuda_skeleton_words(), types),
      values_(program, kernel, types, names_, [this](const Axes& axes) { return level_of(axes); }),
      combines_(program, kernel, types, "KW_DEVICE ") {
  values_.expressions.element = [this](const Load& load) { return element(load); };
  values_.expressions.division = "kw::divide";
  text_.plan = plan_;
  text_.function = kernel_.name + std::string(kSuffix[static_cast<size_t>(plan_.shape)]);
  if (nest_.inner >= 0) first_ = "element";
  choose_parameters();
}

KernelText Writer::run() {
  find_packed();
  const Lines text = kernel();
  text_.lines = combines_.definitions();
  if (!text_.lines.empty()) text_.lines.line("");
  text_.lines.append(text);
  return std::move(text_);
}

void Writer::choose_parameters() {
  text_.tensors = tensors_of(program_, kernel_);
  text_.written = written_by(kernel_);
  text_.sizes = names_.sizes();
  for (const Stage& stage : kernel_.stages) text_.stages += !stage.loop.empty();
  for (const std::string& name : scalars_of(program_, kernel_))
    text_.scalars.emplace_back(name, values_.expressions.scalar_type(name));
}

std::vector<std::string> Writer::parameter_list() const {
  std::vector<std::string> list;
  for (BufferId b : text_.tensors)
    list.push_back("kw::Tensor<" + std::string(text_.written.contains(b) ? "" : "const ") +
                   types_.stored(buffer(b).type) + ", " +
                   std::to_string(text_.slices.contains(b) ? 1 : buffer(b).shape.size()) + "> " + buffer(b).name);
  for (const SizeParameter& size : text_.sizes) list.push_back("Index " + size.name);
  for (const auto& [name, type] : text_.scalars) list.push_back(type + " " + name);
  return list;
}

int Writer::instructions(const Value& value) const {
  using ir::Op;
  if (std::holds_alternative<Load>(value.what)) return 0;  // what uses it converts it
  if (const Map* map = std::get_if<Map>(&value.what)) {
    switch (map->op) {
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Neg:
      case Op::Max:
      case Op::Min:
      case Op::Abs:
      case Op::Eq:
      case Op::Ne:
      case Op::Lt:
      case Op::Le:
      case Op::And:
      case Op::Or:
      case Op::Not:
      case Op::Select:
      case Op::StopGradient:
      case Op::Cast:
        break;
      default:
        return kFunction;
    }
  }
  return value.type.floating() && types_.rounds(value.type) ? 2 : 1;
}

// Where all threads read something of their point: in a line that stands in no block, and so behind no question.
Lines Writer::outside(const std::string& condition, const Lines& point) {
  Lines out;
  const bool reads = std::any_of(point.all().begin(), point.all().end(), [](const std::string& line) {
    return !line.starts_with(" ") && line.find("kw::load(") != std::string::npos;
  });
  if (reads) out.line("if (" + condition + ") point = 0;");
  return out;
}

Writer::Statements Writer::statements_of(const Stage& stage) const {
  Statements statements;
  for (ValueId r : stage.reductions) statements.push_back(terms_of(kernel_, r));
  for (const Store& store : stage.stores) statements.push_back({store.value});
  for (const Accumulate& sum : stage.accumulates) statements.push_back({sum.value});
  return statements;
}

std::vector<ValueId> Writer::roots_of(const Stage& stage) const {
  std::vector<ValueId> roots;
  for (const std::vector<ValueId>& values : statements_of(stage))
    roots.insert(roots.end(), values.begin(), values.end());
  return roots;
}

std::vector<ValueId> Writer::stored_by(const Stage& stage) {
  std::vector<ValueId> values;
  for (const Store& store : stage.stores) values.push_back(store.value);
  return values;
}

Lines* Writer::lines_of_vectors(Body& body) { return has_vectors() ? &body.vector : nullptr; }

std::string Writer::stored_text(const Store& store) {
  return values_.expressions.stored(store.value, buffer(store.buffer).type);
}

void Writer::store(const Store& store, Body& body) {
  const Run run = has_vectors() ? run_of(store.at, nest_.inner) : Run{};
  if (!run.neighbours) {
    Lines& loop = loop_of(body, {store.value});
    loop.line("kw::store(" + address(store.buffer, store.at, false) + ", " + stored_text(store) + ");");
    return;
  }
  note_vector(store.buffer, store.at, run);
  stored_alike_ &= is_large(store.at) && lies_alike(store.buffer, store.at);
  const auto packed = vectors_.find(store.value);
  const bool has_vector = packed != vectors_.end() && kernel_[store.value].type == buffer(store.buffer).type;
  const std::string name = has_vector ? packed->second : names_.fresh(buffer(store.buffer).name + "_v");
  if (!has_vector) {
    body.vector.line("kw::Vector<" + types_.stored(buffer(store.buffer).type) + ", kVector> " + name + ";");
    Lines& loop = loop_of(body, {store.value});
    loop.line(name + "[k] = " + stored_text(store) + ";");
  }
  body.stores.line("kw::store_piece(" + vector_address(store.buffer, store.at) + ", " + name + ", whole);");
}

void Writer::finish(Body& body) {
  if (!has_vectors() || nest_.inner < 0) return;
  with_index(body.element);
  with_index(body.second_element);
  Lines& rest = body.second_vector;
  if (!body.second_element.empty()) {
    rest.line("KW_UNROLL");
    rest.open("for (int k = 0; k < (whole ? kVector : 1); ++k) {");
    rest.append(body.second_element);
    rest.close();
  }
  rest.append(body.late_vector);
  rest.append(body.stores);
  body.stores = rest;
}

void Writer::with_index(Lines& element) {
  const std::string& name = names_.variable(nest_.inner);
  if (!mentions(element.text(), name)) return;
  Lines with;
  with.line("const Index " + name + " = " + first_ + " + k;");
  with.append(element);
  element = with;
}

void Writer::after_stores(const Stage& stage, Lines& out, const std::string& condition) {
  if (stage.after_stores.empty()) return;
  std::vector<ValueId> roots;
  for (const Store& store : stage.after_stores) roots.push_back(store.value);
  values_.define(roots);
  if (!condition.empty()) out.open("if (" + condition + ") {");
  for (const Store& store : stage.after_stores)
    out.line("kw::store(" + address(store.buffer, store.at, false) + ", " + stored_text(store) + ");");
  if (!condition.empty()) out.close();
}

}  // namespace kw::act::cuda
