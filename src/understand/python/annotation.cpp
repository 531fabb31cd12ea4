// Annotations of arguments.
#include "base/text.h"
#include "understand/python/interface.h"

namespace kw::understand::python {
namespace {

std::string last_name(const Expr& expression) {
  if (const auto* name = expression.get<Name>()) return name->id;
  if (const auto* attribute = expression.get<Attribute>()) return attribute->name;
  if (const auto* constant = expression.get<Constant>()) {
    if (const auto* text = std::get_if<std::string>(&constant->value)) return text->substr(text->rfind('.') + 1);
  }
  return "";
}

bool is_none(const Expr& expression) {
  const auto* constant = expression.get<Constant>();
  return constant && std::holds_alternative<std::nullptr_t>(constant->value);
}

Annotation from_name(const std::string& name) {
  using Kind = Annotation::Kind;
  struct Row {
    const char* name;
    Kind kind;
    ir::DType dtype;
  };
  static constexpr Row kRows[] = {
      {"Tensor", Kind::Tensor, ir::DType::None},      {"FloatTensor", Kind::Tensor, ir::DType::None},
      {"HalfTensor", Kind::Tensor, ir::DType::F16},   {"BFloat16Tensor", Kind::Tensor, ir::DType::BF16},
      {"DoubleTensor", Kind::Tensor, ir::DType::F64}, {"LongTensor", Kind::Tensor, ir::DType::I64},
      {"IntTensor", Kind::Tensor, ir::DType::I32},    {"BoolTensor", Kind::Tensor, ir::DType::Bool},
      {"ByteTensor", Kind::Tensor, ir::DType::U8},    {"int", Kind::Int, ir::DType::None},
      {"float", Kind::Float, ir::DType::None},        {"bool", Kind::Bool, ir::DType::None},
      {"str", Kind::Text, ir::DType::None},           {"dtype", Kind::Dtype, ir::DType::None},
  };
  Annotation annotation;
  for (const Row& row : kRows) {
    if (name != row.name) continue;
    annotation.kind = row.kind;
    annotation.dtype = row.dtype;
    return annotation;
  }
  annotation.kind = name.empty() ? Kind::None : Kind::Other;
  annotation.class_name = name;
  return annotation;
}

// jaxtyping: Float[Tensor, "rows cols"].
std::optional<Annotation> from_jaxtyping(const std::string& kind, const Expr& index) {
  struct Row {
    const char* name;
    ir::DType dtype;
  };
  static constexpr Row kRows[] = {
      {"Float", ir::DType::None},  {"Float16", ir::DType::F16}, {"BFloat16", ir::DType::BF16},
      {"Float32", ir::DType::F32}, {"Float64", ir::DType::F64}, {"Int", ir::DType::I64},
      {"Int64", ir::DType::I64},   {"Int32", ir::DType::I32},   {"Bool", ir::DType::Bool},
  };
  const auto* parts = index.get<Display>();
  if (!parts || parts->items.size() != 2 || last_name(*parts->items[0]) != "Tensor") return std::nullopt;
  const auto* constant = parts->items[1]->get<Constant>();
  const auto* shape = constant ? std::get_if<std::string>(&constant->value) : nullptr;
  if (!shape) return std::nullopt;
  for (const Row& row : kRows) {
    if (kind != row.name) continue;
    Annotation annotation;
    annotation.kind = Annotation::Kind::Tensor;
    annotation.dtype = row.dtype;
    for (const std::string& word : split(*shape, ' ')) {
      if (!word.empty()) annotation.shape.push_back(word);
    }
    return annotation;
  }
  return std::nullopt;
}

}  // namespace

Annotation read_annotation(const Expr* annotation) {
  if (!annotation) return {};
  if (const auto* binary = annotation->get<Binary>(); binary && binary->op == BinaryOperator::BitOr) {
    const bool left_none = is_none(*binary->left), right_none = is_none(*binary->right);
    Annotation result = read_annotation(left_none ? binary->right.get() : binary->left.get());
    result.optional = result.optional || left_none || right_none;
    if (!left_none && !right_none) {
      const Annotation other = read_annotation(binary->right.get());
      result.optional = result.optional || other.optional;
      if (other.kind == Annotation::Kind::Tensor) result.kind = Annotation::Kind::Tensor;
    }
    return result;
  }
  if (const auto* item = annotation->get<Subscript>()) {
    const std::string outer = last_name(*item->value);
    if (outer == "Optional") {
      Annotation result = read_annotation(item->index.get());
      result.optional = true;
      return result;
    }
    if (const auto typed = from_jaxtyping(outer, *item->index)) return *typed;
    if (outer == "Annotated") {
      const auto* parts = item->index->get<Display>();
      if (parts && !parts->items.empty()) return read_annotation(parts->items[0].get());
    }
    return from_name(outer);
  }
  const std::string name = last_name(*annotation);
  if (name.ends_with("| None")) {
    Annotation result = from_name(std::string(trim(name.substr(0, name.find('|')))));
    result.optional = true;
    return result;
  }
  return from_name(name);
}

}  // namespace kw::understand::python
