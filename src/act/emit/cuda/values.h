// Where a value of a kernel is computed: once per point, once per vector, or for every element of it; as a variable, or
// inside the one expression that wants it.
#pragma once

#include <functional>
#include <set>

#include "act/emit/cpp/expressions.h"
#include "act/emit/lines.h"

namespace kw::act::cuda {

using namespace cpp;

enum class Level : uint8_t { Point, Vector, Element };

class Values {
 public:
  Values(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types, KernelNames& names,
         std::function<Level(const std::vector<LoopAxisId>&)> level_of_axes);

  Expressions expressions;

  // Values of elements that are computed in one stage and, with kKeep, read from an array of this name in later ones.
  std::map<ValueId, std::string> kept;

  Level level(ValueId value) const { return level_of_axes_(kernel_[value].axes); }
  // Where what `define` makes goes.
  void open(Level level, Lines* lines) { lines_[static_cast<size_t>(level)] = lines; }
  Lines& lines(Level level) { return *lines_[static_cast<size_t>(level)]; }
  // Variables of vectors and elements are out of scope.
  void close();

  // Computes everything that the roots need. A root in `stored` is wanted by one store alone.
  void define(const std::vector<ValueId>& roots, const std::set<ValueId>& stored = {});

 private:
  std::vector<ValueId> pending(const std::vector<ValueId>& roots);

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  CppTypes& types_;
  KernelNames& names_;
  std::function<Level(const std::vector<LoopAxisId>&)> level_of_axes_;
  Lines* lines_[3] = {};
  std::set<ValueId> computed_;  // of those that are kept
};

}  // namespace kw::act::cuda
