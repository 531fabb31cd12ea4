// One wrong row, planted in one of the tables that say what an op is: to show that the tests see it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/derivative/rule.h"
#include "ir/graph.h"
#include "ir/interpreter/meaning.h"
#include "ir/simplify/rule.h"

namespace kw::tools {

struct Plant {
  std::map<ir::Op, ir::Meaning> meanings;
  std::map<ir::Op, ir::DerivativeRule> derivatives;
  std::vector<ir::Rule> rewrites;
  bool promotion = false;  // of two floating types the first wins

  ir::Graph promoted_wrongly(ir::Graph graph) const;  // the graph itself unless promotion is planted
};

// "meaning:exp" gives exp the row of another op (exp2), "derivative:exp" likewise; "promotion"; "rewrite"; "" plants
// nothing. Anything else ends the program.
Plant planted(const std::string& what);

}  // namespace kw::tools
