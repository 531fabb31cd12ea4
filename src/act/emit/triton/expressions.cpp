#include "act/emit/triton/expressions.h"

#include <algorithm>
#include <cmath>

#include "act/emit/cpp/spelling.h"
#include "act/loop/index.h"
#include "base/text.h"

namespace kw::act::triton {
namespace {

using ir::DType;
using ir::Op;

std::string number(const ir::Literal& literal, Kind kind) {
  const double value = literal.number();
  if (kind == Kind::Bool) return value != 0 ? "True" : "False";
  if (kind == Kind::Int) {
    const int64_t* whole = std::get_if<int64_t>(&literal.value);
    return std::to_string(whole ? *whole : static_cast<int64_t>(value));
  }
  if (std::isnan(value)) return "float(\"nan\")";
  if (std::isinf(value)) return value < 0 ? "float(\"-inf\")" : "float(\"inf\")";
  std::string text = number_text(value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

ir::Type parameter(size_t index) { return ir::Type::parameter(static_cast<int>(index)); }

}  // namespace

Kind Expressions::kind_of(ir::Type type) {
  if (type.boolean()) return Kind::Bool;
  return type.floating() ? Kind::Float : Kind::Int;
}

bool Expressions::rounds(ir::Type type) {
  if (!type.floating() || type.weak()) return false;
  const DType floor = type.floor();
  return floor != DType::F32 && floor != DType::F64;
}

bool Expressions::is_wide(ir::Type type) const {
  return form_ == Form::General && type.params() != 0 && type.floor() != DType::F64;
}

// A type by a tensor that has it; one that none has, by the types that it joins.
std::string Expressions::type_name(ir::Type type) {
  if (type == ir::Type(DType::BF16)) return "tl.bfloat16";
  if (type == ir::Type(DType::F16)) return "tl.float16";
  if (type == ir::Type(DType::F32)) return "tl.float32";
  if (type == ir::Type(DType::F64)) return "tl.float64";
  if (const std::string tensor = tensor_of_type(type); !tensor.empty()) return tensor + ".dtype.element_ty";
  std::string text;
  auto join = [&](ir::Type part) {
    if (text.empty()) {
      text = type_name(part);
      return;
    }
    call_function("promoted");
    text = "promoted(" + text + ", " + type_name(part) + ")";
  };
  for (size_t p = 0; p < program_.type_parameters.size(); ++p)
    if ((type.params() >> p) & 1) {
      if (type == parameter(p)) {
        refuse("type-without-tensor");
        return "tl.float32";
      }
      join(parameter(p));
    }
  if (type.floor() != DType::None) join(type.floor());
  return text;
}

std::string Expressions::compute_type(ir::Type type) {
  if (type.integer()) return "tl.int64";
  if (type.boolean()) return "tl.int1";
  if (type.floor() == DType::F64) return "tl.float64";
  if (!is_wide(type)) return "tl.float32";
  return type_name(ir::promote(type, DType::F32));
}

std::string Expressions::widened(const std::string& text, ir::Type type) {
  if (type == ir::Type(DType::F32) || type.floor() == DType::F64) return text;
  if (form_ == Form::Fast && type.floor() == DType::F32) return text;  // T|f32, where no T is wider
  if (!is_wide(type)) return text + ".to(tl.float32)";
  call_function("wide");
  return "wide(" + text + ")";
}

std::string Expressions::number_of(ir::Type type, double value) const {
  return number(ir::Literal{value}, kind_of(type));
}

Text Expressions::convert(const Text& text, Kind kind, ir::Type type) {
  if (text.kind == kind) return text;
  switch (kind) {
    case Kind::Float:
      return {inside(text) + ".to(" + compute_type(type) + ")", kind};
    case Kind::Int:
      return {inside(text) + ".to(tl.int64)", kind};
    case Kind::Bool:
      return {inside(text, Level::Or) + " != 0", kind, Level::Comparison};
  }
  return text;
}

std::string Expressions::as_float(ValueId value) { return convert(of(value), Kind::Float, kernel_[value].type).text; }

Text Expressions::of(ValueId id, bool rounded) {
  if (auto known = environment.find(id); known != environment.end()) return known->second;
  const Value& value = kernel_[id];
  if (const Number* n = std::get_if<Number>(&value.what)) {
    const Kind kind = kind_of(value.type);
    return {number(n->literal, kind), kind};
  }
  if (const Scalar* scalar = std::get_if<Scalar>(&value.what)) return {scalar->name, kind_of(value.type)};
  if (const IndexValue* at = std::get_if<IndexValue>(&value.what)) {
    const std::string text = index(at->index);
    return {text, Kind::Int, text.find(' ') == std::string::npos ? Level::Atom : Level::Sum};
  }
  if (const Load* load = std::get_if<Load>(&value.what)) {
    const std::string text = loaded(*load);
    if (value.type.floating()) return {widened(text, value.type), Kind::Float};
    if (value.type.boolean()) return {text + " != 0", Kind::Bool, Level::Comparison};
    return {text, Kind::Int};
  }
  const Map* map = std::get_if<Map>(&value.what);
  KW_ASSERT(map, "a reduction is a variable before it is used");
  if (map->op == Op::Cast) return cast(value, map->args[0], rounded);
  Text text = this->map(value, *map);
  if (!rounded || !rounds(value.type) || cpp::spelling_of(map->op).exact) return text;
  if (is_plain(id)) text = {"tl.full([], " + text.text + ", " + compute_type(value.type) + ")"};
  return round(text, value.type);
}

// Numbers and scalars are no tensors in the interpreter: they have no `to`.
bool Expressions::is_plain(ValueId id) const {
  const auto& what = kernel_[id].what;
  if (std::holds_alternative<Number>(what) || std::holds_alternative<Scalar>(what)) return true;
  if (const IndexValue* at = std::get_if<IndexValue>(&what)) return axes_of(at->index).empty();
  const Map* map = std::get_if<Map>(&what);
  return map && std::all_of(map->args.begin(), map->args.end(), [&](ValueId arg) { return is_plain(arg); });
}

bool Expressions::has_scalar(ValueId id) const {
  const auto& what = kernel_[id].what;
  if (std::holds_alternative<Scalar>(what)) return true;
  const Map* map = std::get_if<Map>(&what);
  return map && std::any_of(map->args.begin(), map->args.end(), [&](ValueId arg) { return has_scalar(arg); });
}

Text Expressions::round(const Text& text, ir::Type type) {
  const std::string rounded = inside(text) + ".to(" + type_name(type) + ")";
  return {widened(rounded, type), Kind::Float};
}

Text Expressions::cast(const Value& value, ValueId arg, bool rounded) {
  const Text inner = of(arg);
  const ir::Type from = kernel_[arg].type;
  Text wide = is_plain(arg) ? Text{inner.text, kind_of(value.type), inner.level}
                            : convert(inner, kind_of(value.type), value.type);
  if (value.type.floating() && !is_plain(arg) && from.floating()) {
    // fp64 to fp32 is a rounding too; the other way nothing changes, but sums want to know.
    const bool from_double = from.floor() == DType::F64 || is_wide(from);
    const bool to_single = compute_type(value.type) == "tl.float32";
    const bool to_double = value.type == ir::Type(DType::F64) && from.floor() != DType::F64;
    if ((from_double && to_single) || to_double) wide = {inside(wide) + ".to(" + compute_type(value.type) + ")"};
  }
  if (!rounded || !rounds(value.type) || from == value.type) return wide;
  if (is_plain(arg)) wide = {"tl.full([], " + wide.text + ", " + compute_type(value.type) + ")"};
  return round(wide, value.type);
}

Kind Expressions::operand_kind(const Map& map) const {
  Kind kind = Kind::Bool;
  for (ValueId arg : map.args) {
    const Kind of_arg = kind_of(kernel_[arg].type);
    if (of_arg == Kind::Float) return Kind::Float;
    if (of_arg == Kind::Int) kind = Kind::Int;
  }
  return kind;
}

ir::Type Expressions::operand_type(const Map& map) const {
  ir::Type type = kernel_[map.args[0]].type;
  for (ValueId arg : map.args) type = ir::promote(type, kernel_[arg].type);
  return type;
}

// What takes part in an operation whose operands are of this kind and type. Python's numbers and sizes take part as
// they are; a scalar, which arrives in fp64 where the text is for all types, in the type of what it meets.
Text Expressions::operand(ValueId arg, Kind kind, ir::Type type) {
  const Text text = of(arg);
  if (kind == Kind::Float && is_plain(arg)) {
    if (form_ == Form::General && has_scalar(arg) && kernel_[arg].type.floating() && !type.weak())
      return {"tl.full([], " + text.text + ", " + compute_type(type) + ")"};
    return {text.text, kind, text.level};
  }
  if (kind == Kind::Float && text.kind == Kind::Int && std::holds_alternative<IndexValue>(kernel_[arg].what))
    return {inside(text) + ".to(" + compute_type(type) + ")"};
  return convert(text, kind, type);
}

Text Expressions::call(const std::string& function, const Map& map, Kind kind, ir::Type type) {
  std::string text = function + "(";
  for (size_t i = 0; i < map.args.size(); ++i) {
    const Text argument = operand(map.args[i], kind, type);
    const bool tensor = map.args.size() > 1 || !is_plain(map.args[i]);
    text +=
        (i ? ", " : "") + (tensor ? argument.text : "tl.full([], " + argument.text + ", " + compute_type(type) + ")");
  }
  return {text + ")", kind};
}

Text Expressions::infix(const std::string& sign, Level level, const Map& map, Kind operands, ir::Type type,
                        Kind result) {
  const auto tighter = static_cast<Level>(static_cast<int>(level) + 1);
  const bool ordered = level == Level::Comparison;  // a < b < c means something else
  const Text left = operand(map.args[0], operands, type), right = operand(map.args[1], operands, type);
  return {inside(left, ordered ? tighter : level) + sign + inside(right, tighter), result, level};
}

Text Expressions::power(const Value& value, const Map& map) {
  const Text base = operand(map.args[0], Kind::Float, value.type);
  const Number* exponent = std::get_if<Number>(&kernel_[map.args[1]].what);
  const double n = exponent ? exponent->literal.number() : 0.25;
  if (n == 2 || n == 3) {
    call_function(n == 2 ? "square" : "cube");
    return {std::string(n == 2 ? "square(" : "cube(") + base.text + ")"};
  }
  if (n == 1) return base;
  if (n == 0.5) {
    const bool is_double = is_wide(value.type) || value.type.floor() == DType::F64;
    if (is_double) call_function("wide_sqrt");
    return {(is_double ? "wide_sqrt(" : "tl.sqrt_rn(") + base.text + ")"};
  }
  if (n == -0.5) return {"tl.rsqrt(" + base.text + ")"};
  if (n == -1) return {"1.0 / " + inside(base, Level::Sign), Kind::Float, Level::Product};
  refuse("op.pow");
  return base;
}

// A row divided by one number needs one division.
Text Expressions::quotient(const Value& value, const Map& map) {
  const bool by_row = form_ == Form::Fast && value.type.floor() != DType::F64 && along_columns &&
                      along_columns(map.args[0]) && !along_columns(map.args[1]) && !is_plain(map.args[1]);
  if (!by_row) return infix(" / ", Level::Product, map, Kind::Float, value.type, kind_of(value.type));
  call_function("divided");
  return call("divided", map, Kind::Float, value.type);
}

Text Expressions::map(const Value& value, const Map& map) {
  const Kind kind = kind_of(value.type);
  const ir::Type type = value.type;
  auto core = [&](const char* function) { return call(function, map, kind, type); };
  auto own = [&](const char* function) {
    call_function(function);
    return call(function, map, Kind::Float, type);
  };
  // Some functions have another text where fp64 may come along.
  auto for_every_type = [&](const char* function, const char* usual) {
    const bool is_double = is_wide(type) || type.floor() == DType::F64;
    if (!is_double && std::string_view(usual).starts_with("tl.")) return core(usual);
    return own(is_double ? function : usual);
  };
  auto compared = [&](const char* sign) {
    return infix(sign, Level::Comparison, map, operand_kind(map), operand_type(map), Kind::Bool);
  };
  switch (map.op) {
    case Op::Neg: {
      const Text text = operand(map.args[0], kind, type);
      return {"-" + inside(text, Level::Sign), kind, Level::Sign};
    }
    case Op::Abs:
      return core("tl.abs");
    case Op::Floor:
      return core("tl.floor");
    case Op::Ceil:
      return core("tl.ceil");
    case Op::Sqrt:
      return for_every_type("wide_sqrt", "tl.sqrt_rn");
    case Op::Rsqrt:
      return core("tl.rsqrt");
    case Op::Exp:
      return core("tl.exp");
    case Op::Exp2:
      return core("tl.exp2");
    case Op::Log:
      return core("tl.log");
    case Op::Log2:
      return core("tl.log2");
    case Op::Sin:
      return core("tl.sin");
    case Op::Cos:
      return core("tl.cos");
    case Op::Erf:
      return core("tl.erf");
    case Op::Sigmoid:
      return core("tl.sigmoid");
    case Op::Expm1:
      return own("expm1");
    case Op::Log1p:
      return own("log1p");
    case Op::Tanh:
      return for_every_type("wide_tanh", "tanh");
    case Op::Sign:
      return own("sign");
    case Op::Not:
      if (kind == Kind::Bool) return {inside(of(map.args[0]), Level::Or) + " == 0", kind, Level::Comparison};
      return {"~" + inside(of(map.args[0])), kind, Level::Sign};
    case Op::StopGradient:
      return convert(of(map.args[0]), kind, type);
    case Op::Add:
      return infix(" + ", Level::Sum, map, kind, type, kind);
    case Op::Sub:
      return infix(" - ", Level::Sum, map, kind, type, kind);
    case Op::Mul:
      return infix(" * ", Level::Product, map, kind, type, kind);
    case Op::Div:
      return quotient(value, map);
    case Op::Pow:
      if (kind == Kind::Float) return power(value, map);
      break;
    case Op::Max:
    case Op::Min: {
      Text text = core(map.op == Op::Max ? "tl.maximum" : "tl.minimum");
      if (kind == Kind::Float) text.text.insert(text.text.size() - 1, ", propagate_nan=tl.PropagateNan.ALL");
      return text;
    }
    case Op::Lt:
      return compared(" < ");
    case Op::Le:
      return compared(" <= ");
    case Op::Eq:
      return compared(" == ");
    case Op::Ne:
      return compared(" != ");
    case Op::And:
      return infix(" & ", Level::And, map, kind, type, kind);
    case Op::Or:
      return infix(" | ", Level::Or, map, kind, type, kind);
    case Op::Xor:
      return infix(" ^ ", Level::Xor, map, kind, type, kind);
    case Op::Select: {
      const Text condition = convert(of(map.args[0]), Kind::Bool, type);
      auto side = [&](ValueId arg) {
        const Number* plain = std::get_if<Number>(&kernel_[arg].what);
        return plain ? number(plain->literal, kind) : operand(arg, kind, type).text;
      };
      return {"tl.where(" + condition.text + ", " + side(map.args[1]) + ", " + side(map.args[2]) + ")", kind};
    }
    default:
      break;
  }
  refuse("op." + std::string(info(map.op).name));
  return {"0", kind};
}

std::string Expressions::size(const ir::Size& size) const { return replace_all(names_.text(size), " / ", " // "); }

std::string Expressions::index(const Index& at) {
  auto factor = [&](const Index& operand) {
    const std::string text = index(operand);
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
  };
  switch (at.kind) {
    case Index::Kind::Axis:
      return names_.variable(at.axis);
    case Index::Kind::Size:
      return size(at.size);
    case Index::Kind::Value:
      return environment.at(at.value).text;
    case Index::Kind::Add: {
      const std::string right = index(at.operands[1]);
      if (right.starts_with("-")) return index(at.operands[0]) + " - " + right.substr(1);
      return index(at.operands[0]) + " + " + right;
    }
    case Index::Kind::Sub:
      return index(at.operands[0]) + " - " + factor(at.operands[1]);
    case Index::Kind::Mul:
      return factor(at.operands[0]) + " * " + factor(at.operands[1]);
    case Index::Kind::FloorDiv:  // the machine's rounds towards zero
      if (!is_natural(at.operands[0])) refuse("division-of-a-negative-index");
      return factor(at.operands[0]) + " // " + factor(at.operands[1]);
    case Index::Kind::Mod:
      if (!is_natural(at.operands[0])) refuse("division-of-a-negative-index");
      return factor(at.operands[0]) + " % " + factor(at.operands[1]);
  }
  return {};
}

}  // namespace kw::act::triton
