#include "understand/reference/body.h"

#include <algorithm>

#include "base/text.h"
#include "understand/reference/local_functions.h"

namespace kw::understand::reference {

using ir::AxisId;
using ir::DType;
using ir::Input;
using ir::InputKind;
using ir::kUnit;
using ir::Size;
using ir::SymbolId;
using ir::Type;

namespace {

constexpr size_t kLineWidth = 112;  // with the comment, within a function

ReferenceNames interface_of(const ir::Graph& graph, Names& taken) {
  ReferenceNames names;
  names.function = taken.take(graph.name);
  for (const Input& input : graph.inputs) names.arguments.push_back(taken.take(input.name));
  return names;
}

}  // namespace

Type held(Type type) {
  if (type == Type(DType::Real)) return Type(DType::F64);
  if (type == Type(DType::Int)) return Type(DType::I64);
  return type;
}

bool Expression::is_name() const {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

Body::Body(const ir::Graph& g) : graph(g) {
  for (const LocalFunction& function : local_functions()) taken_.take(function.name);
  interface_ = interface_of(g, taken_);
  for (const ir::Symbol& symbol : graph.symbols) symbol_names_.push_back(taken_.take(symbol.name));
}

std::string Body::size(const Size& size) {
  for (SymbolId symbol : size.symbols()) symbols_used_.insert(symbol);
  return size.text([this](SymbolId symbol) { return symbol_name(symbol); });
}

std::string Body::dtype(Type type) {
  type = held(type);
  if (type.concrete()) return "torch." + std::string(info(type.floor()).torch_name);
  auto of_input = [this](Type wanted) -> std::string {
    for (size_t i = 0; i < graph.inputs.size(); ++i)
      if (graph.inputs[i].kind != InputKind::Scalar && graph.inputs[i].type == wanted)
        return interface_.arguments[i] + ".dtype";
    return "";
  };
  if (std::string direct = of_input(type); !direct.empty()) return direct;
  for (const auto& [known, binding] : dtypes_)
    if (known == type) return binding.first;

  std::vector<std::string> parts;
  for (size_t i = 0; i < graph.type_parameters.size(); ++i) {
    if (!(type.params() & (1u << i))) continue;
    std::string part = of_input(Type::parameter(static_cast<int>(i)));
    // A parameter that no tensor has alone is the type that its default says.
    parts.push_back(part.empty() ? "torch." + std::string(info(graph.type_parameters[i].default_dtype).torch_name)
                                 : part);
  }
  if (type.floor() != DType::None) parts.push_back("torch." + std::string(info(type.floor()).torch_name));
  std::string expression = parts[0];
  for (size_t i = 1; i < parts.size(); ++i) expression = "torch.promote_types(" + expression + ", " + parts[i] + ")";
  std::string name = taken_.take(type.floor() == DType::F32 ? "compute_dtype" : "common_dtype");
  dtypes_.push_back({type, {name, expression}});
  return name;
}

std::string Body::device() {
  for (size_t i = 0; i < graph.inputs.size(); ++i)
    if (graph.inputs[i].kind != InputKind::Scalar) return ", device=" + interface_.arguments[i] + ".device";
  return "";
}

std::string Body::local(std::string_view function) {
  locals_.emplace(function);
  return std::string(function);
}

Expression Body::cast(Expression x, Type type) {
  type = held(type);
  if (x.number) return tensor(std::move(x), type);
  if (x.type == type) return x;
  std::string method = ".to(" + dtype(type) + ")";
  if (type == Type(DType::F32)) method = ".float()";
  if (type == Type(DType::F64)) method = ".double()";
  if (type == Type(DType::I64)) method = ".long()";
  if (type == Type(DType::Bool)) method = ".bool()";
  x.text = x.within(Binding::Postfix) + method;
  x.binding = Binding::Postfix;
  x.type = type;
  x.fill.clear();  // the number has been rounded
  return x;
}

Expression Body::tensor(Expression x, Type type) {
  type = held(type);
  if (!x.number) return x;
  std::string text = "torch.tensor(" + x.text + ", dtype=" + dtype(type) + device() + ")";
  return {text, Binding::Postfix, {}, type, false, x.text};
}

Expression Body::arranged(Expression x, const Layout& dims, bool expand) {
  if (x.number && !expand) return tensor(std::move(x), x.type);
  if (expand && (x.number || !x.fill.empty())) {
    std::string shape;
    for (AxisId a : dims) shape += (a == kUnit ? "1" : axis_size(a)) + ", ";
    if (!shape.empty()) shape.resize(shape.size() - (dims.size() == 1 ? 1 : 2));
    Type type = held(x.type);
    const std::string& value = x.number ? x.text : x.fill;
    bool zero = value == "0.0" || value == "0";
    std::string text = zero ? "torch.zeros((" + shape + ")" : "torch.full((" + shape + "), " + value;
    return {text + ", dtype=" + dtype(type) + device() + ")", Binding::Postfix, dims, type, false};
  }
  std::string moves = rearranged(x.dims, dims);
  bool lacks = std::any_of(dims.begin(), dims.end(), [&](AxisId a) { return a != kUnit && !holds(x.dims, a); });
  if (expand && lacks) {
    std::string shape;
    for (AxisId a : dims) shape += (shape.empty() ? "" : ", ") + (a == kUnit || holds(x.dims, a) ? "-1" : axis_size(a));
    // Leading dimensions need no unit before they are expanded.
    size_t leading = 0;
    while (leading < dims.size() && (dims[leading] != kUnit && !holds(x.dims, dims[leading]))) ++leading;
    if (x.dims == Layout(dims.begin() + static_cast<std::ptrdiff_t>(leading), dims.end())) moves.clear();
    moves += ".expand(" + shape + ")";
  }
  if (!moves.empty()) {
    x.text = x.within(Binding::Postfix) + moves;
    x.binding = Binding::Postfix;
    x.fill.clear();
  }
  Layout had = std::exchange(x.dims, dims);
  if (!expand)
    for (AxisId& a : x.dims)
      if (!holds(had, a)) a = kUnit;
  return x;
}

Expression Body::with_axes(Expression x, const std::vector<AxisId>& axes) {
  Layout dims = x.dims;
  std::vector<AxisId> missing;
  for (AxisId a : axes)
    if (!holds(dims, a)) missing.push_back(a);
  if (missing.empty()) return x;
  dims.insert(dims.begin(), missing.begin(), missing.end());
  return arranged(std::move(x), dims, true);
}

Expression Body::named(Expression x, std::string_view wanted) {
  std::string name = taken_.take(wanted);
  add_line(name + " = " + x.text, x.number ? "" : "# " + shape_comment(x.dims));
  x.text = name;
  x.binding = Binding::Postfix;
  x.fill.clear();
  return x;
}

void Body::add_line(const std::string& line, const std::string& comment) {
  bool beside = line.size() + comment.size() <= kLineWidth;
  if (!beside && !comment.empty()) lines_.push_back(comment);
  lines_.push_back(beside && !comment.empty() ? line + "  " + comment : line);
}

std::string Body::shared(const std::string& call, std::string_view wanted) {
  auto [at, is_new] = shared_.try_emplace(call);
  if (is_new) {
    at->second = taken_.take(wanted);
    lines_.push_back(at->second + " = " + call);
  }
  return at->second;
}

std::string Body::function(const std::string& text, std::string_view wanted) {
  auto [at, is_new] = shared_.try_emplace("def" + text);
  if (is_new) {
    at->second = taken_.take(wanted);
    lines_.push_back("");
    for (const std::string& line : split_lines("def " + at->second + text)) lines_.push_back(line);
    lines_.push_back("");
  }
  return at->second;
}

void Body::use_parts_of(const Body& inner) {
  locals_.insert(inner.locals_.begin(), inner.locals_.end());
  uses_functional_ |= inner.uses_functional_;
  uses_math_ |= inner.uses_math_;
}

std::string Body::shape_comment(const Layout& dims) const {
  std::string out;
  for (AxisId a : dims) out += (out.empty() ? "" : ", ") + (a == kUnit ? "1" : graph.axis(a).name);
  return "[" + out + "]";
}

// "x.shape[-1]" or "x.shape[-1] // 2": a symbol's value from the shape of a tensor, given the symbols already bound.
std::optional<Body::Binder> Body::bind_symbol(SymbolId symbol, const std::set<SymbolId>& bound) const {
  Size wanted = Size::symbol(symbol);
  std::optional<Binder> solved;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Input& input = graph.inputs[i];
    for (size_t d = 0; d < input.dims.size(); ++d) {
      if (input.dims[d] == kUnit) continue;
      const Size& size = graph.axis(input.dims[d]).size;
      std::string shape = interface_.arguments[i] + ".shape[" + dim_text(static_cast<int>(d), input.dims.size()) + "]";
      if (size == wanted) return Binder{symbol, shape, {}};
      if (solved) continue;
      std::vector<SymbolId> used = size.symbols();
      if (std::find(used.begin(), used.end(), symbol) == used.end()) continue;
      std::erase(used, symbol);
      if (!std::all_of(used.begin(), used.end(), [&](SymbolId s) { return bound.contains(s); })) continue;
      // size = factor*symbol + rest, with the symbol in neither of them
      Size rest =
          size.substitute([&](SymbolId s) { return s == symbol ? std::optional<Size>(Size(0)) : std::nullopt; });
      Size factor = floor_div(size - rest, wanted);
      std::vector<SymbolId> left = factor.symbols();
      if (!(factor * wanted + rest == size) || std::find(left.begin(), left.end(), symbol) != left.end()) continue;
      auto text = [this](const Size& s) {
        std::string t = s.text([this](SymbolId id) { return symbol_name(id); });
        return s.as_symbol() || (s.constant() && *s.constant() >= 0) ? t : "(" + t + ")";
      };
      bool scaled = !(factor == Size(1));
      if (!(rest == Size(0))) shape += " - " + text(rest);
      if (scaled) shape = (rest == Size(0) ? shape : "(" + shape + ")") + " // " + text(factor);
      solved = Binder{symbol, shape, used};
    }
  }
  return solved;
}

// Every used symbol, each after those that its value rests on. What no shape gives is an argument: no text.
std::vector<Body::Binder> Body::bound_symbols() const {
  std::vector<Binder> order;
  std::set<SymbolId> bound;
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t s = 0; s < graph.symbols.size(); ++s) {
      SymbolId symbol = static_cast<SymbolId>(s);
      if (bound.contains(symbol)) continue;
      if (std::optional<Binder> binder = bind_symbol(symbol, bound)) {
        order.push_back(*binder);
        bound.insert(symbol);
        progress = true;
      }
    }
    if (progress) continue;
    for (SymbolId symbol : symbols_used_)
      if (!bound.contains(symbol)) {
        order.push_back({symbol, "", {}});
        bound.insert(symbol);
        progress = true;
        break;
      }
  }
  std::set<SymbolId> needed = symbols_used_;
  for (size_t i = order.size(); i-- > 0;)
    if (needed.contains(order[i].symbol)) needed.insert(order[i].rests_on.begin(), order[i].rests_on.end());
  std::erase_if(order, [&](const Binder& binder) { return !needed.contains(binder.symbol); });
  return order;
}

