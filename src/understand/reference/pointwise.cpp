#include <algorithm>
#include <cctype>

#include "understand/reference/spelling.h"

namespace kw::understand::reference {

using ir::DType;
using ir::Op;
using ir::Type;

namespace {

int category(Type type) {
  if (!type.known()) return 0;
  if (type.floating()) return 3;
  return type.boolean() ? 1 : 2;
}

// Puts the operands into a template, with the parentheses that their place asks for.
std::string filled(std::string_view text, Binding binding, const std::vector<Expression>& operands) {
  auto next = [](Binding b) { return b == Binding::Postfix ? b : static_cast<Binding>(static_cast<int>(b) + 1); };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      out += text[i];
      continue;
    }
    size_t index = static_cast<size_t>(text[i + 1] - '0');
    char before = i == 0 ? ' ' : text[i - 1], after = i + 3 < text.size() ? text[i + 3] : ' ';
    bool in_call = i > 0 && text.substr(0, i).find('(') != std::string_view::npos;
    Binding around = Binding::Any;
    if (after == '.' && i + 3 < text.size()) {
      around = Binding::Postfix;
    } else if (!in_call) {
      bool first = i == 0 || before == '-' || before == '~';
      if (binding == Binding::Power)
        around = first ? Binding::Postfix : Binding::Unary;
      else if (binding == Binding::Compare)
        around = next(binding);
      else
        around = first ? binding : next(binding);
      if (text == "{0}") around = Binding::Any;
    }
    out += operands[index].within(around);
    i += 2;
  }
  return out;
}

bool is_comparison(Op op) { return op == Op::Lt || op == Op::Le || op == Op::Eq || op == Op::Ne; }

// The type in which torch must be made to compute: that of the operands for a comparison, that of the result otherwise.
Type compute_type(const Site& site) {
  if (!is_comparison(site.node.op)) return held(site.type);
  Type type;
  for (const Operand& operand : site.operands) type = promote(type, operand.type);
  return held(type);
}

bool all_numbers(const Site& site) {
  return std::all_of(site.operands.begin(), site.operands.end(), [](const Operand& o) { return o.value.number; });
}

std::vector<Expression> values_of(const Site& site) {
  std::vector<Expression> values;
  for (const Operand& operand : site.operands) values.push_back(operand.value);
  return values;
}

// Casts the tensors among the operands where torch by itself would compute in another type: beside a tensor without
// dimensions, which it treats almost like a number, and for numbers that had to become tensors. All else is torch's
// own.
void promote_explicitly(Body& body, const Site& site, std::vector<Expression>& values, Type wanted, bool reals) {
  bool as_in_torch = true;
  for (const Operand& operand : site.operands)
    if (!operand.value.number && (operand.type.weak() || operand.value.dims.empty())) as_in_torch = false;
  if (as_in_torch) return;
  std::vector<const Expression*> pointers;
  for (const Expression& value : values) pointers.push_back(&value);
  Type actual = torch_promotion(pointers);
  if (reals && !actual.floating()) actual = Type(DType::F32);  // torch's default type
  if (actual == wanted) return;
  for (Expression& value : values)
    if (!value.number) value = body.cast(std::move(value), wanted);
}

// Functions on the reals: torch reads integers as its default type.
bool is_real_function(Op op) { return op == Op::Div || op == Op::Atan2 || (op >= Op::Sqrt && op <= Op::Sigmoid); }

}  // namespace

Type torch_promotion(const std::vector<const Expression*>& operands) {
  Type with_dims, without_dims, numbers;
  for (const Expression* operand : operands) {
    Type& group = operand->number ? numbers : operand->dims.empty() ? without_dims : with_dims;
    group = promote(group, operand->type);
  }
  for (Type lower : {without_dims, numbers})
    if (category(lower) > category(with_dims)) with_dims = promote(with_dims, lower);
  return with_dims;
}

Layout align(Body& body, std::vector<Expression>& values) {
  Layout target;
  bool as_they_are = true;
  for (const Expression& value : values) {
    std::optional<Layout> both = broadcast(target, value.dims);
    if (!both) as_they_are = false;
    if (both) target = *both;
  }
  if (as_they_are) return target;
  // The value with the most axes gives the order.
  size_t most = 0;
  for (size_t i = 1; i < values.size(); ++i)
    if (without_units(values[i].dims).size() > without_units(values[most].dims).size()) most = i;
  target = without_units(values[most].dims);
  for (const Expression& value : values) target = merged(target, value.dims);
  for (Expression& value : values) {
    if (value.number || broadcasts_to(value.dims, target)) continue;
    Layout dims;
    for (ir::AxisId a : target)
      if (!dims.empty() || holds(value.dims, a)) dims.push_back(holds(value.dims, a) ? a : ir::kUnit);
    value = body.arranged(std::move(value), dims);
  }
  return target;
}

