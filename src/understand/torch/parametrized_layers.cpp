// Layers with parameters and buffers, under PyTorch's own names and shapes.
#include "understand/torch/formula.h"
#include "understand/torch/layer.h"

namespace kw::understand {
namespace {

using ir::DType;
using ir::InputKind;
using ir::Op;
using ir::Size;
using ir::Type;

Status make(Call& call, Layer& layer, std::string_view name, std::vector<Size> sizes,
            InputKind kind = InputKind::Parameter) {
  KW_TRY(auto type, call.type("dtype"));
  KW_ASSERT(call.context.make_parameter != nullptr, "who constructs layers says how parameters are made");
  KW_TRY(TensorValue value,
         call.context.make_parameter(std::string(name), kind, std::move(sizes), type.value_or(Type())));
  // Parameters stand in the order in which they are made, which is that of state_dict().
  std::erase_if(layer.attributes, [&](const auto& attribute) { return attribute.first == name; });
  set_attribute(layer, name, Value{value});
  return {};
}

Status bias_if_asked(Call& call, Layer& layer, const Size& size) {
  KW_TRY(bool wanted, call.boolean("bias"));
  if (wanted) return make(call, layer, "bias", {size});
  set_attribute(layer, "bias", Value{NoneValue{}});
  return {};
}

Status linear(Call& call, Layer& layer) {
  KW_TRY(Size in, call.size("in_features"));
  KW_TRY(Size out, call.size("out_features"));
  KW_CHECK(make(call, layer, "weight", {out, in}));
  return bias_if_asked(call, layer, out);
}

Status embedding(Call& call, Layer& layer) {
  KW_TRY(Size count, call.size("num_embeddings"));
  KW_TRY(Size width, call.size("embedding_dim"));
  return make(call, layer, "weight", {count, width});
}

Status prelu(Call& call, Layer& layer) {
  KW_TRY(Size count, call.size("num_parameters"));
  return make(call, layer, "weight", {count});
}

// kernel_size and its companions as one number per spatial dimension.
Status per_dimension(Call& call, Layer& layer, std::string_view name, size_t spatial) {
  KW_TRY(std::vector<int64_t> values, call.per_dimension(name, spatial));
  SequenceValue sequence;
  for (int64_t v : values) sequence.items.push_back(Value{Size(v)});
  set_attribute(layer, name, Value{std::move(sequence)});
  return {};
}

template <size_t spatial, bool transposed>
Status convolution(Call& call, Layer& layer) {
  KW_TRY(Size in, call.size("in_channels"));
  KW_TRY(Size out, call.size("out_channels"));
  KW_TRY(Size groups, call.size("groups"));
  KW_TRY(std::vector<int64_t> kernel, call.per_dimension("kernel_size", spatial));
  for (std::string_view name : {"kernel_size", "stride", "dilation"})
    KW_CHECK(per_dimension(call, layer, name, spatial));
  if (!call["padding"].get<std::string>()) KW_CHECK(per_dimension(call, layer, "padding", spatial));
  const auto* mode = call["padding_mode"].get<std::string>();
  if (!mode || *mode != "zeros") return call.refuse("is read with padding_mode='zeros' only", "pad with F.pad first");
  for (const Size& channels : {in, out}) {
    auto c = call.builder.graph().hinted(channels), g = call.builder.graph().hinted(groups);
    if (c && g && (*g < 1 || *c < 1 || *c % *g != 0))
      return call.refuse("cannot divide " + std::to_string(*c) + " channels into " + std::to_string(*g) + " groups");
  }
  std::vector<Size> sizes =
      transposed ? std::vector<Size>{in, floor_div(out, groups)} : std::vector<Size>{out, floor_div(in, groups)};
  for (int64_t k : kernel) sizes.push_back(Size(k));
  KW_CHECK(make(call, layer, "weight", std::move(sizes)));
  return bias_if_asked(call, layer, out);
}

Status affine(Call& call, Layer& layer, const std::vector<Size>& sizes, bool wanted, bool with_bias) {
  for (std::string_view name : {"weight", "bias"}) {
    if (wanted && (name == "weight" || with_bias)) {
      KW_CHECK(make(call, layer, name, sizes));
    } else {
      set_attribute(layer, name, Value{NoneValue{}});
    }
  }
  return {};
}

Status layer_norm(Call& call, Layer& layer) {
  KW_TRY(std::vector<Size> shape, call.sizes("normalized_shape"));
  KW_TRY(bool wanted, call.boolean("elementwise_affine"));
  KW_TRY(bool bias, call.boolean("bias"));
  SequenceValue sizes;
  for (const Size& s : shape) sizes.items.push_back(Value{s});
  set_attribute(layer, "normalized_shape", Value{std::move(sizes)});
  return affine(call, layer, shape, wanted, bias);
}

Status rms_norm(Call& call, Layer& layer) {
  KW_TRY(std::vector<Size> shape, call.sizes("normalized_shape"));
  KW_TRY(bool wanted, call.boolean("elementwise_affine"));
  SequenceValue sizes;
  for (const Size& s : shape) sizes.items.push_back(Value{s});
  set_attribute(layer, "normalized_shape", Value{std::move(sizes)});
  if (wanted) return make(call, layer, "weight", shape);
  set_attribute(layer, "weight", Value{NoneValue{}});
  return {};
}

Status group_norm(Call& call, Layer& layer) {
  KW_TRY(Size channels, call.size("num_channels"));
  KW_TRY(bool wanted, call.boolean("affine"));
  return affine(call, layer, {channels}, wanted, true);
}

// Batch and instance norm: parameters, and running statistics if they are tracked.
Status running_norm(Call& call, Layer& layer) {
  KW_TRY(Size features, call.size("num_features"));
  KW_TRY(bool wanted, call.boolean("affine"));
  KW_TRY(bool tracked, call.boolean("track_running_stats"));
  KW_CHECK(affine(call, layer, {features}, wanted, true));
  if (!tracked) {
    for (std::string_view name : {"running_mean", "running_var", "num_batches_tracked"})
      set_attribute(layer, name, Value{NoneValue{}});
    return {};
  }
  KW_CHECK(make(call, layer, "running_mean", {features}, InputKind::Buffer));
  KW_CHECK(make(call, layer, "running_var", {features}, InputKind::Buffer));
  KW_TRY(TensorValue count,
         call.context.make_parameter("num_batches_tracked", InputKind::Buffer, {}, Type(DType::I64)));
  set_attribute(layer, "num_batches_tracked", Value{count});
  return {};
}

// BatchNorm2d takes a batch of images and nothing else: the 1d layers rank 2 or 3, the others rank d + 2. A sample
// without its batch dimension, which instance norm takes too, is refused: its channels stand elsewhere.
Status check_rank(const Layer& layer, const Arguments& arguments) {
  const TensorValue* input = arguments.positional.empty() ? nullptr : arguments.positional[0].get<TensorValue>();
  const size_t spatial = static_cast<size_t>(layer.class_name[layer.class_name.size() - 2] - '0');
  const bool is_batch_norm = layer.class_name.starts_with("Batch");
  if (!input || input->dims.size() == spatial + 2 || (is_batch_norm && spatial == 1 && input->dims.size() == 2))
    return {};
  return bad_input("nn." + layer.class_name + " expects a tensor of rank " + std::to_string(spatial + 2) + ", not " +
                   std::to_string(input->dims.size()));
}

// In training mode, and without running statistics, the batch's own statistics count; the running ones are updated.
Result<Value> batch_norm_forward(TorchContext& context, Layer& layer, Arguments arguments) {
  KW_CHECK(check_rank(layer, arguments));
  const TensorValue* batches = find_attribute(layer, "num_batches_tracked")->get<TensorValue>();
  bool tracked = find_attribute(layer, "running_mean")->is_tensor();
  arguments.keyword.emplace_back("training", Value{context.training || !tracked});
  if (context.training && batches && context.update_buffer) {
    ir::NodeId next = context.builder.make(Op::Add, {batches->node, context.builder.integer(1)});
    KW_CHECK(context.update_buffer(*batches, {next, {}}));
  }
  return forward_by_name(context, layer, "torch.nn.functional.batch_norm", std::move(arguments));
}

Result<Value> instance_norm_forward(TorchContext& context, Layer& layer, Arguments arguments) {
  KW_CHECK(check_rank(layer, arguments));
  bool tracked = find_attribute(layer, "running_mean")->is_tensor();
  arguments.keyword.emplace_back("use_input_stats", Value{context.training || !tracked});
  return forward_by_name(context, layer, "torch.nn.functional.instance_norm", std::move(arguments));
}

#define KW_F "torch.nn.functional."
#define KW_DEVICE "device=None, dtype=None"
constexpr std::string_view kConvolution =
    "in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True, "
    "padding_mode='zeros', " KW_DEVICE;
constexpr std::string_view kTransposed =
    "in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True, dilation=1, "
    "padding_mode='zeros', " KW_DEVICE;
constexpr std::string_view kBatchNorm =
    "num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, " KW_DEVICE;
constexpr std::string_view kInstanceNorm =
    "num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, " KW_DEVICE;

constexpr LayerEntry kLayers[] = {
    {"Linear", "in_features, out_features, bias=True, " KW_DEVICE, KW_F "linear", linear},
    {"Embedding",
     "num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, "
     "sparse=False, _weight=None, _freeze=False, " KW_DEVICE,
     KW_F "embedding", embedding},
    {"PReLU", "num_parameters=1, init=0.25, " KW_DEVICE, KW_F "prelu", prelu},
    {"Conv1d", kConvolution, KW_F "conv1d", convolution<1, false>},
    {"Conv2d", kConvolution, KW_F "conv2d", convolution<2, false>},
    {"Conv3d", kConvolution, KW_F "conv3d", convolution<3, false>},
    {"ConvTranspose1d", kTransposed, KW_F "conv_transpose1d", convolution<1, true>},
    {"ConvTranspose2d", kTransposed, KW_F "conv_transpose2d", convolution<2, true>},
    {"ConvTranspose3d", kTransposed, KW_F "conv_transpose3d", convolution<3, true>},
    {"LayerNorm", "normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, " KW_DEVICE, KW_F "layer_norm",
     layer_norm},
    {"RMSNorm", "normalized_shape, eps=None, elementwise_affine=True, " KW_DEVICE, KW_F "rms_norm", rms_norm},
    {"GroupNorm", "num_groups, num_channels, eps=1e-5, affine=True, " KW_DEVICE, KW_F "group_norm", group_norm},
    {"BatchNorm1d", kBatchNorm, "", running_norm, batch_norm_forward},
    {"BatchNorm2d", kBatchNorm, "", running_norm, batch_norm_forward},
    {"BatchNorm3d", kBatchNorm, "", running_norm, batch_norm_forward},
    {"InstanceNorm1d", kInstanceNorm, "", running_norm, instance_norm_forward},
    {"InstanceNorm2d", kInstanceNorm, "", running_norm, instance_norm_forward},
    {"InstanceNorm3d", kInstanceNorm, "", running_norm, instance_norm_forward},
};
#undef KW_F
#undef KW_DEVICE

}  // namespace

std::span<const LayerEntry> parametrized_layers() { return kLayers; }

}  // namespace kw::understand
