// The sizes of a kernel as expressions of the manifest: how many points and how long rows are, and how many elements a
// vector has.
#pragma once

#include "act/emit/cuda/kernel_writer.h"

namespace kw::act::cuda {

std::string number(int64_t n);
std::string bracket(const std::string& text);  // where it is more than a name

class EntrySizes {
 public:
  EntrySizes(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text);
  const std::vector<std::vector<LoopAxisId>>& merged() const { return merged_; }
  std::string product(const std::vector<LoopAxisId>& axes) const;
  std::string points() const;
  std::string row() const;
  // The innermost axis, with those that are walked as one with it where tensors are dense.
  std::string inner(bool dense) const;
  // How many of these a row has.
  std::string parts(bool dense) const;
  // Elements of a vector: of the narrowest of the large tensors, at most 8.
  std::string vector() const;
  // Bytes of an element of the widest of them.
  std::string widest() const;
  std::set<BufferId> deciding() const { return text_.large.empty() ? text_.vectors : text_.large; }
  // Bytes of an element of all of these.
  std::string bytes(const std::vector<BufferId>& buffers) const;
  std::string text(const ir::Size& size) const;
  // The axes that are walked as one with the innermost, where they are dense; none: nullptr.
  const std::vector<LoopAxisId>* with_inner(bool dense) const;

 private:
  std::string of_each_type(const std::string& before) const;  // the greatest

  const LoopProgram& program_;
  const KernelText& text_;
  std::vector<std::vector<LoopAxisId>> merged_;
};

}  // namespace kw::act::cuda
