#include "act/emit/cpp/names.h"

#include <algorithm>

#include "act/emit/access.h"
#include "act/loop/index.h"
#include "base/text.h"

namespace kw::act::cpp {
namespace {

bool ends_with(std::string_view text, std::string_view end) { return text.ends_with(end); }

// rows → row; nothing where the name is no plain plural.
std::string singular(const std::string& name) {
  if (name.size() < 4 || !ends_with(name, "s")) return {};
  for (std::string_view end : {"ss", "us", "is", "as", "os"})
    if (ends_with(name, end)) return {};
  return name.substr(0, name.size() - 1);
}

bool is_unnamed(const std::string& name) {
  return name.size() > 1 && name[0] == 'v' &&
         std::all_of(name.begin() + 1, name.end(), [](char c) { return (c >= '0' && c <= '9') || c == '_'; });
}

// What to call a value that the math gave no name.
std::string description(const LoopKernel& kernel, ValueId id) {
  const Value& value = kernel[id];
  if (const Reduced* reduced = std::get_if<Reduced>(&value.what)) {
    const std::string& arg = kernel[reduced->arg].name;
    return std::string(info(reduced->op).name) + (is_unnamed(arg) ? "" : "_" + arg);
  }
  const Map* map = std::get_if<Map>(&value.what);
  if (!map) return "value";
  switch (map->op) {
    case ir::Op::Add:
      return "sum";
    case ir::Op::Sub:
      return "difference";
    case ir::Op::Mul:
      return "product";
    case ir::Op::Div:
      return "quotient";
    case ir::Op::Select:
      return "chosen";
    case ir::Op::Lt:
    case ir::Op::Le:
    case ir::Op::Eq:
    case ir::Op::Ne:
    case ir::Op::And:
    case ir::Op::Or:
    case ir::Op::Not:
      return "holds";
    case ir::Op::Cast: {
      const Value& arg = kernel[map->args[0]];
      return is_unnamed(arg.name) ? "rounded" : arg.name;
    }
    default:
      break;
  }
  const std::string& arg = kernel[map->args[0]].name;
  return std::string(info(map->op).name) + (is_unnamed(arg) ? "" : "_" + arg);
}

}  // namespace

KernelNames::KernelNames(const LoopProgram& program, const LoopKernel& kernel, const std::vector<LoopAxisId>& axes,
                         std::span<const std::string_view> reserved, const CppTypes& types)
    : program_(program), kernel_(kernel) {
  for (std::string_view word : reserved) scope_.take(word, "t");
  for (const std::string& name : types.names()) scope_.take(name, "t");
  for (const Buffer& buffer : program.buffers) scope_.take(buffer.name, "t");
  for (const auto& [name, type] : program.scalars) scope_.take(name, "t");
  for (const LoopKernel& other : program.kernels) scope_.take(other.name, "t");

  for (LoopAxisId axis : axes) add_axis(axis);
  // Sizes inside indices and values.
  auto note = [&](auto&& self, const Index& index) -> void {
    if (index.kind == Index::Kind::Size) add_symbols(index.size);
    for (const Index& operand : index.operands) self(self, operand);
  };
  bool accumulates = false;
  for (const Access& access : accesses_of(kernel)) {
    for (const Index& index : *access.at) note(note, index);
    accumulates |= access.slice;
  }
  for (const Value& value : kernel.values) {
    if (const IndexValue* index = std::get_if<IndexValue>(&value.what)) note(note, index->index);
    if (const Reduced* reduced = std::get_if<Reduced>(&value.what)) note(note, reduced->position);
  }
  if (accumulates && program.workers) add_symbols(ir::Size::symbol(*program.workers));
  // Loop variables last, so that sizes keep the names that callers know.
  for (LoopAxisId axis : axes) {
    const std::string& name = program_.axes[static_cast<size_t>(axis)].name;
    const std::string one = singular(name);
    const bool is_size = name == axis_sizes_.at(axis) || name == size(axis);
    variables_[axis] = scope_.take(!is_size ? name : one.empty() ? "i_" + name : one, "i");
  }
}

void KernelNames::add_axis(LoopAxisId axis) {
  const LoopAxis& loop_axis = program_.axes[static_cast<size_t>(axis)];
  if (loop_axis.size.constant()) {
    axis_sizes_[axis] = std::to_string(*loop_axis.size.constant());
    return;
  }
  std::string wanted = loop_axis.name;
  std::optional<ir::SymbolId> symbol = loop_axis.size.as_symbol();
  if (symbol && !symbols_.contains(*symbol)) wanted = program_.symbols[static_cast<size_t>(*symbol)].name;
  const std::string name = scope_.take(wanted, "n");
  axis_sizes_[axis] = name;
  sizes_.push_back({name, loop_axis.size, axis});
  if (symbol) symbols_.emplace(*symbol, name);
}

void KernelNames::add_symbols(const ir::Size& size) {
  for (ir::SymbolId symbol : size.symbols()) {
    if (symbols_.contains(symbol)) continue;
    const std::string name = scope_.take(program_.symbols[static_cast<size_t>(symbol)].name, "n");
    symbols_[symbol] = name;
    sizes_.push_back({name, ir::Size::symbol(symbol), -1});
  }
}

std::string KernelNames::size(LoopAxisId axis) const { return axis_sizes_.at(axis); }

std::string KernelNames::value(ValueId id) {
  if (auto known = values_.find(id); known != values_.end()) return known->second;
  const Value& value = kernel_[id];
  std::string name;
  if (const Load* load = std::get_if<Load>(&value.what)) {
    name = program_.buffers[static_cast<size_t>(load->buffer)].name + "_i";
  } else if (const Map* map = std::get_if<Map>(&value.what); map && map->op == ir::Op::Cast && is_unnamed(value.name) &&
                                                             std::holds_alternative<Load>(kernel_[map->args[0]].what)) {
    name = program_.buffers[static_cast<size_t>(std::get<Load>(kernel_[map->args[0]].what).buffer)].name + "_i";
  } else {
    name = is_unnamed(value.name) ? description(kernel_, id) : value.name;
    bool is_tensor =
        std::any_of(program_.buffers.begin(), program_.buffers.end(), [&](const Buffer& b) { return b.name == name; });
    if (is_tensor) name += "_i";
  }
  return values_[id] = scope_.take(name, "t");
}

std::string KernelNames::text(const ir::Size& size) const {
  const std::string text = size.text([&](ir::SymbolId s) { return symbols_.at(s); });
  return replace_all(replace_all(text, "//", " / "), "*", " * ");
}

std::string KernelNames::product(const std::vector<LoopAxisId>& axes) const {
  std::string out;
  for (LoopAxisId axis : axes) out += (out.empty() ? "" : " * ") + size(axis);
  return out.empty() ? "1" : out;
}

std::string KernelNames::factor(const Index& index) const {
  const std::string inside = text(index);
  const bool simple =
      std::all_of(inside.begin(), inside.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; }) ||
      ((index.kind == Index::Kind::Mod || index.kind == Index::Kind::FloorDiv) && !is_natural(index.operands[0]));
  return simple ? inside : "(" + inside + ")";
}

