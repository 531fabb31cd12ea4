// The math as a Python file of its own: a function on torch tensors that a person can read, run and differentiate with
// autograd, and inputs to try it on. It needs torch alone.
//
//   def rms_norm(x, w, eps=1e-06, offset=0.0):
//       x_f32 = x.float()  # [rows, cols]
//       ms = (x_f32 * x_f32).mean(dim=-1, keepdim=True)  # [rows, 1]
//       rstd = torch.rsqrt(ms + eps)  # [rows, 1]
//       return (x_f32 * rstd).to(x.dtype) * (offset + w)
//
// The file is generic in the graph's type parameters: they are the types of the tensors that come in. Every value is
// rounded where the graph says, which is where torch rounds when it runs one op after the other.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"

namespace kw::understand {

// An error where a graph says what no torch call can (an input that is no Python name can be renamed, and is).
Result<std::string> write_reference(const ir::Graph& graph);

// What the function and its arguments are called: the argument of each input, parallel to Graph::inputs. A dotted
// parameter "norm.weight" is norm_weight.
struct ReferenceNames {
  std::string function;
  std::vector<std::string> arguments;
};
ReferenceNames reference_names(const ir::Graph& graph);

}  // namespace kw::understand
