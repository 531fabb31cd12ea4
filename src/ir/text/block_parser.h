// The parser's state while it reads one block, an op or a combine: the tokens, the names in scope and the graph so far.
// Its members are defined by subject: block.cpp (statements), header.cpp (interface, types, sizes), axes.cpp,
// size_expression.cpp, expression.cpp, call.cpp and view_call.cpp.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/text/lexer.h"
#include "ir/text/size_value.h"
#include "ir/text/spelling.h"

namespace kw::ir::text {

// The tokens and how far they are read; shared by an op and the combines inside it.
struct Cursor {
  const std::vector<Token>& tokens;
  const std::string& file;
  size_t next = 0;
  int depth = 0;  // of nested expressions
};

template <class T>
using Names = std::map<std::string, T, std::less<>>;

class BlockParser {
 public:
  explicit BlockParser(Cursor& cursor) : cursor_(cursor) {}

  Result<Graph> op();
  Result<std::pair<std::string, std::shared_ptr<const Combine>>> combine();

 private:
  // ---- interface as it is written, before types and sizes are known ----
  struct DimSyntax {
    Token name;              // a number for a dimension of size one
    size_t size_at = 0;      // the first token of its size; 0 if none is written
    bool lone_size = false;  // that size is one name
  };
  struct InputSyntax {
    Token name;
    InputKind kind = InputKind::Tensor;
    std::optional<Token> gradient;  // the word no_grad or with_grad
    std::vector<Token> type;        // names joined by |; empty if none is written
    std::vector<DimSyntax> dims;
    std::optional<Literal> default_value;
  };
  // An axis where a new one may be introduced: a name, and the size if one is written.
  struct AxisSyntax {
    Token name;
    std::optional<SizeValue> size;
  };

  // ---- block.cpp ----
  Status statements();
  Status where_line();
  Status combine_block();
  Status let_line();
  Status return_line();
  Result<std::vector<AxisId>> output_dims(NodeId node, const Token& value);

  // ---- header.cpp ----
  Result<std::vector<InputSyntax>> input_list();
  Result<InputSyntax> input_syntax(bool after_semicolon);
  Result<std::vector<DimSyntax>> dims_syntax();
  Status skip_size(const Token& open);
  Status types_and_sizes();
  Status types_line();
  Status sizes_line();
  Status declare_symbols(const std::vector<InputSyntax>& inputs);
  Status declare_inputs(const std::vector<InputSyntax>& inputs);
  Result<AxisId> input_axis(const DimSyntax& dim);
  Result<Type> element_type(const InputSyntax& input);
  Result<std::vector<Token>> type_syntax();
  Result<Type> resolve_type(const std::vector<Token>& names, bool may_declare);
  Result<Literal> literal(std::string_view what);

  // ---- size_expression.cpp ----
  Result<SizeValue> size_expression();
  // A product; if its last step is a %, `last_modulo` is told the two sides of it.
  struct Modulo {
    Size dividend;
    Size divisor;
  };
  Result<SizeValue> size_product(std::optional<Modulo>* last_modulo = nullptr);
  Result<SizeValue> size_primary();
  Result<SizeConstraint> size_constraint();
  Result<SizeValue> checked(SizeValue value, const Token& at);
  Result<int64_t> small_integer(std::string_view what);

  // ---- expression.cpp ----
  Result<NodeId> expression(Precedence weakest = Precedence::Or);
  Result<NodeId> unary();
  Result<NodeId> power();
  Result<NodeId> primary();
  Result<NodeId> value(const Token& name);
  Result<Literal> number(const Token& token, bool negative);

  // ---- call.cpp ----
  Result<NodeId> call(const Token& name);
  Result<NodeId> op_call(const Token& name, Op op);
  Result<NodeId> unknown_call(const Token& name);
  Status operands(std::vector<NodeId>& args, int count, const Token& name);
  Result<Attr> attribute(const Token& name, Op op, std::vector<NodeId>& args);
  Result<Attr> axes_attribute(const Token& name, Op op);
  Result<Attr> segment_attribute(Op op, const std::vector<NodeId>& args);
  Result<Attr> rename_attribute();
  Result<Attr> slice_attribute();
  Result<Attr> split_attribute(Op op);
  Result<Attr> window_attribute(Op op);
  Result<Attr> combine_attribute(std::vector<NodeId>& args);
  Result<Attr> concat_attribute(std::vector<NodeId>& args);
  // Options after the axes: `, reverse, start = 2*n`. The reader takes one option; false if it does not know the word.
  template <class Reader>
  Status options(std::string_view known, Reader reader);

  // ---- axes (axes.cpp) ----
  Result<AxisSyntax> axis_syntax();
  Result<AxisId> known_axis();
  // The axis that is meant: a known one, or a new one with the size that is written, else with `implied`.
  Result<AxisId> resolve(const AxisSyntax& axis, const std::optional<SizeValue>& implied = std::nullopt);
  Result<SizeValue> size_of(const AxisSyntax& axis);  // known or written; an error if it is neither
  bool has_size(const AxisSyntax& axis) const { return axis.size || axes_.contains(axis.name.text); }
  AxisId new_axis(std::string_view name, SizeValue size);
  const SizeValue& size_of(AxisId axis) const { return axis_sizes_[static_cast<size_t>(axis)]; }

  // ---- tokens ----
  const Token& peek(size_t ahead = 0) const;
  const Token& take();
  bool accept(std::string_view symbol);
  Result<Token> expect(std::string_view symbol, std::string_view after);
  Result<Token> expect_name(std::string_view what);
  Status close(const Token& open);  // the bracket that matches `open`
  Status end_line();
  Failure error(const Token& at, std::string message, std::string hint = {}) const;
  Result<NodeId> make(const Token& at, Op op, std::vector<NodeId> args, Attr attr = {});
  // What an unknown name may have meant, or the other advice; one letter is as near to any other as can be.
  static std::string advice(const Token& name, const std::vector<std::string>& known, std::string otherwise);
  template <class T>
  std::vector<std::string> names_in(const Names<T>& names) const {
    std::vector<std::string> list;
    for (const auto& entry : names) list.push_back(entry.first);
    return list;
  }

  Cursor& cursor_;
  GraphBuilder builder_;
  Names<NodeId> values_;
  Names<Token> value_places_;  // where a value was defined
  Names<AxisId> axes_;
  std::vector<SizeValue> axis_sizes_;  // by axis
  Names<SymbolId> symbols_;
  Names<Type> types_;
  Names<std::shared_ptr<const Combine>> combines_;
  bool in_combine_ = false;
};

template <class Reader>
Status BlockParser::options(std::string_view known, Reader reader) {
  std::vector<std::string_view> seen;
  while (accept(",")) {
    const Token word = peek();
    if (word.kind != TokenKind::Name) {
      return error(word, "an option is expected here, not " + describe(word), "the options are " + std::string(known));
    }
    if (std::find(seen.begin(), seen.end(), word.text) != seen.end()) {
      return error(word, "the option '" + std::string(word.text) + "' is given twice");
    }
    seen.push_back(word.text);
    take();
    KW_TRY(const bool taken, reader(word));
    if (!taken) {
      return error(word, "there is no option '" + std::string(word.text) + "' here",
                   "the options are " + std::string(known));
    }
  }
  return {};
}

}  // namespace kw::ir::text
