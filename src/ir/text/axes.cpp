// Axes inside a block: looked up by name, or introduced with a size that is written or implied.
#include "ir/text/block_parser.h"

namespace kw::ir::text {

Result<BlockParser::AxisSyntax> BlockParser::axis_syntax() {
  AxisSyntax axis;
  KW_TRY(axis.name, expect_name("an axis"));
  if (accept("=")) {
    KW_TRY(axis.size, size_expression());
  }
  return axis;
}

Result<AxisId> BlockParser::known_axis() {
  KW_TRY(const Token name, expect_name("an axis"));
  return resolve(AxisSyntax{name, std::nullopt});
}

Result<AxisId> BlockParser::resolve(const AxisSyntax& axis, const std::optional<SizeValue>& implied) {
  const std::string name(axis.name.text);
  if (auto known = axes_.find(name); known != axes_.end()) {
    if (axis.size && !(axis.size->size == size_of(known->second).size)) {
      return error(axis.name,
                   "the axis '" + name + "' exists already, with the size " +
                       builder_.graph().size_text(size_of(known->second).size),
                   "choose another name for the new axis");
    }
    return known->second;
  }
  const std::optional<SizeValue>& size = axis.size ? axis.size : implied;
  if (!size) {
    return error(
        axis.name, "there is no axis '" + name + "'",
        advice(axis.name, names_in(axes_), "a new axis states its size where it first appears: " + name + " = SIZE"));
  }
  if (auto symbol = symbols_.find(name); symbol != symbols_.end() && !(size->size == Size::symbol(symbol->second))) {
    return error(axis.name, "'" + name + "' is a size already", "choose another name for the axis");
  }
  KW_TRY(SizeValue fitting, checked(*size, axis.name));
  if (auto constant = fitting.size.constant(); constant && *constant < 0) {
    return error(axis.name, "the axis '" + name + "' would have the size " + std::to_string(*constant));
  }
  return new_axis(name, std::move(fitting));
}

Result<SizeValue> BlockParser::size_of(const AxisSyntax& axis) {
  if (axis.size) return *axis.size;
  KW_TRY(const AxisId known, resolve(axis));
  return size_of(known);
}

AxisId BlockParser::new_axis(std::string_view name, SizeValue size) {
  const AxisId axis = builder_.axis(std::string(name), size.size);
  axes_.emplace(name, axis);
  axis_sizes_.push_back(std::move(size));
  return axis;
}

}  // namespace kw::ir::text
