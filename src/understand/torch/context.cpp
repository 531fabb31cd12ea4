#include "understand/torch/ops.h"

namespace kw::understand {

Status require_same_size(TorchContext& context, const ir::Size& a, const ir::Size& b) {
  if (a == b) return {};
  if (context.same_size) return context.same_size(a, b);
  const ir::Graph& graph = context.builder.graph();
  const auto left = graph.hinted(a), right = graph.hinted(b);
  if (!left || !right || *left != *right) {
    return bad_input("sizes " + graph.size_text(a) + " and " + graph.size_text(b) + " do not fit together");
  }
  context.builder.constrain({ir::SizeConstraint::Kind::Equal, a, b});
  return {};
}

Result<int64_t> require_fixed(TorchContext& context, const ir::Size& size) {
  if (const auto constant = size.constant()) return *constant;
  if (context.fixed_size) return context.fixed_size(size);
  return bad_input("the size " + context.builder.graph().size_text(size) +
                   " must be a number that is known while reading");
}

}  // namespace kw::understand
