// Reads a PyTorch file: a function or an nn.Module, with everything that it calls read in place, as a graph. Static:
// nothing of the file is run.
//
//   KW_TRY(ReadResult read, read_python({.path = "norm.py", .name = "RMSNorm"}));
//
// Shapes, types and constructor values come, in this order, from the request, from get_inputs() and get_init_inputs(),
// from annotations, from the configuration class's defaults, and from the rules of docs/assumptions.md; what was
// assumed is recorded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "understand/python/assumptions.h"

namespace kw::understand {

struct ReadRequest {
  std::string path;                 // of the file; shown in messages
  std::optional<std::string> text;  // the source itself, if it is not in a file
  std::string name;                 // "RMSNorm", "rotate_half", "Attention.rotate"; empty: the only candidate
  bool training = true;
  // NAME and text as typed: --shape x=rows,cols or x=4096,1024 or x=rows:4096,cols; --dtype x=bf16, T=bf16, W=f32;
  // --init eps=1e-6, config.hidden_size=64.
  std::vector<std::pair<std::string, std::string>> shapes, dtypes, init;
  std::vector<std::string> present;  // optional tensors that are passed; one with a shape is passed too
};

using python::Assumption;

struct ModuleParameter {
  std::string name;  // as in state_dict()
  ir::InputKind kind;
  std::string init;  // the source text that makes it: nn.Parameter(torch.ones(hidden_size))
  Place place;
};

// A value that an argument had, as a Python expression over the graph's sizes: hidden_size, 1e-06, None, tensor(x). A
// field of a configuration object is "config.hidden_size".
struct ReadArgument {
  std::string name;
  std::string value;
};

struct ReadResult {
  ir::Graph graph;
  std::vector<Assumption> assumptions;
  std::string name;  // of the function or class
  bool is_module = false;
  Place place;  // of its definition
  std::vector<ModuleParameter> parameters;
  std::vector<ReadArgument> constructor, call;  // of the module, if it is one, and of the function or forward
  std::map<std::string, std::string> layouts;   // of each output in PyTorch, as ir/layout.h writes it
  std::vector<std::string> changed_inputs;  // tensors that the source changes in place; the graph gives their new value
  struct File {
    std::string path;
    std::string text;
  };
  std::vector<File> files;  // every file that was read; Origin::file is an index here
};

Result<ReadResult> read_python(const ReadRequest& request);

}  // namespace kw::understand
