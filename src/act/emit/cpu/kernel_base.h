// What the kernels of every shape have in common: their parameters, the frame of parallel loops around the points, the
// stores of a stage's results. A shape (row_kernel.h, column_kernel.h, whole_kernel.h) writes the stages inside it.
#pragma once

#include "act/emit/cpu/inner_loop.h"
#include "act/emit/cpu/kernel_writer.h"

namespace kw::act::cpu {

inline constexpr std::string_view kRowFile = "templates/cpu/row.cpp";
inline constexpr std::string_view kColumnFile = "templates/cpu/column.cpp";
inline constexpr std::string_view kWholeFile = "templates/cpu/whole.cpp";

std::string parenthesised(const std::string& text);

class KernelBase {
 public:
  KernelBase(const LoopProgram& program, const LoopKernel& kernel, const Nest& nest, CppTypes& types);
  virtual ~KernelBase() = default;
  KernelText run();

 protected:
  virtual std::string suffix() const = 0;  // of the function's name
  virtual void write() = 0;                // text_.lines

  std::vector<std::string> parameter_list();
  std::string elements() const { return names_.product(nest_.all()); }
  std::string loop_header(LoopAxisId axis) const;
  // The indices of several axes from one running number.
  Lines positions(const std::string& number, const Axes& axes) const;

  // Stores of a stage's results where they are scalars.
  void after(const Stage& stage, Lines& out);
  // The results of reductions from what was accumulated, as values of the scope.
  void finish(const std::vector<Accumulator>& sums, Lines& out);
  // Likewise; `tuple` follows the variable's name.
  void finish(const std::vector<Ordered>& combined, Lines& out, const std::string& tuple);
  // While a loop works on a tile, the pages that it comes to some tiles later are looked up.
  void look_ahead(InnerLoop& inner) const;
  // Leaves the loops of a stage: values further out stay known, those of the loops do not.
  void leave(const Expressions::Environment& outside, const Expressions::Environment& hoisted);
  // The parallel loops around `body`, from the skeleton `plain`, or `sliced` where sums ride along.
  void frame(const Lines& body, std::string_view file, std::string_view plain, std::string_view sliced,
             const std::vector<std::string>& more_loops);

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  CppTypes& types_;
  Nest nest_;
  KernelNames names_;
  Scopes scopes_;
  InnerLoopWriter inner_;
  KernelText text_;
  Lines point_rows_;  // rows of the parallel point, declared at its start

 private:
  void choose_parameters();
  Lines empty_slices() const;
  // What the stored values are made of, if they are to stay inside the store.
  std::vector<ValueId> others(const std::vector<ValueId>& roots, const std::set<ValueId>& stored) const;
};

}  // namespace kw::act::cpu
