#include "understand/words/lexicon.h"

namespace kw::understand {
namespace {

using enum WordForm;

constexpr WordEntry kLexicon[] = {
    // ---- pointwise functions ----
    {"identity", "identity|no op|noop|pass through|linear activation", Pointwise, "{x}"},
    {"neg", "neg|negate|negation|negative|minus", Pointwise, "-{x}"},
    {"abs", "abs|absolute value|absolute|magnitude|modulus", Pointwise, "torch.abs({x})"},
    {"sign", "sign|signum|sgn", Pointwise, "torch.sign({x})"},
    {"square", "square|squared|squares|second power|square function", Pointwise, "torch.square({x})"},
    {"cube", "cube|cubed|cubes|third power", Pointwise, "{x} * {x} * {x}"},
    {"sqrt", "sqrt|square root|root", Pointwise, "torch.sqrt({x})"},
    {"rsqrt", "rsqrt|reciprocal square root|inverse square root|reciprocal sqrt|inverse sqrt", Pointwise,
     "torch.rsqrt({x})"},
    {"reciprocal", "reciprocal|inverse|one over|multiplicative inverse", Pointwise, "1.0 / {x}"},
    {"exp", "exp|exponential|exponentials|exponentiate|exponent|e to the", Pointwise, "torch.exp({x})"},
    {"exp2", "exp2|two to the|base 2 exponential", Pointwise, "torch.exp2({x})"},
    {"expm1", "expm1|exp minus one|exponential minus one", Pointwise, "torch.expm1({x})"},
    {"log", "log|ln|natural log|natural logarithm|logarithm", Pointwise, "torch.log({x})"},
    {"log2", "log2|base 2 log|base 2 logarithm|binary logarithm", Pointwise, "torch.log2({x})"},
    {"log1p", "log1p|log one plus|log of one plus|log plus one", Pointwise, "torch.log1p({x})"},
    {"sin", "sin|sine", Pointwise, "torch.sin({x})"},
    {"cos", "cos|cosine", Pointwise, "torch.cos({x})"},
    {"tan", "tan|tangent", Pointwise, "torch.tan({x})"},
    {"asin", "asin|arcsin|arc sine|inverse sine", Pointwise, "torch.asin({x})"},
    {"acos", "acos|arccos|arc cosine|inverse cosine", Pointwise, "torch.acos({x})"},
    {"atan", "atan|arctan|arc tangent|inverse tangent", Pointwise, "torch.atan({x})"},
    {"sinh", "sinh|hyperbolic sine", Pointwise, "torch.sinh({x})"},
    {"cosh", "cosh|hyperbolic cosine", Pointwise, "torch.cosh({x})"},
    {"tanh", "tanh|hyperbolic tangent", Pointwise, "torch.tanh({x})"},
    {"asinh", "asinh|arcsinh|inverse hyperbolic sine", Pointwise, "torch.asinh({x})"},
    {"acosh", "acosh|arccosh|inverse hyperbolic cosine", Pointwise, "torch.acosh({x})"},
    {"atanh", "atanh|arctanh|inverse hyperbolic tangent", Pointwise, "torch.atanh({x})"},
    {"erf", "erf|error function|gauss error function", Pointwise, "torch.erf({x})"},
    {"erfc", "erfc|complementary error function", Pointwise, "torch.erfc({x})"},
    {"sigmoid", "sigmoid|logistic|logistic sigmoid|logistic function|sigma", Pointwise, "torch.sigmoid({x})"},
    {"logsigmoid", "logsigmoid|log sigmoid|logarithm of the sigmoid", Pointwise, "F.logsigmoid({x})"},
    {"floor", "floor|round down", Pointwise, "torch.floor({x})"},
    {"ceil", "ceil|ceiling|round up", Pointwise, "torch.ceil({x})"},
    {"round", "round|round to nearest|rounding", Pointwise, "torch.round({x})"},
    {"trunc", "trunc|truncate|truncation", Pointwise, "torch.trunc({x})"},
    {"sinc", "sinc", Pointwise, "torch.sinc({x})"},
    {"logit", "logit|inverse sigmoid|log odds", Pointwise, "torch.log({x} / (1.0 - {x}))"},
    // ---- activations ----
    {"relu", "relu|rectified linear unit|rectifier|rectified linear|ramp function|positive part", Pointwise,
     "F.relu({x})"},
    {"relu_squared",
     "relu squared|squared relu|relu2|relu square|square relu|relu^2|sqrelu|squared rectified linear unit", Pointwise,
     "torch.square(F.relu({x}))"},
    {"relu6", "relu6|relu 6|relu clipped at 6|relu capped at 6", Pointwise, "F.relu6({x})"},
    {"leaky_relu", "leaky relu|leakyrelu|lrelu|leaky rectified linear unit", Pointwise, "F.leaky_relu({x}, {slope})",
     "slope=0.01"},
    {"prelu_per_channel", "channelwise prelu|per channel prelu|prelu per channel", Table,
     "torch.where({x} > 0, {x}, {w} * {x})"},
    {"prelu", "prelu|parametric relu|parametric rectified linear unit", Table, "torch.where({x} > 0, {x}, {w} * {x})",
     "",
     "one learned slope per channel:prelu_per_channel|slope per channel:prelu_per_channel|per channel "
     "slope:prelu_per_channel|"
     "per channel slopes:prelu_per_channel|one slope per channel:prelu_per_channel|single slope:prelu|one shared "
     "slope:prelu"},
    {"elu", "elu|exponential linear unit", Pointwise, "F.elu({x}, {alpha})", "alpha=1.0"},
    {"celu", "celu|continuously differentiable elu|continuously differentiable exponential linear unit", Pointwise,
     "F.celu({x}, {alpha})", "alpha=1.0"},
    {"selu", "selu|scaled elu|scaled exponential linear unit|self normalizing elu", Pointwise, "F.selu({x})"},
    {"silu", "silu|swish|swish1|sigmoid linear unit|sigmoid weighted linear unit|swish activation|swish 1", Pointwise,
     "F.silu({x})"},
    {"swish_beta", "swish beta|parametric swish|swish with beta", Pointwise, "{x} * torch.sigmoid({beta} * {x})",
     "beta=1.0"},
    {"gelu_erf", "exact gelu|erf gelu|gelu erf|gelu exact|gelu using erf|gaussian error linear unit exact", Pointwise,
     "F.gelu({x})"},
    {"gelu_tanh", "tanh gelu|gelu tanh|approximate gelu|gelu new|gelu approximation|gelu pytorch tanh|fast tanh gelu",
     Pointwise, "F.gelu({x}, approximate='tanh')"},
    {"gelu_quick", "quick gelu|quickgelu|gelu quick|sigmoid gelu|gelu sigmoid approximation|sigmoid approximated gelu",
     Pointwise, "{x} * torch.sigmoid(1.702 * {x})"},
    {"gelu", "gelu|gaussian error linear unit", Pointwise, "", "",
     "tanh approximation:gelu_tanh|tanh approximated:gelu_tanh|tanh approximate:gelu_tanh|tanh "
     "approx:gelu_tanh|tanh:gelu_tanh|"
     "tanh form:gelu_tanh|tanh version:gelu_tanh|tanh variant:gelu_tanh|approximate:gelu_tanh|approximation:gelu_tanh|"
     "approximated:gelu_tanh|exact:gelu_erf|exact erf:gelu_erf|erf:gelu_erf|erf form:gelu_erf|erf version:gelu_erf|"
     "erf variant:gelu_erf|error function:gelu_erf|exact form:gelu_erf|exact version:gelu_erf|sigmoid "
     "approximation:gelu_quick|"
     "sigmoid:gelu_quick",
     "gelu_erf|gelu_tanh"},
    {"mish", "mish", Pointwise, "F.mish({x})"},
    {"softplus", "softplus|soft plus|smooth relu", Pointwise, "F.softplus({x}, {beta}, {threshold})",
     "beta=1.0 threshold=20.0"},
    {"softsign", "softsign|soft sign", Pointwise, "F.softsign({x})"},
    {"tanhshrink", "tanhshrink|tanh shrink", Pointwise, "F.tanhshrink({x})"},
    {"softshrink", "softshrink|soft shrink|soft shrinkage|soft thresholding|soft threshold", Pointwise,
     "F.softshrink({x}, {lambda})", "lambda=0.5"},
    {"hardshrink", "hardshrink|hard shrink|hard shrinkage|hard thresholding", Pointwise, "F.hardshrink({x}, {lambda})",
     "lambda=0.5"},
    {"hardtanh", "hardtanh|hard tanh|hard hyperbolic tangent", Pointwise, "F.hardtanh({x}, {min}, {max})",
     "min=-1.0 max=1.0"},
    {"hardsigmoid", "hardsigmoid|hard sigmoid", Pointwise, "F.hardsigmoid({x})"},
    {"hardswish", "hardswish|hard swish|h swish|hswish|hard silu", Pointwise, "F.hardswish({x})"},
    {"clamp", "clamp|clip|clipped|clamped|bound", Pointwise, "torch.clamp({x}, {min}, {max})", "min! max!"},
    {"soft_cap",
     "soft cap|softcap|soft capping|tanh soft capping|tanh soft cap|tanh softcap|softcapping|logit softcapping|"
     "logit soft capping|logit soft cap|logit softcap|soft capped|softcapped|tanh capping|tanh softcapping",
     Pointwise, "{cap} * torch.tanh({x} / {cap})", "cap!"},
    {"step", "heaviside|heaviside step|step function|unit step", Pointwise, "({x} > 0).to({x}.dtype)"},
    {"gaussian", "gaussian activation|gaussian|gaussian bump", Pointwise, "torch.exp(-({x} * {x}))"},
    {"bent_identity", "bent identity", Pointwise, "(torch.sqrt({x} * {x} + 1.0) - 1.0) / 2.0 + {x}"},
    {"lisht", "lisht|linearly scaled hyperbolic tangent", Pointwise, "{x} * torch.tanh({x})"},
    {"tanh_exp", "tanhexp|tanh exponential", Pointwise, "{x} * torch.tanh(torch.exp({x}))"},
    {"snake", "snake", Pointwise, "{x} + torch.square(torch.sin({alpha} * {x})) / {alpha}", "alpha=1.0"},
    {"star_relu", "starrelu|star relu", Pointwise, "{s} * torch.square(F.relu({x})) + {b}", "s=0.8944 b=-0.4472"},
    {"dyt", "dyt|dynamic tanh", Table, "torch.tanh({a} * {x}) * {w} + {b}"},
    // ---- two tensors ----
    {"add", "elementwise sum|elementwise addition|elementwise add|addition|pointwise addition", Pair, "{x} + {y}"},
    {"sub", "elementwise difference|elementwise subtraction|subtraction", Pair, "{x} - {y}"},
    {"mul",
     "hadamard product|elementwise product|elementwise multiplication|elementwise multiply|pointwise product|"
     "pointwise multiplication",
     Pair, "{x} * {y}"},
    {"div", "elementwise division|elementwise quotient", Pair, "{x} / {y}"},
    {"maximum", "elementwise maximum|elementwise max|pointwise maximum", Pair, "torch.maximum({x}, {y})"},
    {"minimum", "elementwise minimum|elementwise min|pointwise minimum", Pair, "torch.minimum({x}, {y})"},
    {"squared_difference", "squared difference|square difference|elementwise squared error|squared error", Pair,
     "torch.square({x} - {y})"},
    {"absolute_difference", "absolute difference|elementwise absolute error|absolute error", Pair,
     "torch.abs({x} - {y})"},
    {"hypot", "hypot|hypotenuse", Pair, "torch.sqrt({x} * {x} + {y} * {y})"},
    {"atan2", "atan2|arctan2|two argument arctangent", Pair, "torch.atan2({x}, {y})"},
    {"logaddexp", "logaddexp|log add exp", Pair,
     "torch.maximum({x}, {y}) + torch.log1p(torch.exp(-torch.abs({x} - {y})))"},
    {"lerp", "lerp|linear interpolation", Pair, "{x} + {weight} * ({y} - {x})", "weight=0.5"},
    {"swiglu",
     "swiglu|swi glu|silu gated linear unit|swish gated linear unit|swish glu|silu glu|silu gate|silu and mul|silu mul|"
     "silu and multiply",
     Pair, "F.silu({x}) * {y}"},
    {"geglu_erf", "exact geglu|geglu exact|geglu erf|erf geglu", Pair, "F.gelu({x}) * {y}"},
    {"geglu_tanh", "tanh geglu|geglu tanh|approximate geglu", Pair, "F.gelu({x}, approximate='tanh') * {y}"},
    {"geglu", "geglu|gelu gated linear unit|gelu glu|gelu and mul", Pair, "", "",
     "tanh version of gelu:geglu_tanh|tanh approximation of gelu:geglu_tanh|tanh approximated gelu:geglu_tanh|erf "
     "version of gelu:geglu_erf|tanh approximation:geglu_tanh|tanh:geglu_tanh|tanh approximated:geglu_tanh|tanh "
     "approximate:geglu_tanh|tanh "
     "gelu:geglu_tanh|"
     "approximate:geglu_tanh|exact:geglu_erf|erf:geglu_erf|exact gelu:geglu_erf|erf gelu:geglu_erf",
     "geglu_erf|geglu_tanh"},
    {"reglu", "reglu|relu gated linear unit|relu glu", Pair, "F.relu({x}) * {y}"},
    {"glu_two", "sigmoid gated linear unit|two input glu|two tensor glu|sigmoid gating of two tensors", Pair,
     "torch.sigmoid({x}) * {y}"},
    {"glu_halves", "glu over the two halves|glu of the halves|glu along the last dimension|split glu|glu by halves",
     Pointwise, "F.glu({x}, -1)"},
    {"glu_gate_first", "glu with the gate first|glu gate first", Pointwise,
     "torch.sigmoid({x}[..., : {x}.shape[-1] // 2]) * {x}[..., {x}.shape[-1] // 2 :]"},
    {"glu", "glu|gated linear unit", Pair, "", "",
     "halves:glu_halves|split:glu_halves|two inputs:glu_two|two tensors:glu_two|separate gate:glu_two",
     "glu_halves|glu_gate_first|glu_two"},
    {"cosine_similarity", "cosine similarity|cos similarity|cosine sim", Pair,
     "F.cosine_similarity({x}, {y}, dim=-1, eps={eps})", "eps=1e-8"},
    {"cosine_distance", "cosine distance", Pair, "1.0 - F.cosine_similarity({x}, {y}, dim=-1, eps={eps})", "eps=1e-8"},
    {"dot",
     "row wise dot product|rowwise dot product|batched dot product|dot product along the last axis|inner product along "
     "the last axis|"
     "dot product|inner product",
     Pair, "({x} * {y}).sum(-1)"},
    {"euclidean_distance", "euclidean distance|l2 distance|pairwise euclidean distance", Pair,
     "torch.sqrt(torch.square({x} - {y}).sum(-1))"},
    {"manhattan_distance", "manhattan distance|l1 distance|taxicab distance", Pair, "torch.abs({x} - {y}).sum(-1)"},
    {"squared_euclidean_distance", "squared euclidean distance|squared l2 distance", Pair,
     "torch.square({x} - {y}).sum(-1)"},
    // ---- along an axis ----
    {"softmax", "softmax|soft max|normalized exponential|normalised exponential|softargmax", Along,
     "F.softmax({x} / {temperature}, dim={dim})", "temperature=1"},
    {"log_softmax", "log softmax|logsoftmax", Along, "F.log_softmax({x} / {temperature}, dim={dim})", "temperature=1"},
    {"causal_softmax", "causal softmax|causally masked softmax|masked causal softmax", Pointwise,
     "F.softmax({x}.masked_fill(torch.ones({x}.shape[-2], {x}.shape[-1], dtype=torch.bool).triu(1), float('-inf')), "
     "dim=-1)"},
    {"softmax_plus_one", "softmax plus one|softmax1|softmax one|quiet softmax", Along,
     "torch.exp({x}) / (1.0 + torch.exp({x}).sum({dim}, keepdim=True))"},
    {"softmin", "softmin|soft min", Along, "F.softmin({x}, dim={dim})"},
    {"cumsum", "cumsum|cumulative sum|running sum|prefix sum|inclusive scan|inclusive prefix sum|running total", Along,
     "torch.cumsum({x}, dim={dim})"},
    {"cumprod", "cumprod|cumulative product|running product|prefix product", Along, "torch.cumprod({x}, dim={dim})"},
    {"reverse_cumsum",
     "reverse cumulative sum|reverse cumsum|reversed cumulative sum|suffix sum|cumulative sum from the right|"
     "cumulative sum in reverse",
     Along, "torch.flip(torch.cumsum(torch.flip({x}, [{dim}]), dim={dim}), [{dim}])"},
    {"l2_normalize",
     "l2 normalize|l2 normalization|l2 normalise|l2 normalisation|l2 norm normalization|unit normalize|unit norm|"
     "normalize to unit length|normalize to unit norm|normalize to unit l2 norm|unit length normalization|unit vector "
     "normalization|"
     "l2 normalized|l2 normalised|normalise to unit length",
     Along, "F.normalize({x}, p=2.0, dim={dim}, eps={eps})", "eps=1e-12"},
    {"l1_normalize", "l1 normalize|l1 normalization|l1 normalise|l1 normalisation|normalize to unit l1 norm", Along,
     "F.normalize({x}, p=1.0, dim={dim}, eps={eps})", "eps=1e-12"},
    {"standardize",
     "standardize|standardise|standardization|z score|zscore|z score normalization|zero mean and unit variance|"
     "zero mean unit variance",
     Along, "({x} - {x}.mean({dim}, keepdim=True)) * torch.rsqrt({x}.var({dim}, correction=0, keepdim=True) + {eps})",
     "eps=1e-5"},
    {"center", "center|mean centering|subtract the mean|mean subtraction|remove the mean|centering|mean center", Along,
     "{x} - {x}.mean({dim}, keepdim=True)"},
    {"min_max_scale", "min max normalization|min max normalize|min max scaling|minmax scaling|min max rescaling", Along,
     "({x} - {x}.amin({dim}, keepdim=True)) / ({x}.amax({dim}, keepdim=True) - {x}.amin({dim}, keepdim=True))"},
    {"sum_normalize",
     "divide by the sum|divide by its sum|normalize by the sum|normalize to sum to one|sum to one normalization", Along,
     "{x} / {x}.sum({dim}, keepdim=True)"},
    {"normalize", "normalize|normalise|normalization|normalisation|normalized|normalised", Along, "", "",
     "l2:l2_normalize|l1:l1_normalize|unit length:l2_normalize|unit norm:l2_normalize",
     "l2_normalize|standardize|l1_normalize"},
    // ---- reductions ----
    {"sum", "sum|summation|total|reduce sum|row sum|sum reduction|add up|row sums", Reduction, "{x}.sum({dim})"},
    {"mean", "mean|average|arithmetic mean|avg|reduce mean|mean pooling|average pooling|mean pool|row mean|row means",
     Reduction, "{x}.mean({dim})"},
    {"prod", "prod|product|reduce product", Reduction, "{x}.prod({dim})"},
    {"amax", "max|maximum|reduce max|largest value|amax|max pooling over|row max|maximum value|row maximum", Reduction,
     "{x}.amax({dim})"},
    {"amin", "min|minimum|reduce min|smallest value|amin|row min|minimum value", Reduction, "{x}.amin({dim})"},
    {"argmax", "argmax|arg max|index of the maximum|index of the largest value", Reduction, "{x}.argmax({dim})"},
    {"argmin", "argmin|arg min|index of the minimum|index of the smallest value", Reduction, "{x}.argmin({dim})"},
    {"logsumexp",
     "logsumexp|log sum exp|log sum of exponentials|log of the sum of exponentials|log of sum of exponentials|lse",
     Reduction, "torch.logsumexp({x}, {dim})"},
    {"var_biased", "population variance|biased variance|variance without correction|variance with correction 0",
     Reduction, "{x}.var({dim}, correction=0)"},
    {"var_unbiased",
     "sample variance|unbiased variance|variance with bessel correction|variance with bessel's correction", Reduction,
     "{x}.var({dim}, correction=1)"},
    {"variance", "variance|var", Reduction, "", "",
     "biased:var_biased|population:var_biased|unbiased:var_unbiased|bessel correction:var_unbiased|bessel's "
     "correction:var_unbiased|"
     "sample:var_unbiased|no bessel correction:var_biased",
     "var_biased|var_unbiased"},
    {"std_biased", "population standard deviation|biased standard deviation|population std", Reduction,
     "torch.sqrt({x}.var({dim}, correction=0))"},
    {"std_unbiased", "sample standard deviation|unbiased standard deviation|sample std", Reduction,
     "torch.sqrt({x}.var({dim}, correction=1))"},
    {"standard_deviation", "standard deviation|std|stddev|std dev", Reduction, "", "",
     "biased:std_biased|population:std_biased|unbiased:std_unbiased|bessel correction:std_unbiased|bessel's "
     "correction:std_unbiased|"
     "sample:std_unbiased",
     "std_biased|std_unbiased"},
    {"l2_norm", "l2 norm|euclidean norm|two norm|2 norm|frobenius norm|euclidean length|vector length", Reduction,
     "torch.sqrt(torch.square({x}).sum({dim}))"},
    {"l1_norm", "l1 norm|one norm|1 norm|taxicab norm|sum of absolute values|manhattan norm", Reduction,
     "torch.abs({x}).sum({dim})"},
    {"linf_norm",
     "infinity norm|linf norm|l infinity norm|max norm|maximum absolute value|absmax|max abs|largest absolute value",
     Reduction, "torch.abs({x}).amax({dim})"},
    {"norm", "norm|vector norm", Reduction, "", "", "l2:l2_norm|l1:l1_norm|euclidean:l2_norm|infinity:linf_norm",
     "l2_norm|l1_norm|linf_norm|layer_norm|rms_norm"},
    {"rms", "rms|root mean square|root mean square value|quadratic mean", Reduction,
     "torch.sqrt(torch.square({x}).mean({dim}))"},
    {"mean_square", "mean square|mean of squares|mean of the squares|average of squares", Reduction,
     "torch.square({x}).mean({dim})"},
    {"sum_of_squares", "sum of squares|squared l2 norm|sum of the squares|squared norm", Reduction,
     "torch.square({x}).sum({dim})"},
    {"entropy", "shannon entropy|entropy of a probability distribution|entropy of probabilities", Reduction,
     "-({x} * torch.log({x})).sum({dim})"},
    // ---- norms ----
    {"rms_norm",
     "rmsnorm|rms norm|rms normalization|rms normalisation|root mean square norm|root mean square normalization|"
     "root mean square layer normalization|root mean square layer norm|t5 norm|t5 layer norm|llama norm|llama "
     "rmsnorm|rms layer norm",
     Norm, "{w} * ({x}.float() * torch.rsqrt({x}.float().pow(2).mean(-1, keepdim=True) + {eps})).to({x}.dtype)",
     "eps=1e-6 offset=0",
     "llama casting:rms_norm|llama style:rms_norm|llama:rms_norm|gemma casting:rms_norm_gemma|gemma "
     "style:rms_norm_gemma|"
     "gemma:rms_norm_gemma"},
    {"rms_norm_gemma",
     "gemma rmsnorm|gemma rms norm|gemma norm|gemma style rmsnorm|gemma style rms norm|gemma rms normalization", Norm,
     "({x}.float() * torch.rsqrt({x}.float().pow(2).mean(-1, keepdim=True) + {eps}) * ({w}.float() + "
     "{offset})).to({x}.dtype)",
     "eps=1e-6 offset=1",
     "weight stored offset from one:rms_norm_gemma|weight stored offset from 1:rms_norm_gemma|weight stored minus "
     "one:rms_norm_gemma|"
     "zero centered weight:rms_norm_gemma"},
    {"layer_norm", "layernorm|layer norm|layer normalization|layer normalisation", Norm,
     "F.layer_norm({x}, ({x}.shape[-1],), {w}, {b}, {eps})", "eps=1e-5"},
    {"group_norm", "groupnorm|group norm|group normalization|group normalisation", Norm,
     "F.group_norm({x}, {groups}, {w}, {b}, {eps})", "eps=1e-5 groups!"},
    {"instance_norm", "instancenorm|instance norm|instance normalization|instance normalisation", Norm,
     "F.instance_norm({x}, None, None, {w}, {b}, True, 0.1, {eps})", "eps=1e-5"},
    {"batch_norm_inference",
     "batch norm in eval mode|batch norm in inference mode|batchnorm in eval mode|inference batch norm|"
     "batch norm using running statistics|batch norm with running statistics|batch norm at inference|batchnorm at "
     "inference|"
     "batch norm in evaluation mode|inference mode batch norm|eval mode batch norm",
     Table, "F.batch_norm({x}, {mean}, {var}, {w}, {b}, False, 0.1, {eps})", "eps=1e-5",
     "running mean and variance:batch_norm_inference|running statistics:batch_norm_inference|running "
     "stats:batch_norm_inference|"
     "with affine weight + bias:batch_norm_inference|affine weight + bias:batch_norm_inference|affine weight and "
     "bias:batch_norm_inference|weight and bias:batch_norm_inference"},
    {"batch_norm_training",
     "batch norm in training mode|training mode batch norm|batchnorm in training mode|"
     "batch norm with batch statistics|batch norm using batch statistics",
     Norm, "F.batch_norm({x}, None, None, {w}, {b}, True, 0.1, {eps})", "eps=1e-5"},
    {"batch_norm", "batch norm|batchnorm|batch normalization|batch normalisation|bn", Norm, "", "",
     "eval mode:batch_norm_inference|inference mode:batch_norm_inference|running statistics:batch_norm_inference|"
     "running mean and variance:batch_norm_inference|training mode:batch_norm_training|batch "
     "statistics:batch_norm_training",
     "batch_norm_training|batch_norm_inference"},
    // ---- losses: elementwise meaning; the reduction follows ----
    {"mse",
     "mse|mse loss|mean squared error|mean squared error loss|mean square error|squared error loss|l2 loss|mean square "
     "error loss|"
     "quadratic loss",
     Loss, "torch.square({x} - {y})"},
    {"rmse", "rmse|root mean squared error|root mean square error", Pair, "torch.sqrt(torch.square({x} - {y}).mean())"},
    {"mae", "mae|l1 loss|mean absolute error|mean absolute error loss|absolute error loss|mae loss", Loss,
     "torch.abs({x} - {y})"},
    {"huber", "huber|huber loss", Loss, "F.huber_loss({x}, {y}, reduction='none', delta={delta})", "delta=1.0"},
    {"smooth_l1", "smooth l1|smooth l1 loss|smooth mae", Loss,
     "F.smooth_l1_loss({x}, {y}, reduction='none', beta={beta})", "beta=1.0"},
    {"hinge", "hinge|hinge loss|svm loss|max margin loss", Loss, "torch.clamp({margin} - {x} * {y}, min=0)",
     "margin=1"},
    {"squared_hinge", "squared hinge|squared hinge loss", Loss,
     "torch.square(torch.clamp({margin} - {x} * {y}, min=0))", "margin=1"},
    {"log_cosh", "log cosh|logcosh|log cosh loss|logcosh loss|log cosh error", Loss,
     "torch.log(torch.cosh({x} - {y}))"},
    {"bce", "bce|binary cross entropy|binary crossentropy|bce loss|binary cross entropy loss", Loss, "", "",
     "logits:bce_with_logits|from logits:bce_with_logits|probabilities:bce_probabilities|from "
     "probabilities:bce_probabilities|"
     "on probabilities:bce_probabilities|on logits:bce_with_logits|raw logits:bce_with_logits",
     "bce_probabilities|bce_with_logits"},
    {"bce_with_logits",
     "bce with logits|binary cross entropy with logits|sigmoid cross entropy|sigmoid binary cross entropy|"
     "bce with logits loss|binary cross entropy with logits loss|binary cross entropy on logits|binary cross entropy "
     "from logits",
     Loss, "F.binary_cross_entropy_with_logits({x}, {y}, reduction='none')"},
    {"bce_probabilities",
     "bce on probabilities|binary cross entropy on probabilities|binary cross entropy of probabilities|"
     "binary cross entropy from probabilities",
     Loss, "-({y} * torch.log({x}) + (1.0 - {y}) * torch.log(1.0 - {x}))"},
    {"cross_entropy_indices",
     "softmax cross entropy with class indices|cross entropy with class indices|"
     "cross entropy with integer targets|cross entropy from logits with class indices|cross entropy of logits with "
     "class indices|"
     "cross entropy with integer labels|sparse softmax cross entropy|sparse cross entropy|sparse categorical cross "
     "entropy",
     Table, "F.cross_entropy({x}, {labels}, label_smoothing={smoothing})", "smoothing=0.0"},
    {"cross_entropy_probabilities",
     "cross entropy with soft targets|cross entropy with soft labels|soft label cross entropy|"
     "softmax cross entropy with soft targets|cross entropy with probability targets|soft target cross entropy",
     Pair, "-({y} * F.log_softmax({x}, dim=-1)).sum(-1).mean()"},
    {"cross_entropy_of_probabilities",
     "cross entropy from probabilities|cross entropy of probabilities with class indices", Table,
     "F.nll_loss(torch.log({x}), {labels})"},
    {"cross_entropy",
     "cross entropy|cross entropy loss|crossentropy|ce loss|softmax cross entropy|categorical cross entropy", Table, "",
     "",
     "from logits:cross_entropy|logits:cross_entropy|from "
     "probabilities:cross_entropy_of_probabilities|probabilities:cross_entropy_of_probabilities|class "
     "indices:cross_entropy_indices|integer class labels:cross_entropy_indices|class "
     "labels:cross_entropy_indices|integer class targets:cross_entropy_indices|class "
     "labels:cross_entropy_indices|integer class "
     "labels:cross_entropy_indices|"
     "class index targets:cross_entropy_indices|integer class targets:cross_entropy_indices|label "
     "indices:cross_entropy_indices|integer labels:cross_entropy_indices|integer targets:cross_entropy_indices|"
     "soft targets:cross_entropy_probabilities|soft labels:cross_entropy_probabilities|probability "
     "targets:cross_entropy_probabilities",
     "cross_entropy_indices|cross_entropy_of_probabilities|cross_entropy_probabilities"},
    {"nll", "negative log likelihood|nll|nll loss|negative log likelihood loss", Table, "F.nll_loss({x}, {labels})"},
    {"kl_log_probs",
     "kl divergence with log target|kl div with log target|kl divergence between log probabilities|"
     "kl divergence of log probabilities|kl divergence with log targets",
     Loss, "torch.exp({y}) * ({y} - {x})"},
    {"kl_probs",
     "kl divergence with probability target|kl divergence from log probabilities to probabilities|"
     "kl divergence with probability targets",
     Loss, "{y} * (torch.log({y}) - {x})"},
    {"kl_distributions",
     "kl divergence between two probability distributions|kl divergence between probability distributions|"
     "kl divergence of two probability distributions|kl divergence between two distributions|relative entropy",
     Pair, "({x} * (torch.log({x}) - torch.log({y}))).sum(-1)"},
    {"kl_div", "kl divergence|kl div|kldiv|kullback leibler divergence|kl loss|kl divergence loss|kl", Loss, "", "",
     "log target:kl_log_probs|log targets:kl_log_probs|probability target:kl_probs|probability targets:kl_probs",
     "kl_probs|kl_log_probs|kl_distributions"},
    {"tvd", "total variation distance|tvd|total variation", Pair, "0.5 * torch.abs({x} - {y}).sum(-1)"},
    {"z_loss", "z loss|zloss|router z loss|softmax z loss", Pointwise,
     "{coefficient} * torch.square(torch.logsumexp({x}, -1)).mean()", "coefficient=1e-4"},
    {"entropy_of_logits",
     "entropy of categorical distribution given by logits|entropy of softmax|softmax entropy|"
     "entropy of logits|categorical entropy from logits|entropy of softmax distribution|entropy from logits|"
     "entropy of distribution given by logits",
     Pointwise, "-(F.softmax({x}, -1) * F.log_softmax({x}, -1)).sum(-1)"},
    {"jsd", "jensen shannon divergence|js divergence|jsd", Pair,
     "0.5 * ({x} * (torch.log({x}) - torch.log(0.5 * ({x} + {y})))).sum(-1) + 0.5 * ({y} * (torch.log({y}) - "
     "torch.log(0.5 * ({x} + {y})))).sum(-1)"},
    {"poisson_nll", "poisson nll|poisson negative log likelihood|poisson loss|poisson nll loss", Loss,
     "torch.exp({x}) - {y} * {x}"},
    {"focal_plain", "plain focal loss|focal loss without alpha", Loss,
     "F.binary_cross_entropy_with_logits({x}, {y}, reduction='none') * torch.pow(1.0 - ({y} * torch.sigmoid({x}) + "
     "(1.0 - {y}) * "
     "(1.0 - torch.sigmoid({x}))), {gamma})",
     "gamma=2.0"},
    {"focal_alpha", "alpha balanced focal loss", Loss,
     "({alpha} * {y} + (1.0 - {alpha}) * (1.0 - {y})) * F.binary_cross_entropy_with_logits({x}, {y}, reduction='none') "
     "* "
     "torch.pow(1.0 - ({y} * torch.sigmoid({x}) + (1.0 - {y}) * (1.0 - torch.sigmoid({x}))), {gamma})",
     "gamma=2.0 alpha=0.25"},
    {"focal", "focal loss|binary focal loss|sigmoid focal loss", Loss, "", "",
     "sigmoid logits:focal|logits:focal|without alpha:focal_plain|alpha balancing:focal_alpha",
     "focal_plain|focal_alpha"},
    // ---- further tensors ----
    {"embedding",
     "look up token embeddings|look up tokens in an embedding table|look up embedding rows|embedding|embedding "
     "lookup|table lookup|embedding table lookup|lookup in an embedding table|token embedding|"
     "token embedding lookup|look up embeddings|look up rows of an embedding table|gather rows by index",
     Table, "F.embedding({ids}, {table})"},
    {"rope_half",
     "rotate half|rope half|half rotated rope|neox rope|rotate half rope|half rotated rotary embedding|llama rope|neox "
     "style rope|"
     "rotate half rotary embedding|rotary position embedding rotate half|llama style rope|llama style rotary embedding",
     Table,
     "{x} * {cos} + torch.cat((-{x}[..., {x}.shape[-1] // 2 :], {x}[..., : {x}.shape[-1] // 2]), dim=-1) * {sin}"},
    {"rope_interleaved",
     "interleaved rope|gpt j rope|interleaved rotary embedding|gptj rope|gpt j style rope|interleaved rotary position "
     "embedding",
     Table, "{x} * {cos} + torch.stack((-{x}[..., 1::2], {x}[..., ::2]), dim=-1).flatten(-2) * {sin}"},
    {"rope_half_compact", "half rotated rope with compact cos and sin", Table,
     "torch.cat(({x}[..., : {x}.shape[-1] // 2] * {cos} - {x}[..., {x}.shape[-1] // 2 :] * {sin}, {x}[..., "
     "{x}.shape[-1] // 2 :] * {cos} "
     "+ {x}[..., : {x}.shape[-1] // 2] * {sin}), dim=-1)"},
    {"rope_interleaved_compact", "interleaved rope with compact cos and sin", Table,
     "torch.stack(({x}[..., ::2] * {cos} - {x}[..., 1::2] * {sin}, {x}[..., 1::2] * {cos} + {x}[..., ::2] * {sin}), "
     "dim=-1).flatten(-2)"},
    {"rope_compact", "rope with compact cos and sin", Table, "", "",
     "half rotated:rope_half_compact|rotate half:rope_half_compact|neox "
     "style:rope_half_compact|interleaved:rope_interleaved_compact",
     "rope_half_compact|rope_interleaved_compact"},
    {"rope", "rope|rotary embedding|rotary position embedding|rotary positional embedding|rotary embeddings", Table, "",
     "",
     "given cos / sin:rope|given cos and sin:rope|cos and sin:rope|cos and sin have half head dim:rope_compact|cos and "
     "sin of half head dim:rope_compact|half rotated:rope_half|rotate half as in llama:rope_half|rotate half as in hf "
     "llama:rope_half|rotate "
     "half:rope_half|half split:rope_half|neox:rope_half|neox style:rope_half|llama "
     "style:rope_half|"
     "interleaved:rope_interleaved|gpt j style:rope_interleaved|gptj style:rope_interleaved|interleaved "
     "pairs:rope_interleaved",
     "rope_half|rope_interleaved"},
    {"masked_mean",
     "mean pool over sequence dimension ignoring padding|mean pooling over sequence dimension ignoring padding|average "
     "over sequence ignoring padding|mean over sequence ignoring padding|masked mean pooling|masked mean|mean pooling "
     "with mask|masked average pooling|mean pooling ignoring padding|"
     "mean pool ignoring padding",
     Table, "({x} * {mask}.unsqueeze(-1)).sum(1) / {mask}.sum(1, keepdim=True)"},
    {"linear", "linear layer|fully connected layer|dense layer|affine layer|linear projection|linear", Table,
     "F.linear({x}, {w}, {b})"},
};

}  // namespace

std::span<const WordEntry> lexicon() { return kLexicon; }

const WordEntry* find_entry(std::string_view name) {
  for (const WordEntry& e : kLexicon)
    if (e.name == name) return &e;
  return nullptr;
}

std::vector<std::string> pieces(std::string_view text, char separator) {
  std::vector<std::string> out;
  size_t start = 0;
  while (start <= text.size() && !text.empty()) {
    size_t end = text.find(separator, start);
    if (end == std::string_view::npos) end = text.size();
    if (end > start) out.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return out;
}

}  // namespace kw::understand
