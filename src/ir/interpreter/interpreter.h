// Runs a graph on the CPU, in one of two semantics.
//
// Real: fp64 throughout, casts between floating types are the identity. For derivatives and finite differences.
// Rounded: every node rounds to its element type where PyTorch's eager mode does: it computes from its operands'
// values, rounds to the type that PyTorch works in (f32 for bf16, f16 and fp8) and then to its own. It is the oracle of
// a kernel, and on request it carries a bound per element: any kernel that rounds where the graph says, evaluates each
// primitive within its stated accuracy (accuracy.h) and sums in any order without a long serial chain lies within it.
//
//   Environment call;
//   call.inputs["x"] = Array{{2, 3}, {1, 2, 3, 4, 5, 6}};
//   KW_TRY(auto outputs, interpret(graph, call, {.semantics = Semantics::Rounded, .track_bounds = true}));
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace kw::ir {

// A tensor of the interface, row-major in the order of its dims. Every element is a double, whatever its type: integers
// are exact up to 2^53. `bounds` is empty (every element is exact) or parallel to `values`: how far a right kernel may
// be from the value; 0 means equal (also: NaN where the value is NaN), infinity means anything.
struct Array {
  std::vector<int64_t> shape;
  std::vector<double> values;
  std::vector<double> bounds = {};

  static Array scalar(double value) { return {{}, {value}}; }
};

enum class Semantics : uint8_t { Real, Rounded };

// What a call gives: tensors and scalars by the name of their input. A scalar that is absent has its default value.
// Size symbols are derived from the shapes; `sizes` gives, by name, those that no shape determines.
struct Environment {
  std::map<std::string, Array> inputs;
  std::map<std::string, int64_t> sizes;
};

struct Meaning;

struct InterpretOptions {
  Semantics semantics = Semantics::Real;
  bool track_bounds = false;  // Rounded only
  // The longest run of terms that a kernel may add up one after the other; beyond it sums are trees.
  int64_t longest_serial_chain = 64;
  // Rows of the table of meanings (meaning.h) to use instead of its own: for tests that plant a wrong one.
  const std::map<Op, Meaning>* replaced_meanings = nullptr;
};

// The outputs in the graph's order, each in the order of its dims. Rounded needs concrete types (`bind_types`).
Result<std::vector<Array>> interpret(const Graph& graph, const Environment& call, const InterpretOptions& options = {});

}  // namespace kw::ir
