#include <algorithm>

#include "ir/interpreter/context.h"
#include "ir/interpreter/group.h"
#include "ir/interpreter/whole.h"

namespace kw::ir::interpreter {
namespace {

// Σ a·b as a batch of matrix products: a is [batch, left, inner], b is [batch, inner, right].
struct Layout {
  std::vector<AxisId> batch, left, right, inner;
  int64_t batches, rows, columns, depth;
};

bool contains(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

Layout layout_of(const WholeCall& call) {
  const Graph& graph = call.context.graph;
  const std::vector<AxisId>&a = graph[call.node.args[0]].axes, &b = graph[call.node.args[1]].axes;
  Layout layout{};
  for (AxisId axis : call.context.ordered(call.node.axes))
    (contains(a, axis) && contains(b, axis) ? layout.batch
     : contains(a, axis)                    ? layout.left
                                            : layout.right)
        .push_back(axis);
  layout.inner = call.context.ordered(call.node.as<AxisList>().axes);
  layout.batches = call.context.count(layout.batch);
  layout.rows = call.context.count(layout.left);
  layout.columns = call.context.count(layout.right);
  layout.depth = call.context.count(layout.inner);
  return layout;
}

std::vector<AxisId> joined(std::initializer_list<std::vector<AxisId>> parts) {
  std::vector<AxisId> out;
  for (const auto& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

// c += a b for one batch, all row-major. Columns and depth are blocked so that a block of b stays in the cache.
void multiply(const double* a, const double* b, double* c, int64_t rows, int64_t columns, int64_t depth) {
  constexpr int64_t kColumns = 256, kDepth = 128;
  for (int64_t j0 = 0; j0 < columns; j0 += kColumns)
    for (int64_t k0 = 0; k0 < depth; k0 += kDepth) {
      const int64_t width = std::min(kColumns, columns - j0), k1 = std::min(depth, k0 + kDepth);
      for (int64_t i = 0; i < rows; ++i) {
        double* __restrict row = c + i * columns + j0;
        int64_t k = k0;
        for (; k + 4 <= k1; k += 4) {
          const double *x = a + i * depth + k, *y = b + k * columns + j0;
          const double x0 = x[0], x1 = x[1], x2 = x[2], x3 = x[3];
          const double *y0 = y, *y1 = y + columns, *y2 = y + 2 * columns, *y3 = y + 3 * columns;
          for (int64_t j = 0; j < width; ++j) row[j] += (x0 * y0[j] + x1 * y1[j]) + (x2 * y2[j] + x3 * y3[j]);
        }
        for (; k < k1; ++k) {
          const double x = a[i * depth + k];
          const double* y = b + k * columns + j0;
          for (int64_t j = 0; j < width; ++j) row[j] += x * y[j];
        }
      }
    }
}

void multiply_all(const Layout& l, const double* a, const double* b, double* c) {
  std::fill_n(c, l.batches * l.rows * l.columns, 0.0);
  for (int64_t n = 0; n < l.batches; ++n)
    multiply(a + n * l.rows * l.depth, b + n * l.depth * l.columns, c + n * l.rows * l.columns, l.rows, l.columns,
             l.depth);
}

// More exact than f64: products and sums with their errors (Dekker, Neumaier), for kernels that compute in f64 too.
void multiply_exactly(const Layout& l, const double* a, const double* b, double* c) {
  for (int64_t n = 0; n < l.batches; ++n)
    for (int64_t i = 0; i < l.rows; ++i)
      for (int64_t j = 0; j < l.columns; ++j) {
        RunningSum sum;
        double low = 0;
        for (int64_t k = 0; k < l.depth; ++k) {
          const double x = a[(n * l.rows + i) * l.depth + k], y = b[(n * l.depth + k) * l.columns + j];
          const double product = x * y;
          if (std::isfinite(product)) low += std::fma(x, y, -product);
          sum.add(product, 0);
        }
        c[(n * l.rows + i) * l.columns + j] = sum.value() + low;
      }
}

Store operand(WholeCall& call, size_t i, const std::vector<AxisId>& axes) {
  Store store = call.context.dense(call.args[i], axes);
  const Conversion conversion = conversion_of(call.context, call.node, i);
  if (conversion.to != DType::None) convert(conversion, store.values, store.bounds, store.count);
  return store;
}

bool all_zero(const double* x, int64_t n) {
  return std::all_of(x, x + n, [](double v) { return v == 0; });
}

// Σ |a| e_b + e_a (|b| + e_b), and the roundings of the products and of their sum.
void add_bounds(WholeCall& call, const Layout& l, Store& a, Store& b, const Store& c) {
  const int64_t n = c.count;
  const SumModel model = call.context.sum_model(call.context.dtype(call.node));
  for (int64_t i = 0; i < a.count; ++i) a.values[i] = std::fabs(a.values[i]);
  for (int64_t i = 0; i < b.count; ++i) b.values[i] = std::fabs(b.values[i]);
  std::shared_ptr<double[]> part = call.context.pool.take(n);
  multiply_all(l, a.values, b.values, part.get());
  // A lone product is rounded once, as the oracle rounds it.
  const double rounding = l.depth > 1 ? (std::max(model.roundings(l.depth), 1.0) + 1) * model.roundoff : 0;
  for (int64_t i = 0; i < n; ++i) c.bounds[i] = scaled(part[i], rounding);
  if (!all_zero(b.bounds, b.count)) {
    multiply_all(l, a.values, b.bounds, part.get());
    for (int64_t i = 0; i < n; ++i) c.bounds[i] += part[i];
  }
  if (!all_zero(a.bounds, a.count)) {
    for (int64_t i = 0; i < b.count; ++i) b.values[i] += b.bounds[i];
    multiply_all(l, a.bounds, b.values, part.get());
    for (int64_t i = 0; i < n; ++i) c.bounds[i] += part[i];
  }
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(c.values[i]))
      c.bounds[i] = 0;  // an infinite or undefined product makes the sum so in every order
    else if (std::isnan(c.bounds[i]))
      c.bounds[i] = kInfinity;
  }
}

}  // namespace

Status whole_contract(WholeCall& call) {
  const Layout l = layout_of(call);
  Store a = operand(call, 0, joined({l.batch, l.left, l.inner}));
  Store b = operand(call, 1, joined({l.batch, l.inner, l.right}));
  const std::vector<AxisId> axes = joined({l.batch, l.left, l.right});
  Store c = call.context.dense(call.result.view, axes);
  if (call.context.rounded() && opmath(call.context.dtype(call.node)) == DType::F64)
    multiply_exactly(l, a.values, b.values, c.values);
  else
    multiply_all(l, a.values, b.values, c.values);
  if (c.bounds) add_bounds(call, l, a, b, c);
  const View* views[] = {&c.view, &call.result.view};
  for (Walk w = walk(call.context, axes, views); !w.done(); w.next()) {
    call.result.values[w.offset(1)] = c.values[w.offset(0)];
    if (c.bounds) call.result.bounds[w.offset(1)] = c.bounds[w.offset(0)];
  }
  return {};
}

}  // namespace kw::ir::interpreter
