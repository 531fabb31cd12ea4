#include "act/emit/cuda/kernel_writer.h"

#include "act/emit/cuda/column_writer.h"
#include "act/emit/cuda/element_writer.h"
#include "act/emit/cuda/part_writer.h"
#include "act/emit/cuda/whole_row_writer.h"

namespace kw::act::cuda {

KernelText write_kernel(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types) {
  const KernelPlan plan = plan_kernel(program, kernel);
  switch (plan.shape) {
    case Shape::Elements:
      return ElementWriter(program, kernel, plan, types).run();
    case Shape::Rows:
      if (plan.in_parts) return PartWriter(program, kernel, plan, types).run();
      return WholeRowWriter(program, kernel, plan, types).run();
    case Shape::Columns:
    case Shape::Points:
      break;
  }
  return ColumnWriter(program, kernel, plan, types).run();
}

}  // namespace kw::act::cuda
