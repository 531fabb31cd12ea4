// A graph being built through PyTorch's operations: what the tests of the torch readers share.
//
//   TorchSession t;
//   Value x = t.input("x", {"rows", "cols"}, {4, 8}, t.T);
//   Value y = t.call("torch.softmax", {x}, {{"dim", t.integer(-1)}});
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "understand/torch/ops.h"

namespace kw::understand {

class TorchSession {
 public:
  TorchSession() : context{builder} { T = builder.type_parameter("T", ir::DType::F32); }

  // One size symbol per name; a name that is a number is a constant size (1: a dimension without an axis).
  Value input(const std::string& name, const std::vector<std::string>& dims, const std::vector<int64_t>& hints,
              ir::Type type) {
    ir::Input in{name, ir::InputKind::Tensor, type, {}, {}, true, ir::kNoNode};
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] == "1") {
        in.dims.push_back(ir::kUnit);
        continue;
      }
      ir::Size size(hints[i]);
      if (!std::isdigit(static_cast<unsigned char>(dims[i][0]))) size = symbol(dims[i], hints[i]);
      in.dims.push_back(builder.axis(dims[i], size));
    }
    std::vector<ir::AxisId> own = in.dims;
    return Value{TensorValue{builder.input(std::move(in)), own}};
  }

  ir::Size symbol(const std::string& name, int64_t hint) {
    const auto& symbols = builder.graph().symbols;
    for (size_t i = 0; i < symbols.size(); ++i)
      if (symbols[i].name == name) return ir::Size::symbol(static_cast<ir::SymbolId>(i));
    return ir::Size::symbol(builder.symbol(name, hint));
  }

  static Value integer(int64_t v) { return Value{ir::Size(v)}; }
  static Value real(double v) { return Value{v}; }
  static Value list(std::vector<Value> items) { return Value{SequenceValue{std::move(items), false, {}}}; }
  static Value ints(const std::vector<int64_t>& values) {
    SequenceValue out;
    for (int64_t v : values) out.items.push_back(integer(v));
    return Value{std::move(out)};
  }

  Result<Value> attempt(std::string_view name, std::vector<Value> positional,
                        std::vector<std::pair<std::string, Value>> keyword = {}) {
    return call_torch(context, name, {std::move(positional), std::move(keyword)});
  }
  Value call(std::string_view name, std::vector<Value> positional,
             std::vector<std::pair<std::string, Value>> keyword = {}) {
    auto result = attempt(name, std::move(positional), std::move(keyword));
    EXPECT_TRUE(result.has_value()) << (result ? "" : render(result.error()));
    return result ? *result : Value{};
  }
  std::string refusal(std::string_view name, std::vector<Value> positional,
                      std::vector<std::pair<std::string, Value>> keyword = {}) {
    auto result = attempt(name, std::move(positional), std::move(keyword));
    EXPECT_FALSE(result.has_value()) << name << " gave " << (result ? describe(*result, builder.graph()) : "");
    return result ? "" : result.error().message;
  }
  std::string text(const Value& value) const { return describe(value, builder.graph()); }

  ir::GraphBuilder builder;
  TorchContext context;
  ir::Type T;
};

}  // namespace kw::understand
