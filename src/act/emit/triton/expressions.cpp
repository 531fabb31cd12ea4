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

std::string Expressions::type_name(ir::Type type) {
  if (type == ir::Type(DType::BF16)) return "tl.bfloat16";
  if (type == ir::Type(DType::F16)) return "tl.float16";
  const std::string tensor = tensor_of_type(type);
  if (tensor.empty()) refuse("type-without-tensor");
  return tensor + ".dtype.element_ty";
}

Text Expressions::convert(const Text& text, Kind kind) const {
  if (text.kind == kind) return text;
  switch (kind) {
    case Kind::Float:
      return {inside(text) + ".to(tl.float32)", kind};
    case Kind::Int:
      return {inside(text) + ".to(tl.int64)", kind};
    case Kind::Bool:
      return {inside(text) + " != 0", kind, false};
  }
  return text;
}

std::string Expressions::as_float(ValueId value) { return convert(of(value), Kind::Float).text; }

Text Expressions::of(ValueId id, bool rounded) {
  if (auto known = environment.find(id); known != environment.end()) return known->second;
  const Value& value = kernel_[id];
  if (const Number* n = std::get_if<Number>(&value.what)) {
    const Kind kind = kind_of(value.type);
    const std::string text = number(n->literal, kind);
    return {text, kind, !text.starts_with("-")};
  }
  if (const Scalar* scalar = std::get_if<Scalar>(&value.what)) return {scalar->name, kind_of(value.type)};
  if (const IndexValue* at = std::get_if<IndexValue>(&value.what)) {
    const std::string text = index(at->index);
    return {text, Kind::Int, text.find(' ') == std::string::npos};
  }
  if (const Load* load = std::get_if<Load>(&value.what)) {
    const std::string text = loaded(*load);
    if (value.type.floating()) return {text + ".to(tl.float32)", Kind::Float};
    if (value.type.boolean()) return {text + " != 0", Kind::Bool, false};
    return {text, Kind::Int};
  }
  const Map* map = std::get_if<Map>(&value.what);
  KW_ASSERT(map, "a reduction is a variable before it is used");
  if (map->op == Op::Cast) return cast(value, map->args[0], rounded);
  Text text = this->map(value, *map);
  if (!rounded || !rounds(value.type) || cpp::spelling_of(map->op).exact) return text;
  return round(text, value.type, id);
}

// Numbers and scalars are no tensors in the interpreter: they have no `to`.
bool Expressions::is_plain(ValueId id) const {
  const auto& what = kernel_[id].what;
  if (std::holds_alternative<Number>(what) || std::holds_alternative<Scalar>(what)) return true;
  if (const IndexValue* at = std::get_if<IndexValue>(&what)) return axes_of(at->index).empty();
  const Map* map = std::get_if<Map>(&what);
  return map && std::all_of(map->args.begin(), map->args.end(), [&](ValueId arg) { return is_plain(arg); });
}

Text Expressions::round(const Text& text, ir::Type type, ValueId of) {
  const std::string tensor = is_plain(of) ? "tl.full([], " + text.text + ", tl.float32)" : inside(text);
  return {tensor + ".to(" + type_name(type) + ").to(tl.float32)", Kind::Float};
}

