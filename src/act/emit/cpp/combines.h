// Reductions by a combine of the op's own: its tuple as a struct of C++, and which reductions of a stage are parts of
// the same tuples.
//
//   struct welford_combine {
//     float mean, m2, count;
//     static welford_combine identity() { return {0.0f, 0.0f, 0.0f}; }
//     static welford_combine of(const welford_combine& left, const welford_combine& right) { … }
//   };
#pragma once

#include "act/emit/cpp/cpp_types.h"
#include "act/emit/lines.h"

namespace kw::act::cpp {

// Reductions of one stage that are parts of one tuple of running values.
struct Combination {
  std::vector<ValueId> args;     // the tuple of an element
  std::vector<ValueId> reduced;  // the parts that are wanted
  std::string tuple;             // the struct
  std::vector<std::string> members, types;
};

bool is_combined(const LoopKernel& kernel, ValueId reduced);
bool has_combine(const LoopKernel& kernel);
bool has_combine(const LoopProgram& program);

// What a reduction needs of every element.
std::vector<ValueId> terms_of(const LoopKernel& kernel, ValueId reduced);

class Combines {
 public:
  // `device` stands before every function: "KW_DEVICE ", or nothing.
  Combines(const LoopProgram& program, const LoopKernel& kernel, CppTypes& types, std::string device = {})
      : program_(program), kernel_(kernel), types_(types), device_(std::move(device)) {}

  std::vector<Combination> of(const Stage& stage);
  // The value of a reduction from what all terms became.
  std::string part(const Combination& combination, ValueId reduced, const std::string& tuple) const;
  std::string type(ValueId reduced) const;                   // of its variable
  const Lines& definitions() const { return definitions_; }  // of the structs so far

 private:
  Combination make(const Reduced& reduced);
  void define(const Combination& combination, const CombineFunction& function, ir::Type real);

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  CppTypes& types_;
  std::string device_;
  std::map<std::pair<int32_t, std::vector<std::string>>, Combination> known_;  // by the combine and its types
  Lines definitions_;
};

}  // namespace kw::act::cpp
