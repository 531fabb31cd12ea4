// Joint graphs of small ops, and numbers to run them with.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "ir/derivative/derivative.h"
#include "ir/interpreter/interpreter.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"

namespace kw::ir::test {

inline Graph joint_of(const std::string& text) {
  Result<Graph> forward = text::parse(text, "test");
  EXPECT_TRUE(forward.has_value()) << (forward ? "" : forward.error().message);
  Result<Graph> joint = differentiate(simplify(*forward));
  EXPECT_TRUE(joint.has_value());
  return simplify(*joint);
}

// Numbers between -0.3 and 0.7, the same in every run, at the sizes that the graph names; `change` may change those of
// an input.
inline Environment numbers_for(const Graph& graph, const std::function<void(const std::string&, Array&)>& change) {
  Environment call;
  for (const Symbol& symbol : graph.symbols) call.sizes[symbol.name] = *symbol.hint;
  unsigned state = 1;
  for (const Input& input : graph.inputs) {
    Array array;
    for (AxisId axis : input.dims) array.shape.push_back(*graph.hinted(graph.axis(axis).size));
    size_t count = 1;
    for (int64_t size : array.shape) count *= static_cast<size_t>(size);
    for (size_t i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      array.values.push_back(static_cast<float>(state >> 8) / (1 << 24) - 0.3f);
    }
    change(input.name, array);
    call.inputs[input.name] = std::move(array);
  }
  return call;
}

}  // namespace kw::ir::test
