// Forward graphs that partition tests and benchmarks share, as a reader would make them.
#pragma once

#include <random>

#include "ir/graph.h"

namespace kw::ir::test {

// Rows and columns with inputs of type T; the caller adds math and outputs.
struct RowsByCols {
  GraphBuilder b;
  Type T;
  AxisId rows, cols;
  explicit RowsByCols(DType dtype = DType::BF16, int64_t row_count = 4096, int64_t col_count = 1024) {
    T = b.type_parameter("T", dtype);
    rows = b.axis("rows", Size::symbol(b.symbol("rows", row_count)));
    cols = b.axis("cols", Size::symbol(b.symbol("cols", col_count)));
  }
  NodeId input(const std::string& name, std::vector<AxisId> dims) {
    Input input;
    input.name = name;
    input.type = T;
    input.dims = std::move(dims);
    return b.input(std::move(input));
  }
  NodeId scalar(const std::string& name, double value) {
    Input input;
    input.name = name;
    input.kind = InputKind::Scalar;
    input.type = Type(DType::Real);
    input.default_value = Literal{value};
    input.differentiable = false;
    return b.input(std::move(input));
  }
  NodeId named(const std::string& name, NodeId node) {
    b.set_name(node, name);
    return node;
  }
  NodeId wide(NodeId node) { return b.cast(node, opmath(T)); }
  Graph done(NodeId y, const std::string& name = "y") && {
    std::vector<AxisId> dims;
    for (AxisId axis : {rows, cols})
      for (AxisId own : b[y].axes)
        if (own == axis) dims.push_back(axis);
    b.output({name, y, dims, std::nullopt});
    return std::move(b).finish();
  }
};

inline Graph rms_norm(DType dtype = DType::BF16, int64_t rows = 4096, int64_t cols = 1024) {
  RowsByCols g(dtype, rows, cols);
  NodeId x = g.input("x", {g.rows, g.cols}), w = g.input("w", {g.cols}), eps = g.scalar("eps", 1e-6);
  NodeId x32 = g.wide(x);
  NodeId ms = g.named("ms", g.b.reduce(Op::Mean, g.b.make(Op::Mul, {x32, x32}), {g.cols}));
  NodeId rstd = g.named("rstd", g.b.make(Op::Rsqrt, {g.b.make(Op::Add, {ms, eps})}));
  NodeId normed = g.b.cast(g.b.make(Op::Mul, {x32, rstd}), g.T);
  return std::move(g).done(g.b.make(Op::Mul, {normed, w}));
}

inline Graph layer_norm(DType dtype = DType::BF16, int64_t rows = 4096, int64_t cols = 1024) {
  RowsByCols g(dtype, rows, cols);
  NodeId x = g.input("x", {g.rows, g.cols}), w = g.input("w", {g.cols}), bias = g.input("bias", {g.cols});
  NodeId eps = g.scalar("eps", 1e-5), x32 = g.wide(x);
  NodeId mean = g.named("mean", g.b.reduce(Op::Mean, x32, {g.cols}));
  NodeId centred = g.b.make(Op::Sub, {x32, mean});
  NodeId var = g.named("var", g.b.reduce(Op::Mean, g.b.make(Op::Mul, {centred, centred}), {g.cols}));
  NodeId rstd = g.named("rstd", g.b.make(Op::Rsqrt, {g.b.make(Op::Add, {var, eps})}));
  NodeId scaled = g.b.make(Op::Mul, {g.b.make(Op::Mul, {centred, rstd}), g.wide(w)});
  return std::move(g).done(g.b.cast(g.b.make(Op::Add, {scaled, g.wide(bias)}), g.T));
}

inline Graph softmax(DType dtype = DType::F32, int64_t rows = 4096, int64_t cols = 1024) {
  RowsByCols g(dtype, rows, cols);
  NodeId x = g.input("x", {g.rows, g.cols});
  NodeId max = g.b.make(Op::StopGradient, {g.b.reduce(Op::ReduceMax, x, {g.cols})});
  NodeId e = g.b.make(Op::Exp, {g.b.make(Op::Sub, {x, max})});
  return std::move(g).done(g.b.make(Op::Div, {e, g.b.reduce(Op::Sum, e, {g.cols})}));
}

inline Graph log_softmax(DType dtype = DType::F32, int64_t rows = 4096, int64_t cols = 1024) {
  RowsByCols g(dtype, rows, cols);
  NodeId x = g.input("x", {g.rows, g.cols});
  return std::move(g).done(g.b.make(Op::Sub, {x, g.b.reduce(Op::LogSumExp, x, {g.cols})}));
}

// A random forward of a few nodes: pointwise, views and reductions over two axes.
inline Graph random_forward(std::mt19937& engine, int64_t rows = 4096, int64_t cols = 1024) {
  auto pick = [&](size_t n) { return static_cast<size_t>(engine() % n); };
  RowsByCols g(DType::BF16, rows, cols);
  std::vector<NodeId> values{g.input("x", {g.rows, g.cols}), g.input("w", {g.cols}), g.input("v", {g.rows})};
  for (int i = 0; i < 4 + static_cast<int>(pick(4)); ++i) {
    NodeId a = values[pick(values.size())], b = values[pick(values.size())];
    switch (pick(8)) {
      case 0:
        values.push_back(g.b.make(Op::Exp, {a}));
        break;
      case 1:
        values.push_back(g.b.make(Op::Sin, {g.wide(a)}));
        break;
      case 2:
        values.push_back(g.b.make(Op::Tanh, {a}));
        break;
      case 3:
        if (!g.b[a].axes.empty()) values.push_back(g.b.reduce(Op::Sum, a, {g.b[a].axes.back()}));
        break;
      case 4:
        if (!g.b[a].axes.empty()) values.push_back(g.b.reduce(Op::LogSumExp, a, {g.b[a].axes.front()}));
        break;
      case 5:
        values.push_back(g.b.make(Op::Add, {a, b}));
        break;
      default:
        values.push_back(g.b.make(Op::Mul, {a, b}));
    }
  }
  NodeId second = values[values.size() - 1 - pick(3)];
  g.b.output({"z", second, g.b[second].axes, std::nullopt});
  return std::move(g).done(values.back());
}

}  // namespace kw::ir::test
