#include <algorithm>

#include "understand/reference/spelling.h"

namespace kw::understand::reference {

using ir::AxisId;
using ir::kUnit;
using ir::Size;
using ir::Type;

namespace {

Expression followed_by(Expression x, const std::string& suffix, Layout dims) {
  x.text = x.within(Binding::Postfix) + suffix;
  x.binding = Binding::Postfix;
  x.dims = std::move(dims);
  return x;
}

Layout replaced(Layout dims, AxisId from, AxisId to) {
  std::replace(dims.begin(), dims.end(), from, to);
  return dims;
}

}  // namespace

// Broadcasting supplies what a value lacks; only who needs a full-sized dimension expands it.
Expression spell_broadcast(Body&, const Site& site) { return site.value(0); }

Expression spell_rename(Body&, const Site& site) {
  Expression x = site.value(0);
  Layout dims = x.dims;
  for (auto [from, to] : site.node.as<ir::RenameAttr>().pairs)
    for (size_t i = 0; i < dims.size(); ++i)
      if (dims[i] == from) x.dims[i] = to;
  return x;
}

Expression spell_slice(Body& body, const Site& site) {
  const ir::SliceAttr& attr = site.node.as<ir::SliceAttr>();
  Expression x = site.value(0);
  if (!holds(x.dims, attr.from)) return x;
  Size whole = body.graph.axis(attr.from).size, length = body.graph.axis(attr.to).size, start = attr.start;
  int at = position(x.dims, attr.from);
  size_t rank = x.dims.size();
  int64_t step = attr.step;
  if (step < 0) {  // torch counts upwards alone
    x = followed_by(std::move(x), ".flip(" + dim_text(at, rank) + ")", x.dims);
    start = whole - Size(1) - start;
    step = -step;
  }
  Size stop = start + length * Size(step);
  bool to_the_end = stop == whole || stop - Size(step - 1) == whole;
  std::string range = (start == Size(0) ? "" : body.size(start)) + ":" + (to_the_end ? "" : body.size(stop));
  if (step != 1) range += ":" + std::to_string(step);
  std::string index;
  if (range != ":") {
    if (at + 1 == static_cast<int>(rank) && rank > 1)
      index = "[..., " + range + "]";
    else {
      for (int i = 0; i < at; ++i) index += ":, ";
      index = "[" + index + range + "]";
    }
  }
  return followed_by(x, index, replaced(x.dims, attr.from, attr.to));
}

Expression spell_pad(Body& body, const Site& site) {
  const ir::SliceAttr& attr = site.node.as<ir::SliceAttr>();
  Type type = held(site.type);
  Expression x = body.cast(body.with_axes(site.value(0), {attr.from}), type);
  Expression fill = site.value(1);
  int at = position(x.dims, attr.from);
  Size whole = body.graph.axis(attr.to).size, length = body.graph.axis(attr.from).size;
  Layout dims = replaced(x.dims, attr.from, attr.to);
  if (attr.step == 1 && fill.number) {
    body.use_functional();
    // F.pad takes pairs from the last dimension backwards.
    std::string pairs;
    for (size_t i = static_cast<size_t>(at) + 1; i < x.dims.size(); ++i) pairs += "0, 0, ";
    std::string value = fill.text == "0.0" || fill.text == "0" ? "" : ", value=" + fill.text;
    return {"F.pad(" + x.text + ", (" + pairs + body.size(attr.start) + ", " + body.size(whole - attr.start - length) +
                ")" + value + ")",
            Binding::Postfix, dims, type, false};
  }
  return {body.local("spread_into") + "(" + x.text + ", " + std::to_string(at) + ", " + body.size(whole) + ", " +
              body.size(attr.start) + ", " + std::to_string(attr.step) + ", " + fill.text + ")",
          Binding::Postfix, dims, type, false};
}

Expression spell_concat(Body& body, const Site& site) {
  const ir::ConcatAttr& attr = site.node.as<ir::ConcatAttr>();
  Type type = held(site.type);
  // The order of the part with the most axes; what another part lacks is expanded.
  Layout dims;
  for (size_t i = 0; i < site.operands.size(); ++i)
    dims = merged(dims, replaced(site.value(i).dims, attr.from[i], attr.to));
  if (!holds(dims, attr.to)) dims.push_back(attr.to);
  const std::string dim = dim_text(position(dims, attr.to), dims.size());
  std::string parts;
  for (size_t i = 0; i < site.operands.size(); ++i) {
    Expression part = site.value(i);
    if (holds(part.dims, attr.from[i])) {
      part.dims = replaced(part.dims, attr.from[i], attr.to);
      part = body.arranged(std::move(part), dims, true);
    } else {  // constant along its own axis, which may be of size one
      part = body.arranged(std::move(part), replaced(dims, attr.to, kUnit), true);
      if (!(body.graph.axis(attr.from[i]).size == Size(1)))
        part = followed_by(std::move(part), ".repeat_interleave(" + body.axis_size(attr.from[i]) + ", dim=" + dim + ")",
                           dims);
    }
    parts += (parts.empty() ? "" : ", ") + body.cast(std::move(part), type).text;
  }
  if (site.operands.size() == 1) parts += ",";
  return {"torch.cat((" + parts + "), dim=" + dim + ")", Binding::Postfix, dims, type, false};
}

Expression spell_split(Body& body, const Site& site) {
  const ir::SplitAttr& attr = site.node.as<ir::SplitAttr>();
  Expression x = site.value(0);
  if (!holds(x.dims, attr.whole)) return x;
  int at = position(x.dims, attr.whole);
  Layout dims = replaced(x.dims, attr.whole, attr.outer);
  dims.insert(dims.begin() + at + 1, attr.inner);
  // One of the two sizes may be left to torch: the one that is no number.
  bool inner_known = body.graph.axis(attr.inner).size.constant().has_value();
  std::string outer = inner_known ? "-1" : body.axis_size(attr.outer),
              inner = inner_known ? body.axis_size(attr.inner) : "-1";
  return followed_by(x, ".unflatten(" + dim_text(at, x.dims.size()) + ", (" + outer + ", " + inner + "))", dims);
}

Expression spell_merge(Body& body, const Site& site) {
  const ir::SplitAttr& attr = site.node.as<ir::SplitAttr>();
  Expression x = site.value(0);
  if (!holds(x.dims, attr.outer) && !holds(x.dims, attr.inner)) return x;
  Layout dims = x.dims;  // outer and inner brought side by side
  if (!holds(dims, attr.outer)) dims.insert(dims.begin() + position(dims, attr.inner), attr.outer);
  std::erase(dims, attr.inner);
  dims.insert(dims.begin() + position(dims, attr.outer) + 1, attr.inner);
  if (!(dims == x.dims)) x = body.arranged(std::move(x), dims, true);
  int at = position(dims, attr.outer);
  size_t rank = dims.size();
  dims.erase(dims.begin() + at + 1);
  dims[static_cast<size_t>(at)] = attr.whole;
  std::string range = at + 2 == static_cast<int>(rank) ? std::to_string(at - static_cast<int>(rank))
                                                       : std::to_string(at) + ", " + std::to_string(at + 1);
  if (rank == 2) range.clear();
  return followed_by(std::move(x), ".flatten(" + range + ")", dims);
}

Expression spell_window(Body& body, const Site& site) {
  const ir::WindowAttr& attr = site.node.as<ir::WindowAttr>();
  Type type = held(site.type);
  Expression x = body.cast(body.with_axes(site.value(0), {attr.axis}), type);
  int at = position(x.dims, attr.axis);
  std::string arguments = x.text + ", " + std::to_string(at) + ", " + body.axis_size(attr.out) + ", " +
                          body.axis_size(attr.tap) + ", fill=" + site.value(1).text;
  if (attr.stride != 1) arguments += ", stride=" + std::to_string(attr.stride);
  if (attr.dilation != 1) arguments += ", dilation=" + std::to_string(attr.dilation);
  if (!(attr.pad_before == Size(0))) arguments += ", pad=" + body.size(attr.pad_before);
  if (attr.input_dilation != 1) arguments += ", input_dilation=" + std::to_string(attr.input_dilation);
  Layout dims = replaced(x.dims, attr.axis, attr.out);
  dims.insert(dims.begin() + at + 1, attr.tap);
  return {body.local("windows") + "(" + arguments + ")", Binding::Postfix, dims, type, false};
}

Expression spell_fold(Body& body, const Site& site) {
  const ir::WindowAttr& attr = site.node.as<ir::WindowAttr>();
  Expression x = body.with_axes(site.value(0), {attr.out, attr.tap});
  Layout dims = without_units(x.dims);
  std::erase(dims, attr.tap);
  dims.insert(dims.begin() + position(dims, attr.out) + 1, attr.tap);
  x = body.arranged(std::move(x), dims);
  int at = position(dims, attr.out);
  std::string arguments = x.text + ", " + std::to_string(at) + ", " + body.axis_size(attr.axis);
  if (attr.stride != 1) arguments += ", stride=" + std::to_string(attr.stride);
  if (attr.dilation != 1) arguments += ", dilation=" + std::to_string(attr.dilation);
  if (!(attr.pad_before == Size(0))) arguments += ", pad=" + body.size(attr.pad_before);
  if (attr.input_dilation != 1) arguments += ", input_dilation=" + std::to_string(attr.input_dilation);
  dims.erase(dims.begin() + at + 1);
  dims[static_cast<size_t>(at)] = attr.axis;
  return {body.local("fold_windows") + "(" + arguments + ")", Binding::Postfix, dims, x.type, false};
}

}  // namespace kw::understand::reference
