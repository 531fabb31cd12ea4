// What goes along an axis: scans, reductions and norms.
#include "understand/words/lexicon.h"

namespace kw::understand {
namespace {

using enum WordForm;

constexpr WordEntry kAxes[] = {
    // ---- along an axis ----
    {"softmax", "softmax|soft max|normalized exponential|softargmax|temperature softmax|temperature scaled softmax",
     Along, "F.softmax({x} * {scale} / {temperature}, dim={dim})", "temperature=1 scale=1"},
    {"log_softmax", "log softmax|logsoftmax", Along, "F.log_softmax({x} / {temperature}, dim={dim})", "temperature=1"},
    {"causal_softmax", "causal softmax|causally masked softmax|masked causal softmax", Pointwise,
     "F.softmax({x}.masked_fill(torch.ones({x}.shape[-2], {x}.shape[-1], dtype=torch.bool).triu(1), float('-inf')), "
     "dim=-1)"},
    {"softmax_plus_one", "softmax plus one|softmax1|softmax one|quiet softmax", Along,
     "torch.exp({x}) / (1.0 + torch.exp({x}).sum({dim}, keepdim=True))"},
    {"softmin", "softmin|soft min", Along, "F.softmin({x} / {temperature}, dim={dim})", "temperature=1"},
    {"cumsum", "cumsum|cumulative sum|running sum|prefix sum|inclusive scan|inclusive prefix sum|running total", Along,
     "torch.cumsum({x}, dim={dim})"},
    {"cumprod", "cumprod|cumulative product|running product|prefix product", Along, "torch.cumprod({x}, dim={dim})"},
    {"cummax", "cummax|cumulative max|cumulative maximum|running max|running maximum|prefix max|prefix maximum", Along,
     "torch.cummax({x}, dim={dim}).values"},
    {"cummin", "cummin|cumulative min|cumulative minimum|running min|running minimum|prefix min|prefix minimum", Along,
     "torch.cummin({x}, dim={dim}).values"},
    {"logcumsumexp",
     "logcumsumexp|log cumulative sum exp|cumulative logsumexp|running logsumexp|cumulative log sum exp", Along,
     "torch.logcumsumexp({x}, dim={dim})"},
    {"exclusive_cumsum",
     "exclusive cumulative sum|exclusive cumsum|exclusive prefix sum|exclusive scan|exclusive running sum", Along,
     "torch.cumsum({x}, dim={dim}) - {x}"},
    {"flip", "flip|reverse|flipped|reversed", Along, "torch.flip({x}, [{dim}])"},
    {"sort", "sort|sorted|sort ascending|sort in ascending order", Along, "torch.sort({x}, dim={dim}).values"},
    {"max_normalize",
     "divide by the maximum absolute value|normalize by the maximum absolute value|absmax normalization|absmax "
     "scaling|normalize by absmax",
     Along, "{x} / torch.abs({x}).amax({dim}, keepdim=True)"},
    {"reverse_cumsum",
     "reverse cumulative sum|reverse cumsum|reversed cumulative sum|suffix sum|cumulative sum from the right|"
     "cumulative sum in reverse",
     Along, "torch.flip(torch.cumsum(torch.flip({x}, [{dim}]), dim={dim}), [{dim}])"},
    {"l2_normalize",
     "l2 normalize|l2 normalization|l2 norm normalization|unit normalize|unit norm|"
     "normalize to unit length|normalize to unit norm|normalize to unit l2 norm|unit length normalization|unit vector "
     "normalization|"
     "l2 normalized",
     Along, "F.normalize({x}, p=2.0, dim={dim}, eps={eps})", "eps=1e-12"},
    {"l1_normalize", "l1 normalize|l1 normalization|normalize to unit l1 norm", Along,
     "F.normalize({x}, p=1.0, dim={dim}, eps={eps})", "eps=1e-12"},
    {"standardize",
     "standardize|standardization|z score|zscore|z score normalization|zero mean and unit variance|"
     "zero mean unit variance|zero mean unit variance normalization|zero mean and unit variance normalization",
     Along, "({x} - {x}.mean({dim}, keepdim=True)) * torch.rsqrt({x}.var({dim}, correction=0, keepdim=True) + {eps})",
     "eps=1e-5"},
    {"center", "center|mean centering|subtract the mean|mean subtraction|remove the mean|centering|mean center", Along,
     "{x} - {x}.mean({dim}, keepdim=True)"},
    {"min_max_scale", "min max normalization|min max normalize|min max scaling|minmax scaling|min max rescaling", Along,
     "({x} - {x}.amin({dim}, keepdim=True)) / ({x}.amax({dim}, keepdim=True) - {x}.amin({dim}, keepdim=True))"},
    {"sum_normalize",
     "divide by the sum|divide by its sum|normalize by the sum|normalize to sum to one|sum to one normalization", Along,
     "{x} / {x}.sum({dim}, keepdim=True)"},
    {"layer_norm_plain", "normalize to zero mean and unit variance|layer normalize", Along,
     "({x} - {x}.mean({dim}, keepdim=True)) * torch.rsqrt({x}.var({dim}, correction=0, keepdim=True) + {eps})",
     "eps=1e-5"},
    {"rms_normalize",
     "rms normalize|root mean square normalize|normalize by root mean square|divide by the rms|divide by its "
     "rms|divide by the root mean square|normalize by the rms|normalize "
     "by its rms|normalize to unit rms",
     Along, "{x} * torch.rsqrt({x}.pow(2).mean({dim}, keepdim=True) + {eps})", "eps=1e-6"},
    {"normalize", "normalize|normalization|normalized", Along, "", "",
     "l2:l2_normalize|l1:l1_normalize|unit length:l2_normalize|unit norm:l2_normalize|to unit norm:l2_normalize|to "
     "unit length:l2_normalize|"
     "to unit l2 norm:l2_normalize|to sum to one:sum_normalize|to sum to 1:sum_normalize|to sum one:sum_normalize|to "
     "zero mean and unit variance:layer_norm_plain|"
     "by its l2 norm:l2_normalize|by l2 norm:l2_normalize|by l1 norm:l1_normalize|by sum:sum_normalize|by its "
     "sum:sum_normalize|p = 2:l2_normalize|p = 1:l1_normalize",
     "l2_normalize|layer_norm_plain|rms_normalize|l1_normalize|min_max_scale|sum_normalize|softmax"},
    // ---- reductions ----
    {"sum",
     "sum|summation|total sum|total|reduce sum|sum reduction|add up|summed|sum up|sum all|reduce by summing|sum "
     "pooling|sum "
     "pool|sums",
     Reduction, "{x}.sum({dim})"},
    {"row_sum", "row sum|row sums", Reduction, "{x}.sum(-1{keep})"},
    {"column_sum", "column sum|column sums", Reduction, "{x}.sum(0{keep})"},
    {"mean",
     "mean|average|arithmetic mean|avg|reduce mean|mean pooling|average pooling|mean pool|averaged|average pool|mean "
     "reduction|means",
     Reduction, "{x}.mean({dim})"},
    {"row_mean", "row mean|row means|row average", Reduction, "{x}.mean(-1{keep})"},
    {"column_mean", "column mean|column means|column average", Reduction, "{x}.mean(0{keep})"},
    {"prod", "prod|product|reduce product", Reduction, "{x}.prod({dim})"},
    {"amax",
     "max|maximum|reduce max|largest value|amax|maximum value|max reduction|largest element|max value|max pool|maximum "
     "element|biggest value|maxima",
     Reduction, "{x}.amax({dim})"},
    {"row_max", "row max|row maximum|row maxima", Reduction, "{x}.amax(-1{keep})"},
    {"column_max", "column max|column maximum|column maxima", Reduction, "{x}.amax(0{keep})"},
    {"amin",
     "min|minimum|reduce min|smallest value|amin|minimum value|min reduction|smallest element|min value|minimum "
     "element|minima",
     Reduction, "{x}.amin({dim})"},
    {"row_min", "row min|row minimum", Reduction, "{x}.amin(-1{keep})"},
    {"argmax",
     "argmax|arg max|index of the maximum|index of the largest value|index of the largest element|position of the "
     "maximum|index of the max|index of maximum value",
     Reduction, "{x}.argmax({dim})"},
    {"argmin",
     "argmin|arg min|index of the minimum|index of the smallest value|index of the smallest element|position of the "
     "minimum|index of the min|index of minimum value",
     Reduction, "{x}.argmin({dim})"},
    {"logsumexp",
     "logsumexp|log sum exp|log sum of exponentials|log of sum of exps|log of sum of exp|log of summed "
     "exponentials|log sum exponential|log of the sum of exponentials|log of sum of exponentials|lse",
     Reduction, "torch.logsumexp({x}, {dim})"},
    {"var_biased", "population variance|biased variance|variance without correction|variance with correction 0",
     Reduction, "{x}.var({dim}, correction=0)"},
    {"var_unbiased",
     "sample variance|unbiased variance|variance with bessel correction|variance with bessel's correction", Reduction,
     "{x}.var({dim}, correction=1)"},
    {"variance", "variance|var", Reduction, "", "",
     "biased:var_biased|population:var_biased|unbiased:var_unbiased|bessel correction:var_unbiased|bessel's "
     "correction:var_unbiased|"
     "sample:var_unbiased|no bessel correction:var_biased|without bessel correction:var_biased|without bessel's "
     "correction:var_biased|no correction:var_biased|correction 0:var_biased|correction 1:var_unbiased|correction = "
     "0:var_biased|correction = 1:var_unbiased|unbiased = false:var_biased|unbiased = true:var_unbiased|zero "
     "correction:var_biased|n - 1:var_unbiased|division by n - 1:var_unbiased|division by n:var_biased",
     "var_biased|var_unbiased"},
    {"std_biased",
     "population standard deviation|biased standard deviation|population std|biased std|std without "
     "correction|standard deviation without correction",
     Reduction, "torch.sqrt({x}.var({dim}, correction=0))"},
    {"std_unbiased", "sample standard deviation|unbiased standard deviation|sample std|unbiased std", Reduction,
     "torch.sqrt({x}.var({dim}, correction=1))"},
    {"standard_deviation", "standard deviation|std|stddev|std dev|std deviation", Reduction, "", "",
     "biased:std_biased|population:std_biased|unbiased:std_unbiased|bessel correction:std_unbiased|bessel's "
     "correction:std_unbiased|"
     "sample:std_unbiased|no bessel correction:std_biased|without bessel correction:std_biased|without bessel's "
     "correction:std_biased|"
     "no correction:std_biased|correction 0:std_biased|correction 1:std_unbiased|correction = 0:std_biased|correction "
     "= 1:std_unbiased|"
     "unbiased = false:std_biased|unbiased = true:std_unbiased",
     "std_biased|std_unbiased"},
    {"l2_norm", "l2 norm|euclidean norm|two norm|2 norm|frobenius norm|euclidean length|vector length", Reduction,
     "torch.sqrt(torch.square({x}).sum({dim}))"},
    {"l1_norm",
     "l1 norm|one norm|1 norm|taxicab norm|sum of absolute values|manhattan norm|sum of magnitudes|sum of absolutes",
     Reduction, "torch.abs({x}).sum({dim})"},
    {"linf_norm",
     "infinity norm|linf norm|l infinity norm|max norm|maximum absolute value|absmax|max abs|largest absolute "
     "value|abs max|max absolute value|maximum magnitude|largest magnitude|max of absolute values|maximum of absolute "
     "values|max magnitude|maximum of the absolute value",
     Reduction, "torch.abs({x}).amax({dim})"},
    {"p_norm", "p norm|lp norm", Reduction, "torch.pow(torch.pow(torch.abs({x}), {p}).sum({dim}), 1.0 / {p})", "p!"},
    {"l3_norm", "l3 norm|3 norm|cubic norm", Reduction,
     "torch.pow(torch.pow(torch.abs({x}), 3.0).sum({dim}), 1.0 / 3.0)"},
    {"l0_norm",
     "count nonzero|number of nonzeros|number of nonzero elements|number of non zero elements|count of nonzeros|count "
     "nonzeros|count non zeros|count of nonzero elements|l0 norm",
     Reduction, "({x} != 0).sum({dim})"},
    {"range",
     "range of values|peak to peak|ptp|max minus min|maximum minus minimum|difference between max and min|value range",
     Reduction, "{x}.amax({dim}) - {x}.amin({dim})"},
    {"midrange", "midrange", Reduction, "0.5 * ({x}.amax({dim}) + {x}.amin({dim}))"},
    {"geometric_mean", "geometric mean", Reduction, "torch.exp(torch.log({x}).mean({dim}))"},
    {"harmonic_mean", "harmonic mean", Reduction, "1.0 / (1.0 / {x}).mean({dim})"},
    {"mean_absolute",
     "mean absolute value|mean of absolute values|average absolute value|mean magnitude|mean abs|average "
     "magnitude|mean of the absolute value",
     Reduction, "torch.abs({x}).mean({dim})"},
    {"log_mean_exp", "log mean exp|logmeanexp", Reduction, "torch.log(torch.exp({x}).mean({dim}))"},
    {"norm", "norm|vector norm", Reduction, "", "",
     "l2:l2_norm|l1:l1_norm|euclidean:l2_norm|infinity:linf_norm|p = 2:l2_norm|p = 1:l1_norm|p 2:l2_norm|p "
     "1:l1_norm|ord = 2:l2_norm|ord = 1:l1_norm",
     "l2_norm|l1_norm|linf_norm|layer_norm|rms_norm"},
    {"rms", "rms|root mean square|root mean square value|quadratic mean", Reduction,
     "torch.sqrt(torch.square({x}).mean({dim}))"},
    {"mean_square",
     "mean square|mean of squares|average of squares|mean squared value|mean of squared values|average square|mean "
     "squares|second moment|mean of squared elements",
     Reduction, "torch.square({x}).mean({dim})"},
    {"sum_of_squares",
     "sum of squares|sum the squares|sum squares|squared l2 norm|squared norm|sum of squared values|sum of squared "
     "elements|squared euclidean "
     "norm|squared two norm|energy",
     Reduction, "torch.square({x}).sum({dim})"},
    {"entropy",
     "shannon entropy|entropy of a probability distribution|entropy of probabilities|entropy of a distribution given "
     "as probabilities|entropy of probability vector",
     Reduction, "-({x} * torch.log({x})).sum({dim})"},
    // ---- norms ----
    {"rms_norm",
     "rmsnorm|rms norm|rms normalization|root mean square norm|root mean square normalization|"
     "root mean square layer normalization|root mean square layer norm|rms layer norm|root mean "
     "square layernorm|rms layernorm",
     Norm, "{w} * ({x}.float() * torch.rsqrt({x}.float().pow(2).mean(-1, keepdim=True) + {eps})).to({x}.dtype)",
     "eps=1e-6 offset=0",
     "llama casting:rms_norm_llama|llama style:rms_norm_llama|llama:rms_norm_llama|as in llama:rms_norm_llama|gemma "
     "casting:rms_norm_gemma|gemma style:rms_norm_gemma|"
     "gemma:rms_norm_gemma|as in gemma:rms_norm_gemma|weight stored offset from one:rms_norm_gemma|weight stored "
     "offset from 1:rms_norm_gemma|"
     "zero centered weight:rms_norm_gemma|zero centered gamma:rms_norm_gemma|zero centered scale:rms_norm_gemma|t5 "
     "style:rms_norm_llama"},
    {"rms_norm_llama", "llama norm|llama rmsnorm|llama rms norm|t5 norm|t5 layer norm|t5 rmsnorm", Norm,
     "{w} * ({x}.float() * torch.rsqrt({x}.float().pow(2).mean(-1, keepdim=True) + {eps})).to({x}.dtype)", "eps=1e-6"},
    {"rms_norm_gemma",
     "gemma rmsnorm|gemma rms norm|gemma norm|gemma style rmsnorm|gemma style rms norm|gemma rms normalization", Norm,
     "({x}.float() * torch.rsqrt({x}.float().pow(2).mean(-1, keepdim=True) + {eps}) * ({w}.float() + "
     "{offset})).to({x}.dtype)",
     "eps=1e-6 offset=1",
     "weight stored offset from one:rms_norm_gemma|weight stored offset from 1:rms_norm_gemma|weight stored minus "
     "one:rms_norm_gemma|gemma casting:rms_norm_gemma|gemma:rms_norm_gemma|"
     "zero centered weight:rms_norm_gemma"},
    {"layer_norm", "layernorm|layer norm|layer normalization", Norm,
     "F.layer_norm({x}, ({x}.shape[-1],), {w}, {b}, {eps})", "eps=1e-5"},
    {"group_norm", "groupnorm|group norm|group normalization", Norm, "F.group_norm({x}, {groups}, {w}, {b}, {eps})",
     "groups! eps=1e-5"},
    {"instance_norm",
     "instancenorm|instance norm|instance normalization|instance norm 2d|instancenorm2d|instance norm 1d|2d instance "
     "norm|1d instance norm",
     Norm, "F.instance_norm({x}, None, None, {w}, {b}, True, 0.1, {eps})", "eps=1e-5", "", "",
     "x=torch.randn(batch, cols, height, width)"},
    {"local_response_norm", "local response norm|local response normalization|lrn", Window,
     "F.local_response_norm({x}, {size}, {alpha}, {beta}, {k})", "size! alpha=1e-4 beta=0.75 k=1.0", "", "",
     "x=torch.randn(batch, channels, height, width)"},
    {"batch_norm_inference",
     "batch norm inference|inference batch norm|batch norm eval|batchnorm inference|batchnorm eval|batch norm at test "
     "time|inference mode batch norm|eval mode batch norm|"
     "frozen batch norm|frozen batchnorm",
     Norm, "F.batch_norm({x}, {mean}, {var}, {w}, {b}, False, 0.1, {eps})", "eps=1e-5",
     "running mean and variance:batch_norm_inference|running statistics:batch_norm_inference|running "
     "stats:batch_norm_inference|running mean and var:batch_norm_inference|given running mean and "
     "variance:batch_norm_inference|"
     "running mean , running var:batch_norm_inference|running mean and running var:batch_norm_inference|running mean "
     "and running variance:batch_norm_inference|"
     "mean and variance:batch_norm_inference|mean and var:batch_norm_inference|given mean and "
     "variance:batch_norm_inference|given mean and var:batch_norm_inference|precomputed mean and "
     "variance:batch_norm_inference|stored mean and "
     "variance:batch_norm_inference|eval mode:batch_norm_inference|inference mode:batch_norm_inference"},
    {"batch_norm_training", "training mode batch norm|batch norm training|training batch norm", Norm,
     "F.batch_norm({x}, None, None, {w}, {b}, True, 0.1, {eps})", "eps=1e-5",
     "batch statistics:batch_norm_training|training mode:batch_norm_training"},
    {"batch_norm",
     "batch norm|batchnorm|batch normalization|bn|batchnorm1d|batchnorm2d|batch norm 2d|batch norm 1d|2d batch norm|1d "
     "batch norm",
     Norm, "", "",
     "given mean and variance:batch_norm_inference|given mean and var:batch_norm_inference|mean and variance "
     "given:batch_norm_inference|eval mode:batch_norm_inference|inference mode:batch_norm_inference|evaluation "
     "mode:batch_norm_inference|inference:batch_norm_inference|eval:batch_norm_inference|at "
     "inference:batch_norm_inference|"
     "at inference time:batch_norm_inference|inference time:batch_norm_inference|test "
     "time:batch_norm_inference|running statistics:batch_norm_inference|running stats:batch_norm_inference|"
     "running mean and variance:batch_norm_inference|running mean and var:batch_norm_inference|running mean and "
     "running var:batch_norm_inference|"
     "running mean and running variance:batch_norm_inference|training "
     "mode:batch_norm_training|training:batch_norm_training|batch statistics:batch_norm_training|"
     "current batch statistics:batch_norm_training|batch stats:batch_norm_training",
     "batch_norm_training|batch_norm_inference"},
};

}  // namespace

std::span<const WordEntry> axes_lexicon() { return kAxes; }

}  // namespace kw::understand
