// How a new tensor lies in memory, as an expression of how the inputs lie: what PyTorch decides while it runs an op.
//
//   contiguous             dense, in the order of its dimensions
//   like x, z              as a pointwise op lays its result out: dense, in the order that the strides of its operands
//                          suggest, the first that has an opinion first
//   like x[0, 2, 1]        x seen otherwise: for each dimension of the tensor the dimension of x that it is; "-" for
//                          one that x does not have or repeats
//   like x[0, 1.0, 1.1]    dimension 1 of x in two parts, the outer one first
//   like x[0*1, 2]         two dimensions of x as one; where x does not lie so that they can be, a contiguous copy
//   like (x)[1, 0], z      a tensor that was laid out like x, seen otherwise, and z
//   like format(x)         channels-last where x (all that are named) is, otherwise contiguous
//   any                    nothing is known; it is made contiguous
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kw::ir {

// A dimension of an operand's base, or one part of it.
struct LayoutPiece {
  std::int32_t dim = 0;
  std::int32_t part = -1;  // -1: the whole; otherwise 0 is the outermost
  bool operator==(const LayoutPiece&) const = default;
};
using LayoutDim = std::vector<LayoutPiece>;  // none: repeated; several: seen as one

struct LayoutOperand {
  enum class Base : std::uint8_t {
    Input,
    Contiguous,  // a new tensor, dense
    Pointwise,   // a new tensor, like the operands in `of`
    Format,      // a new tensor, channels-last where all of `of` are
  };
  Base base = Base::Contiguous;
  std::string input;                           // of Base::Input
  std::vector<LayoutOperand> of;               // of Base::Pointwise and Base::Format
  std::optional<std::vector<LayoutDim>> dims;  // nothing: the base as it is, its dimensions paired from the last
  bool operator==(const LayoutOperand&) const = default;
};

struct Layout {
  bool known = true;
  std::vector<LayoutOperand> like;  // none: contiguous
  bool operator==(const Layout&) const = default;
};

std::string text_of(const LayoutOperand& operand);
std::string text_of(const Layout& layout);
Result<Layout> parse_layout(std::string_view text);
Result<LayoutOperand> parse_layout_operand(std::string_view text);

// Every input that the expression names, by another name.
using LayoutNames = std::function<std::string(const std::string& input)>;
LayoutOperand rename_inputs(LayoutOperand operand, const LayoutNames& renamed);
std::vector<std::string> inputs_of(const LayoutOperand& operand);

// Dimensions of a base that is a new tensor, of an operand of a tensor with `rank` dimensions.
std::size_t base_rank(const LayoutOperand& operand, std::size_t rank);

// Why a tensor with `rank` dimensions cannot be laid out like these; empty if it can. `input` gives the rank of an
// input, or nothing.
using RankOfInput = std::function<std::optional<std::size_t>(const std::string& input)>;
std::string layout_flaw(const std::vector<LayoutOperand>& operands, std::size_t rank, const RankOfInput& input);

}  // namespace kw::ir
