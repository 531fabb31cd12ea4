// What the decisions rest on: one op's math in all its forms, with the way back from a node to the line of the source
// that it came from. Deciders read it and record what they decided.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/partition.h"
#include "profile/profile.h"
#include "understand/decisions/graph_view.h"
#include "understand/reading.h"

namespace kw::understand {

// Decisions that a person has set: id → value. They are taken as given, and what follows from them is computed.
using Pins = std::map<std::string, std::string>;

// The math of both passes.
struct Derived {
  ir::Graph read;     // as read, in the casting that was asked for
  ir::Graph forward;  // simplified, wider where asked: the op itself
  bool differentiable = false;
  ir::Graph joint;  // forward and backward, if differentiable
  ir::Partition partition;
  ir::Graph forward_pass;  // forward with the saved values as further outputs
  ir::Graph backward_pass;
};

class Subject {
 public:
  Subject(const Reading& reading, const Derived& math, const Pins& pins, profile::Profile& profile);

  const Reading& reading;
  const Derived& math;
  const GraphView view;  // of math.forward
  const Pins& pins;
  profile::Profile& profile;

  // The value that a person has set for this decision, if any.
  const std::string* pinned(const std::string& id) const;
  // "source.py:12" for a node of a graph with origins; empty where nothing is known.
  std::string at(const ir::Graph& graph, ir::NodeId node) const;
  std::string at(ir::NodeId node) const { return at(math.forward, node); }
  std::string at(const Place& place) const;
  const Assumed* assumed(const std::string& about) const;

  // Adds a decision; `set_by` and the reason of a pinned one are filled in here.
  void record(profile::Decision decision);

  // The name of a value as the profile shows it: the source's, else what it is ("mean over cols").
  std::string describe(ir::NodeId node) const;
};

}  // namespace kw::understand
