#include "act/emit/cpp/combines.h"
#include "act/emit/cuda/entry_writer.h"

namespace kw::act::cuda {
namespace {

constexpr int64_t kShortColumn = 512;  // elements that warps of a block go through in a few rounds

}  // namespace

EntryText PointEntries::run() {
  const bool columns = text_.plan.shape == KernelPlan::Shape::Columns;
  const std::string points = sizes_.points(), row = sizes_.row();
  struct Kind {
    bool dense, wide;
    const char *suffix, *why;
  };
  std::vector<Kind> kinds;
  if (text_.plan.adds_slices) {  // which are few: to count them with 64 bits costs nothing
    kinds = {{false, true, "", "Adds up what the blocks of another kernel left."}};
  } else {
    if (!merged_.empty()) kinds.push_back({true, false, "", "Dense tensors: axes that can be are walked as one."});
    kinds.push_back({false, false, merged_.empty() ? "" : "_strided", "Any strides."});
    kinds.push_back({false, true, "_large", "More elements than an int counts."});
  }
  for (const auto& [dense, wide, suffix, why] : kinds) {
    Variant v{.suffix = suffix, .why = why};
    v.dense = dense;
    v.wide_index = wide;
    if (!wide) {
      v.guards.push_back(short_index(points));
      v.guards.push_back(short_index(row));
    }
    if (columns) {
      v.most_threads = 32 * p_.column_warps;
      // Fewer columns to a block, a quarter of a warp at least, where they are long and multiprocessors would have
      // none.
      const std::string few = "ceil_div(" + points + ", 8*multiprocessors)";
      const std::string is_short = "4*min(1, " + number(kShortColumn) + "//max(1, " + row + "))";
      v.grid = "ceil_div(" + points + ", " +
               (has_combine(kernel_) ? "32" : "min(32, 8*next_pow2(max(1, max(" + few + ", " + is_short + "))))") + ")";
      // Half of the warps, where there are more blocks than two for a multiprocessor.
      v.block = "32*min(" + number(p_.column_warps) + "//max(1, min(2, ceil_div(" + v.grid +
                ", 2*multiprocessors))), max(1, ceil_div(" + row + ", " + number(p_.column_elements) + ")))";
      if (points == "1") {  // four for a thread
        v.grid = "1";
        v.block = "32*min(" + number(p_.column_warps) + ", max(1, ceil_div(" + row + ", 128)))";
      }
    } else {
      v.most_threads = 64;
      v.block = text_.plan.accumulates ? "32" : "64";
      v.grid = "ceil_div(" + (text_.plan.accumulates ? workers_.most : points) + ", " + v.block + ")";
    }
    write(v);
  }
  return std::move(out_);
}

}  // namespace kw::act::cuda