// The machine's own division rounds towards zero, which is down where nothing is negative.
std::string KernelNames::division(const Index& index, const char* sign, const char* function) const {
  if (is_natural(index.operands[0])) return factor(index.operands[0]) + sign + factor(index.operands[1]);
  return std::string(function) + "(int64_t(" + text(index.operands[0]) + "), int64_t(" + text(index.operands[1]) + "))";
}

std::string KernelNames::text(const Index& index) const {
  switch (index.kind) {
    case Index::Kind::Axis:
      return variable(index.axis);
    case Index::Kind::Size:
      return text(index.size);
    case Index::Kind::Value:
      return index_values_.at(index.value);
    case Index::Kind::Add: {
      const std::string right = text(index.operands[1]);
      if (right.starts_with("-")) return text(index.operands[0]) + " - " + right.substr(1);
      return text(index.operands[0]) + " + " + right;
    }
    case Index::Kind::Sub:
      return text(index.operands[0]) + " - " + factor(index.operands[1]);
    case Index::Kind::Mul:
      return factor(index.operands[0]) + " * " + factor(index.operands[1]);
    case Index::Kind::FloorDiv:
      return division(index, " / ", "kw::floor_div");
    case Index::Kind::Mod:
      return division(index, " % ", "kw::modulo");
  }
  return {};
}

}  // namespace kw::act::cpp
