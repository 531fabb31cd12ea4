#include <gtest/gtest.h>

#include "ir/derivative/derivative.h"
#include "ir/partition.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"
#include "loop_cases.h"

namespace kw::act::test {

std::vector<Pass> passes_of(const ir::Graph& forward) {
  std::vector<Pass> passes{{"forward", forward}};
  Result<ir::Graph> joint = ir::differentiate(forward);
  if (!joint || joint->outputs.size() == forward.outputs.size()) return passes;
  const ir::Graph simple = ir::simplify(*joint);
  const ir::Partition cut = ir::partition(simple, static_cast<int>(forward.outputs.size()));
  passes.push_back({"saving_forward", ir::forward_with_saved(simple, cut)});
  passes.push_back({"backward", ir::backward_graph(simple, cut)});
  return passes;
}

std::vector<Pass> passes_of(const LoopCase& c) {
  Result<ir::Graph> parsed = ir::text::parse(c.text);
  if (parsed) return passes_of(*parsed);
  ADD_FAILURE() << c.name << ": " << render(parsed.error());
  return {};
}

}  // namespace kw::act::test
