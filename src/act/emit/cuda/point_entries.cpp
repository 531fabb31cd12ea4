#include "act/emit/cuda/entry_writer.h"

namespace kw::act::cuda {

// Few columns are shared out among all multiprocessors, in pieces of memory that are read as one at least.
std::string PointEntries::lanes_of_columns() const {
  const bool in_order = std::any_of(kernel_.values.begin(), kernel_.values.end(), [](const Value& value) {
    const Reduced* reduced = std::get_if<Reduced>(&value.what);
    return reduced && reduced->op == ir::Op::Reduce;
  });
  if (in_order) return "32";
  return "max(8, max(2*" + sizes_.vector() + ", min(32, next_pow2(1 + " + bracket(sizes_.points()) +
         "//(2*multiprocessors)))))";
}

EntryText PointEntries::run() {
  const bool columns = text_.plan.shape == KernelPlan::Shape::Columns;
  const std::string points = sizes_.points(), row = sizes_.row();
  std::vector<bool> kinds;
  if (!merged_.empty()) kinds.push_back(true);
  kinds.push_back(false);
  for (bool dense : kinds)
    for (bool wide : {false, true}) {
      if (dense && wide) continue;
      Variant v{.suffix = wide                       ? "_large"
                          : dense || merged_.empty() ? ""
                                                     : "_strided",
                .why = wide    ? "More elements than an int counts."
                       : dense ? "Dense tensors: axes that can be are walked as one."
                               : "Any strides."};
      v.dense = dense;
      v.wide_index = wide;
      if (!wide) {
        v.guards.push_back(short_index(points));
        v.guards.push_back(short_index(row));
      }
      if (columns) {
        v.most_threads = 32 * p_.column_warps;
        v.lanes = lanes_of_columns();
        v.grid = "ceil_div(" + points + ", " + v.lanes + ")";
        // Half of the warps where more blocks than two for a multiprocessor have the other half's work.
        v.block = "32*min(" + number(p_.column_warps) + "//max(1, min(2, ceil_div(" + v.grid +
                  ", 2*multiprocessors))), max(1, ceil_div(" + row + ", " + number(p_.column_elements) + ")))";
      } else {
        v.most_threads = 64;
        v.block = text_.plan.accumulates ? "32" : "64";
        v.grid = "ceil_div(" + (text_.plan.accumulates ? workers_ : points) + ", " + v.block + ")";
      }
      write(v);
    }
  return std::move(out_);
}

}  // namespace kw::act::cuda
