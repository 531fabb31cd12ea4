// Scaled dot-product attention: computed in fp32 (or wider) throughout and rounded once.
#include <cmath>

#include "understand/torch/contract.h"
#include "understand/torch/entry.h"
#include "understand/torch/index.h"
#include "understand/torch/reshape.h"
#include "understand/torch/softmax.h"
#include "understand/torch/views.h"

namespace kw::understand {
namespace {

using ir::AxisId;
using ir::kUnit;
using ir::NodeId;
using ir::Op;
using ir::Size;
using ir::Type;

// Grouped queries: every head of keys and values serves `queries/keys` heads of queries.
Result<TensorValue> repeat_heads(Call& call, const TensorValue& x, const TensorValue& query) {
  size_t at = x.dims.size() - 3;
  const ir::Graph& graph = call.builder.graph();
  Size own = size_of_dim(graph, x.dims[at]), wanted = size_of_dim(graph, query.dims[query.dims.size() - 3]);
  auto a = graph.hinted(own), b = graph.hinted(wanted);
  if (!a || !b || *a < 1 || *b % *a != 0) return call.refuse("cannot share the key's heads among the query's");
  Size times = *a == *b ? Size(1) : floor_div(wanted, own);
  KW_TRY(int64_t count, require_fixed(call.context, times));
  KW_TRY(Value out, call_torch(call.context, "torch.repeat_interleave",
                               {{Value{x}, Value{Size(count)}, Value{Size(static_cast<int64_t>(at))}}, {}}));
  return *out.get<TensorValue>();
}

Result<Value> attention(Call& call) {
  KW_TRY(TensorValue q, call.tensor("query"));
  KW_TRY(TensorValue k, call.tensor("key"));
  KW_TRY(TensorValue v, call.tensor("value"));
  KW_TRY(auto mask, call.optional_tensor("attn_mask"));
  KW_TRY(bool causal, call.boolean("is_causal"));
  KW_TRY(bool grouped, call.boolean("enable_gqa"));
  KW_TRY(double drop, call.number("dropout_p"));
  KW_CHECK(require_one_type(call, {q, k, v}));
  if (q.dims.size() < 2 || k.dims.size() < 2 || v.dims.size() < 2)
    return call.refuse("needs tensors of rank 2 or more");
  if (causal && mask) return call.refuse("takes a mask or is_causal=True, not both");
  if (grouped && q.dims.size() >= 3) {
    KW_TRY(k, repeat_heads(call, k, q));
    KW_TRY(v, repeat_heads(call, v, q));
  }
  Type type = type_of(call.builder, q);
  TensorValue transposed{k.node, k.dims};
  std::swap(transposed.dims[k.dims.size() - 1], transposed.dims[k.dims.size() - 2]);
  KW_TRY(TensorValue scores, matmul(call, q, transposed, true));
  Expression s = expression(call, scores);
  if (call.given("scale")) {
    KW_TRY(TensorValue scale, call.scalar("scale"));
    s = s * expression(call, scale);
  } else {
    Size depth = size_of_dim(call.builder.graph(), q.dims.back());
    if (depth.constant()) {
      s = s * (1.0 / std::sqrt(static_cast<double>(*depth.constant())));
    } else {
      s = s * reciprocal_root(s.size(depth));
    }
  }
  scores.node = s.node();
  AxisId rows = scores.dims[scores.dims.size() - 2], cols = scores.dims.back();
  if (causal) {
    Expression i(call.context, positions_along(call.builder, rows)),
        j(call.context, positions_along(call.builder, cols));
    scores.node = select(less_equal(j, i), s, -HUGE_VAL).node();
  }
  if (mask) {
    KW_TRY(Broadcasted common, broadcast_together(call.context, {scores, *mask}));
    Expression value(call.context, common.nodes[0]), m(call.context, common.nodes[1]);
    Expression masked = m.type().boolean() ? select(m, value, -HUGE_VAL) : value + m.as(value.type());
    scores = {masked.node(), common.dims};
  }
  std::vector<AxisId> axes;
  if (scores.dims.back() != kUnit) axes.push_back(scores.dims.back());
  TensorValue weights{softmax(expression(call, scores), axes).node(), scores.dims};
  if (drop != 0.0) {
    KW_TRY(Value dropped, call_torch(call.context, "torch.nn.functional.dropout", {{Value{weights}, Value{drop}}, {}}));
    weights = *dropped.get<TensorValue>();
  }
  TensorValue wide_v{expression(call, v).widened().node(), v.dims};
  KW_TRY(TensorValue out, matmul(call, weights, wide_v, true));
  return Value{TensorValue{call.builder.cast(out.node, type), out.dims}};
}

constexpr std::string_view kSignature =
    "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False";
constexpr Entry kEntries[] = {
    {"scaled_dot_product_attention", kFunctional, kSignature, attention},
    {"scaled_dot_product_attention", kAten,
     "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False", attention},
};

}  // namespace

std::span<const Entry> attention_entries() { return kEntries; }

}  // namespace kw::understand
