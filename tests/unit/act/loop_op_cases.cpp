#include "loop_cases.h"

namespace kw::act::test {
namespace {

// One of each kind: usual, primes, ones, no rows, nothing to reduce.
std::vector<Sizes> two(const std::string& a, const std::string& b) {
  return {{{a, 4}, {b, 6}}, {{a, 7}, {b, 13}}, {{a, 1}, {b, 1}}, {{a, 1}, {b, 5}},
          {{a, 3}, {b, 1}}, {{a, 0}, {b, 5}},  {{a, 3}, {b, 0}}};
}
std::vector<Sizes> three(const std::string& a, const std::string& b, const std::string& c) {
  return {{{a, 2}, {b, 3}, {c, 4}}, {{a, 5}, {b, 2}, {c, 7}}, {{a, 1}, {b, 1}, {c, 1}},
          {{a, 1}, {b, 3}, {c, 1}}, {{a, 2}, {b, 0}, {c, 3}}, {{a, 2}, {b, 2}, {c, 0}}};
}

std::vector<LoopCase> make_cases() {
  std::vector<LoopCase> cases;
  auto add = [&](const std::string& name, const std::string& text, std::vector<Sizes> sizes) {
    cases.push_back({name, text, std::move(sizes)});
  };
  // ---- tier 1 ----
  add("relu_squared", R"(op relu_squared(x: T[batch, seq, cols])
  r = max(x, 0)
  y = r * r
return y
)",
      three("batch", "seq", "cols"));
  add("silu", R"(op silu(x: T[rows, cols])
  h = f32(x)
  y = T(h * sigmoid(h))
return y
)",
      two("rows", "cols"));
  add("gelu_erf", R"(op gelu_erf(x: T[rows, cols])
  h = f32(x)
  y = T(h * 0.5 * (1.0 + erf(h * 0.7071067811865476)))
return y
)",
      two("rows", "cols"));
  add("gelu_tanh", R"(op gelu_tanh(x: T[rows, cols])
  h = f32(x)
  y = T(0.5 * h * (1.0 + tanh(0.7978845608028654 * (h + 0.044715 * h^3))))
return y
)",
      two("rows", "cols"));
  add("swiglu", R"(op swiglu(gate: T[batch, seq, width], up: T[batch, seq, width])
  g = f32(gate)
  y = T(g * sigmoid(g)) * up
return y
)",
      three("batch", "seq", "width"));
  add("swiglu_packed", R"(op swiglu_packed(x: T[rows, both = 2*half])
  sizes half
  gate = f32(slice(x, both -> half = half))
  up   = slice(x, both -> half, start = half)
  y    = T(gate * sigmoid(gate)) * up
return y
)",
      two("rows", "half"));
  add("geglu", R"(op geglu(x: T[rows, both])
  where both % 2 == 0
  gate = f32(slice(x, both -> half = both//2))
  up   = slice(x, both -> half, start = both//2)
  y    = T(gate * 0.5 * (1.0 + erf(gate * 0.7071067811865476))) * up
return y
)",
      {{{"rows", 3}, {"both", 10}}, {{"rows", 1}, {"both", 2}}, {{"rows", 5}, {"both", 0}}});
  add("softplus", R"(op softplus(x: T[rows, cols]; beta = 1.0, threshold = 20.0)
  h = f32(x) * beta
  y = T(select(h > threshold, f32(x), log1p(exp(h)) / beta))
return y
)",
      two("rows", "cols"));
  add("mish", R"(op mish(x: T[rows, cols])
  h = f32(x)
  y = T(h * tanh(log1p(exp(h))))
return y
)",
      two("rows", "cols"));
  add("hardswish", R"(op hardswish(x: T[rows, cols])
  h = f32(x)
  y = T(h * min(max(h + 3, 0), 6) / 6)
return y
)",
      two("rows", "cols"));
  add("dyt",
      R"(op dyt(x: T[batch, seq, cols], alpha: parameter W[1], weight: parameter W[cols], bias: parameter W[cols])
  types T = bf16, W = f32
  y = tanh(alpha * x) * weight + bias
return y
)",
      three("batch", "seq", "cols"));
  // ---- tier 2, along rows ----
  add("rms_norm_llama", R"(op rms_norm_llama(x: T[batch, seq, cols], w: parameter W[cols]; eps = 1e-6)
  h    = f32(x)
  ms   = mean(h^2, cols)
  rstd = rsqrt(ms + eps)
  y    = T(h * rstd) * w
return y
)",
      three("batch", "seq", "cols"));
  add("rms_norm_gemma", R"(op rms_norm_gemma(x: T[rows, cols], w: parameter W[cols]; eps = 1e-6)
  h    = f32(x)
  ms   = mean(h^2, cols)
  rstd = rsqrt(ms + eps)
  y    = T(h * rstd * (1.0 + f32(w)))
return y
)",
      two("rows", "cols"));
  add("rms_norm_none", R"(op rms_norm_none(x: T[rows, cols], w: parameter T[cols]; eps = 1e-6)
  ms   = mean(x^2, cols)
  rstd = rsqrt(ms + eps)
  y    = x * rstd * w
return y
)",
      two("rows", "cols"));
  add("rms_norm_mixed", R"(op rms_norm_mixed(x: T[rows, cols], w: parameter W[cols]; eps = 1e-6, offset = 0.0)
  types T = f16, W = f32
  h    = f32(x)
  ms   = mean(h^2, cols)
  rstd = rsqrt(ms + eps)
  y    = T(h * rstd) * (offset + w)
return y
)",
      two("rows", "cols"));
  add("fused_add_rms_norm",
      R"(op fused_add_rms_norm(x: T[rows, cols], residual: T[rows, cols], w: parameter W[cols]; eps = 1e-6)
  sum  = x + residual
  h    = f32(sum)
  rstd = rsqrt(mean(h^2, cols) + eps)
  y    = T(h * rstd) * w
return y, sum
)",
      two("rows", "cols"));
  add("layer_norm", R"(op layer_norm(x: T[batch, seq, cols], w: parameter W[cols], b: parameter W[cols]; eps = 1e-5)
  h       = f32(x)
  mean    = mean(h, cols)
  centred = h - mean
  var     = mean(centred^2, cols)
  rstd    = rsqrt(var + eps)
  y       = T(centred * rstd * f32(w) + f32(b))
return y
)",
      three("batch", "seq", "cols"));
  add("softmax", R"(op softmax(x: T[rows, cols])
  h = f32(x)
  e = exp(h - stop_gradient(reduce_max(h, cols)))
  y = T(e / sum(e, cols))
return y
)",
      two("rows", "cols"));
  add("log_softmax", R"(op log_softmax(x: T[rows, cols])
  h = f32(x)
  y = T(h - logsumexp(h, cols))
return y
)",
      two("rows", "cols"));
  add("l2_normalize", R"(op l2_normalize(x: T[rows, cols]; eps = 1e-12)
  norm = T(sqrt(sum(f32(x)^2, cols)))
  y    = x / max(norm, eps)
return y
)",
      two("rows", "cols"));
  add("poly_norm", R"(op poly_norm(x: T[rows, cols], weight: parameter W[three = 3], bias: parameter W[1]; eps = 1e-6)
  h  = f32(x)
  a  = h^3
  b  = h^2
  w0 = sum(slice(f32(weight), three -> first = 1), first)
  w1 = sum(slice(f32(weight), three -> second = 1, start = 1), second)
  w2 = sum(slice(f32(weight), three -> third = 1, start = 2), third)
  y  = T(w0 * (a * rsqrt(mean(a^2, cols) + eps)) + w1 * (b * rsqrt(mean(b^2, cols) + eps))
         + w2 * (h * rsqrt(mean(h^2, cols) + eps)) + f32(bias))
return y
)",
      two("rows", "cols"));
  // ---- tier 2, other groups ----
  add("group_norm", R"(op group_norm(x: T[n, c, h, w], weight: parameter W[c], bias: parameter W[c]; eps = 1e-5)
  sizes groups
  where c % groups == 0
  g       = split(f32(x), c -> (group = groups, k = c//groups))
  mean    = mean(g, k, h, w)
  centred = g - mean
  rstd    = rsqrt(mean(centred^2, k, h, w) + eps)
  y       = T(merge(centred * rstd, (group, k) -> c) * f32(weight) + f32(bias))
return y
)",
      {{{"n", 2}, {"c", 6}, {"h", 3}, {"w", 2}, {"groups", 3}},
       {{"n", 3}, {"c", 5}, {"h", 1}, {"w", 7}, {"groups", 1}},
       {{"n", 1}, {"c", 4}, {"h", 2}, {"w", 2}, {"groups", 4}},
       {{"n", 2}, {"c", 4}, {"h", 0}, {"w", 2}, {"groups", 2}}});
  add("instance_norm", R"(op instance_norm(x: T[n, c, h, w]; eps = 1e-5)
  f       = f32(x)
  mean    = mean(f, h, w)
  centred = f - mean
  y       = T(centred * rsqrt(mean(centred^2, h, w) + eps))
return y
)",
      {{{"n", 2}, {"c", 3}, {"h", 4}, {"w", 5}}, {{"n", 1}, {"c", 1}, {"h", 7}, {"w", 1}}});
  add("batch_norm", R"(op batch_norm(x: T[n, c, h, w], weight: parameter f32[c], bias: parameter f32[c],
              running_mean: buffer f32[c]; eps = 1e-5, momentum = 0.1)
  f        = f32(x)
  mean     = mean(f, n, h, w)
  centred  = f - mean
  var      = mean(centred^2, n, h, w)
  y        = T(centred * rsqrt(var + eps) * weight + bias)
  new_mean = (1 - momentum) * running_mean + momentum * mean
