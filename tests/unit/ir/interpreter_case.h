// A graph under test, written in a few lines: axes and inputs by name, run with plain vectors.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/interpreter/interpreter.h"

namespace kw::ir {

class InterpreterCase {
 public:
  GraphBuilder b;

  AxisId axis(const std::string& name) { return b.axis(name, Size::symbol(b.symbol(name))); }
  AxisId axis(const std::string& name, const Size& size) { return b.axis(name, size); }
  Size size(AxisId axis) { return b.graph().axis(axis).size; }

  NodeId tensor(const std::string& name, DType type, std::vector<AxisId> dims) {
    Input input;
    input.name = name;
    input.type = type;
    input.dims = std::move(dims);
    return b.input(std::move(input));
  }
  NodeId scalar(const std::string& name, double value) {
    Input input;
    input.name = name;
    input.kind = InputKind::Scalar;
    input.type = DType::Real;
    input.default_value = Literal{value};
    return b.input(std::move(input));
  }
  InterpreterCase& give(const std::string& name, std::vector<int64_t> shape, std::vector<double> values) {
    call.inputs[name] = Array{std::move(shape), std::move(values)};
    return *this;
  }

  // The output of one node with its axes in the order given.
  void output(NodeId node, std::vector<AxisId> dims, const std::string& name = "y") {
    b.output({name, node, std::move(dims), {}});
  }

  Result<std::vector<Array>> try_run(const InterpretOptions& options = {}) {
    Graph graph = b.graph();
    return interpret(graph, call, options);
  }
  Array run(const InterpretOptions& options = {}) {
    Result<std::vector<Array>> result = try_run(options);
    if (!result) {
      ADD_FAILURE() << result.error().message;
      return {};
    }
    return result->at(0);
  }
  std::string error(const InterpretOptions& options = {}) {
    Result<std::vector<Array>> result = try_run(options);
    return result ? "" : result.error().message;
  }

  Environment call;
};

inline const InterpretOptions kRounded{.semantics = Semantics::Rounded};
inline const InterpretOptions kBounded{.semantics = Semantics::Rounded, .track_bounds = true};

}  // namespace kw::ir
