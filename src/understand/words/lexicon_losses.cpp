// Losses, and distances between distributions.
#include "understand/words/lexicon.h"

namespace kw::understand {
namespace {

using enum WordForm;

constexpr WordEntry kLosses[] = {
    // ---- losses: elementwise meaning; the reduction follows ----
    {"mse",
     "mse|mse loss|mean squared error|mean squared error loss|mean square error|squared error loss|l2 loss|mean square "
     "error loss|quadratic loss|squared loss|mean squared loss|squared l2 loss|mean squared difference|average squared "
     "difference",
     Loss, "torch.square({x} - {y})"},
    {"sse",
     "sum of squared errors|sum squared error|sse|sum of squared differences|residual sum of squares|sum of squared "
     "error",
     Pair, "torch.square({x} - {y}).sum()"},
    {"rmse", "rmse|root mean squared error|root mean square error|rmse loss", Pair,
     "torch.sqrt(torch.square({x} - {y}).mean())"},
    {"mae",
     "mae|l1 loss|mean absolute error|mean absolute error loss|absolute error loss|mae loss|mean absolute "
     "difference|average absolute error|average absolute difference",
     Loss, "torch.abs({x} - {y})"},
    {"mape", "mape|mean absolute percentage error", Loss, "torch.abs(({y} - {x}) / {y})"},
    {"msle", "msle|mean squared logarithmic error|mean squared log error", Loss,
     "torch.square(torch.log1p({x}) - torch.log1p({y}))"},
    {"huber", "huber|huber loss", Loss, "F.huber_loss({x}, {y}, reduction='{reduction}', delta={delta})", "delta=1.0"},
    {"smooth_l1", "smooth l1|smooth l1 loss|smooth mae|smoothed l1 loss", Loss,
     "F.smooth_l1_loss({x}, {y}, reduction='{reduction}', beta={transition})", "transition=1.0"},
    {"charbonnier", "charbonnier|charbonnier loss|pseudo l1 loss", Loss,
     "torch.sqrt(torch.square({x} - {y}) + {eps} * {eps})", "eps=1e-3"},
    {"hinge", "hinge|hinge loss|svm loss|max margin loss|binary hinge loss", Loss,
     "torch.clamp({margin} - {x} * {y}, min=0)", "margin=1"},
    {"squared_hinge", "squared hinge|squared hinge loss|l2 hinge loss", Loss,
     "torch.square(torch.clamp({margin} - {x} * {y}, min=0))", "margin=1"},
    {"log_cosh", "log cosh|logcosh|log cosh loss|logcosh loss|log cosh error|log of cosh loss", Loss,
     "torch.log(torch.cosh({x} - {y}))"},
    {"soft_margin", "soft margin|soft margin loss|logistic loss", Loss,
     "F.soft_margin_loss({x}, {y}, reduction='{reduction}')"},
    {"hinge_embedding", "hinge embedding|hinge embedding loss", Loss,
     "F.hinge_embedding_loss({x}, {y}, margin={margin}, reduction='{reduction}')", "margin=1.0"},
    {"margin_ranking", "margin ranking|margin ranking loss|pairwise ranking loss|ranking loss", Loss,
     "torch.clamp(-{z} * ({x} - {y}) + {margin}, min=0)", "margin=0.0"},
    {"triplet_margin", "triplet margin|triplet margin loss|triplet loss", Loss,
     "F.triplet_margin_loss({x}, {y}, {z}, margin={margin}, p={p}, reduction='{reduction}')", "margin=1.0 p=2.0",
     "anchor , positive and negative:triplet_margin|anchor positive and negative:triplet_margin|anchor , positive , "
     "negative:triplet_margin|anchor , positive , and negative:triplet_margin"},
    {"cosine_embedding", "cosine embedding|cosine embedding loss", Loss,
     "torch.where({z} > 0, 1.0 - F.cosine_similarity({x}, {y}, dim=-1), torch.clamp(F.cosine_similarity({x}, {y}, "
     "dim=-1) - {margin}, min=0))",
     "margin=0.0", "", "", "z=torch.randint(0, 2, (rows,)) * 2 - 1"},
    {"gaussian_nll",
     "gaussian nll|gaussian nll loss|gaussian negative log likelihood|gaussian negative log likelihood loss", Loss,
     "F.gaussian_nll_loss({x}, {y}, {z}, full=False, eps={eps}, reduction='{reduction}')", "eps=1e-6", "", "",
     "z=torch.rand(rows, cols)"},
    {"multilabel_soft_margin", "multilabel soft margin|multilabel soft margin loss|multi label soft margin loss", Loss,
     "-({y} * F.logsigmoid({x}) + (1.0 - {y}) * F.logsigmoid(-{x})).mean(-1)"},
    {"multi_margin",
     "multi margin|multi margin loss|multiclass hinge loss|multi class margin loss|multiclass margin loss|multi class "
     "hinge loss",
     Table, "F.multi_margin_loss({x}, {labels}, margin={margin})", "margin=1.0"},
    {"quantile", "quantile loss|pinball loss", Loss, "torch.maximum({p} * ({y} - {x}), ({p} - 1.0) * ({y} - {x}))",
     "p!"},
    {"dice", "soft dice loss", Pair, "1.0 - 2.0 * ({x} * {y}).sum() / ({x}.sum() + {y}.sum())"},
    {"brier", "brier score", Loss, "torch.square({x} - {y})"},
    {"bce", "bce|binary cross entropy|binary crossentropy|bce loss|binary cross entropy loss|log loss", Loss, "", "",
     "logits:bce_with_logits|from logits:bce_with_logits|probabilities:bce_probabilities|from "
     "probabilities:bce_probabilities|between logits and target:bce_with_logits|between logits and "
     "labels:bce_with_logits|of logits and targets:bce_with_logits|"
     "between probabilities and target:bce_probabilities|between probabilities and labels:bce_probabilities|after "
     "sigmoid:bce_probabilities|"
     "on probabilities:bce_probabilities|of probabilities:bce_probabilities|on logits:bce_with_logits|raw "
     "logits:bce_with_logits|predicted probabilities:bce_probabilities",
     "bce_probabilities|bce_with_logits"},
    {"bce_weighted", "class weighted binary cross entropy with logits", Loss,
     "F.binary_cross_entropy_with_logits({x}, {y}, pos_weight={pos_weight}, reduction='{reduction}')"},
    {"bce_with_logits",
     "bce with logits|binary cross entropy with logits|sigmoid cross entropy|sigmoid binary cross "
     "entropy|bcewithlogits|bcewithlogitsloss|bce logits|logits bce|"
     "bce with logits loss|binary cross entropy with logits loss|logistic regression loss|sigmoid cross entropy with "
     "logits",
     Loss, "F.binary_cross_entropy_with_logits({x}, {y}, reduction='{reduction}')", "",
     "pos weight:bce_weighted|positive weight:bce_weighted|positives weighted by pos weight per "
     "class:bce_weighted|positives weighted by pos weight:bce_weighted|"
     "positive class weight:bce_weighted|per class pos weight:bce_weighted|logits:bce_with_logits"},
    {"bce_probabilities",
     "bce on probabilities|binary cross entropy on probabilities|binary cross entropy of probabilities|"
     "binary cross entropy from probabilities",
     Loss, "F.binary_cross_entropy({x}, {y}, reduction='{reduction}')", "", "", "",
     "x=torch.rand(rows, cols)|y=torch.rand(rows, cols)"},
    {"cross_entropy_weighted", "class weighted cross entropy|weighted cross entropy", Loss,
     "F.cross_entropy({x}, {labels}, weight={class_weight}, ignore_index={ignore}, label_smoothing={smoothing}, "
     "reduction='{reduction}')",
     "smoothing=0.0 ignore=-100",
     "class indices:cross_entropy_weighted|logits:cross_entropy_weighted|from logits:cross_entropy_weighted|integer "
     "labels:cross_entropy_weighted|on logits:cross_entropy_weighted"},
    {"cross_entropy_indices",
     "sparse softmax cross entropy|sparse cross entropy|sparse categorical cross entropy|sparse categorical "
     "crossentropy",
     Loss,
     "F.cross_entropy({x}, {labels}, ignore_index={ignore}, label_smoothing={smoothing}, reduction='{reduction}')",
     "smoothing=0.0 ignore=-100",
     "class weights:cross_entropy_weighted|logits:cross_entropy_indices|from logits:cross_entropy_indices|on "
     "logits:cross_entropy_indices|per class weights:cross_entropy_weighted|"
     "class indices:cross_entropy_indices|integer labels:cross_entropy_indices|integer "
     "targets:cross_entropy_indices|integer class labels:cross_entropy_indices|class labels:cross_entropy_indices|"
     "labels:cross_entropy_indices|targets:cross_entropy_indices|target:cross_entropy_indices|index "
     "targets:cross_entropy_indices|hard labels:cross_entropy_indices"},
    {"cross_entropy_probabilities", "soft label cross entropy|soft target cross entropy|soft cross entropy", Loss,
     "-({y} * F.log_softmax({x}, dim=-1)).sum(-1)", "",
     "logits:cross_entropy_probabilities|from logits:cross_entropy_probabilities|soft "
     "targets:cross_entropy_probabilities|soft labels:cross_entropy_probabilities"},
    {"cross_entropy_of_probabilities", "cross entropy of probabilities with class indices", Loss,
     "F.nll_loss(torch.log({x}), {labels}, reduction='{reduction}')", "",
     "class indices:cross_entropy_of_probabilities|integer labels:cross_entropy_of_probabilities|integer "
     "targets:cross_entropy_of_probabilities|class labels:cross_entropy_of_probabilities|"
     "labels:cross_entropy_of_probabilities|targets:cross_entropy_of_probabilities",
     "", "x=torch.rand(rows, cols)"},
    {"cross_entropy_from_logits",
     "cross entropy with logits|cross entropy from logits|cross entropy on logits|cross entropy loss from logits|cross "
     "entropy loss on logits|softmax cross entropy|softmax cross entropy loss|softmax cross entropy with logits",
     Loss, "", "",
     "class indices:cross_entropy_indices|integer class labels:cross_entropy_indices|class "
     "labels:cross_entropy_indices|integer class targets:cross_entropy_indices|logits:cross_entropy_from_logits|"
     "class index targets:cross_entropy_indices|label indices:cross_entropy_indices|integer "
     "labels:cross_entropy_indices|integer targets:cross_entropy_indices|from logits:cross_entropy_from_logits|"
     "and integer labels:cross_entropy_indices|and class indices:cross_entropy_indices|and "
     "labels:cross_entropy_indices|and target:cross_entropy_indices|and integer targets:cross_entropy_indices|"
     "labels:cross_entropy_indices|target:cross_entropy_indices|targets:cross_entropy_indices|class "
     "targets:cross_entropy_indices|and class labels:cross_entropy_indices|"
     "against labels:cross_entropy_indices|against target:cross_entropy_indices|against integer "
     "labels:cross_entropy_indices|against class indices:cross_entropy_indices|hard labels:cross_entropy_indices|"
     "class weights:cross_entropy_weighted|label smoothing:cross_entropy_smoothed|ignore "
     "index:cross_entropy_ignoring|index targets:cross_entropy_indices|"
     "soft targets:cross_entropy_probabilities|soft labels:cross_entropy_probabilities|probability "
     "targets:cross_entropy_probabilities|one hot targets:cross_entropy_probabilities|one hot "
     "labels:cross_entropy_probabilities|"
     "and soft targets:cross_entropy_probabilities|and soft labels:cross_entropy_probabilities|against soft "
     "targets:cross_entropy_probabilities|and target probabilities:cross_entropy_probabilities",
     "cross_entropy_indices|cross_entropy_probabilities"},
    {"cross_entropy_smoothed",
     "label smoothed cross entropy|label smoothing cross entropy|label smoothed cross entropy loss|label smoothing "
     "loss",
     Loss,
     "F.cross_entropy({x}, {labels}, label_smoothing={smoothing}, ignore_index={ignore}, reduction='{reduction}')",
     "smoothing! ignore=-100",
     "class indices:cross_entropy_smoothed|integer labels:cross_entropy_smoothed|logits:cross_entropy_smoothed|from "
     "logits:cross_entropy_smoothed|labels:cross_entropy_smoothed|targets:cross_entropy_smoothed|"
     "integer class labels:cross_entropy_smoothed|class labels:cross_entropy_smoothed|integer "
     "targets:cross_entropy_smoothed"},
    {"cross_entropy_ignoring", "cross entropy with ignore index", Loss,
     "F.cross_entropy({x}, {labels}, ignore_index={ignore}, label_smoothing={smoothing}, reduction='{reduction}')",
     "ignore! smoothing=0.0",
     "class indices:cross_entropy_ignoring|integer labels:cross_entropy_ignoring|logits:cross_entropy_ignoring|from "
     "logits:cross_entropy_ignoring|labels:cross_entropy_ignoring|targets:cross_entropy_ignoring|"
     "integer class labels:cross_entropy_ignoring|class labels:cross_entropy_ignoring|integer "
     "targets:cross_entropy_ignoring"},
    {"cross_entropy",
     "cross entropy|cross entropy loss|crossentropy|ce loss|categorical cross entropy|categorical "
     "crossentropy|multiclass cross entropy",
     Loss, "", "",
     "from logits:cross_entropy_from_logits|logits:cross_entropy_from_logits|on "
     "logits:cross_entropy_from_logits|between logits:cross_entropy_from_logits|of "
     "logits:cross_entropy_from_logits|from "
     "probabilities:cross_entropy_of_probabilities|probabilities:cross_entropy_of_probabilities|of "
     "probabilities:cross_entropy_of_probabilities|class "
     "indices:cross_entropy_open_indices|integer class labels:cross_entropy_open_indices|class "
     "labels:cross_entropy_open_indices|integer class targets:cross_entropy_open_indices|"
     "class index targets:cross_entropy_open_indices|label indices:cross_entropy_open_indices|integer "
     "labels:cross_entropy_open_indices|integer targets:cross_entropy_open_indices|"
     "label smoothing:cross_entropy_smoothed|ignore index:cross_entropy_ignoring|class weights:cross_entropy_weighted|"
     "soft targets:cross_entropy_probabilities|soft labels:cross_entropy_probabilities|probability "
     "targets:cross_entropy_probabilities",
     "cross_entropy_indices|cross_entropy_of_probabilities|cross_entropy_probabilities"},
    {"cross_entropy_open_indices",
     "cross entropy with class indices|cross entropy with integer targets|cross entropy with integer labels", Loss, "",
     "",
     "from logits:cross_entropy_indices|logits:cross_entropy_indices|on logits:cross_entropy_indices|label "
     "smoothing:cross_entropy_smoothed|ignore index:cross_entropy_ignoring|class weights:cross_entropy_weighted|"
     "probabilities:cross_entropy_of_probabilities|from probabilities:cross_entropy_of_probabilities",
     "cross_entropy_indices|cross_entropy_of_probabilities"},
    {"nll", "negative log likelihood|nll|nll loss|negative log likelihood loss", Loss,
     "F.nll_loss({x}, {labels}, ignore_index={ignore}, reduction='{reduction}')", "ignore=-100",
     "log probabilities:nll|from log probabilities:nll|class indices:nll|integer labels:nll|integer targets:nll|on log "
     "probabilities:nll|labels:nll|targets:nll|log probs:nll|class labels:nll|"
     "given log probabilities:nll|and integer labels:nll|and class indices:nll|and target:nll"},
    {"kl_log_probs", "kl divergence in log space", Loss, "torch.exp({y}) * ({y} - {x})", "",
     "log probabilities:kl_log_probs|log target:kl_log_probs|log input:kl_log_probs"},
    {"kl_probs", "kl divergence from log probabilities to probabilities", Loss, "torch.xlogy({y}, {y}) - {y} * {x}", "",
     "log probabilities:kl_probs|target probabilities:kl_probs|probability target:kl_probs|log input:kl_probs"},
    {"kl_distributions",
     "kl divergence between two probability distributions|kl divergence between probability distributions|"
     "kl divergence of two probability distributions|kl divergence between two distributions|relative entropy",
     Pair, "({x} * (torch.log({x}) - torch.log({y}))).sum({dim})", "", "", "",
     "x=torch.rand(rows, cols)|y=torch.rand(rows, cols)"},
    {"kl_logits",
     "kl divergence between softmax distributions|kl divergence between logits|kl divergence of two sets of logits",
     Pair, "(F.softmax({x}, -1) * (F.log_softmax({x}, -1) - F.log_softmax({y}, -1))).sum(-1)"},
    {"kl_div", "kl divergence|kl div|kldiv|kullback leibler divergence|kl loss|kl divergence loss|kl", Loss, "", "",
     "log probs and target:kl_probs|log probabilities and target:kl_probs|log probs and probs:kl_probs|log "
     "probabilities and target probabilities:kl_probs|"
     "log probs and target probs:kl_probs|log probs and target probabilities:kl_probs|log probs and "
     "targets:kl_probs|log prob and target:kl_probs|log probs and log target:kl_log_probs|"
     "log probabilities and log target:kl_log_probs|log target:kl_log_probs|log targets:kl_log_probs|probability "
     "target:kl_probs|probability targets:kl_probs|log "
     "probabilities and probabilities:kl_probs|"
     "between log probabilities and probabilities:kl_probs|between log probs and probs:kl_probs|between log "
     "probabilities and target probabilities:kl_probs|"
     "of log probabilities and target probabilities:kl_probs|between log probs and target probs:kl_probs|between input "
     "log probabilities and target probabilities:kl_probs|log space target:kl_log_probs|"
     "from log probabilities to target probabilities:kl_probs|of log probabilities against target "
     "probabilities:kl_probs|between log probabilities and target:kl_probs|"
     "between two log probabilities:kl_log_probs|between two probability distributions:kl_distributions|between "
     "probability distributions:kl_distributions|of two distributions:kl_distributions|"
     "two logits:kl_logits|between two logits:kl_logits",
     "kl_probs|kl_log_probs|kl_distributions"},
    {"tvd", "total variation distance|tvd|total variation", Pair, "0.5 * torch.abs({x} - {y}).sum({dim})"},
    {"hellinger", "hellinger distance", Pair,
     "torch.sqrt(torch.square(torch.sqrt({x}) - torch.sqrt({y})).sum({dim})) * 0.7071067811865476"},
    {"z_loss", "z loss|zloss|router z loss|softmax z loss", Pointwise,
     "{coefficient} * torch.square(torch.logsumexp({x}, -1)).mean()", "coefficient=1e-4"},
    {"entropy_of_logits",
     "entropy of categorical distribution given by logits|entropy of softmax|softmax entropy|entropy of softmax over|"
     "entropy of logits|categorical entropy from logits|entropy of softmax distribution|entropy from logits|"
     "entropy of distribution given by logits|entropy of softmax of logits|entropy of softmax of x|entropy given "
     "logits",
     Pointwise, "-(F.softmax({x}, -1) * F.log_softmax({x}, -1)).sum(-1)"},
    {"jsd", "jensen shannon divergence|js divergence|jsd", Pair,
     "0.5 * ({x} * (torch.log({x}) - torch.log(0.5 * ({x} + {y})))).sum({dim}) + 0.5 * ({y} * (torch.log({y}) - "
     "torch.log(0.5 * ({x} + {y})))).sum({dim})"},
    {"poisson_nll_log", "poisson nll with log input", Loss, "torch.exp({x}) - {y} * {x}"},
    {"poisson_nll_rate", "poisson nll of rates", Loss, "{x} - {y} * torch.log({x} + {eps})", "eps=1e-8"},
    {"poisson_nll",
     "poisson nll|poisson negative log likelihood|poisson loss|poisson nll loss|poisson negative log likelihood loss",
     Loss, "torch.exp({x}) - {y} * {x}", "",
     "log input:poisson_nll_log|log rate input:poisson_nll_log|log rates:poisson_nll_log|log input = "
     "true:poisson_nll_log|no log input:poisson_nll_rate|without log input:poisson_nll_rate|log input = "
     "false:poisson_nll_rate|"
     "non log input:poisson_nll_rate|rate input:poisson_nll_rate"},
    {"focal_plain", "plain focal loss|focal loss without alpha|unweighted focal loss", Loss,
     "F.binary_cross_entropy_with_logits({x}, {y}, reduction='none') * torch.pow(1.0 - ({y} * torch.sigmoid({x}) + "
     "(1.0 - {y}) * "
     "(1.0 - torch.sigmoid({x}))), {gamma})",
     "gamma=2.0", "sigmoid logits:focal_plain|logits:focal_plain|binary logits:focal_plain"},
    {"focal_alpha", "alpha balanced focal loss", Loss,
     "({alpha} * {y} + (1.0 - {alpha}) * (1.0 - {y})) * F.binary_cross_entropy_with_logits({x}, {y}, reduction='none') "
     "* "
     "torch.pow(1.0 - ({y} * torch.sigmoid({x}) + (1.0 - {y}) * (1.0 - torch.sigmoid({x}))), {gamma})",
     "gamma=2.0 alpha=0.25", "sigmoid logits:focal_alpha|logits:focal_alpha|binary logits:focal_alpha"},
    {"focal", "focal loss|binary focal loss|sigmoid focal loss", Loss, "", "",
     "sigmoid logits:focal|logits:focal|binary logits:focal|without alpha:focal_plain|no alpha:focal_plain|alpha "
     "balancing:focal_alpha",
     "focal_plain|focal_alpha"},
};

}  // namespace

std::span<const WordEntry> losses_lexicon() { return kLosses; }

}  // namespace kw::understand