std::vector<std::string> Body::opening() const {
  std::vector<Binder> binders = bound_symbols();
  std::set<SymbolId> wanted;
  for (const Binder& binder : binders)
    if (!binder.text.empty()) wanted.insert(binder.symbol);
  // A tensor whose every dimension is a symbol that is wanted is unpacked; the rest are bound one by one.
  std::vector<std::string> lines;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Input& input = graph.inputs[i];
    std::vector<SymbolId> symbols;
    for (AxisId a : input.dims) {
      std::optional<SymbolId> symbol = a == kUnit ? std::nullopt : graph.axis(a).size.as_symbol();
      if (!symbol || !wanted.contains(*symbol) || std::find(symbols.begin(), symbols.end(), *symbol) != symbols.end())
        break;
      symbols.push_back(*symbol);
    }
    if (symbols.size() < 2 || symbols.size() != input.dims.size()) continue;
    std::string targets;
    for (SymbolId s : symbols) {
      targets += (targets.empty() ? "" : ", ") + symbol_name(s);
      wanted.erase(s);
    }
    lines.push_back(targets + " = " + interface_.arguments[i] + ".shape");
  }
  for (const Binder& binder : binders)
    if (wanted.contains(binder.symbol)) lines.push_back(symbol_name(binder.symbol) + " = " + binder.text);
  for (const auto& [type, binding] : dtypes_) lines.push_back(binding.first + " = " + binding.second);
  return lines;
}

std::vector<SymbolId> Body::size_arguments() const {
  std::vector<SymbolId> arguments;
  for (const Binder& binder : bound_symbols())
    if (binder.text.empty()) arguments.push_back(binder.symbol);
  return arguments;
}

}  // namespace kw::understand::reference
