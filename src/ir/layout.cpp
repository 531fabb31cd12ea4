#include "ir/layout.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.h"

namespace kw::ir {
namespace {

using Base = LayoutOperand::Base;

constexpr std::string_view kContiguous = "contiguous";
constexpr std::string_view kFormat = "format";
constexpr std::string_view kAny = "any";
constexpr std::string_view kLike = "like ";
constexpr int kDeepest = 32;    // operands within operands
constexpr int kMostDims = 64;   // of one operand
constexpr int kLargest = 9999;  // number of a dimension or a part

std::string text_of(const LayoutDim& dim) {
  std::vector<std::string> pieces;
  for (const LayoutPiece& piece : dim)
    pieces.push_back(std::to_string(piece.dim) + (piece.part < 0 ? "" : "." + std::to_string(piece.part)));
  return pieces.empty() ? "-" : join(pieces, "*");
}

std::string list_text(const std::vector<LayoutOperand>& operands) {
  std::vector<std::string> texts;
  for (const LayoutOperand& operand : operands) texts.push_back(ir::text_of(operand));
  return join(texts, ", ");
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<std::vector<LayoutOperand>> list(int depth) {
    std::vector<LayoutOperand> operands;
    do {
      KW_TRY(LayoutOperand one, operand(depth));
      operands.push_back(std::move(one));
    } while (take(','));
    return operands;
  }

  Result<LayoutOperand> operand(int depth) {
    if (depth > kDeepest) return wrong("it is nested too deep");
    LayoutOperand out;
    if (take('(')) {
      out.base = Base::Pointwise;
      KW_TRY(out.of, list(depth + 1));
      if (!take(')')) return wrong("a ')' is missing");
    } else {
      const std::string name = word();
      if (name.empty()) return wrong("an operand is missing");
      if (name == kContiguous) {
        out.base = Base::Contiguous;
      } else if (name == kFormat && take('(')) {
        out.base = Base::Format;
        KW_TRY(out.of, list(depth + 1));
        if (!take(')')) return wrong("a ')' is missing");
      } else {
        out.base = Base::Input;
        out.input = name;
      }
    }
    if (take('[')) {
      KW_TRY(out.dims, dims());
    }
    return out;
  }

  bool at_end() {
    skip();
    return at_ == text_.size();
  }

  Failure wrong(const std::string& what) const {
    return bad_input("'" + std::string(text_) + "' is no layout: " + what, {},
                     "contiguous, any, or like and operands: like x, like x[1, 0]");
  }

 private:
  Result<std::vector<LayoutDim>> dims() {
    std::vector<LayoutDim> out;
    if (take(']')) return out;
    do {
      if (out.size() == kMostDims) return wrong("it has too many dimensions");
      LayoutDim& dim = out.emplace_back();
      if (take('-')) continue;
      do {
        KW_TRY(const std::int32_t whole, number());
        LayoutPiece piece{whole};
        if (take('.')) {
          KW_TRY(piece.part, number());
        }
        dim.push_back(piece);
      } while (take('*'));
    } while (take(','));
    if (!take(']')) return wrong("a ']' is missing");
    return out;
  }

  Result<std::int32_t> number() {
    skip();
    std::int32_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0 || value > kLargest) return wrong("the number of a dimension is missing");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string word() {
    skip();
    const std::size_t begin = at_;
    const auto belongs = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; };
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string text_of(const LayoutOperand& operand) {
  std::string out;
  switch (operand.base) {
    case Base::Input:
      out = operand.input;
      break;
    case Base::Contiguous:
      out = kContiguous;
      break;
    case Base::Pointwise:
      out = "(" + list_text(operand.of) + ")";
      break;
    case Base::Format:
      out = std::string(kFormat) + "(" + list_text(operand.of) + ")";
      break;
  }
  if (!operand.dims) return out;
  std::vector<std::string> dims;
  for (const LayoutDim& dim : *operand.dims) dims.push_back(text_of(dim));
  return out + "[" + join(dims, ", ") + "]";
}

std::string text_of(const Layout& layout) {
  if (!layout.known) return std::string(kAny);
  return layout.like.empty() ? std::string(kContiguous) : std::string(kLike) + list_text(layout.like);
}

Result<Layout> parse_layout(std::string_view text) {
  const std::string_view bare = trim(text);
  if (bare == kContiguous) return Layout{};
  if (bare == kAny) return Layout{false, {}};
  Parser parser(bare.starts_with(kLike) ? bare.substr(kLike.size()) : bare);
  if (!bare.starts_with(kLike)) return parser.wrong("it does not begin with like");
  Layout layout;
  KW_TRY(layout.like, parser.list(0));
  if (!parser.at_end()) return parser.wrong("something follows it");
  return layout;
}

Result<LayoutOperand> parse_layout_operand(std::string_view text) {
  Parser parser(text);
  KW_TRY(LayoutOperand operand, parser.operand(0));
  if (!parser.at_end()) return parser.wrong("something follows it");
  return operand;
}

LayoutOperand rename_inputs(LayoutOperand operand, const LayoutNames& renamed) {
  if (operand.base == Base::Input) operand.input = renamed(operand.input);
  for (LayoutOperand& one : operand.of) one = rename_inputs(std::move(one), renamed);
  return operand;
}

std::vector<std::string> inputs_of(const LayoutOperand& operand) {
  if (operand.base == Base::Input) return {operand.input};
  std::vector<std::string> out;
  for (const LayoutOperand& one : operand.of)
    for (std::string& name : inputs_of(one))
      if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
  return out;
}

std::size_t base_rank(const LayoutOperand& operand, std::size_t rank) {
  if (!operand.dims) return rank;
  std::size_t most = 0;
  if (!operand.of.empty() && operand.of[0].dims) most = operand.of[0].dims->size();
  for (const LayoutDim& dim : *operand.dims)
    for (const LayoutPiece& piece : dim) most = std::max(most, static_cast<std::size_t>(piece.dim) + 1);
  return most;
}

std::string layout_flaw(const std::vector<LayoutOperand>& operands, std::size_t rank, const RankOfInput& input) {
  for (const LayoutOperand& operand : operands) {
    const std::string text = ir::text_of(operand);
    if (operand.dims && operand.dims->size() != rank)
      return text + " has " + std::to_string(operand.dims->size()) + " dimensions, and the tensor " +
             std::to_string(rank);
    std::size_t own = base_rank(operand, rank);
    if (operand.base == Base::Input) {
      const std::optional<std::size_t> known = input(operand.input);
      if (!known) return "there is no input '" + operand.input + "'";
      own = *known;
      if (!operand.dims && own > rank) return operand.input + " has more dimensions than the tensor";
    }
    for (const LayoutDim& dim : operand.dims.value_or(std::vector<LayoutDim>{}))
      for (const LayoutPiece& piece : dim) {
        if (static_cast<std::size_t>(piece.dim) >= own)
          return text + " names dimension " + std::to_string(piece.dim) + ", and there are " + std::to_string(own);
        if (operand.base != Base::Input && (dim.size() > 1 || piece.part >= 0))
          return text + " cuts or joins dimensions, which only those of an input can be";
      }
    if (operand.base == Base::Pointwise || operand.base == Base::Format)
      if (std::string why = layout_flaw(operand.of, own, input); !why.empty()) return why;
  }
  return {};
}

}  // namespace kw::ir
