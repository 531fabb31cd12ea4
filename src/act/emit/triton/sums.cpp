// Sums over points that ride along (weight gradients): every worker has a slice of its own, and adds to it in a fixed
// order. Where the terms of all its points fall on the same places, the slice stays in registers until the end; else it
// lies in memory.
#include <algorithm>

#include "act/emit/triton/writer.h"
#include "act/loop/index.h"

namespace kw::act::triton {

std::vector<Writer::Sum> Writer::sums_of(bool resident) {
  std::vector<Sum> sums;
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates) {
      const Axes axes = axes_of_access(sum.at);
      Sum::Kind kind = Sum::Kind::Memory;
      if (axes.empty()) kind = Sum::Kind::Total;
      const bool is_lane = axes.size() == 1 && loop_.size() == 1 && axes[0] == loop_[0];
      if (resident && is_lane) kind = Sum::Kind::Lanes;
      sums.push_back({&sum, {}, kind, meet(kernel_[sum.value].axes, column_axes_) || kind == Sum::Kind::Lanes});
    }
  return sums;
}

// The place of a worker's slice, from which its own dimensions count on.
std::string Writer::slice_address(const Accumulate& sum) {
  used_.insert(sum.buffer);
  std::string text = "worker";
  for (size_t d = 0; d < sum.at.size(); ++d) {
    const ir::Size& size = buffer(sum.buffer).shape[d + 1];
    if (!(size == ir::Size(1))) text = parenthesised(text) + " * " + parenthesised(size_text_of(size));
    if (!(sum.at[d] == size_index(0))) text += " + " + expressions_.index(sum.at[d]);
  }
  return buffer(sum.buffer).name + " + " + text;
}

void Writer::open_sums(std::vector<Sum>& sums, const std::string& rows, Lines& out) {
  bool in_memory = false;
  for (Sum& sum : sums) {
    const Buffer& slices = buffer(sum.accumulate->buffer);
    written_.insert(sum.accumulate->buffer);
    if (sum.kind != Sum::Kind::Memory) {
      sum.variable = names_.fresh(slices.name.substr(0, slices.name.rfind("_slices")) + "_sum");
      const std::string tile = sum.along_columns ? rows + "BLOCK" : rows.empty() ? "" : rows + "1";
      out.line(sum.variable + " = tl.full([" + tile + "], 0.0, dtype=" + expressions_.compute_type(slices.type) + ")");
      continue;
    }
    used_.insert(sum.accumulate->buffer);
    ir::Size count(1);
    for (size_t d = 1; d < slices.shape.size(); ++d) count = count * slices.shape[d];
    const std::string size = size_text_of(count), n = parenthesised(size);
    out.line("for start in range(0, " + size + ", BLOCK):");
    out.line("    place = start + tl.arange(0, BLOCK)");
    out.line("    tl.store(" + slices.name + " + worker * " + n + " + place, 0.0, mask=place < " + size + ")");
    in_memory = true;
  }
  if (in_memory) out.line("tl.debug_barrier()");
}

// Of a stage of resident rows: the tile's own terms.
void Writer::add_to_sums(const std::vector<Sum>& sums, const Stage& stage, Lines& out) {
  for (const Sum& sum : sums) {
    const bool here = std::any_of(stage.accumulates.begin(), stage.accumulates.end(),
                                  [&](const Accumulate& a) { return &a == sum.accumulate; });
    if (!here || sum.kind == Sum::Kind::Memory) continue;
    const ValueId value = sum.accumulate->value;
    const std::string term = expressions_.as_float(value);
    const bool along_columns = meet(kernel_[value].axes, column_axes_);
    const std::string mask = along_columns || row_axes_.empty() ? mask_ : row_mask_;
    const bool masked = !vanishes(value) && !mask.empty();
    out.line(sum.variable + " += " + (masked ? "tl.where(" + mask + ", " + term + ", 0.0)" : term));
  }
}

void Writer::add_in_memory(const Accumulate& sum, const std::string& term, const std::string& mask, Lines& out) {
  const std::string place = names_.fresh(buffer(sum.buffer).name + "_at"),
                    masked = mask.empty() ? "" : ", mask=" + mask;
  out.line(place + " = " + slice_address(sum));
  out.line("tl.store(" + place + ", tl.load(" + place + masked + ") + " + term + masked + ")");
}

void Writer::add_once(const std::vector<Sum>& sums, const Stage& stage, Lines& out) {
  bool in_memory = false;
  for (const Sum& sum : sums) {
    const bool here = std::any_of(stage.accumulates.begin(), stage.accumulates.end(),
                                  [&](const Accumulate& a) { return &a == sum.accumulate; });
    if (!here) continue;
    const std::string term = expressions_.as_float(sum.accumulate->value);
    if (sum.kind == Sum::Kind::Total) out.line(sum.variable + " += " + term);
    if (sum.kind == Sum::Kind::Memory) add_in_memory(*sum.accumulate, term, "", out);
    in_memory |= sum.kind == Sum::Kind::Memory;
  }
  if (in_memory) out.line("tl.debug_barrier()");
}

void Writer::close_sums(const std::vector<Sum>& sums, Lines& out) {
  for (const Sum& sum : sums) {
    if (sum.kind == Sum::Kind::Memory) continue;
    const std::string to = slice_address(*sum.accumulate);
    const bool is_tile = sum.along_columns || !row_axes_.empty();
    if (sum.kind == Sum::Kind::Total)
      out.line("tl.store(" + to + ", " + (is_tile ? "tl.sum(" + sum.variable + ")" : sum.variable) + ")");
    else
      out.line("tl.store(" + to + ", tl.sum(" + sum.variable + ", axis=0, keep_dims=True), mask=" + column_mask_ + ")");
  }
}

}  // namespace kw::act::triton
