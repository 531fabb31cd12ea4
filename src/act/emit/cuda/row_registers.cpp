// What the stages of a row take of a thread's registers, as the formulas of its schedule count them.
#include <algorithm>

#include "act/emit/cuda/row_writer.h"

namespace kw::act::cuda {

// What is alive at once: in each stage its own loads and those of later stages, and what is kept for these.
void RowWriter::count_live(const std::vector<const Stage*>& loops, const std::set<ValueId>& kept) {
  std::set<ValueId> done;
  for (size_t s = 0; s < loops.size(); ++s) {
    std::set<BufferId> loads;
    std::set<ValueId> alive;
    for (size_t t = s; t < loops.size(); ++t)
      for (ValueId v : computed_in(*loops[t], done)) {
        if (done.contains(v)) alive.insert(v);
        const Load* load = std::get_if<Load>(&kernel_[v].what);
        if (load && load->guard == kNoValue && is_large(load->at)) loads.insert(load->buffer);
      }
    text_.live = std::max(text_.live, static_cast<int>(loads.size() + alive.size()));
    text_.loads = std::max(text_.loads, static_cast<int>(loads.size()));
    text_.narrow_live = std::max(text_.narrow_live, static_cast<int>(loads.size() + 2 * alive.size()));
    for (ValueId v : computed_in(*loops[s]))
      if (kept.contains(v)) done.insert(v);
  }
  if (has_combine(kernel_)) {  // what its runs take
    text_.live += 2;
    text_.narrow_live += 4;
    text_.loads += 4;
  }
}

}  // namespace kw::act::cuda
