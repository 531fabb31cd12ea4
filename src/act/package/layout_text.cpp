#include "act/package/layout_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "ir/layout.h"

namespace kw::act {
namespace {

using ir::LayoutDim;
using ir::LayoutOperand;
using ir::LayoutPiece;
using kernel::Buffer;
using Base = LayoutOperand::Base;
using Texts = std::vector<std::string>;

Result<std::vector<LayoutOperand>> operands_of(const Buffer& output) {
  std::vector<LayoutOperand> operands;
  for (const std::string& text : output.strides_like) {
    KW_TRY(LayoutOperand operand, ir::parse_layout_operand(text));
    operands.push_back(std::move(operand));
  }
  return operands;
}

const Buffer* find(const std::vector<Buffer>& buffers, const std::string& name) {
  const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& b) { return b.name == name; });
  return found == buffers.end() ? nullptr : &*found;
}

// The dimension of a new tensor that each dimension of the result is; -1 for one that is repeated.
Texts base_dims(const LayoutOperand& operand) {
  Texts out;
  for (const LayoutDim& dim : *operand.dims) out.push_back(dim.empty() ? "-1" : std::to_string(dim[0].dim));
  return out;
}

class Cpp {
 public:
  static std::string operand(const LayoutOperand& one, const std::string& sizes, std::size_t rank) {
    if (one.base == Base::Input)
      return one.dims ? fmt::format("kw_torch::seen({}, kw_call.{}, {})", sizes, one.input, pieces(one))
                      : fmt::format("kw_torch::of(kw_call.{})", one.input);
    if (!one.dims) return made(one, sizes, rank);
    const std::size_t own = ir::base_rank(one, rank);
    return fmt::format("kw_torch::made({0}, {1}, {{{2}}}, [&](const kw_torch::Sizes& {0}_) {{ return {3}; }})", sizes,
                       own, join(base_dims(one), ", "), made(one, sizes + "_", own));
  }

 private:
  static std::string made(const LayoutOperand& one, const std::string& sizes, std::size_t rank) {
    if (one.base == Base::Contiguous) return fmt::format("kw_torch::contiguous({})", sizes);
    Texts of;
    for (const LayoutOperand& inner : one.of) of.push_back(operand(inner, sizes, rank));
    return fmt::format("kw_torch::{}({}, {{{}}})", one.base == Base::Format ? "format" : "pointwise", sizes,
                       join(of, ", "));
  }

  static std::string pieces(const LayoutOperand& one) {
    Texts dims;
    for (const LayoutDim& dim : *one.dims) {
      Texts parts;
      for (const LayoutPiece& piece : dim)
        parts.push_back(piece.part < 0 ? fmt::format("{{{}}}", piece.dim)
                                       : fmt::format("{{{}, {}}}", piece.dim, piece.part));
      dims.push_back("{" + join(parts, ", ") + "}");
    }
    return "{" + join(dims, ", ") + "}";
  }
};

std::string tuple(const Texts& items) { return "(" + join(items, ", ") + (items.size() == 1 ? ",)" : ")"); }

class Python {
 public:
  Python(const std::vector<Buffer>& inputs, const Buffer& output) : inputs_(inputs), output_(output) {}

  std::string operand(const LayoutOperand& one, const std::string& shape, std::size_t rank, bool outermost) const {
    if (one.base == Base::Input) {
      if (one.dims) return fmt::format("_op.seen({}, {}, {})", one.input, shape, pieces(one));
      const Buffer* input = find(inputs_, one.input);
      const bool same = outermost && input != nullptr && input->shape == output_.shape;
      return same ? one.input : fmt::format("_op.placed({}, {})", one.input, shape);
    }
    if (!one.dims) return made(one, shape, rank);
    const std::size_t own = ir::base_rank(one, rank);
    return fmt::format("_op.made({}, {}, {}, {}, lambda base: {})", inputs_[0].name, shape, own, tuple(base_dims(one)),
                       made(one, "base", own));
  }

 private:
  std::string made(const LayoutOperand& one, const std::string& shape, std::size_t rank) const {
    if (one.base == Base::Contiguous) return fmt::format("{}.new_empty({})", inputs_[0].name, shape);
    Texts of;
    for (const LayoutOperand& inner : one.of) of.push_back(operand(inner, shape, rank, false));
    return fmt::format("_op.{}({}, {})", one.base == Base::Format ? "channels_last_like" : "pointwise", shape,
                       join(of, ", "));
  }

  static std::string pieces(const LayoutOperand& one) {
    Texts dims;
    for (const LayoutDim& dim : *one.dims) {
      Texts parts;
      for (const LayoutPiece& piece : dim) parts.push_back(fmt::format("({}, {})", piece.dim, piece.part));
      dims.push_back(tuple(parts));
    }
    return tuple(dims);
  }

  const std::vector<Buffer>& inputs_;
  const Buffer& output_;
};

}  // namespace

Result<bool> has_plain_layout(const Buffer& output, const std::vector<Buffer>& inputs) {
  KW_TRY(const std::vector<LayoutOperand> operands, operands_of(output));
  return std::all_of(operands.begin(), operands.end(), [&](const LayoutOperand& operand) {
    const Buffer* input = operand.base == Base::Input && !operand.dims ? find(inputs, operand.input) : nullptr;
    return input != nullptr && input->shape == output.shape;
  });
}

Result<std::string> layout_in_cpp(const Buffer& output, const std::string& sizes) {
  KW_TRY(const std::vector<LayoutOperand> operands, operands_of(output));
  return Cpp::operand({Base::Pointwise, {}, operands, {}}, sizes, output.shape.size());
}

Result<std::string> layout_in_python(const Buffer& output, const std::vector<Buffer>& inputs,
                                     const std::string& shape) {
  KW_TRY(const std::vector<LayoutOperand> operands, operands_of(output));
  const Python python(inputs, output);
  Texts texts;
  for (const LayoutOperand& operand : operands)
    texts.push_back(python.operand(operand, shape, output.shape.size(), true));
  return tuple(texts);
}

}  // namespace kw::act
