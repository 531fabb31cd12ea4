// Kernels that reduce nothing: a thread has vectors of neighbours, all of which it reads before it uses any. A second
// function goes row by row, for tensors whose rows are no run of vectors.
#pragma once

#include "act/emit/cuda/writer.h"

namespace kw::act::cuda {

class ElementWriter final : public Writer {
 public:
  using Writer::Writer;

 private:
  Lines kernel() override;
  Level level_of(const Axes& axes) const override;

  struct Parts {  // of the text, that both functions have
    Lines setup, loads, held;
    Body body;
  };
  Parts parts();
  Lines by_vectors(const Parts& parts);
  Lines by_rows(const Parts& parts);
  Lines keep(const Lines& definitions, Lines& declared, Lines& kept);
};

}  // namespace kw::act::cuda