return y, new_mean updates running_mean
)",
      {{{"n", 2}, {"c", 3}, {"h", 4}, {"w", 5}},
       {{"n", 3}, {"c", 1}, {"h", 1}, {"w", 1}},
       {{"n", 0}, {"c", 2}, {"h", 3}, {"w", 1}}});
  add("mean_middle", R"(op mean_middle(x: T[batch, seq, cols])
  y = T(mean(f32(x), seq))
return y
)",
      three("batch", "seq", "cols"));
  add("frobenius", R"(op frobenius(x: f32[batch, seq, cols])
  norm = sqrt(sum(x^2, batch, seq, cols))
  y    = x / norm
return y
)",
      three("batch", "seq", "cols"));
  // ---- losses ----
  add("mse", R"(op mse(pred: T[rows, cols], target: no_grad T[rows, cols])
  types T = f32
  loss = mean((pred - target)^2, rows, cols)
return loss
)",
      two("rows", "cols"));
  add("huber", R"(op huber(pred: f32[rows, cols], target: no_grad f32[rows, cols]; delta = 1.0)
  d    = abs(pred - target)
  loss = mean(select(d < delta, 0.5 * d^2, delta * (d - 0.5 * delta)), rows, cols)
return loss
)",
      two("rows", "cols"));
  add("hinge", R"(op hinge(pred: f32[rows, cols], target: no_grad f32[rows, cols])
  loss = mean(max(1.0 - pred * target, 0.0), rows, cols)
return loss
)",
      two("rows", "cols"));
  add("kl_div", R"(op kl_div(log_pred: f32[tokens, vocab], target: no_grad f32[tokens, vocab])
  p    = abs(target) + 0.5
  loss = sum(p * (log(p) - log_pred), tokens, vocab) / size(tokens)
return loss
)",
      two("tokens", "vocab"));
  add("jsd", R"(op jsd(log_student: f32[tokens, vocab], log_teacher: f32[tokens, vocab]; beta = 0.5)
  student     = exp(log_student)
  teacher     = exp(log_teacher)
  log_mixture = log(beta * teacher + (1.0 - beta) * student)
  teacher_kl  = sum(teacher * (log_teacher - log_mixture), vocab)
  student_kl  = sum(student * (log_student - log_mixture), vocab)
  loss        = mean(beta * teacher_kl + (1.0 - beta) * student_kl, tokens)
return loss
)",
      two("tokens", "vocab"));
  add("tvd", R"(op tvd(p: f32[tokens, vocab], q: f32[tokens, vocab])
  loss = 0.5 * mean(sum(abs(p - q), vocab), tokens)
return loss
)",
      two("tokens", "vocab"));
  return cases;
}

}  // namespace

const std::vector<LoopCase>& op_cases() {
  static const std::vector<LoopCase> cases = make_cases();
  return cases;
}

}  // namespace kw::act::test
