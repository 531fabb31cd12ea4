#include "act/emit/cpu/kernel_writer.h"

#include "act/emit/cpu/column_kernel.h"
#include "act/emit/cpu/row_kernel.h"
#include "act/emit/cpu/whole_kernel.h"

namespace kw::act::cpu {

KernelText write_kernel(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types) {
  const Nest nest = choose_nest(program, kernel);
  if (nest.inner < 0 || nest.shape == Nest::Shape::Whole) return whole_kernel(program, kernel, nest, types)->run();
  if (nest.shape == Nest::Shape::Row) return row_kernel(program, kernel, nest, types)->run();
  return column_kernel(program, kernel, nest, types)->run();
}

}  // namespace kw::act::cpu
