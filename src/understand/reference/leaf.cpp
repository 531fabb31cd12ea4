#include "base/text.h"
#include "understand/reference/spelling.h"

namespace kw::understand::reference {

using ir::DType;
using ir::Type;

Expression spell_input(Body& body, const Site& site) {
  size_t index = static_cast<size_t>(site.node.as<ir::InputRef>().index);
  const ir::Input& input = body.graph.inputs[index];
  bool number = input.kind == ir::InputKind::Scalar;
  return {body.names().arguments[index], Binding::Postfix, number ? Layout{} : input.dims, input.type, number};
}

std::string number_literal(const ir::Literal& literal) {
  if (const bool* b = std::get_if<bool>(&literal.value)) return *b ? "True" : "False";
  if (const int64_t* i = std::get_if<int64_t>(&literal.value)) return std::to_string(*i);
  std::string text = number_text(std::get<double>(literal.value));
  if (text == "inf") return "torch.inf";
  if (text == "-inf") return "-torch.inf";
  if (text == "nan") return "torch.nan";
  // A float stays one in Python.
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

Expression spell_const(Body&, const Site& site) {
  std::string text = number_literal(site.node.as<ir::Literal>());
  Binding binding = text[0] == '-' ? Binding::Unary : Binding::Postfix;
  return {text, binding, {}, site.type, true};
}

Expression spell_size(Body& body, const Site& site) {
  const ir::Size& size = site.node.as<ir::SizeAttr>().size;
  bool simple = size.as_symbol() || (size.constant() && *size.constant() >= 0);
  return {body.size(size), simple ? Binding::Postfix : Binding::Sum, {}, site.type, true};
}

Expression spell_iota(Body& body, const Site& site) {
  ir::AxisId axis = site.node.as<ir::AxisList>().axes[0];
  return {
      "torch.arange(" + body.axis_size(axis) + body.device() + ")", Binding::Postfix, {axis}, Type(DType::I64), false};
}

Expression spell_random(Body& body, const Site& site) {
  const Layout& axes = site.node.as<ir::AxisList>().axes;
  std::string shape;
  for (ir::AxisId a : axes) shape += body.axis_size(a) + ", ";
  if (axes.size() > 1) shape.resize(shape.size() - 2);
  return {body.local("philox_uniform") + "(" + site.value(0).text + ", " + site.value(1).text + ", (" +
              std::string(trim(shape)) + ")" + body.device() + ")",
          Binding::Postfix, axes, Type(DType::F32), false};
}

}  // namespace kw::understand::reference
