// Functions of each element alone, and of two tensors.
#include "understand/words/lexicon.h"

namespace kw::understand {
namespace {

using enum WordForm;

constexpr WordEntry kFunctions[] = {
    // ---- pointwise functions ----
    {"identity", "identity|no op|noop|pass through|linear activation", Pointwise, "{x}"},
    {"neg", "neg|negate|negation|negative|minus|negated|opposite|additive inverse", Pointwise, "-{x}"},
    {"abs", "abs|absolute value|absolute|magnitude|modulus|fabs", Pointwise, "torch.abs({x})"},
    {"sign", "sign|signum|sgn", Pointwise, "torch.sign({x})"},
    {"square", "square|squared|squares|second power|square function|squaring", Pointwise, "torch.square({x})"},
    {"cube", "cube|cubed|cubes|third power|cubing", Pointwise, "{x} * {x} * {x}"},
    {"sqrt", "sqrt|square root|root", Pointwise, "torch.sqrt({x})"},
    {"rsqrt", "rsqrt|reciprocal square root|inverse square root|reciprocal sqrt|inverse sqrt", Pointwise,
     "torch.rsqrt({x})"},
    {"reciprocal", "reciprocal|inverse|one over|multiplicative inverse", Pointwise, "1.0 / {x}"},
    {"exp", "exp|exponential|exponentials|exponentiate|exponentiated|e to the|e to the power of", Pointwise,
     "torch.exp({x})"},
    {"exp2", "exp2|two to the|base 2 exponential", Pointwise, "torch.exp2({x})"},
    {"expm1", "expm1|exp minus one|exponential minus one", Pointwise, "torch.expm1({x})"},
    {"log", "log|ln|natural log|natural logarithm|logarithm|log base e", Pointwise, "torch.log({x})"},
    {"log10", "log10|base 10 log|base 10 logarithm|log base 10|decimal logarithm|common logarithm", Pointwise,
     "torch.log({x}) / 2.302585092994046"},
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
    {"round", "round|round to nearest|rounding|round to nearest integer|nearest integer", Pointwise,
     "torch.round({x})"},
    {"trunc", "trunc|truncate|truncation", Pointwise, "torch.trunc({x})"},
    {"sinc", "sinc", Pointwise, "torch.sinc({x})"},
    {"logit", "logit|inverse sigmoid|log odds", Pointwise, "torch.log({x} / (1.0 - {x}))"},
    {"frac", "frac|fractional part", Pointwise, "{x} - torch.trunc({x})"},
    {"power", "power function|raise to the power of|raise to the power|raise to", Pointwise,
     "torch.pow({x}, {exponent})", "exponent!"},
    {"degrees", "rad2deg|radians to degrees|convert radians to degrees", Pointwise, "{x} * 57.29577951308232"},
    {"radians", "deg2rad|degrees to radians|convert degrees to radians", Pointwise, "{x} * 0.017453292519943295"},
    {"norm_cdf", "gaussian cdf|normal cdf|standard normal cdf|cumulative distribution function of the standard normal",
     Pointwise, "0.5 * (1.0 + torch.erf({x} * 0.7071067811865476))"},
    {"where", "where|select", Table, "torch.where({x}, {y}, {z})"},
    // ---- activations ----
    {"relu", "relu|rectified linear unit|rectifier|rectified linear|ramp function|positive part", Pointwise,
     "F.relu({x})"},
    {"relu_squared",
     "relu squared|squared relu|relu2|relu square|square relu|relu^2|sqrelu|squared rectified linear unit", Pointwise,
     "torch.square(F.relu({x}))"},
    {"relu6", "relu6|relu 6|relu clipped at 6|relu capped at 6", Pointwise, "F.relu6({x})"},
    {"leaky_relu", "leaky relu|leakyrelu|lrelu|leaky rectified linear unit|leaky rectifier", Pointwise,
     "F.leaky_relu({x}, {slope})", "slope=0.01"},
    {"threshold", "threshold|thresholded|thresholding", Pointwise, "F.threshold({x}, {threshold}, {fill})",
     "threshold! fill=0.0"},
    {"thresholded_relu", "thresholded relu|threshold relu", Pointwise, "F.threshold({x}, {threshold}, 0.0)",
     "threshold!"},
    {"shifted_softplus", "shifted softplus", Pointwise, "F.softplus({x}) - 0.6931471805599453"},
    {"cap", "cap|capped", Pointwise, "torch.clamp({x}, max={cap})", "cap!"},
    {"relu_capped", "capped relu|clipped relu|bounded relu", Pointwise, "torch.clamp({x}, 0.0, {cap})", "cap!"},
    {"laplace", "laplace activation", Pointwise,
     "0.5 * (1.0 + torch.erf(({x} - 0.707107) / (0.282095 * 1.4142135623730951)))"},
    {"phish", "phish", Pointwise, "{x} * torch.tanh(F.gelu({x}))"},
    {"serf", "serf", Pointwise, "{x} * torch.erf(F.softplus({x}))"},
    {"logish", "logish", Pointwise, "{x} * torch.log1p(torch.sigmoid({x}))"},
    {"tanh_scaled", "lecun tanh|scaled tanh of lecun", Pointwise, "1.7159 * torch.tanh(0.6666666666666666 * {x})"},
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
    {"silu", "silu|swish|swish1|sigmoid linear unit|sigmoid weighted linear unit|swish 1", Pointwise, "F.silu({x})",
     "beta=1"},
    {"gelu_erf", "exact gelu|erf gelu|gelu erf|gelu exact|gelu using erf|gaussian error linear unit exact", Pointwise,
     "F.gelu({x})"},
    {"gelu_tanh", "tanh gelu|gelu tanh|approximate gelu|gelu new|gelu approximation|gelu pytorch tanh|fast tanh gelu",
     Pointwise, "F.gelu({x}, approximate='tanh')"},
    {"gelu_quick", "quick gelu|quickgelu|gelu quick|sigmoid gelu|gelu sigmoid approximation|sigmoid approximated gelu",
     Pointwise, "{x} * torch.sigmoid(1.702 * {x})"},
    {"gelu", "gelu|gaussian error linear unit", Pointwise, "", "",
     "tanh approximation:gelu_tanh|tanh approximated:gelu_tanh|tanh approximate:gelu_tanh|tanh "
     "approx:gelu_tanh|tanh:gelu_tanh|"
     "tanh form:gelu_tanh|tanh formula:gelu_tanh|tanh based:gelu_tanh|tanh based approximation:gelu_tanh|approximate = "
     "tanh:gelu_tanh|erf formula:gelu_erf|erf based:gelu_erf|not approximated:gelu_erf|no "
     "approximation:gelu_erf|without approximation:gelu_erf|approximate = none:gelu_erf|gaussian cdf:gelu_erf|tanh "
     "version:gelu_tanh|tanh variant:gelu_tanh|approximate:gelu_tanh|approximation:gelu_tanh|"
     "approximated:gelu_tanh|exact:gelu_erf|exact erf:gelu_erf|exact erf form:gelu_erf|erf:gelu_erf|erf "
     "form:gelu_erf|erf version:gelu_erf|"
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
    {"clamp", "clamp|clip|hard clip|hard clamp|clipped|clamped|bound|clamping|clipping|bounded|limit|restrict",
     Pointwise, "torch.clamp({x}, {min}, {max})", "min! max!"},
    {"soft_cap",
     "soft cap|softcap|soft capping|tanh soft capping|tanh soft cap|tanh softcap|softcapping|logit softcapping|"
     "logit soft capping|logit soft cap|logit softcap|soft capped|softcapped|tanh capping|tanh softcapping|soft clamp",
     Pointwise, "{cap} * torch.tanh({x} / {cap})", "cap!"},
    {"step", "heaviside|heaviside step|step function|unit step", Pointwise, "({x} > 0).to({x}.dtype)"},
    {"gaussian", "gaussian activation|gaussian bump|gaussian function", Pointwise, "torch.exp(-({x} * {x}))"},
    {"bent_identity", "bent identity", Pointwise, "(torch.sqrt({x} * {x} + 1.0) - 1.0) / 2.0 + {x}"},
    {"lisht", "lisht|linearly scaled hyperbolic tangent", Pointwise, "{x} * torch.tanh({x})"},
    {"tanh_exp", "tanhexp|tanh exponential", Pointwise, "{x} * torch.tanh(torch.exp({x}))"},
    {"snake", "snake", Pointwise, "{x} + torch.square(torch.sin({alpha} * {x})) / {alpha}", "alpha=1.0"},
    {"star_relu", "starrelu|star relu", Pointwise, "{s} * torch.square(F.relu({x})) + {b}", "s=0.8944 b=-0.4472"},
    {"dyt", "dyt|dynamic tanh", Table, "torch.tanh({a} * {x}) * {w} + {b}"},
    {"layer_scale", "layerscale|layer scale", Table, "{x} * {w}"},
    // ---- two tensors ----
    {"add", "elementwise sum|elementwise addition|elementwise add|addition|pointwise addition", Pair, "{x} + {y}"},
    {"sub", "elementwise difference|elementwise subtraction|subtraction", Pair, "{x} - {y}"},
    {"mul",
     "hadamard product|elementwise product|elementwise multiplication|elementwise multiply|pointwise product|"
     "pointwise multiplication|element wise product|element wise multiplication|element wise multiply",
     Pair, "{x} * {y}"},
    {"div", "elementwise division|elementwise quotient", Pair, "{x} / {y}"},
    {"maximum",
     "elementwise maximum|elementwise max|pointwise maximum|element wise maximum|element wise max|pointwise max", Pair,
     "torch.maximum({x}, {y})"},
    {"minimum",
     "elementwise minimum|elementwise min|pointwise minimum|element wise minimum|element wise min|pointwise min", Pair,
     "torch.minimum({x}, {y})"},
    {"squared_difference", "squared difference|square difference|elementwise squared error|squared error", Pair,
     "torch.square({x} - {y})", "",
     "no reduction:squared_difference|unreduced:squared_difference|without "
     "reduction:squared_difference|elementwise:squared_difference|mean "
     "reduction:mse|averaged:mse|mean:mse|summed:sse|sum reduction:sse|reduction sum:sse|reduction mean:mse|reduction "
     "none:squared_difference"},
    {"absolute_difference", "absolute difference|elementwise absolute error|absolute error", Pair,
     "torch.abs({x} - {y})", "",
     "no reduction:absolute_difference|unreduced:absolute_difference|without "
     "reduction:absolute_difference|elementwise:absolute_difference|mean reduction:mae|averaged:mae|mean:mae"},
    {"hypot", "hypot|hypotenuse", Pair, "torch.sqrt({x} * {x} + {y} * {y})"},
    {"atan2", "atan2|arctan2|two argument arctangent", Pair, "torch.atan2({x}, {y})"},
    {"pow_two", "pow", Pair, "torch.pow({x}, {y})"},
    {"addcmul", "fused multiply add|multiply add|fma", Pair, "{x} * {y} + {z}"},
    {"logaddexp", "logaddexp|log add exp", Pair,
     "torch.maximum({x}, {y}) + torch.log1p(torch.exp(-torch.abs({x} - {y})))"},
    {"lerp", "lerp|linear interpolation|linearly interpolate", Pair, "{x} + {weight} * ({y} - {x})", "weight!"},
    {"swiglu_two", "swiglu with separate gate|two input swiglu", Pair, "F.silu({x}) * {y}"},
    {"swiglu_halves", "packed swiglu|swiglu over the two halves|swiglu of the halves", Pointwise,
     "F.silu({x}[..., : {x}.shape[-1] // 2]) * {x}[..., {x}.shape[-1] // 2 :]"},
    {"swiglu_halves_gate_last", "packed swiglu with the gate last", Pointwise,
     "{x}[..., : {x}.shape[-1] // 2] * F.silu({x}[..., {x}.shape[-1] // 2 :])"},
    {"swiglu_packed", "swiglu on a packed input|swiglu of a packed input", Pointwise, "", "",
     "gate first:swiglu_halves|first half gate:swiglu_halves|gate last:swiglu_halves_gate_last|second half "
     "gate:swiglu_halves_gate_last",
     "swiglu_halves|swiglu_halves_gate_last"},
    {"swiglu",
     "swiglu|swi glu|silu gated linear unit|swish gated linear unit|swish glu|silu glu|silu gate|silu and mul|silu mul|"
     "silu and multiply",
     Pair, "F.silu({x}) * {y}", "",
     "two halves:swiglu_packed|packed:swiglu_packed|packed input:swiglu_packed|one input split in "
     "half:swiglu_packed|halves of x:swiglu_packed|"
     "halves:swiglu_packed|single input:swiglu_packed|split in half:swiglu_packed|input split in half:swiglu_packed|"
     "last dim split in half:swiglu_packed|concatenated input:swiglu_packed"},
    {"swish_gated", "swish gated product|silu gating|swish gating|silu gated product|swish gated multiplication", Pair,
     "", "", "", "swiglu|swiglu_reversed"},
    {"swiglu_reversed", "swiglu with the gate second", Pair, "{x} * F.silu({y})"},
    {"sigmoid_gated", "sigmoid gated product|sigmoid gating|gated product", Pair, "", "", "",
     "glu_two|glu_two_reversed"},
    {"glu_two_reversed", "sigmoid glu with the gate second", Pair, "{x} * torch.sigmoid({y})"},
    {"relu_gated", "relu gated product|relu gating", Pair, "", "", "", "reglu|reglu_reversed"},
    {"reglu_reversed", "reglu with the gate second", Pair, "{x} * F.relu({y})"},
    {"gelu_gated", "gelu gated product|gelu gating", Pair, "", "", "",
     "geglu_erf|geglu_tanh|geglu_erf_reversed|geglu_tanh_reversed"},
    {"geglu_tanh_reversed", "tanh geglu with the gate second", Pair, "{x} * F.gelu({y}, approximate='tanh')"},
    {"geglu_erf_reversed", "exact geglu with the gate second", Pair, "{x} * F.gelu({y})"},
    {"tanh_gated", "tanh gated product|tanh gating", Pair, "", "", "", "tanh_glu|tanh_glu_reversed"},
    {"tanh_glu", "tanh gated linear unit|tanh glu|tanglu", Pair, "torch.tanh({x}) * {y}"},
    {"tanh_glu_reversed", "tanh glu with the gate second", Pair, "{x} * torch.tanh({y})"},
    {"wavenet_gate",
     "wavenet gated activation|wavenet gate|gated tanh unit|gated tanh activation|wavenet style gated "
     "activation|wavenet gating",
     Pair, "torch.tanh({x}) * torch.sigmoid({y})"},
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
    {"glu_axis", "pytorch glu|torch glu", Along, "F.glu({x}, {dim})"},
    {"glu_halves", "glu over the two halves|glu of the halves|split glu|glu by halves", Pointwise, "F.glu({x}, -1)"},
    {"glu_gate_first", "glu with the gate first|glu gate first", Pointwise,
     "torch.sigmoid({x}[..., : {x}.shape[-1] // 2]) * {x}[..., {x}.shape[-1] // 2 :]"},
    {"glu_dim", "glu along dim|glu over dim|glu across dim|glu on dim|glu dim", Along, "F.glu({x}, {axis})", "axis!"},
    {"glu", "glu|gated linear unit", Pair, "", "",
     "last dimension:glu_axis|last dim:glu_axis|last axis:glu_axis|over last dimension:glu_axis|over last "
     "dim:glu_axis|over last axis:glu_axis|along last dim:glu_axis|along last dimension:glu_axis|along last "
     "axis:glu_axis|along dim -1:glu_axis|along dim - 1:glu_axis|dim = "
     "-1:glu_axis|pytorch:glu_axis|halves:glu_axis|split:glu_axis|sigmoid on second half:glu_axis|sigmoid on first "
     "half:glu_gate_first|gate second:glu_axis|gate first:glu_gate_first|second half gate:glu_axis|first half "
     "gate:glu_gate_first|two inputs:glu_two|two tensors:glu_two|separate gate:glu_two",
     "glu_axis|glu_gate_first|glu_two"},
    {"cosine_similarity", "cosine similarity|cos similarity|cosine sim|cosine similarities|normalized dot product",
     Pair, "F.cosine_similarity({x}, {y}, dim={dim}, eps={eps})", "eps=1e-8"},
    {"cosine_distance", "cosine distance", Pair, "1.0 - F.cosine_similarity({x}, {y}, dim={dim}, eps={eps})",
     "eps=1e-8"},
    {"dot", "row wise dot product|rowwise dot product|batched dot product|dot product|inner product|scalar product",
     Pair, "({x} * {y}).sum({dim})"},
    {"outer", "outer product", Pair, "{x}.unsqueeze(-1) * {y}.unsqueeze(-2)", "", "", "",
     "x=torch.randn(rows)|y=torch.randn(cols)"},
    {"matmul",
     "matrix product|matrix multiplication|matmul|matrix multiply|gemm|multiply matrices|matrix matrix product|batched "
     "matmul|"
     "batch matrix multiply|bmm|batched matrix multiplication|batched matrix product|batch matmul",
     Pair, "{x} @ {y}", "", "", "", "y=torch.randn(cols, out)"},
    {"euclidean_distance",
     "euclidean distance|l2 distance|pairwise euclidean distance|pairwise distance|pairwise l2 distance", Pair,
     "torch.sqrt(torch.square({x} - {y}).sum({dim}))"},
    {"manhattan_distance", "manhattan distance|l1 distance|taxicab distance", Pair, "torch.abs({x} - {y}).sum({dim})"},
    {"squared_euclidean_distance", "squared euclidean distance|squared l2 distance", Pair,
     "torch.square({x} - {y}).sum({dim})"},
};

}  // namespace

std::span<const WordEntry> functions_lexicon() { return kFunctions; }

}  // namespace kw::understand
