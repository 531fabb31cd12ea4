// Statements: the block's first line, its facts, its values and its return.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "ir/infer.h"
#include "ir/text/block_parser.h"
#include "ir/text/parse.h"

namespace kw::ir::text {

// ---- tokens -------------------------------------------------------------------------------------------------------

const Token& BlockParser::peek(size_t ahead) const {
  return cursor_.tokens[std::min(cursor_.next + ahead, cursor_.tokens.size() - 1)];
}

const Token& BlockParser::take() {
  const Token& token = peek();
  if (cursor_.next + 1 < cursor_.tokens.size()) ++cursor_.next;
  return token;
}

bool BlockParser::accept(std::string_view symbol) {
  if (!peek().is(symbol)) return false;
  take();
  return true;
}

Result<Token> BlockParser::expect(std::string_view symbol, std::string_view after) {
  if (peek().is(symbol)) return take();
  return error(peek(),
               "'" + std::string(symbol) + "' is expected after " + std::string(after) + ", not " + describe(peek()));
}

Result<Token> BlockParser::expect_name(std::string_view what) {
  const Token& token = peek();
  if (token.kind != TokenKind::Name) {
    return error(token, std::string(what) + " is expected here, not " + describe(token));
  }
  if (!token.quoted && is_reserved(token.text)) {
    return error(token, describe(token) + " is a word of the language and cannot be " + std::string(what),
                 "write it between backquotes: `" + std::string(token.text) + "`");
  }
  return take();
}

Status BlockParser::close(const Token& open) {
  const std::string_view closing = open.is("[") ? "]" : ")";
  if (accept(closing)) return {};
  std::string hint;
  if (peek().line != open.line || peek().kind == TokenKind::End) {
    hint = "the " + describe(open) + " of line " + std::to_string(open.line) + ", column " +
           std::to_string(open.column) + " is not closed";
  }
  return error(peek(), "',' or '" + std::string(closing) + "' is expected here, not " + describe(peek()),
               std::move(hint));
}

Status BlockParser::end_line() {
  if (peek().kind == TokenKind::End) return {};
  if (peek().kind == TokenKind::LineEnd) {
    take();
    return {};
  }
  std::string hint;
  if (peek().is(")") || peek().is("]")) hint = "no bracket is open that it could close";
  if (peek().is("=")) hint = "two values are compared with ==";
  if (peek().kind == TokenKind::Name || peek().kind == TokenKind::Number) hint = "an operator may be missing before it";
  return error(peek(), "the line should end here, but " + describe(peek()) + " follows", std::move(hint));
}

Failure BlockParser::error(const Token& at, std::string message, std::string hint) const {
  return bad_input(std::move(message), place_of(at, cursor_.file), std::move(hint));
}

std::string BlockParser::advice(const Token& name, const std::vector<std::string>& known, std::string otherwise) {
  std::string hint = name.text.size() > 1 ? did_you_mean(name.text, known) : "";
  return hint.empty() ? otherwise : hint;
}

Result<NodeId> BlockParser::make(const Token& at, Op op, std::vector<NodeId> args, Attr attr) {
  builder_.set_origin({0, at.line, at.column});
  Result<NodeId> node = builder_.try_make(op, std::move(args), std::move(attr));
  if (!node) {
    Error error = std::move(node).error();
    error.place = place_of(at, cursor_.file);
    return tl::make_unexpected(std::move(error));
  }
  return node;
}

// ---- blocks -------------------------------------------------------------------------------------------------------

Result<Graph> BlockParser::op() {
  if (!peek().is_word("op")) {
    return error(peek(), "the text begins with " + describe(peek()) + " instead of 'op'",
                 "begin with a line such as: op silu(x: T[n])");
  }
  const Token start = take();
  KW_TRY(const Token name, expect_name("the op's name"));
  builder_.graph().name = std::string(name.text);
  builder_.graph().source_files = {cursor_.file};
  KW_TRY(const auto inputs, input_list());
  KW_CHECK(end_line());
  KW_CHECK(types_and_sizes());
  KW_CHECK(declare_symbols(inputs));
  KW_CHECK(declare_inputs(inputs));
  KW_CHECK(statements());
  if (peek().is_word("backward")) {
    return error(peek(), "a declared backward cannot be read yet",
                 "leave it out: the backward is derived from the math");
  }
  if (peek().kind != TokenKind::End) {
    return error(peek(), "the text goes on after the return of " + std::string(name.text) + " with " + describe(peek()),
                 "one text describes one op");
  }
  Graph graph = std::move(builder_).finish();
  const auto hint_of = [&graph](SymbolId id) { return graph.symbols[static_cast<size_t>(id)].hint; };
  if (Status fits = check_sizes(graph, hint_of); !fits) return error(start, std::move(fits).error().message);
  return graph;
}

Result<std::pair<std::string, std::shared_ptr<const Combine>>> BlockParser::combine() {
  in_combine_ = true;
  take();  // the word combine
  KW_TRY(const Token name, expect_name("the combine's name"));
  builder_.graph().name = std::string(name.text);
  builder_.graph().source_files = {cursor_.file};
  KW_TRY(const auto inputs, input_list());
  if (!peek().is_word("from")) {
    return error(peek(), "'from' and the neutral values are expected here, not " + describe(peek()),
                 "for example: combine add(a: real, b: real) from (0)");
  }
  take();
  KW_TRY(const Token open, expect("(", "'from'"));
  Combine combine;
  do {
    const Token at = peek();
    KW_TRY(const Literal neutral, literal("a neutral value"));
    if (std::holds_alternative<bool>(neutral.value))
      return error(at, "a neutral value is a number, not " + describe(at));
    combine.identity.push_back(neutral.number());
  } while (accept(","));
  KW_CHECK(close(open));
  KW_CHECK(end_line());
  KW_CHECK(types_and_sizes());
  KW_CHECK(declare_symbols(inputs));
  KW_CHECK(declare_inputs(inputs));
  const size_t arity = combine.identity.size();
  if (arity > 8 || builder_.graph().inputs.size() != 2 * arity) {
    return error(name,
                 "a combine of " + std::to_string(arity) + " values takes " + std::to_string(2 * arity) +
                     " inputs (at most 16), but " + std::to_string(builder_.graph().inputs.size()) + " are listed",
                 "the left values come first, then the right ones");
  }
  for (const InputSyntax& input : inputs) {
    if (!input.dims.empty()) return error(input.name, "the inputs of a combine have no dimensions");
  }
  KW_CHECK(statements());
  if (builder_.graph().outputs.size() != arity) {
    return error(name, "this combine has " + std::to_string(arity) + " neutral values but returns " +
                           std::to_string(builder_.graph().outputs.size()));
  }
  combine.body = std::make_shared<const Graph>(std::move(builder_).finish());
  return std::pair{std::string(name.text), std::make_shared<const Combine>(std::move(combine))};
}

Status BlockParser::statements() {
  while (!peek().is_word("return")) {
    const Token& first = peek();
    if (first.kind == TokenKind::End) {
      return error(first, "the text ends without a return",
                   "end the " + std::string(in_combine_ ? "combine" : "op") + " with: return NAME");
    }
    if (first.is_word("where")) {
      KW_CHECK(where_line());
    } else if (first.is_word("combine")) {
      KW_CHECK(combine_block());
    } else if (first.is_word("types") || first.is_word("sizes")) {
      return error(first, "the " + std::string(first.text) + " line stands directly below the first line, and once");
    } else {
      KW_CHECK(let_line());
    }
  }
  return return_line();
}

Status BlockParser::where_line() {
  take();
  do {
    KW_TRY(SizeConstraint constraint, size_constraint());
    builder_.constrain(std::move(constraint));
  } while (accept(","));
  return end_line();
}

Status BlockParser::combine_block() {
  const Token start = peek();
  if (in_combine_) return error(start, "a combine cannot stand inside another");
  KW_TRY(auto named, BlockParser(cursor_).combine());
  if (combines_.contains(named.first)) return error(start, "there is a combine '" + named.first + "' already");
  combines_.insert(std::move(named));
  return {};
}

Status BlockParser::let_line() {
  KW_TRY(const Token name, expect_name("a value's name"));
  if (!peek().is("=")) {
    const bool call = peek().is("(");
    return error(peek(), "'=' is expected after '" + std::string(name.text) + "', not " + describe(peek()),
                 call ? "every line names its value: y = " + std::string(name.text) + "(…)" : "");
  }
  take();
  if (auto known = value_places_.find(name.text); known != value_places_.end()) {
    return error(name,
                 "'" + std::string(name.text) + "' is defined already, in line " + std::to_string(known->second.line),
                 "a name means one value: choose another");
  }
  KW_TRY(const NodeId node, expression());
  KW_CHECK(end_line());
  values_.emplace(name.text, node);
  value_places_.emplace(name.text, name);
  const Op op = builder_[node].op;
  // A number has no name of its own: equal numbers are one node, and each would show under it.
  if (op != Op::Input && op != Op::Const && !is_generated_name(name.text))
    builder_.set_name(node, std::string(name.text));
  return {};
}

Status BlockParser::return_line() {
  take();
  int position = 1;
  do {
    Output output;
    const Token first = peek();
    const bool renamed = first.kind == TokenKind::Name && peek(1).is("=");
    if (renamed) {
      KW_TRY(const Token name, expect_name("the output's name"));
      output.name = std::string(name.text);
      take();
    }
    const Token value = peek();
    const size_t start = cursor_.next;
    KW_TRY(output.node, expression());
    const bool lone_name = cursor_.next == start + 1 && value.kind == TokenKind::Name;
    if (!renamed) output.name = lone_name ? std::string(value.text) : "out" + std::to_string(position);
    KW_TRY(output.dims, output_dims(output.node, value));
    if (peek().is_word("updates")) {
      take();
      KW_TRY(const Token target, expect_name("the buffer that is updated"));
      const Input* buffer = builder_.graph().find_input(target.text);
      if (!buffer || buffer->kind != InputKind::Buffer) {
        std::vector<std::string> buffers;
        for (const Input& input : builder_.graph().inputs) {
          if (input.kind == InputKind::Buffer) buffers.push_back(input.name);
        }
        return error(target, "'" + std::string(target.text) + "' is no buffer of this op",
                     buffers.empty() ? "declare it among the inputs: NAME: buffer f32[n]"
                                     : "its buffers are " + join(buffers, ", "));
      }
      output.updates = std::string(target.text);
    }
    for (const Output& other : builder_.graph().outputs) {
      if (other.name == output.name) {
        return error(first, "two outputs are named '" + output.name + "'", "name one of them: return y, other = y");
      }
    }
    builder_.output(std::move(output));
    ++position;
  } while (accept(","));
  return end_line();
}

Result<std::vector<AxisId>> BlockParser::output_dims(NodeId node, const Token& value) {
  const std::vector<AxisId>& axes = builder_[node].axes;
  if (!peek().is("[")) return axes;  // ids ascend in the order of first appearance
  const Token open = take();
  std::vector<AxisId> dims;
  std::vector<AxisId> listed;
  while (!peek().is("]")) {
    const Token at = peek();
    if (at.kind == TokenKind::Number && at.text == "1") {
      take();
      dims.push_back(kUnit);
    } else {
      KW_TRY(const AxisId axis, known_axis());
      if (!std::binary_search(axes.begin(), axes.end(), axis)) {
        return error(at, describe(value) + " has no axis " + std::string(at.text));
      }
      if (std::find(listed.begin(), listed.end(), axis) != listed.end()) {
        return error(at, "the axis " + std::string(at.text) + " is listed twice");
      }
      dims.push_back(axis);
      listed.push_back(axis);
    }
    if (!accept(",")) break;
  }
  const Token end = peek();
  KW_CHECK(close(open));
  for (AxisId axis : axes) {
    if (std::find(listed.begin(), listed.end(), axis) == listed.end()) {
      return error(end, "the axis " + builder_.graph().axis(axis).name + " of " + describe(value) + " is missing",
                   "list all of its axes, or leave the brackets away");
    }
  }
  return dims;
}

Result<Graph> parse(std::string_view text, const std::string& file) {
  const auto read = [&]() -> Result<Graph> {
    KW_TRY(const std::vector<Token> tokens, tokenize(text, file));
    Cursor cursor{tokens, file};
    return BlockParser(cursor).op();
  };
  Result<Graph> graph = read();
  if (!graph) return tl::make_unexpected(with_source(std::move(graph).error(), text));
  return graph;
}

}  // namespace kw::ir::text
