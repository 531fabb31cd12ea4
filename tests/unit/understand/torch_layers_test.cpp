// Layers: parameters under PyTorch's names and shapes, the forward, and the buffers that a forward changes.
#include "torch_session.h"

namespace kw::understand {
namespace {

using ir::DType;
using ir::InputKind;
using ir::Size;

// Records what a layer asks for.
struct LayerSession : TorchSession {
  LayerSession() {
    context.make_parameter = [this](std::string name, InputKind kind, std::vector<Size> sizes,
                                    ir::Type type) -> Result<TensorValue> {
      ir::Input input{name, kind, type.known() ? type : T, {}, {}, true, ir::kNoNode};
      for (const Size& size : sizes) input.dims.push_back(size == Size(1) ? ir::kUnit : builder.axis(name, size));
      std::vector<ir::AxisId> dims = input.dims;
      TensorValue value{builder.input(std::move(input)), dims};
      made.push_back(name + " " + text(Value{value}) + (kind == InputKind::Buffer ? " buffer" : ""));
      return value;
    };
    context.update_buffer = [this](const TensorValue& buffer, const TensorValue& value) -> Status {
      updates.push_back(
          builder.graph().inputs[static_cast<size_t>(builder[buffer.node].as<ir::InputRef>().index)].name + " " +
          text(Value{value}));
      return {};
    };
  }
  std::shared_ptr<Layer> layer(std::string_view name, std::vector<Value> positional,
                               std::vector<std::pair<std::string, Value>> keyword = {}) {
    auto result = construct_layer(context, name, {std::move(positional), std::move(keyword)});
    EXPECT_TRUE(result.has_value()) << (result ? "" : render(result.error()));
    return result ? *result : nullptr;
  }
  std::string forward(Layer& layer, std::vector<Value> positional) {
    auto result = call_layer(context, layer, {std::move(positional), {}});
    return result ? text(*result) : "error: " + result.error().message;
  }
  std::vector<std::string> made, updates;
};

using Lines = std::vector<std::string>;

TEST(TorchLayers, ParametersHavePyTorchsNamesShapesAndOrder) {
  LayerSession t;
  t.layer("Linear", {t.integer(8), t.integer(4)});
  EXPECT_EQ(t.made, (Lines{"weight tensor T[4, 8]", "bias tensor T[4]"}));
  LayerSession c;
  c.layer("Conv2d", {c.integer(6), c.integer(8), c.integer(3)}, {{"groups", c.integer(2)}, {"bias", Value{false}}});
  EXPECT_EQ(c.made, (Lines{"weight tensor T[8, 3, 3, 3]"}));
  LayerSession d;
  d.layer("ConvTranspose1d", {d.integer(6), d.integer(8), d.integer(3)}, {{"groups", d.integer(2)}});
  EXPECT_EQ(d.made, (Lines{"weight tensor T[6, 4, 3]", "bias tensor T[8]"}));
  LayerSession b;
  b.layer("BatchNorm2d", {b.integer(6)});
  EXPECT_EQ(b.made, (Lines{"weight tensor T[6]", "bias tensor T[6]", "running_mean tensor T[6] buffer",
                           "running_var tensor T[6] buffer", "num_batches_tracked tensor i64[] buffer"}));
}

TEST(TorchLayers, ADtypeOfTheConstructorIsTheTypeOfItsParameters) {
  LayerSession t;
  t.layer("LayerNorm", {t.integer(8)}, {{"dtype", Value{DTypeValue{ir::Type(DType::BF16)}}}});
  EXPECT_EQ(t.made, (Lines{"weight tensor bf16[8]", "bias tensor bf16[8]"}));
}

TEST(TorchLayers, BatchNormUpdatesItsBuffersInTrainingOnly) {
  for (bool training : {true, false}) {
    LayerSession t;
    t.context.training = training;
    auto layer = t.layer("BatchNorm1d", {t.integer(6)});
    Value x = t.input("x", {"batch", "channels"}, {4, 6}, t.T);
    EXPECT_EQ(t.forward(*layer, {x}), "tensor T[batch, channels]");
    Lines expected = {"num_batches_tracked tensor i64[]", "running_mean tensor T[channels]",
                      "running_var tensor T[channels]"};
    EXPECT_EQ(t.updates, training ? expected : Lines{});
  }
}

TEST(TorchLayers, DropoutDrawsFromTheSeedInTrainingAndIsNothingElsewhere) {
  LayerSession t;
  auto layer = t.layer("Dropout", {t.real(0.1)});
  Value x = t.input("x", {"rows", "cols"}, {4, 6}, t.T);
  t.context.training = false;
  auto same = call_layer(t.context, *layer, {{x}, {}});
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->get<TensorValue>()->node, x.get<TensorValue>()->node);
  EXPECT_EQ(t.builder.graph().find_input("seed"), nullptr);
  t.context.training = true;
  auto first = call_layer(t.context, *layer, {{x}, {}}), second = call_layer(t.context, *layer, {{x}, {}});
  ASSERT_TRUE(first && second);
  EXPECT_NE(t.builder.graph().find_input("seed"), nullptr);
  EXPECT_NE(first->get<TensorValue>()->node, second->get<TensorValue>()->node);  // each call has its own numbers
}

TEST(TorchLayers, ShapesAfterConvolutionsAndPoolings) {
  LayerSession t;
  Value x = t.input("x", {"n", "6", "h", "w"}, {2, 6, 9, 8}, t.T);
  auto conv = t.layer("Conv2d", {t.integer(6), t.integer(4), t.integer(3)}, {{"stride", t.integer(2)}});
  EXPECT_EQ(t.forward(*conv, {x}), "tensor T[n, 4, (h - 3)//2 + 1, (w - 3)//2 + 1]");
  auto pool = t.layer("MaxPool2d", {t.integer(2)});
  EXPECT_EQ(t.forward(*pool, {x}), "tensor T[n, 6, h//2, w//2]");
  auto global = t.layer("AdaptiveAvgPool2d", {t.integer(1)});
  EXPECT_EQ(t.forward(*global, {x}), "tensor T[n, 6, 1, 1]");
}

TEST(TorchLayers, WhatDoesNotFitIsRefused) {
  LayerSession t;
  Value x = t.input("x", {"n", "c"}, {2, 5}, t.T);
  auto linear = t.layer("Linear", {t.integer(8), t.integer(4)});
  EXPECT_NE(t.forward(*linear, {x}).find("cannot multiply shapes [n=2, c=5] and [8, 4]"), std::string::npos)
      << t.forward(*linear, {x});
  auto conv =
      construct_layer(t.context, "Conv2d",
                      {{t.integer(6), t.integer(4), t.integer(3)}, {{"padding_mode", Value{std::string("reflect")}}}});
  ASSERT_FALSE(conv.has_value());
  EXPECT_NE(conv.error().message.find("padding_mode='zeros'"), std::string::npos);
  auto unknown = construct_layer(t.context, "Lineal", {});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().hint.find("Linear"), std::string::npos);
  auto missing = construct_layer(t.context, "Linear", {{t.integer(8)}, {}});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().message, "nn.Linear needs the argument 'out_features'");
}

}  // namespace
}  // namespace kw::understand
