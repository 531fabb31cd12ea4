#include "loop_cases.h"

namespace kw::act::test {
namespace {

std::vector<LoopCase> make_cases() {
  std::vector<LoopCase> cases;
  auto add = [&](const std::string& name, const std::string& text, std::vector<Sizes> sizes) {
    cases.push_back({name, text, std::move(sizes)});
  };
  const std::vector<Sizes> n_m = {
      {{"n", 4}, {"m", 6}}, {{"n", 7}, {"m", 3}}, {{"n", 1}, {"m", 1}}, {{"n", 0}, {"m", 2}}};
  const std::vector<Sizes> n = {{{"n", 5}}, {{"n", 13}}, {{"n", 1}}, {{"n", 0}}};
  const std::vector<Sizes> square = {{{"n", 4}}, {{"n", 1}}, {{"n", 7}}, {{"n", 0}}};

  add("slice_with_a_step", "op s(x: f32[n, k = 9])\n  y = slice(x, k -> j = 3, start = 1, step = 3)\nreturn y\n", n);
  add("slice_backwards", "op s(x: f32[n, m])\n  y = slice(x, m -> r = m, start = m - 1, step = -1) * 2\nreturn y\n",
      n_m);
  add("slice_every_other_backwards",
      "op s(x: f32[n, k = 9])\n  y = exp(slice(x, k -> j = 4, start = 8, step = -2))\nreturn y\n", n);
  add("slice_of_a_reduction", R"(op s(x: f32[n, m])
  r = sum(x, m)
  y = slice(r, n -> h = n//2, start = n - n//2) * 2
return y
)",
      n_m);
  add("concat", R"(op c(a: f32[n, m], b: f32[n, k = 3], c: f32[n, m])
  y = concat(a * 2: m, exp(b): k, c: m -> all)
return y
)",
      n_m);
  add("concat_of_a_tensor_with_itself", "op c(a: f32[n, m])\n  y = concat(a: m, -a: m -> all)\nreturn y\n", n_m);
  add("concat_of_reductions", R"(op c(a: f32[n, m], b: f32[n, m])
  s = sum(a, m)
  t = reduce_max(b, m)
  y = concat(s: n, t: n -> both)
return y
)",
      {{{"n", 4}, {"m", 6}}, {{"n", 1}, {"m", 1}}, {{"n", 7}, {"m", 3}}});
  add("concat_then_norm", R"(op c(a: f32[n, m], b: f32[n, k = 3])
  x = concat(a: m, b: k -> all)
  y = x * rsqrt(mean(x^2, all) + 1e-6)
return y
)",
      n_m);
  add("pad", "op p(x: f32[n, m])\n  y = pad(x * 3, 1.5, m -> wide = m + 5, start = 2)\nreturn y\n", n_m);
  add("pad_with_a_step",
      "op p(x: f32[n]; fill = -1.0)\n  y = pad(x, fill, n -> m = 2*n + 3, start = 1, step = 2)\nreturn y\n", n);
  add("pad_at_the_end", "op p(x: T[n])\n  y = pad(x, 0.1, n -> m = n + 3)\nreturn y\n", n);
  add("pad_of_a_pad", R"(op p(x: f32[n])
  a = pad(x, 1, n -> m = n + 2, start = 1)
  y = pad(a * a, 3, m -> k = m + 3, start = 2)
return y
)",
      n);
  add("pad_of_a_reduction", R"(op p(x: f32[n, m])
  r = sum(x, m)
  y = pad(r, 7, n -> k = n + 3, start = 2)
return y
)",
      n_m);
  add("split_and_merge_otherwise", R"(op s(x: f32[c = 4*n, d = 3])
  sizes n
  a = split(x, c -> (g = 4, k = n))
  y = merge(a, (k, d) -> kd)
return y[g, kd]
)",
      n);
  add("merge_then_split_elsewhere", R"(op s(x: f32[a = 2*n, b = 6])
  sizes n
  w = merge(x, (a, b) -> ab)
  y = split(w * 2, ab -> (p = 3*n, q = 4))
return y
)",
      n);
  add("norm_over_a_resplit_axis", R"(op s(x: f32[a = 2*n, b = 6])
  sizes n
  w = merge(x, (a, b) -> ab)
  s = split(w, ab -> (p = 3*n, q = 4))
  c = s - mean(s, q)
  y = split(merge(c, (p, q) -> ab), ab -> (a, b))
return y
)",
      n);
  add("sum_of_a_merged_axis_and_its_part", R"(op s(x: f32[n, k = 3])
  m = merge(x, (n, k) -> nk)
  s = sum(m, nk)
  t = sum(x, k)
  y = t - s
return y
)",
      n);
  add("argmax_of_a_merged_axis", "op s(x: f32[r = 3, n, k = 2])\n  y = argmax(merge(x, (n, k) -> nk), nk)\nreturn y\n",
      {{{"n", 5}}, {{"n", 1}}});
  add("argmin_and_argmax", "op s(x: f32[n, m])\n  y = argmin(x, m)\n  z = argmax(x, n)\nreturn y, z\n",
      {{{"n", 5}, {"m", 4}}, {{"n", 1}, {"m", 1}}});
  add("tensor_and_its_transpose", R"(op t(x: f32[i = n, j = n])
  sizes n
  y = x + rename(x, i -> j, j -> i)
return y
)",
      square);
  add("row_means_along_both_axes", R"(op t(x: f32[i = n, j = n])
  sizes n
  m = mean(x, j)
  y = x - m - rename(m, i -> j)
return y
)",
      square);
  add("pairwise_distance", R"(op t(x: f32[i = n, k = 3])
  sizes n
  d = x - rename(x, i -> j)
  y = sqrt(sum(d^2, k))
return y
)",
      square);
  add("broadcast_output", "op b(x: f32[n])\n  sizes m\n  y = broadcast(x * 2, j = m)\nreturn y[j, n]\n", n_m);
  add("broadcast_of_a_number", "op b(x: f32[n])\n  y = broadcast(1.5, n) * 1.0\n  z = x * y\nreturn z, y\n", n);
  add("sum_of_a_broadcast",
      "op b(x: f32[n], v: f32[m])\n  y = sum(broadcast(x, m), m)\n  z = sum(broadcast(x, m) + v * 0, m)\nreturn y, z\n",
      n_m);
  add("sum_of_a_broadcast_beside_rows", R"(op b(x: f32[n, m])
  s = sum(broadcast(x, k = 3), n, m, k)
  y = x - mean(x, m)
return y, s
)",
      n_m);
  add("unit_dimensions",
      "op u(x: f32[n, 1, m], w: f32[1, 1], v: f32[1, m])\n  y = x * w + v\n  s = sum(y, m)\nreturn y[1, n, m, 1], s[n, "
      "1]\n",
      n_m);
  add("transposed_output", "op t(x: f32[n, m], w: f32[m])\n  y = x * w\nreturn y[m, n]\n", n_m);
  add("outer_product", "op o(x: f32[n], w: f32[m])\n  y = x * w\n  s = sum(y, n, m)\nreturn y, s\n", n_m);
  add("places_that_the_math_names", R"(op g(x: f32[n, k = 3], w: f32[k])
  y = gather(x, 2, k) * gather(w, 0, k) + sum(gather(x, 1, k), n)
  z = scatter_add(w, 1, sum(y, n), k)
return y, z
)",
      n);
  add("copies", "op c(x: T[n, m])\nreturn x, same = x[m, n], n_elements = size(n*m) + 0*2\n", n_m);
  add("reduction_of_everything_with_several_outputs", R"(op r(x: f32[n, m], z: no_grad f32[n, m])
  s = sum(x, n, m)
  p = prod(z, n, m)
  l = logsumexp(x, n, m)
  a = any(x > 0, n, m)
  y = x * 2
return s, p, l, a, y
)",
      n_m);
  add("outputs_of_different_spaces", R"(op d(x: f32[n, m], w: f32[m], k: f32[q = 3])
  a = x * w
  b = w * 2
  c = k * k
  e = sum(x, m)
  f = sum(x, n)
  g = 2 * k
return a, b, c, e, f, g
)",
      n_m);
  add("dependent_reductions_over_different_axes", R"(op d(x: f32[n, m])
  row    = reduce_max(x, m)
  column = sum(x - row, n)
  all    = mean((x - row) * column, n, m)
  y      = x * all + column - row
return y, row, column
)",
      n_m);
  add("softmax_over_columns_then_rows", R"(op d(x: f32[n, m])
  e = exp(x - reduce_max(x, n))
  p = e / sum(e, n)
  f = exp(p - reduce_max(p, m))
  y = f / sum(f, m)
return y
)",
      n_m);
  add("mean_of_row_maxima", "op d(x: f32[n, m])\n  y = mean(reduce_max(x, m), n)\nreturn y\n", n_m);
  add("five_stages", R"(op d(x: f32[n, m])
  a = x - mean(x, m)
  b = a * rsqrt(mean(a^2, m) + 1)
  c = b / (1 + sum(abs(b), m))
  d = c - reduce_max(c, m)
  y = d * logsumexp(d, m)
return y
)",
      n_m);
  add("sums_over_a_part_of_the_rows", R"(op d(x: f32[n, s = 3, m], w: f32[s, m])
  y = x * w * rsqrt(mean(x^2, m) + 1e-6)
return y
)",
      n_m);
  add("integers_and_bools", R"(op i(x: i64[n, m], b: bool[n, m], u: u8[n])
  s = sum(x, m)
  c = sum(b, m)
  a = all(b, n)
  y = select(b, x // 3 % 2, s) + u
return y, c, a
)",
      n_m);
  add("iota_and_sizes", R"(op i(x: f32[n, m])
  k = iota(m)
  y = select(k < 3, x * k, x / size(m))
  z = sum(y, m) / size(n + m)
return y, z
)",
      n_m);
  add("random_numbers", R"(op r(x: f32[n, m], seed: i64; p = 0.5)
  keep = random(seed, 7, n, m) >= p
  y    = select(keep, x / (1 - p), 0)
return y
)",
      n_m);
  add("number_types", R"(op n(x: bf16[n], h: f16[n], d: f64[n])
  a = x / size(n + 300) + 0.1
  b = (x + h) * d
  c = h + 1000
  s = sum(h, n)
  t = mean(x, n)
return a, b, c, s, t
)",
      n);
  add("names_that_are_keywords", R"(op k(x: f32[n], `where`: f32[n], for: f32[n], a.b: f32[n]; lambda = 0.5)
  class = x * lambda + `where`
  y     = class + for + a.b
  z     = sum(class, n)
return y, z
)",
      n);
  add("causal_rows", R"(op m(x: f32[q = n, k = n])
  sizes n
  s = select(iota(k) <= iota(q), x, -inf)
  e = exp(s - reduce_max(s, k))
  y = e / sum(e, k)
return y
)",
      square);
  add("rotate_half", R"(op r(x: f32[n, d = 2*m])
  sizes m
  a = slice(x, d -> h = m)
  b = slice(x, d -> h, start = m)
  y = x * 0.5 + concat(-b: h, a: h -> d) * 2
return y
)",
      n_m);
  add("interleave", R"(op r(x: f32[n, d = 2*m])
  sizes m
  a = slice(x, d -> h = m, step = 2)
  b = slice(x, d -> h, start = 1, step = 2)
  y = pad(-b, 0, h -> d, step = 2) + pad(a, 0, h -> d, start = 1, step = 2)
return y
)",
      n_m);
  return cases;
}

}  // namespace

const std::vector<LoopCase>& view_cases() {
  static const std::vector<LoopCase> cases = make_cases();
  return cases;
}

}  // namespace kw::act::test
