// One kernel of the loop form as the text of a C++ function template: the loops of its nest around the expressions of
// its values. The template parameter kUnit says that the innermost axis of every tensor is contiguous.
#pragma once

#include <set>

#include "act/emit/cpp/expressions.h"
#include "act/emit/cpu/nest.h"
#include "act/emit/lines.h"
#include "schedule/cpu_parameters.h"

namespace kw::act::cpu {

using namespace cpp;

struct KernelText {
  std::string function;  // rms_norm_forward_rows
  Lines lines;
  Nest nest;
  std::vector<BufferId> tensors;  // the parameters, in order: tensors, sizes, scalars
  std::vector<SizeParameter> sizes;
  std::vector<std::pair<std::string, std::string>> scalars;  // name, C++ type
  std::set<BufferId> unit_rows;                              // tensors of which kUnit speaks
  std::set<BufferId> written;
  bool accumulates = false;
};

// `kernel` has no reduction that expand.h knows of.
KernelText write_kernel(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types);

}  // namespace kw::act::cpu
