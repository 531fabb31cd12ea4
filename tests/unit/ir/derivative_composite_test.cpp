// Derivatives of whole ops, written as their readers write them: the rules work together.
#include <gtest/gtest.h>

#include "derivative_checker.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"

namespace kw::ir::test {
namespace {

struct Composite {
  const char* text;
  std::map<std::string, std::vector<double>> fixed = {};
};

const Composite kComposites[] = {
    {R"(op cross_entropy(x: T[rows, vocab], target: i64[rows]; ignore_index = -100, smoothing = 0.1, cap = 30.0)
  sizes rows = 4, vocab = 5
  capped = cap * tanh(x / cap)
  lse = logsumexp(capped, vocab)
  counted = target != ignore_index
  picked = gather(capped, select(counted, target, 0), vocab)
  nll = (1 - smoothing) * (lse - picked) + smoothing * (lse - mean(capped, vocab)) + 1e-2 * lse^2
  y = sum(select(counted, nll, 0.0), rows) / sum(counted, rows)
return y)",
     {{"target", {3, -100, 0, 4}}}},
    {R"(op attention(q: T[heads, n, d], k: T[heads, m, d], v: T[heads, m, e])
  sizes heads = 2, n = 3, m = 3, d = 2, e = 2
  scores = contract(q, k, d) / 1.4142135623730951
  masked = select(iota(m) <= iota(n), scores, -inf)
  weights = exp(masked - stop_gradient(reduce_max(masked, m)))
  y = contract(weights / sum(weights, m), v, m)
return y)"},
    {R"(op conv2d(x: T[batch, c, h, w], weight: T[o, c, kh, kw], bias: T[o])
  sizes batch = 2, c = 2, h = 4, w = 4, o = 2, kh = 3, kw = 3
  rows = window(x, 0, h -> (oh, kh), stride = 1, pad = 1)
  both = window(rows, 0, w -> (ow, kw), stride = 2, pad = 1)
  z = contract(both, weight, c, kh, kw) + bias
  y = select(z > 0, z, 0.0)
return y)"},
    {R"(op max_pool(x: T[c, h, w])
  sizes c = 2, h = 5, w = 5
  rows = window(x, -inf, h -> (oh, kh = 3), stride = 2, pad = 1)
  cols = window(rows, -inf, w -> (ow, kw = 3), stride = 2, pad = 1)
  y = reduce_max(cols, kh, kw)
return y)"},
    {R"(op route(x: T[tokens, experts])
  sizes tokens = 3, experts = 5
  p = exp(x - logsumexp(x, experts))
  top = topk(p, experts -> k = 2)
  which = argtopk(p, experts -> k)
  share = top / sum(top, k)
  y = scatter_add(broadcast(T(0.0), tokens, experts), which, share, experts)
return share, y)"},
    {R"(op rope(x: T[rows, cols], angle: T[rows, half = cols//2])
  sizes rows = 2, cols = 4
  a = slice(x, cols -> half)
  b = slice(x, cols -> half, start = cols//2)
  y = concat(a * cos(angle) - b * sin(angle): half, b * cos(angle) + a * sin(angle): half -> cols)
return y)"},
    {R"(op segment_mean(x: T[rows, d], offsets: i64[bounds])
  sizes rows = 6, d = 2, bounds = 4
  n = segment_sum(broadcast(T(1.0), rows), offsets, rows -> runs)
  y = segment_sum(x, offsets, rows -> runs) / max(n, 1)
return y)",
     {{"offsets", {0, 2, 2, 6}}}},
    {R"(op sparsemax(x: T[rows, cols])
  sizes rows = 3, cols = 5
  z = sort(x, cols, descending)
  total = cumsum(z, cols)
  inside = 1 + (iota(cols) + 1) * z > total
  k = sum(inside, cols)
  tau = (sum(select(inside, z, 0.0), cols) - 1) / k
  y = max(x - tau, 0)
return y)"},
    {R"(op group_norm(x: T[batch, c, space], w: T[c], b: T[c]; eps = 1e-5)
  sizes batch = 2, c = 4, space = 3
  where c % 2 == 0
  groups = split(x, c -> (g = 2, k))
  centred = groups - mean(groups, k, space)
  rstd = rsqrt(mean(centred^2, k, space) + eps)
  y = merge(centred * rstd, (g, k) -> c) * w + b
return y)"},
    {R"(op recurrence(a: T[t, d], b: T[t, d])
  sizes t = 5, d = 2
  combine affine(a0: real, b0: real, a1: real, b1: real) from (1, 0)
    a = a0 * a1
    b = a1 * b0 + b1
  return a, b
  h = scan(affine, sigmoid(a), b, t, part = 1)
  y = sum(h^2, t)
return h, y)"},
    {R"(op embedding(table: T[vocab, d], ids: i64[b, s])
  sizes vocab = 4, d = 2, b = 2, s = 3
  y = gather(table, ids, vocab) * 3.0
return y)",
     {{"ids", {3, 0, 3, 1, 1, 2}}}},
};

DerivativeCase case_of(const Composite& composite, bool simplified) {
  Result<Graph> graph = text::parse(composite.text);
  EXPECT_TRUE(graph.has_value()) << (graph ? "" : render(graph.error()));
  DerivativeCase c{graph->name + (simplified ? ", simplified" : ""),
                   Op::Add,
                   simplified ? simplify(*graph) : *graph,
                   {},
                   composite.fixed};
  for (const Input& input : c.graph.inputs) c.ranges[input.name] = {};
  return c;
}

TEST(DerivativeComposite, WholeOpsAgreeWithFiniteDifferences) {
  for (const Composite& composite : kComposites)
    for (bool simplified : {false, true}) {
      DerivativeCase c = case_of(composite, simplified);
      auto wrong = check_derivative(c);
      EXPECT_FALSE(wrong) << c.name << ": " << *wrong;
    }
}

}  // namespace
}  // namespace kw::ir::test
