#include <gtest/gtest.h>

#include "ir/derivative/derivative.h"
#include "ir/partition.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"
#include "loop_cases.h"

namespace kw::act::test {

std::vector<Pass> passes_of(const LoopCase& c) {
  Result<ir::Graph> parsed = ir::text::parse(c.text);
  if (!parsed) {
    ADD_FAILURE() << c.name << ": " << render(parsed.error());
    return {};
  }
  std::vector<Pass> passes{{"forward", *parsed}};
  Result<ir::Graph> joint = ir::differentiate(*parsed);
  if (!joint || joint->outputs.size() == parsed->outputs.size()) return passes;
  const auto outputs = static_cast<int>(parsed->outputs.size());
  const ir::Graph simple = ir::simplify(*joint);
  const ir::Partition cut = ir::partition(simple, outputs);
  passes.push_back({"saving_forward", ir::forward_with_saved(simple, cut)});
  passes.push_back({"backward", ir::backward_graph(simple, cut)});
  return passes;
}

}  // namespace kw::act::test
