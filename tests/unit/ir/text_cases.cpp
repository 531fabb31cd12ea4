#include "text_cases.h"

#include "ir/op.h"
#include "ir/text/spelling.h"

namespace kw::ir {
namespace {

const char* const kTexts[] = {
    R"(op rms_norm(x: T[rows, cols], w: parameter W[cols]; eps = 1e-6, offset = 0)
  types T = bf16, W = f32
  sizes rows = 8192, cols = 4096
  ms   = mean(f32(x)^2, cols)
  rstd = rsqrt(ms + eps)
  y    = T(f32(x) * rstd) * (offset + w)
return y
)",
    // interface: kinds, gradients, units, scalars between tensors, names that need quotes
    R"(op interface(x: no_grad f32[rows, 1, cols], k: scalar int = 3, `where`: parameter bf16[cols],
             stats.mean: buffer f32[rows], live: buffer with_grad f32[rows], seed: i64,
             mask: bool[rows]; alpha: real, beta = -0.5, gamma: real = 1, on = false, n: int,
             far = -inf)
  mean_2 = stats.mean * 0.9 + 0.1 * mean(x, cols)
  y      = x * `where` * k + live - alpha * beta + gamma
return y[cols, 1, rows], mean_2 updates stats.mean, x, same = x[cols, rows], seed, nothing = 0.0,
       `two words` = y
)",
    R"(op scalars_alone(; a = 1, b = 2.0, c = true)
  y = select(c, a, b)
return y
)",
    R"(op pick(x: i64)
return y = x
)",
    R"(op dims(a: f32[n, m = 2*n + 1, half = (n + k)//2, n_2 = n, three = 3])
  sizes n = 10, k
  where n % 2 == 0, (n + k) % 4 == 0, n*k == k + 7
  y = sum(a, n, m)
  z = size(n*k - (n + k)//4) + size(0) + size(-k//3)
return y[three, n_2, half], z
)",
    R"(op signs(x: f32[n], y: f32[n], i: i64[n], b: bool[n])
  a = x - (y - -1) - (-1)^2 - y^2 + (x - 7)^2
  u = -x^2 + (-x)^2 - -(1) - -(-2) * -(-y)
  v = (x + 1) * (x - 1) / (x / 2) * 3.0 % (x // 2) * -(x + 3)
  w = i + 1 << 2 >> (i >> 1)
  c = b & (x < 1e-300 | x >= 1e20) | ~b & i == -9223372036854775808 & b != (x <= x + 2)
  p = x^3 + x^-1 + x^(y + 1) + x^y^5 + (x^y)^y + pow(x, 2) + x^2.0
  r = 2^2 + (x + 4)^2 + (-2)^x
  q = x > 0 & x >= 0 & 0 < 1 & x * y >= 1
return a, u, v, w, c, p, r, q
)",
    R"(op literals(x: f64[n])
  y = x + 9223372036854775807 + 0.1 + 1e-6 + 1e20 + inf + -inf + nan + -nan
  z = x * -0.0 + 5e-324 + 2.0
return y, z, yes = true
)",
    R"(op kinds(x: T[n], w: W[n], h: f16[n], e: f8e4m3[n], z: f8e5m2[n], u: u8[n], i: i8[n], s: i16[n],
         j: i32[n], d: f64[n], tw: T|W[n], tf: T|f32[n])
  types T = f16, W = f64
  y = wide(x) + W(x) + cast(w, T|f32) + cast(h, T|W) + real(x) + int(j)
  v = f32(e) + f32(z) + u + i + s + d + tw + tf + wide(tw)
return y, v
)",
    R"(op long_lines(x: T[rows, cols], first_weight: parameter T[cols], second_weight: parameter T[cols])
  types T = f32
  _1 = x * first_weight
  _2 = exp(_1 + second_weight) * (x - first_weight) * (x - second_weight)
  y  = log(_2 + tanh(_1 * second_weight) / (1 + exp(-x * second_weight)) + 3 * x)
