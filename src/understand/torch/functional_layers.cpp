// Layers without parameters: their forward is a function of torch.nn.functional.
#include "understand/torch/layer.h"

namespace kw::understand {
namespace {

using ir::Size;

// nn.Hardtanh still takes the old names of its limits.
Status old_limits(Call& call, Layer& layer) {
  for (auto [old_name, name] :
       {std::pair<std::string_view, std::string_view>{"min_value", "min_val"}, {"max_value", "max_val"}})
    if (call.given(old_name)) set_attribute(layer, name, call[old_name]);
  return {};
}

Result<Value> identity(TorchContext&, Layer&, Arguments arguments) {
  if (arguments.positional.size() != 1 || !arguments.keyword.empty())
    return bad_input("nn.Identity is called with one argument");
  return arguments.positional[0];
}

Result<Value> dropout(TorchContext& context, Layer& layer, Arguments arguments) {
  arguments.keyword.emplace_back("training", Value{context.training});
  constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
      {"Dropout", "torch.nn.functional.dropout"},
      {"Dropout1d", "torch.nn.functional.dropout1d"},
      {"Dropout2d", "torch.nn.functional.dropout2d"},
      {"Dropout3d", "torch.nn.functional.dropout3d"},
  };
  for (auto [name, function] : kFunctions)
    if (layer.class_name == name) return forward_by_name(context, layer, function, std::move(arguments));
  return bad_input("nn." + layer.class_name + " is not read");
}

Result<Value> randomized_relu(TorchContext& context, Layer& layer, Arguments arguments) {
  arguments.keyword.emplace_back("training", Value{context.training});
  return forward_by_name(context, layer, "torch.nn.functional.rrelu", std::move(arguments));
}

// nn.Softmax2d: over the channels.
Status over_channels(Call&, Layer& layer) {
  set_attribute(layer, "dim", Value{Size(-3)});
  return {};
}

Status padding_amounts(Call& call, Layer& layer, size_t spatial, std::string mode) {
  KW_TRY(std::vector<int64_t> amounts, call.per_dimension("padding", 2 * spatial));
  SequenceValue pad;
  for (int64_t amount : amounts) pad.items.push_back(Value{Size(amount)});
  set_attribute(layer, "pad", Value{std::move(pad)});
  set_attribute(layer, "mode", Value{std::move(mode)});
  return {};
}
template <size_t spatial>
Status zero_pad(Call& call, Layer& layer) {
  return padding_amounts(call, layer, spatial, "constant");
}
template <size_t spatial>
Status reflection_pad(Call& call, Layer& layer) {
  return padding_amounts(call, layer, spatial, "reflect");
}
template <size_t spatial>
Status replication_pad(Call& call, Layer& layer) {
  return padding_amounts(call, layer, spatial, "replicate");
}
template <size_t spatial>
Status circular_pad(Call& call, Layer& layer) {
  return padding_amounts(call, layer, spatial, "circular");
}

Status upscale(Call& call, Layer& layer) {
  set_attribute(layer, "factor", call["upscale_factor"]);
  return {};
}
Status downscale(Call& call, Layer& layer) {
  set_attribute(layer, "factor", call["downscale_factor"]);
  return {};
}

Status unflattened(Call& call, Layer& layer) {
  set_attribute(layer, "sizes", call["unflattened_size"]);
  return {};
}

#define KW_F "torch.nn.functional."
#define KW_POOL "kernel_size, stride=None, padding=0, "
#define KW_LOSS "size_average=None, reduce=None, reduction='mean'"

constexpr LayerEntry kLayers[] = {
    {"Identity", "*args", "", nullptr, identity},
    {"ReLU", "inplace=False", KW_F "relu"},
    {"ReLU6", "inplace=False", KW_F "relu6"},
    {"LeakyReLU", "negative_slope=0.01, inplace=False", KW_F "leaky_relu"},
    {"RReLU", "lower=0.125, upper=0.3333333333333333, inplace=False", "", nullptr, randomized_relu},
    {"ELU", "alpha=1.0, inplace=False", KW_F "elu"},
    {"CELU", "alpha=1.0, inplace=False", KW_F "celu"},
    {"SELU", "inplace=False", KW_F "selu"},
    {"GELU", "approximate='none'", KW_F "gelu"},
    {"SiLU", "inplace=False", KW_F "silu"},
    {"Mish", "inplace=False", KW_F "mish"},
    {"Sigmoid", "", KW_F "sigmoid"},
    {"Tanh", "", KW_F "tanh"},
    {"Softplus", "beta=1.0, threshold=20.0", KW_F "softplus"},
    {"Softsign", "", KW_F "softsign"},
    {"Tanhshrink", "", KW_F "tanhshrink"},
    {"Softshrink", "lambd=0.5", KW_F "softshrink"},
    {"Hardshrink", "lambd=0.5", KW_F "hardshrink"},
    {"Hardtanh", "min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None", KW_F "hardtanh",
     old_limits},
    {"Hardswish", "inplace=False", KW_F "hardswish"},
    {"Hardsigmoid", "inplace=False", KW_F "hardsigmoid"},
    {"LogSigmoid", "", KW_F "logsigmoid"},
    {"Threshold", "threshold, value, inplace=False", KW_F "threshold"},
    {"GLU", "dim=-1", KW_F "glu"},
    {"Softmax", "dim=None", KW_F "softmax"},
    {"LogSoftmax", "dim=None", KW_F "log_softmax"},
    {"Softmin", "dim=None", KW_F "softmin"},
    {"Softmax2d", "", KW_F "softmax", over_channels},
    {"Dropout", "p=0.5, inplace=False", "", nullptr, dropout},
    {"Dropout1d", "p=0.5, inplace=False", "", nullptr, dropout},
    {"Dropout2d", "p=0.5, inplace=False", "", nullptr, dropout},
    {"Dropout3d", "p=0.5, inplace=False", "", nullptr, dropout},
    {"MaxPool1d", KW_POOL "dilation=1, return_indices=False, ceil_mode=False", KW_F "max_pool1d"},
    {"MaxPool2d", KW_POOL "dilation=1, return_indices=False, ceil_mode=False", KW_F "max_pool2d"},
    {"MaxPool3d", KW_POOL "dilation=1, return_indices=False, ceil_mode=False", KW_F "max_pool3d"},
    {"AvgPool1d", KW_POOL "ceil_mode=False, count_include_pad=True", KW_F "avg_pool1d"},
    {"AvgPool2d", KW_POOL "ceil_mode=False, count_include_pad=True, divisor_override=None", KW_F "avg_pool2d"},
    {"AvgPool3d", KW_POOL "ceil_mode=False, count_include_pad=True, divisor_override=None", KW_F "avg_pool3d"},
    {"AdaptiveAvgPool1d", "output_size", KW_F "adaptive_avg_pool1d"},
    {"AdaptiveAvgPool2d", "output_size", KW_F "adaptive_avg_pool2d"},
    {"AdaptiveAvgPool3d", "output_size", KW_F "adaptive_avg_pool3d"},
    {"AdaptiveMaxPool1d", "output_size, return_indices=False", KW_F "adaptive_max_pool1d"},
    {"AdaptiveMaxPool2d", "output_size, return_indices=False", KW_F "adaptive_max_pool2d"},
    {"AdaptiveMaxPool3d", "output_size, return_indices=False", KW_F "adaptive_max_pool3d"},
    {"Flatten", "start_dim=1, end_dim=-1", "Tensor.flatten"},
    {"Unflatten", "dim, unflattened_size", "Tensor.unflatten", unflattened},
    {"ZeroPad1d", "padding", KW_F "pad", zero_pad<1>},
    {"ZeroPad2d", "padding", KW_F "pad", zero_pad<2>},
    {"ZeroPad3d", "padding", KW_F "pad", zero_pad<3>},
    {"ConstantPad1d", "padding, value", KW_F "pad", zero_pad<1>},
    {"ConstantPad2d", "padding, value", KW_F "pad", zero_pad<2>},
    {"ConstantPad3d", "padding, value", KW_F "pad", zero_pad<3>},
    {"ReflectionPad1d", "padding", KW_F "pad", reflection_pad<1>},
    {"ReflectionPad2d", "padding", KW_F "pad", reflection_pad<2>},
    {"ReflectionPad3d", "padding", KW_F "pad", reflection_pad<3>},
    {"ReplicationPad1d", "padding", KW_F "pad", replication_pad<1>},
    {"ReplicationPad2d", "padding", KW_F "pad", replication_pad<2>},
    {"ReplicationPad3d", "padding", KW_F "pad", replication_pad<3>},
    {"CircularPad1d", "padding", KW_F "pad", circular_pad<1>},
    {"CircularPad2d", "padding", KW_F "pad", circular_pad<2>},
    {"CircularPad3d", "padding", KW_F "pad", circular_pad<3>},
    {"PixelShuffle", "upscale_factor", KW_F "pixel_shuffle", upscale},
    {"PixelUnshuffle", "downscale_factor", KW_F "pixel_unshuffle", downscale},
    {"Upsample", "size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None",
     KW_F "interpolate"},
    {"UpsamplingNearest2d", "size=None, scale_factor=None", KW_F "interpolate"},
    {"CosineSimilarity", "dim=1, eps=1e-8", KW_F "cosine_similarity"},
    {"PairwiseDistance", "p=2.0, eps=1e-6, keepdim=False", KW_F "pairwise_distance"},
    {"MSELoss", KW_LOSS, KW_F "mse_loss"},
    {"L1Loss", KW_LOSS, KW_F "l1_loss"},
    {"SmoothL1Loss", KW_LOSS ", beta=1.0", KW_F "smooth_l1_loss"},
    {"HuberLoss", "reduction='mean', delta=1.0", KW_F "huber_loss"},
    {"KLDivLoss", KW_LOSS ", log_target=False", KW_F "kl_div"},
    {"BCELoss", "weight=None, " KW_LOSS, KW_F "binary_cross_entropy"},
    {"BCEWithLogitsLoss", "weight=None, " KW_LOSS ", pos_weight=None", KW_F "binary_cross_entropy_with_logits"},
    {"CrossEntropyLoss",
     "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0",
     KW_F "cross_entropy"},
    {"NLLLoss", "weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'", KW_F "nll_loss"},
    {"SoftMarginLoss", KW_LOSS, KW_F "soft_margin_loss"},
    {"HingeEmbeddingLoss", "margin=1.0, " KW_LOSS, KW_F "hinge_embedding_loss"},
    {"MarginRankingLoss", "margin=0.0, " KW_LOSS, KW_F "margin_ranking_loss"},
    {"TripletMarginLoss", "margin=1.0, p=2.0, eps=1e-6, swap=False, " KW_LOSS, KW_F "triplet_margin_loss"},
    {"CosineEmbeddingLoss", "margin=0.0, " KW_LOSS, KW_F "cosine_embedding_loss"},
    {"PoissonNLLLoss", "log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction='mean'",
     KW_F "poisson_nll_loss"},
    {"GaussianNLLLoss", "*, full=False, eps=1e-6, reduction='mean'", KW_F "gaussian_nll_loss"},
};
#undef KW_F
#undef KW_POOL
#undef KW_LOSS

}  // namespace

std::span<const LayerEntry> functional_layers() { return kLayers; }

}  // namespace kw::understand