Text Expressions::cast(const Value& value, ValueId arg, bool rounded) {
  const Text inner = of(arg);
  const Text wide =
      is_plain(arg) ? Text{inner.text, kind_of(value.type), inner.atom} : convert(inner, kind_of(value.type));
  const ir::Type from = kernel_[arg].type;
  if (!rounded || !rounds(value.type) || from == value.type) return wide;
  return round(wide, value.type, arg);
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

Text Expressions::call(const std::string& function, const Map& map, Kind kind) {
  std::string text = function + "(";
  for (size_t i = 0; i < map.args.size(); ++i) {
    Text argument = of(map.args[i]);
    // Plain numbers and sizes take part as they are.
    const bool plain = !std::holds_alternative<Map>(kernel_[map.args[i]].what);
    if (!(plain && argument.kind == Kind::Int)) argument = convert(argument, kind);
    text += (i ? ", " : "") + argument.text;
  }
  return {text + ")", kind};
}

Text Expressions::infix(const std::string& sign, const Map& map, Kind operands, Kind result) {
  auto side = [&](ValueId arg) {
    Text text = of(arg);
    const bool plain = std::holds_alternative<IndexValue>(kernel_[arg].what) ||
                       std::holds_alternative<Number>(kernel_[arg].what) ||
                       std::holds_alternative<Scalar>(kernel_[arg].what);
    if (!(plain && text.kind == Kind::Int && operands == Kind::Float)) text = convert(text, operands);
    return inside(text);
  };
  return {side(map.args[0]) + sign + side(map.args[1]), result, false};
}

Text Expressions::power(const Map& map) {
  const Text base = convert(of(map.args[0]), Kind::Float);
  const Number* exponent = std::get_if<Number>(&kernel_[map.args[1]].what);
  const double n = exponent ? exponent->literal.number() : 0.25;
  if (n == 2 || n == 3) {
    functions_.insert(n == 2 ? "square" : "cube");
    return {std::string(n == 2 ? "square(" : "cube(") + base.text + ")"};
  }
  if (n == 1) return base;
  if (n == 0.5) return {"tl.sqrt_rn(" + base.text + ")"};
  if (n == -0.5) return {"tl.rsqrt(" + base.text + ")"};
  if (n == -1) return {"1.0 / " + inside(base), Kind::Float, false};
  refuse("op.pow");
  return base;
}

Text Expressions::map(const Value& value, const Map& map) {
  const Kind kind = kind_of(value.type);
  auto own = [&](const char* function) {
    functions_.insert(function);
    return call(function, map, Kind::Float);
  };
  switch (map.op) {
    case Op::Neg:
      return {"-" + inside(convert(of(map.args[0]), kind)), kind, false};
    case Op::Abs:
      return call("tl.abs", map, kind);
    case Op::Floor:
      return call("tl.floor", map, kind);
    case Op::Ceil:
      return call("tl.ceil", map, kind);
    case Op::Sqrt:
      return call("tl.sqrt_rn", map, kind);
    case Op::Rsqrt:
      return call("tl.rsqrt", map, kind);
    case Op::Exp:
      return call("tl.exp", map, kind);
    case Op::Exp2:
      return call("tl.exp2", map, kind);
    case Op::Log:
      return call("tl.log", map, kind);
    case Op::Log2:
      return call("tl.log2", map, kind);
    case Op::Sin:
      return call("tl.sin", map, kind);
    case Op::Cos:
      return call("tl.cos", map, kind);
    case Op::Erf:
      return call("tl.erf", map, kind);
    case Op::Sigmoid:
      return call("tl.sigmoid", map, kind);
    case Op::Expm1:
      return own("expm1");
    case Op::Log1p:
      return own("log1p");
    case Op::Tanh:
      return own("tanh");
    case Op::Sign:
      return own("sign");
    case Op::Not:
      if (kind == Kind::Bool) return {inside(of(map.args[0])) + " == 0", kind, false};
      return {"~" + inside(of(map.args[0])), kind, false};
    case Op::StopGradient:
      return convert(of(map.args[0]), kind);
    case Op::Add:
      return infix(" + ", map, kind, kind);
    case Op::Sub:
      return infix(" - ", map, kind, kind);
    case Op::Mul:
      return infix(" * ", map, kind, kind);
    case Op::Div:
      return infix(" / ", map, Kind::Float, kind);
    case Op::Pow:
      if (kind == Kind::Float) return power(map);
      break;
    case Op::Max:
    case Op::Min: {
      Text text = call(map.op == Op::Max ? "tl.maximum" : "tl.minimum", map, kind);
      if (kind == Kind::Float) text.text.insert(text.text.size() - 1, ", propagate_nan=tl.PropagateNan.ALL");
      return text;
    }
    case Op::Lt:
      return infix(" < ", map, operand_kind(map), Kind::Bool);
    case Op::Le:
      return infix(" <= ", map, operand_kind(map), Kind::Bool);
    case Op::Eq:
      return infix(" == ", map, operand_kind(map), Kind::Bool);
    case Op::Ne:
      return infix(" != ", map, operand_kind(map), Kind::Bool);
    case Op::And:
      return infix(" & ", map, kind, kind);
    case Op::Or:
      return infix(" | ", map, kind, kind);
    case Op::Xor:
      return infix(" ^ ", map, kind, kind);
    case Op::Select: {
      const Text condition = convert(of(map.args[0]), Kind::Bool);
      auto side = [&](ValueId arg) {
        const Text text = of(arg);
        const bool plain = std::holds_alternative<Number>(kernel_[arg].what);
        return plain ? number(std::get<Number>(kernel_[arg].what).literal, kind) : convert(text, kind).text;
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
    case Index::Kind::Add:
      return index(at.operands[0]) + " + " + index(at.operands[1]);
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