return y
)",
    // views
    R"(op rotate(x: T[rows, cols])
  types T = bf16
  sizes rows, cols = 8
  where cols % 2 == 0
  a = slice(x, cols -> half = cols//2)
  b = slice(x, cols -> half, start = cols//2)
  y = concat(-b: half, a: half -> cols)
return y
)",
    R"(op slices(x: f32[n])
  y = slice(x, n -> m = n//2 - 1, start = n - 1, step = -2)
return y
)",
    R"(op pads(x: f32[n]; fill = 0.0)
  y = pad(x, fill, n -> m = 2*n + 3, start = 1, step = 2)
return y
)",
    R"(op outer(x: f32[i], y: f32[i])
  z = rename(x, i -> j)
  o = z * y
return z, o[j, i]
)",
    R"(op swap(x: f32[i, j])
  y = rename(x, i -> j, j -> i)
return y
)",
    R"(op swap_sized(x: f32[i, j = i])
  y = rename(x, i -> k, j -> i)
return y
)",
    R"(op joins(a: f32[p, c], b: f32[q, c])
  y = concat(a: p, b: q -> both)
return y
)",
    R"(op join_known(a: f32[p], b: f32[q], t: f32[n])
  where n == p + q
  y = concat(a: p, b: q -> n)
return y, t
)",
    R"(op groups(x: f32[n, c])
  where c % 4 == 0
  y = split(x, c -> (g, k = 4))
  z = merge(y^2, (g, k) -> c)
  v = merge(y, (k, g) -> flat)
return y, z, v
)",
    R"(op split_outer(x: f32[c])
  y = split(x, c -> (g = 3, k))
return y
)",
    R"(op split_known(x: f32[c], w: f32[g])
  z = split(x, c -> (g, k))
  y = z * w
return z, y
)",
    R"(op merges(x: f32[a, b])
  y = merge(x, (a, b) -> ab)
return y
)",
    R"(op merge_stated(x: f32[a, b], z: f32[n])
  where n == a*b
  y = merge(x, (a, b) -> n) + z
  v = merge(x, (b, a) -> m = n)
return v, y
)",
    R"(op spreads(x: f32[n]; one = 1.0)
  y = broadcast(x, m = 3)
  z = broadcast(one, n, m)
return y, z
)",
    R"(op pool(x: T[n, c, h, w])
  types T = f16
  sizes n, c, h = 16, w = 17
  rows = window(x, -inf, h -> (oh, kh = 3), stride = 2, pad = 1)
  cols = window(rows, -inf, w -> (ow = (w - 1)//2, kw = 2), dilation = 2, pad = 1, input_dilation = 3)
  y    = reduce_max(cols, kh, kw)
return y, cols
)",
    R"(op windows(x: f32[h])
  y = window(x, 0, h -> (oh, k = 3))
return y
)",
    R"(op folds(y: f32[oh, kh])
  sizes oh, kh, h
  x = fold(y, (oh, kh) -> h = h, stride = 2, dilation = 3, pad = kh//2)
return x
)",
    // indexed
    R"(op embed(table: parameter T[vocab, d], ids: i64[b, s])
  types T = bf16
  y = gather(table, ids, vocab)
return y[b, s, d]
)",
    R"(op scatter(base: f32[n, d], at: i64[m], v: f32[m, d])
  y = scatter_add(base, at, v, n)
  z = scatter_set(base, at, v, n)
return y, z
)",
    R"(op scatter_last(base: f32[n], at: i64[m], v: f32[m])
  y = scatter_set(base, at, v, n)
return y
)",
    R"(op runs(x: f32[rows, d], offsets: i32[bounds])
  total    = segment_sum(x, offsets, rows -> runs)
  top      = segment_max(x, offsets, rows -> runs)
  low      = segment_min(x, offsets, rows -> runs)
  where_in = segment_index(offsets, runs -> rows)
return total, top, low, where_in
)",
    R"(op batched_runs(x: f32[b, rows], offsets: i64[b, bounds])
  y = segment_max(x, offsets, rows -> runs by bounds)
return y
)",
    R"(op run_of(offsets: i64[bounds], x: f32[rows])
  y = segment_index(offsets, runs -> rows)
return y, x
)",
    R"(op lows(x: f32[rows], offsets: i64[bounds], count: f32[runs = bounds - 1])
  y = segment_min(x, offsets, rows -> runs)
return y, count
)",
    // order, scans, combines, random numbers
    R"(op orders(x: f32[n, m])
  y = sort(x, n)
  z = argsort(x, m, descending)
