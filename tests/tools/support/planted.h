// One wrong row, planted in one of the tables that say what an op is: to show that the tests see it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/derivative/rule.h"
#include "ir/graph.h"
#include "ir/infer.h"
#include "ir/interpreter/meaning.h"
#include "ir/simplify/rule.h"

namespace kw::tools {

struct Plant {
  std::map<ir::Op, ir::Meaning> meanings;
  std::map<ir::Op, ir::DerivativeRule> derivatives;
  std::vector<ir::Rule> rewrites;
  std::optional<ir::InferenceRules> inference;  // with a wrong shape, or the first of two floating types winning

  // The graph as these rules infer it, or why they do not; itself if none are planted.
  Result<ir::Graph> inferred_wrongly(const ir::Graph& graph) const;
};

// "meaning:exp" gives exp the row of another op (exp2), "derivative:exp" and "shape:sum" likewise; "promotion";
// "rewrite"; "" plants nothing. Anything else ends the program.
Plant planted(const std::string& what);

}  // namespace kw::tools
