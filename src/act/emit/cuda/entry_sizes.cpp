#include "act/emit/cuda/entry_sizes.h"

#include <algorithm>

#include "act/pass_contract.h"
#include "base/text.h"

namespace kw::act::cuda {

std::string number(int64_t n) { return std::to_string(n); }
std::string bracket(const std::string& text) { return is_identifier(text) ? text : "(" + text + ")"; }

EntrySizes::EntrySizes(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text)
    : program_(program), text_(text), merged_(cpu::mergeable_axes(program, kernel, text.plan.nest)) {}

std::string EntrySizes::text(const ir::Size& size) const { return size_text(size, program_); }

std::string EntrySizes::product(const std::vector<LoopAxisId>& axes) const {
  ir::Size size(1);
  for (LoopAxisId axis : axes) size = size * program_.axes[static_cast<size_t>(axis)].size;
  return text(size);
}

std::string EntrySizes::points() const {
  std::vector<LoopAxisId> axes = text_.plan.nest.parallel;
  if (text_.plan.nest.inner >= 0 && !text_.plan.nest.reduces_inner()) axes.push_back(text_.plan.nest.inner);
  return product(axes);
}

std::string EntrySizes::row() const { return product(text_.plan.row_axes()); }

const std::vector<LoopAxisId>* EntrySizes::with_inner(bool dense) const {
  if (dense)
    for (const std::vector<LoopAxisId>& group : merged_)
      if (group.back() == text_.plan.nest.inner) return &group;
  return nullptr;
}

std::string EntrySizes::inner(bool dense) const {
  const std::vector<LoopAxisId>* group = with_inner(dense);
  return group ? product(*group) : product({text_.plan.nest.inner});
}

std::string EntrySizes::parts(bool dense) const {
  const std::vector<LoopAxisId>* group = with_inner(dense);
  std::vector<LoopAxisId> axes;
  for (LoopAxisId axis : text_.plan.nest.loop)
    if (!group || std::find(group->begin(), group->end(), axis) == group->end()) axes.push_back(axis);
  return product(axes);
}

std::string EntrySizes::of_each_type(const std::string& before) const {
  std::string out;
  std::set<std::string> seen;
  for (BufferId id : deciding()) {
    const Buffer& b = program_.buffers[static_cast<size_t>(id)];
    if (!seen.insert(type_text(b.type, program_.type_parameters)).second) continue;
    const std::string one = before + "bytes(" + b.name + ")";
    out = out.empty() ? one : "max(" + out + ", " + one + ")";
  }
  return out;
}

std::string EntrySizes::vector() const {
  const std::string longest = of_each_type("16//");
  return longest.empty() ? "1" : "min(8, " + longest + ")";
}

std::string EntrySizes::widest() const {
  const std::string widest = of_each_type("");
  return widest.empty() ? "4" : widest;
}

std::string EntrySizes::bytes(const std::vector<BufferId>& buffers) const {
  std::string bytes;
  for (BufferId id : buffers)
    bytes += (bytes.empty() ? "" : " + ") + ("bytes(" + program_.buffers[static_cast<size_t>(id)].name + ")");
  return bytes.empty() ? "0" : bytes;
}

}  // namespace kw::act::cuda
