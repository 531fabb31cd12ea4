// Bad texts: each is refused with what is wrong, exactly where, and, where one can help, how to put it right.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/text.h"
#include "ir/text/parse.h"

namespace kw::ir {
namespace {

// In `text`, the offending span stands between « and ».
struct Case {
  const char* text;
  const char* message;
  const char* hint = "";
};

std::string without_marks(std::string text) { return replace_all(replace_all(std::move(text), "«", ""), "»", ""); }

Place marked(const std::string& text) {
  Place place{"math"};
  int line = 1, column = 1;
  for (std::string_view character : code_points(text)) {
    if (character == "«") {
      place.line = line, place.column = column;
    } else if (character == "»") {
      place.end_column = std::max(column, place.column + 1);  // an end has the width of one character
    } else if (character == "\n") {
      ++line, column = 1;
    } else {
      ++column;
    }
  }
  return place;
}

void expect_errors(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    const std::string text = without_marks(c.text);
    const Result<Graph> graph = text::parse(text);
    if (graph) {
      ADD_FAILURE() << "accepted:\n" << text;
      continue;
    }
    const Error& error = graph.error();
    EXPECT_EQ(error.kind, ErrorKind::BadInput);
    EXPECT_EQ(error.message, c.message) << text;
    EXPECT_EQ(error.hint, c.hint) << text;
    ASSERT_TRUE(error.place.has_value()) << text;
    EXPECT_EQ(*error.place, marked(c.text)) << text << "\n" << render(error);
    const std::vector<std::string> lines = split_lines(text);
    const size_t line = static_cast<size_t>(error.place->line);
    EXPECT_EQ(error.source_line, line <= lines.size() ? lines[line - 1] : "") << text;
  }
}

// A value line in an op with a few inputs.
#define LINE(text) "op f(x: f32[rows, cols], i: i64[rows], b: bool[rows], o: i64[bounds])\n  y = " text "\nreturn y\n"

TEST(TextError, Characters) {
  expect_errors({
      {LINE("x «@» x"), "the character '@' has no meaning here", "a matrix product is contract(a, b, axis)"},
      {LINE("«!»b"), "the character '!' has no meaning here", "'not' is written ~x, 'not equal' a != b"},
      {LINE("«\"»a\""), "the character '\"' has no meaning here",
       "the math has no strings; an odd name stands between backquotes: `two words`"},
      {LINE("x + «\x01»"), "a control character stands here", "math text is plain text"},
      {LINE("«2x» + 1"), "'2x' is neither a number nor a name",
       "numbers are written 2, 0.5 or 1e-6; a name begins with a letter; a product needs its *"},
      {LINE("x + «1.2.3»"), "'1.2.3' is neither a number nor a name",
       "numbers are written 2, 0.5 or 1e-6; a name begins with a letter; a product needs its *"},
      {LINE("«`»x + 1"), "this backquote is not closed", "a name between backquotes ends on its own line"},
      {LINE("«``» + 1"), "a name between backquotes cannot be empty", "write a name between them"},
      {LINE("x + «9223372036854775808»"), "9223372036854775808 does not fit into 64 bits",
       "write it as a real number: 9223372036854775808.0"},
      {LINE("x + «1e999»"), "1e999 is beyond the range of f64"},
  });
}

TEST(TextError, FilesThatAreNoText) {
  const Result<Graph> binary = text::parse("op f\xFF\xFE", "a.math");
  ASSERT_FALSE(binary.has_value());
  EXPECT_EQ(render(binary.error()), "a.math: error: the math text is not UTF-8\nhint: save the file as UTF-8 text\n");
  const Result<Graph> huge = text::parse(std::string(5 << 20, ' '), "a.math");
  ASSERT_FALSE(huge.has_value());
  EXPECT_EQ(huge.error().message, "the math text is longer than 4 MB");
}

TEST(TextError, TheFirstLine) {
  expect_errors({
      {"«»", "the text begins with the end of the text instead of 'op'", "begin with a line such as: op silu(x: T[n])"},
      {"«def» f(x)\n", "the text begins with 'def' instead of 'op'", "begin with a line such as: op silu(x: T[n])"},
      {"op «3»(x: T[n])\n", "the op's name is expected here, not '3'"},
      {"op «return»(x: T[n])\n", "'return' is a word of the language and cannot be the op's name",
       "write it between backquotes: `return`"},
      {"op f «x»: T[n]\n", "'(' is expected after the name, not 'x'"},
      {"op f(x«)»\n", "the type of 'x' is expected here, not ')'",
       "for example x: T[rows, cols], or ; x = 1.0 for a scalar"},
      {"op f(x: «floot32»[n])\n", "'floot32' is not an element type",
       "element types are bf16, f16, f32, f64, i64, bool, …; a type parameter is capitalised"},
      {"op f(x: «bf17»[n])\n", "'bf17' is not an element type", "did you mean bf16?"},
      {"op f(x: «real»[n])\nreturn x\n", "a tensor's elements have a width, and real has none",
       "write f32 or i64, or put a scalar after ';'"},
      {"op f(x: «weights» T[n])\n", "'weights' is not a kind of input",
       "the kinds are parameter, buffer and scalar; no_grad marks an input without gradient"},
      {"op f(x: f8e4m3|«bf16»[n])\nreturn x\n", "these element types do not promote to one"},
      {"op f(x: T[n], «x»: T[n])\n", "there is an input 'x' already"},
      {"op f(x: T[n] «=» 3)\n", "only a scalar has a default value",
       "scalars stand after a ';': f(x: T[n]; eps = 1e-6)"},
      {"op f(x: T[n]; e«[»n])\n", "',' or ')' is expected here, not '['"},
      {"op f(x: T[n]; e: real«[»n])\n", "the scalar 'e' has no dimensions", "tensors stand before the ';'"},
      {"op f(x: T[n]; e: «buffer» real)\n", "'buffer' is not a kind of input", "after ';' stand scalars: eps = 1e-6"},
      {"op f(x: T[n]; e: «f32»)\nreturn x\n", "a scalar is real, int or bool"},
      {"op f(x: T[n]; e = «y»)\n", "the default of 'e' is a number, true or false, not 'y'"},
      {"op f(x: «no_grad» i64[n])\nreturn x\n", "'x' has no gradient in any case",
       "no_grad and with_grad stand before floating tensors"},
      {"op f(x: T[n]\n«y» = x\n", "',' or ')' is expected here, not 'y'", "the '(' of line 1, column 5 is not closed"},
      {"op f(x: T[n]) «y» = x\n", "the line should end here, but 'y' follows", "an operator may be missing before it"},
  });
}

TEST(TextError, Dimensions) {
  expect_errors({
      {"op f(x: T[«3»])\nreturn x\n", "a dimension of size 3 needs a name",
       "for example k = 3; only a dimension of size 1 goes without"},
      {"op f(x: T[n, «n»])\nreturn x\n", "the axis 'n' stands here twice",
       "two axes of one size have two names: [i, j = i]"},
      {"op f(x: T[n, m = 2*«k»])\nreturn x\n", "there is no size 'k'",
       "a size is an axis of an input, or is listed in a line below the first: sizes k = 8"},
      {"op f(x: T[cols, m = 2*«colls»])\nreturn x\n", "there is no size 'colls'", "did you mean cols?"},
      {"op f(x: T[n], y: T[«n» = 2*n])\nreturn x\n", "the axis 'n' exists already, with the size n",
       "choose another name for the new axis"},
      {"op f(x: T[n, «m» = 2*n], y: T[k = m])\n  sizes m\nreturn x\n", "'m' is a size already",
       "choose another name for the axis"},
      {"op f(x: T[n, m = n «/» 2])\nreturn x\n", "sizes are whole numbers", "floor division is written //"},
      {"op f(x: T[n, m = n // «0»])\nreturn x\n", "a size is divided by zero"},
      {"op f(x: T[n, m = n % «(»n - n)])\nreturn x\n", "a size is divided by zero"},
      {"op f(x: T[n, m = «1.5»])\nreturn x\n", "a size is a whole number, not '1.5'"},
      {"op f(x: T[n, «m» = 3 - 5])\nreturn x\n", "the axis 'm' would have the size -2"},
      {"op f(x: T[n, m = n «^» 2])\nreturn x\n", "a size goes on with + - * // or %, not '^'"},
      {"op f(x: T[n, m = «9999999999»])\nreturn x\n", "this size is too large an expression",
       "a fixed size is at most 2^31; give a large one a name"},
      {"op f(x: T[n, m = 65536 «*» 65536 * n])\nreturn x\n", "this size is too large an expression",
       "a fixed size is at most 2^31; give a large one a name"},
      {"op f(x: T[n, m = (n«]»])\nreturn x\n", "',' or ')' is expected here, not ']'"},
      {"op f(x: T[n, m = n«)»)\nreturn x\n", "')' closes no bracket of this size"},
      {"op f(x: T[n, m = «m» + 1])\nreturn x\n", "there is no size 'm'",
       "a size is an axis of an input, or is listed in a line below the first: sizes m = 8"},
  });
}

TEST(TextError, TypesSizesAndFacts) {
  expect_errors({
      {"op f(x: T[n])\n  types T = «f31»\nreturn x\n", "'f31' is not an element type", "did you mean f32?"},
      {"op f(x: T[n])\n  types T = «i64»\nreturn x\n", "a type parameter stands for a floating type, and i64 is none",
       "write the type itself at the input: x: i64[…]"},
      {"op f(x: T[n])\n  types T = f32, «T»\nreturn x\n", "the type parameter 'T' is listed twice"},
      {"op f(x: T[n])\n  types «f32» = bf16\nreturn x\n", "'f32' is an element type itself"},
      {"op f(x: T[n])\n  sizes n = 4, «n» = 5\nreturn x\n", "the size 'n' is listed twice"},
      {"op f(x: T[n])\n  sizes n = «m»\nreturn x\n", "the size of 'n' is a whole number of at most 2^40, not 'm'",
       "an axis whose size follows from others is written at the input: [half = cols//2]"},
      {"op f(x: T[n])\n  sizes n = «-»4\nreturn x\n", "the size of 'n' is a whole number of at most 2^40, not '-'",
       "an axis whose size follows from others is written at the input: [half = cols//2]"},
      {"op f(x: T[n])\n  y = x\n  «sizes» n = 4\nreturn y\n",
       "the sizes line stands directly below the first line, and once"},
      {"op f(x: T[n])\n  types T\n  «types» T = f32\nreturn x\n",
       "the types line stands directly below the first line, and once"},
      {"op f(x: T[n])\n  where n «>» 3\nreturn x\n",
       "a fact about sizes is 'a == b' or 'a % b == 0', not one with '>'"},
      {"op f(x: T[n])\n  where n % «0» == 0\nreturn x\n", "a size is divided by zero"},
      {"op f(x: T[n])\n  where «m» == n\nreturn x\n", "there is no size 'm'",
       "a size is an axis of an input, or is listed in a line below the first: sizes m = 8"},
      {"«op» f(x: T[n])\n  sizes n = 5\n  where n % 2 == 0\nreturn x\n",
       "the sizes do not fit: n must be a multiple of 2, but they are 5 and 2"},
  });
}

TEST(TextError, Lines) {
  expect_errors({
      {"op f(x: T[n])\n  y = x + 1\n«»", "the text ends without a return", "end the op with: return NAME"},
      {"op f(x: T[n])\n  «x» = x + 1\nreturn x\n", "'x' is defined already, in line 1",
       "a name means one value: choose another"},
      {"op f(x: T[n])\n  y = x\n  «y» = x\nreturn y\n", "'y' is defined already, in line 2",
       "a name means one value: choose another"},
      {"op f(x: T[n])\n  exp«(»x)\nreturn x\n", "'=' is expected after 'exp', not '('",
       "every line names its value: y = exp(…)"},
      {"op f(x: T[n])\n  y «+» 1\nreturn x\n", "'=' is expected after 'y', not '+'"},
      {"op f(x: T[n])\n  «inf» = x\nreturn x\n", "'inf' is a word of the language and cannot be a value's name",
       "write it between backquotes: `inf`"},
      {"op f(x: T[n])\n  «3» = x\nreturn x\n", "a value's name is expected here, not '3'"},
      {"op f(x: T[n])\n  y = x «=» 3\nreturn y\n", "the line should end here, but '=' follows",
       "two values are compared with =="},
      {"op f(x: T[n])\n  y = x«)»\nreturn y\n", "the line should end here, but ')' follows",
       "no bracket is open that it could close"},
      {"op f(x: T[n])\n  y = exp(x\n  «z» = y\nreturn z\n", "',' or ')' is expected here, not 'z'",
       "the '(' of line 2, column 10 is not closed"},
      {"op f(x: T[n])\nreturn x\n«op» g(x: T[n])\nreturn x\n", "the text goes on after the return of f with 'op'",
       "one text describes one op"},
      {"op f(x: T[n])\nreturn x\n«backward»(dx)\n", "a declared backward cannot be read yet",
       "leave it out: the backward is derived from the math"},
  });
}

TEST(TextError, Values) {
  expect_errors({
      {LINE("«xx» + 1"), "there is no value 'xx'", "did you mean x?"},
      {LINE("x + «rows»"), "there is no value 'rows'",
       "'rows' is an axis or a size: write size(rows) for its length, iota(rows) for the index along it"},
      {LINE("«exp» + 1"), "there is no value 'exp'", "'exp' is called with brackets: exp(x)"},
      {LINE("«f32» x"), "there is no value 'f32'", "'f32' is called with brackets: f32(x)"},
      {LINE("x + «)»"), "a value is expected here, not ')'"},
      {LINE("x + «+»x"), "a value is expected here, not '+'", "a number has no sign +"},
      {LINE("x + «return»"), "'return' is a word of the language and cannot be a value",
       "write it between backquotes: `return`"},
      {LINE("(x«,» x)"), "brackets group one value", "a call has its name directly before the '('"},
      {LINE("x < x «<» x"), "comparisons do not chain", "join two of them: (a < b) & (b < c)"},
      {LINE("x «&» x"), "and is defined on bool and integers only"},
      {LINE("«-»b"), "neg is not defined on bool"},
      {LINE("x «<<» 2"), "shl is defined on integers only"},
      {LINE("x «2»"), "the line should end here, but '2' follows", "an operator may be missing before it"},
  });
}

TEST(TextError, Calls) {
  expect_errors({
      {LINE("«rsqr»(x)"), "there is no function 'rsqr'", "did you mean rsqrt?"},
      {LINE("«softmax»(x, cols)"), "'softmax' is no primitive",
       "softmax over cols is e / sum(e, cols) with e = exp(x - reduce_max(x, cols))"},
      {LINE("«x»(x)"), "there is no function 'x'", "'x' is a value; a product needs its *"},
      {LINE("«input»(x)"), "there is no function 'input'"},
      {LINE("exp(x«,» x)"), "exp takes 1 operand"},
      {LINE("exp(x«,» cols)"), "exp takes 1 operand", "it takes no axis"},
      {LINE("select(b, x«)»"), "select takes 3 operands, but 2 are given"},
      {LINE("max(x, «cols»)"), "max compares two values, and 'cols' is an axis",
       "the largest along an axis is reduce_max(x, axis), the smallest reduce_min(x, axis)"},
      {LINE("sum(x«)»"), "sum is told its axes or type after its 1 operand",
       "operands come first, then the axes: sum(x, rows)"},
      {LINE("sum(x, «colls»)"), "there is no axis 'colls'", "did you mean cols?"},
      {LINE("sum(x, «depth»)"), "there is no axis 'depth'",
       "a new axis states its size where it first appears: depth = SIZE"},
      {LINE("«sum»(i, cols)"), "sum: the operand has no axis cols; its axes are [rows]"},
      {LINE("«sum»(x, cols, cols)"), "sum: the reduced axis cols is listed twice"},
      {LINE("«mean»(i, rows)"), "mean is defined on floating types only; cast its operand"},
      {LINE("«argmax»(x, rows, cols)"), "argmax reduces exactly one axis"},
      {LINE("cast(x, «f31»)"), "'f31' is not an element type", "did you mean f32?"},
      {LINE("cast(x, «Q»)"), "'Q' is not an element type",
       "element types are bf16, f16, f32, f64, i64, bool, …; a type parameter is capitalised"},
      {LINE("«gather»(x, x, cols)"), "gather: the index is an integer tensor"},
      {LINE("cumsum(x, cols, «backwards»)"), "there is no option 'backwards' here",
       "the options are reverse and exclusive"},
      {LINE("cumsum(x, cols, reverse, «reverse»)"), "the option 'reverse' is given twice"},
      {LINE("sort(x, cols, «3»)"), "an option is expected here, not '3'", "the options are descending"},
      {LINE("«broadcast»(x, cols)"), "broadcast: the result would have the axis cols twice"},
      {LINE("size(rows + «x»)"), "there is no size 'x'",
       "a size is an axis of an input, or is listed in a line below the first: sizes x = 8"},
      {LINE("«random»(x, 0, rows)"), "random: its operands are scalars"},
  });
}

TEST(TextError, Views) {
  expect_errors({
      {LINE("slice(x, cols -> «half»)"), "there is no axis 'half'",
       "a new axis states its size where it first appears: half = SIZE"},
      {LINE("slice(x, cols«)»"), "'->' is expected after the axis, not ')'"},
      {LINE("slice(x, cols -> half = cols//2, «begin» = 1)"), "there is no option 'begin' here",
       "the options are start and step"},
      {LINE("slice(x, cols -> half = cols//2, step = «n»)"), "a step is a whole number of at most 2^31, not 'n'"},
      {LINE("«slice»(x, cols -> half = cols//2, step = 0)"), "slice: the step cannot be 0"},
      {LINE("slice(x, cols -> half = cols//2, start «1»)"), "'=' is expected after 'start', not '1'"},
      {LINE("split(x, cols -> «a», b)"), "'(' is expected after '->', not 'a'"},
      {LINE("split(x, cols -> («a», b))"), "there is no axis 'a'",
       "a new axis states its size where it first appears: a = SIZE"},
      {LINE("split(x, cols -> (a = 2, «a»))"), "the two parts are two axes"},
      {LINE("split(x, cols -> («a» = 0, b))"), "an axis is not split into parts of size 0"},
      {LINE("merge(x, «rows» -> all)"), "'(' is expected after the operand, not 'rows'"},
      {LINE("«merge»(x, (rows, rows) -> all)"), "merge: the operand has no axis rows; its axes are [rows, cols]"},
      {LINE("rename(x, rows -> a, «rows» -> c)"), "the axis 'rows' is renamed twice"},
      {LINE("concat(x«,» x -> c)"), "':' and the joined axis are expected after an operand of concat, not ','",
       "for example concat(a: left, b: right -> both)"},
      {LINE("window(x, 0, cols -> (p, «k»))"), "there is no axis 'k'",
       "a new axis states its size where it first appears: k = SIZE"},
      {LINE("window(x, 0, cols -> (p, k = 3), stride = «0»)"), "stride and dilations are at least 1"},
      {LINE("window(x, 0, cols -> (p = 3, «p»))"), "a window's positions and its taps are two axes"},
      {LINE("segment_sum(x, x, «rows» -> runs)"), "the offsets have 2 axes",
       "say which lists the bounds: rows -> runs by bounds"},
      {LINE("segment_sum(x, 3, «rows» -> runs)"), "the offsets have 0 axes", "they are a list: offsets[bounds]"},
      {LINE("topk(x, cols -> «k»)"), "there is no axis 'k'",
       "a new axis states its size where it first appears: k = SIZE"},
      {LINE("scan(«add», x, cols)"), "there is no combine 'add'",
       "define it above: combine add(a: real, b: real) from (0)"},
  });
}

#define COMBINE(head, body, line) \
  "op f(x: f32[n])\n  combine " head "\n    " body "\n  return s\n  y = " line "\nreturn y\n"

TEST(TextError, Combines) {
  expect_errors({
      {COMBINE("add(a: real, b: real) «as» (0)", "s = a + b", "reduce(add, x, n)"),
       "'from' and the neutral values are expected here, not 'as'",
       "for example: combine add(a: real, b: real) from (0)"},
      {COMBINE("«add»(a: real) from (0)", "s = a + a", "reduce(add, x, n)"),
       "a combine of 1 values takes 2 inputs (at most 16), but 1 are listed",
       "the left values come first, then the right ones"},
      {COMBINE("«add»(a: real, b: real, c: real, d: real) from (0, 1)", "s = a + b", "reduce(add, x, x, n)"),
       "this combine has 2 neutral values but returns 1"},
      {COMBINE("add(«a»: real[n], b: real) from (0)", "s = a + b", "reduce(add, x, n)"),
       "the inputs of a combine have no dimensions"},
      {COMBINE("add(a: real, b: real) from («true»)", "s = a + b", "reduce(add, x, n)"),
       "a neutral value is a number, not 'true'"},
      {COMBINE("add(a: real, b: real) from (0)", "s = a + «x»", "reduce(add, x, n)"), "there is no value 'x'",
       "the values so far are a, b"},
      {COMBINE("add(a: real, b: real) from (0)", "s = a + b", "reduce(add, x, n, part = «1»)"),
       "the combine 'add' has the parts 0 to 0"},
      {COMBINE("add(a: real, b: real) from (0)", "s = a + b", "reduce(add, x«)»"),
       "',' is expected after the last of the 1 operands, not ')'"},
      {COMBINE("add(a: real, b: real) from (0)", "«combine» c(a: real, b: real) from (0)", "x"),
       "a combine cannot stand inside another"},
  });
}

TEST(TextError, Returns) {
  expect_errors({
      {"op f(x: T[n, m])\nreturn «z»\n", "there is no value 'z'", "the values so far are x"},
      {"op f(x: T[n, m])\nreturn «»", "a value is expected here, not the end of the line"},
      {"op f(x: T[n, m])\nreturn x[n«]»\n", "the axis m of 'x' is missing",
       "list all of its axes, or leave the brackets away"},
      {"op f(x: T[n, m])\nreturn x[n, m, «n»]\n", "the axis n is listed twice"},
      {"op f(x: T[n, m], y: T[k])\nreturn x[n, m, «k»]\n", "'x' has no axis k"},
      {"op f(x: T[n, m])\nreturn x[n, «2»]\n", "an axis is expected here, not '2'"},
      {"op f(x: T[n])\nreturn x, «x»\n", "two outputs are named 'x'", "name one of them: return y, other = y"},
      {"op f(x: T[n])\nreturn x updates «x»\n", "'x' is no buffer of this op",
       "declare it among the inputs: NAME: buffer f32[n]"},
      {"op f(x: T[n], r: buffer T[n])\nreturn x updates «q»\n", "'q' is no buffer of this op", "its buffers are r"},
      {"op f(x: T[n])\nreturn x «y»\n", "the line should end here, but 'y' follows",
       "an operator may be missing before it"},
  });
}

TEST(TextError, ATextThatIsNestedTooDeepIsRefused) {
  const auto message = [](const std::string& expression) {
    const Result<Graph> graph = text::parse("op f(x: f32[n])\n  y = " + expression + "\nreturn y\n");
    return graph ? "accepted" : graph.error().message;
  };
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  EXPECT_EQ(message(repeated("(", 100) + "x" + repeated(")", 100)), "accepted");
  for (int times : {300, 100000}) {
    EXPECT_EQ(message(repeated("(", times) + "x" + repeated(")", times)), "this expression is nested too deep");
    EXPECT_EQ(message(repeated("exp(", times) + "x" + repeated(")", times)), "this expression is nested too deep");
    EXPECT_EQ(message(repeated("-", times) + "x"), "this expression is nested too deep");
    EXPECT_EQ(message(repeated("x^", times) + "x"), "this expression is nested too deep");
    EXPECT_EQ(message("iota(k = " + repeated("(", times) + "1" + repeated(")", times) + ")"),
              "this size is nested too deep");
  }
  EXPECT_EQ(message("x" + repeated(" + x", 20000)), "accepted");
}

TEST(TextError, ASizeThatWouldExplodeIsRefused) {
  std::string text = "op f(x: f32[a, b, c, d, e";
  for (int i = 0; i < 12; ++i)
    text += ", n" + std::to_string(i) + " = (a + b + c + d + e)*" + (i == 0 ? "a" : "n" + std::to_string(i - 1));
  const Result<Graph> graph = text::parse(text + "])\nreturn x\n");
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().message, "this size is too large an expression");
}

TEST(TextError, AnErrorIsShownWithItsLineAndACaret) {
  const Result<Graph> graph = text::parse("op f(größe: f32[n])\n  y = größe + rsqr(größe)\nreturn y\n", "norm.math");
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(render(graph.error()),
            "norm.math:2:15: error: there is no function 'rsqr'\n"
            "  y = größe + rsqr(größe)\n"
            "              ^~~~\n"
            "hint: did you mean rsqrt?\n");
}

}  // namespace
}  // namespace kw::ir