Expression spell_pointwise(Body& body, const Site& site) {
  const Spelling& row = spelling(site.node.op);
  std::vector<Expression> values = values_of(site);
  if (all_numbers(site) && !row.number.empty()) {
    if (row.number.find("math.") != std::string_view::npos) body.use_math();
    return {filled(row.number, row.number_binding, values), row.number_binding, {}, site.type, true};
  }
  Type wanted = compute_type(site);
  bool is_call = row.tensor.find("torch.") != std::string_view::npos;
  for (Expression& value : values)
    if (value.number && (is_call || all_numbers(site))) value = body.tensor(std::move(value), wanted);
  // Torch has no derivative of a number modulo a tensor.
  if (site.node.op == Op::Mod && values[0].number && wanted.floating())
    values[0] = body.tensor(std::move(values[0]), wanted);
  promote_explicitly(body, site, values, wanted, is_real_function(site.node.op));
  Layout dims = align(body, values);
  return {filled(row.tensor, row.binding, values), row.binding, dims, held(site.type), false};
}

// torch.floor_divide, which // means, has no derivative; torch.div has.
Expression spell_floor_div(Body& body, const Site& site) {
  if (!site.type.floating() || all_numbers(site)) return spell_pointwise(body, site);
  std::vector<Expression> values = values_of(site);
  Type wanted = held(site.type);
  if (values[0].number) values[0] = body.tensor(std::move(values[0]), wanted);
  promote_explicitly(body, site, values, wanted, false);
  Layout dims = align(body, values);
  return {"torch.div(" + values[0].text + ", " + values[1].text + ", rounding_mode=\"floor\")", Binding::Postfix, dims,
          wanted, false};
}

Expression spell_cast(Body& body, const Site& site) {
  Type to = site.node.as<ir::CastAttr>().type;
  const Expression& x = site.value(0);
  if (x.number && to.weak()) {
    if (to == x.type) return x;
    return {(to == Type(DType::Int) ? "int(" : "float(") + x.text + ")", Binding::Postfix, {}, to, true};
  }
  if (x.number && to.boolean()) {
    std::string text = x.text == "1" ? "True" : x.text == "0" ? "False" : "bool(" + x.text + ")";
    return {x.type.boolean() ? x.text : text, Binding::Postfix, {}, to, true};
  }
  return body.cast(x, to);
}

Expression spell_not(Body&, const Site& site) {
  Expression x = site.value(0);
  bool python_bool = x.number && x.type.boolean();
  x.text = python_bool ? "(not " + x.within(Binding::Compare) + ")" : "~" + x.within(Binding::Unary);
  x.binding = python_bool ? Binding::Postfix : Binding::Unary;
  return x;
}

Expression spell_extremum(Body& body, const Site& site) {
  bool is_max = site.node.op == Op::Max;
  std::vector<Expression> values = values_of(site);
  Type wanted = compute_type(site);
  if (all_numbers(site))
    return {(is_max ? "max(" : "min(") + values[0].text + ", " + values[1].text + ")",
            Binding::Postfix,
            {},
            site.type,
            true};
  promote_explicitly(body, site, values, wanted, false);
  for (size_t i = 0; i < 2; ++i) {
    if (!values[i].number) continue;
    Expression& x = values[1 - i];
    std::string text = x.within(Binding::Postfix) + (is_max ? ".clamp(min=" : ".clamp(max=") + values[i].text + ")";
    return {text, Binding::Postfix, x.dims, wanted, false};
  }
  Layout dims = align(body, values);
  return {(is_max ? "torch.maximum(" : "torch.minimum(") + values[0].text + ", " + values[1].text + ")",
          Binding::Postfix, dims, wanted, false};
}

Expression spell_select(Body& body, const Site& site) {
  std::vector<Expression> values = values_of(site);
  Type wanted = held(site.type);
  if (all_numbers(site))
    return {"(" + values[1].text + " if " + values[0].text + " else " + values[2].text + ")",
            Binding::Postfix,
            {},
            site.type,
            true};
  if (values[0].number) values[0] = body.tensor(std::move(values[0]), Type(DType::Bool));
  std::vector<Expression> branches{std::move(values[1]), std::move(values[2])};
  if (branches[0].number && branches[1].number) {
    // torch.where on two numbers has torch's default types.
    Type given = torch_promotion({&branches[0], &branches[1]});
    if (given == Type(DType::Real) || given != site.type) branches[0] = body.tensor(std::move(branches[0]), wanted);
  } else {
    promote_explicitly(body, site, branches, wanted, false);
  }
  values[1] = std::move(branches[0]);
  values[2] = std::move(branches[1]);
  Layout dims = align(body, values);
  return {"torch.where(" + values[0].text + ", " + values[1].text + ", " + values[2].text + ")", Binding::Postfix, dims,
          wanted, false};
}

}  // namespace kw::understand::reference
