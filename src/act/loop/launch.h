// The sizes and types of one launch of a program: every symbol and type parameter has its value.
#pragma once

#include "act/loop/interpret.h"

namespace kw::act {

class Launch {
 public:
  // Sizes follow from the shapes of the inputs; a contradiction or a broken constraint is an error.
  static Result<Launch> of(const LoopProgram& program, const ir::Environment& call,
                           const LoopInterpretOptions& options);

  int64_t value(const ir::Size& size) const;  // asserts that it is known: `of` evaluated every size of the program
  std::vector<int64_t> values(const std::vector<ir::Size>& sizes) const;
  ir::DType dtype(ir::Type type) const { return type.bind(types_); }

 private:
  std::vector<std::optional<int64_t>> symbols_;
  std::vector<ir::DType> types_;
};

}  // namespace kw::act