return y, z
)",
    R"(op ranks(x: f32[n, m])
  z = argsort(x, m, descending)
return z
)",
    R"(op route(x: f32[tokens, experts])
  sizes tokens, experts = 64
  y = topk(x, experts -> k = 8)
  i = argtopk(x, experts -> k)
  l = topk(x, experts -> few = 2, smallest)
return y, i, l
)",
    R"(op ranked(x: f32[n])
  i = argtopk(x, n -> k = 1, smallest)
return i
)",
    R"(op recurrence(a: f32[t, d], b: f32[t, d])
  combine affine(a0: real, b0: real, a1: real, b1: real) from (1, 0)
    a = a0 * a1
    b = a1 * b0 + b1
  return a, b
  h = scan(affine, a, b, t, part = 1)
  r = scan(affine, a, b, d, reverse, exclusive)
return h, r
)",
    R"(op online(x: f32[n, c])
  combine online(m0: f32, s0: f32, m1: f32, s1: f32) from (-inf, 0)
    m = max(m0, m1)
    s = s0 * exp(m0 - m) + s1 * exp(m1 - m)
  return m, s
  combine add(a: T, b: T) from (-0.5)
    types T = f64
    y = a + b
  return y
  s = reduce(online, x, 1.0, c, part = 1)
  y = reduce(add, x, n)
return s, y
)",
    R"(op folded(x: f32[n])
  combine product(a: real, b: real) from (1)
    y = a * b
  return y
  y = reduce(product, x, n)
return y
)",
    R"(op dropout(x: f32[n, m], seed: i64, offset: i64; p = 0.1)
  kept = random(seed, offset, m, n) >= p
  y    = select(kept, x / (1 - p), 0.0)
return y, kept
)",
    R"(op noise(seed: i64, like: f32[n])
  y = random(seed, 0, n, k = 4)
return y[k, n], like
)",
    R"(op counts(x: f32[n])
  i = iota(n)
  j = iota(k = 5)
  y = x + i
return i, j, y
)",
    R"(op product(a: T[m, k], b: T[k, n])
  types T = bf16
  y = contract(a, b, k)
return y
)",
    R"(op all_of_it(a: f32[m, k], b: f32[m, k])
  y = contract(a, b, m, k)
return y
)",
};

// A text for each op whose form needs nothing but operands, an axis or a sign.
std::string simple_text(Op op, text::Form form) {
  const std::string name(info(op).name);
  const bool integers = op == Op::Xor || op == Op::Shl || op == Op::Shr;
  const bool booleans = op == Op::Not || op == Op::And || op == Op::Or || op == Op::Any || op == Op::All;
  const std::string type = integers ? "i32" : booleans ? "bool" : "f32";
  std::string value;
  switch (form) {
    case text::Form::Plain:
      value = info(op).min_operands == 1   ? name + "(x)"
              : info(op).min_operands == 2 ? name + "(x, y)"
                                           : name + "(x < y, x, y)";
      break;
    case text::Form::Prefix:
      value = std::string(text::spelling(op).symbol) + "x";
      break;
    case text::Form::Infix:
    case text::Form::Compare:
    case text::Form::Multiply:
      value = "x " + std::string(text::spelling(op).symbol) + " y";
      break;
    case text::Form::Power:
      value = "x^y";
      break;
    case text::Form::Axes:
      if (info(op).kind != OpKind::Reduction) return {};
      value = name + "(x, i" + (op == Op::ArgMax || op == Op::ArgMin ? ")" : ", j)");
      break;
    case text::Form::Scan:
      value = name + "(x, j, reverse, exclusive)";
      break;
    case text::Form::Size:
      value = "size(j + 1)";
      break;
    case text::Form::Cast:
      value = "f64(x)";
      break;
    default:
      return {};
  }
  return "op one(x: " + type + "[i, j], y: " + type + "[j])\n  z = " + value + "\nreturn z\n";
}

}  // namespace

const std::vector<std::string>& canonical_texts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all(std::begin(kTexts), std::end(kTexts));
    for (int i = 0; i < kOpCount; ++i) {
      const Op op = static_cast<Op>(i);
      if (std::string text = simple_text(op, text::spelling(op).form); !text.empty()) all.push_back(std::move(text));
    }
    return all;
  }();
  return texts;
}

}  // namespace kw::ir
