// The expressions of a manifest: sizes ("(rows + 3)//4*cols") and conditions ("cols % 8 == 0 and aligned(x, 16)").
//
//   numbers     4, 1e-6; names of sizes, of scalars (in comparisons only), and of the machine: threads, multiprocessors
//   arithmetic  + - * // %       on whole numbers; // and % round down; overflow is an error, never a wrong size
//   functions   min(a, b), max(a, b), ceil_div(a, b), next_pow2(a)
//   of a step   blocks(n)        that step n of the pass, one before this, is launched with, along x
//   of a buffer shape(x, d), stride(x, d) in elements (d may count from the end: -1), bytes(x) of one element, numel(x)
//   conditions  == != < <= > >=, and, or, not
//               dense(x)            its elements fill memory in the order of its dimensions
//               packed(x)           they fill memory without gap or overlap, in whatever order of dimensions
//               unit(x)             the last dimension is contiguous
//               aligned(x, n)       its address, and every stride but a unit one, are multiples of n bytes
//               starts(x, n)        its address is
//               same_strides(x, y)  an element of x and its partner in y lie at the same offset
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/type.h"

namespace kw::kernel {

// A buffer as it lies in memory. Strides count elements.
struct Tensor {
  ir::DType dtype = ir::DType::None;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::uint64_t address = 0;
  bool operator==(const Tensor&) const = default;
};

struct Machine {
  std::int64_t threads = 1;          // that a cpu kernel runs with
  std::int64_t multiprocessors = 0;  // of the GPU
};

using ScalarValue = std::variant<std::int64_t, double>;  // a bool is 0 or 1

// What is known when an expression is evaluated: at a call, everything; when memory is planned, sizes alone.
struct Facts {
  std::map<std::string, std::int64_t> sizes;
  std::map<std::string, ScalarValue> scalars;
  std::map<std::string, Tensor> tensors;
  Machine machine;
  std::vector<std::int64_t> blocks;  // of each step of the pass so far; 0 of one that launches none
};

// The names that an expression may use, for the check before anything runs.
struct Scope {
  std::vector<std::string> sizes;
  std::vector<std::string> scalars;
  std::map<std::string, int> buffers;  // name → number of dimensions
  std::vector<bool> launches;          // whether each step of the pass before this one does
};

class Expression {
 public:
  enum class Kind : std::uint8_t { Size, Condition };

  // The grammar and the kind are checked here; errors have the column in `text`, and no file.
  static Result<Expression> parse(std::string_view text, Kind kind);

  Status check(const Scope& scope) const;               // every name is known, every dimension exists
  Result<std::int64_t> size(const Facts& facts) const;  // of a Size
  Result<bool> holds(const Facts& facts) const;         // of a Condition
  std::vector<std::string> size_names() const;          // sizes and scalars that it mentions, in order, each once

  const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  friend class ExpressionValue;
  // clang-format off
  enum class Op : std::uint8_t {
    Whole, Decimal, Name, Buffer,                              // leaves
    Add, Sub, Mul, FloorDiv, Mod, Negate,                      // arithmetic
    Min, Max, CeilDiv, NextPow2, Blocks,                       // functions that give a size
    Shape, Stride, Bytes, Numel,
    Eq, Ne, Lt, Le, Gt, Ge, And, Or, Not,                      // conditions, from here on
    Dense, Packed, Unit, Aligned, Starts, SameStrides,
  };
  // clang-format on
  struct Node {
    Op op{};
    std::int64_t whole = 0;   // Whole
    double decimal = 0;       // Decimal
    std::string name;         // Name, Buffer
    std::vector<int> inputs;  // nodes before this one
    int column = 1;           // in text, from 1
  };
  Failure wrong(const Node& node, std::string message, std::string hint = {}) const;

  std::string text_;
  std::vector<Node> nodes_;  // the last is the whole
};

// Evaluates a text that was checked before; a grammar error is returned as one.
Result<std::int64_t> evaluate_size(std::string_view text, const Facts& facts);
Result<bool> evaluate_condition(std::string_view text, const Facts& facts);

}  // namespace kw::kernel
