// What a reader gives: the graph as it was read, what it had to assume, and the files it read. Every reader gives the
// same graph for the same math; from here on nobody asks which reader it was.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace kw::understand {

// Something that the source does not say and that had to be taken from a published rule or an option.
struct Assumed {
  std::string about;  // the decision that it settles: "shape.x", "type.x", "assumed.eps"
  std::string value;
  std::string because;
  Place place;
};

struct SourceText {
  std::string path;  // as the user wrote it, or as an import found it
  std::string text;
};

struct Reading {
  ir::Graph graph;  // before any simplification
  std::vector<Assumed> assumptions;
  std::map<std::string, std::string> initial_values;  // parameter → ones, zeros, …, as the source makes it
  std::map<std::string, std::string> layouts;         // output → how PyTorch lays it out (ir/layout.h); absent: free
  std::vector<SourceText> sources;                    // the user's file first
  std::string entry;                                  // the function or class that was read, if there was a choice
  std::string extension = ".py";                      // of the main file as it is kept
  Place place;                                        // of its definition; line 0 where there is none
  bool axes_are_named = false;  // by a person, as in math text; else for display they may be renamed
  bool is_module = false;       // the entry is a class
};

}  // namespace kw::understand
