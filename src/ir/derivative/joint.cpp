#include "ir/derivative/joint.h"

#include "ir/derivative/derivative.h"
#include "ir/derivative/known_means.h"
#include "ir/derivative/normalised_sums.h"
#include "ir/simplify/simplify.h"

namespace kw::ir {

Result<Graph> joint_graph(const Graph& forward) {
  KW_TRY(const Graph joint, differentiate(forward));
  const int results = static_cast<int>(forward.outputs.size());
  return with_normalised_sums(without_known_means(simplify(joint), results));
}

}  // namespace kw::ir
