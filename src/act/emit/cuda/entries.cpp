#include "act/emit/cuda/entries.h"

#include "act/emit/cuda/entry_writer.h"

namespace kw::act::cuda {

using Shape = KernelPlan::Shape;

EntryText write_entries(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types,
                        const schedule::CudaParameters& parameters, const std::string& workers) {
  switch (text.plan.shape) {
    case Shape::Elements:
      return ElementEntries(program, kernel, text, types, parameters, workers).run();
    case Shape::Rows:
      if (text.plan.in_parts) return PartEntries(program, kernel, text, types, parameters, workers).run();
      return RowEntries(program, kernel, text, types, parameters, workers).run();
    case Shape::Columns:
    case Shape::Points:
      break;
  }
  return PointEntries(program, kernel, text, types, parameters, workers).run();
}

std::string workers_of(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text,
                       const schedule::CudaParameters& parameters) {
  const EntrySizes sizes(program, kernel, text);
  const schedule::CudaParameters& p = parameters;
  switch (text.plan.shape) {
    case Shape::Elements:
      return "max(1, min(ceil_div(" + sizes.product(text.plan.nest.all()) + ", " +
             number(p.element_threads * p.whole_elements) + "), 4*multiprocessors))";
    case Shape::Rows: {
      // In parts as many as keep whole rows of two bytes an element.
      if (text.plan.in_parts)
        return "max(1, min(" + sizes.points() + ", multiprocessors*max(1, min(8, " +
               number(p.shared_bytes / 2 / std::max<int64_t>(1, static_cast<int64_t>(text.cached.size()))) + "//(1 + " +
               sizes.row() + ")))))";
      // As many blocks on a multiprocessor as have worker_threads together, and two where rows are streamed whose
      // sums, and two thirds of which, its shared memory has room for twice, by two bytes an element; but few rows for
      // a block cost more than they bring: each has a slice to write. A multiple of 8, so that all rows of a block
      // begin alike.
      const int64_t each = text.column_sums > 0 ? p.sum_elements : std::max(p.sum_elements, p.narrow_sum_elements);
      const std::string threads = "32*max(1, ceil_div(" + sizes.row() + ", " + number(32 * each) + "))";
      const int64_t sum_bytes = 4 * text.column_sums, bytes = 2 * static_cast<int64_t>(text.cached.size()) + sum_bytes;
      std::string streamed = "min(1, " + sizes.row() + "//" + number(p.sum_threads * p.shared_sum_elements + 1) + ")";
      if (text.column_sums > 0)
        streamed += "*min(1, " + number(std::min(p.shared_bytes / 2 / sum_bytes, p.shared_bytes * 3 / 4 / bytes)) +
                    "//max(1, " + sizes.row() + "))";
      // Rows of narrow elements that are not short have more threads, in blocks with sums in shared memory. How many
      // slices there are cannot depend on types.
      std::string all = number(p.worker_threads);
      if (text.column_sums > 0 && p.narrow_threads > p.worker_threads)
        all = "(" + all + " + " + number(p.narrow_threads - p.worker_threads) + "*min(1, " + sizes.row() + "//" +
              number(p.narrow_from + 1) + "))";
      // Or else twice the elements for a thread.
      std::string at_once = all + "//(" + threads + ")";
      if (text.column_sums > 0 && has_few_sums(text))
        at_once = "max(" + at_once + ", min(1, " + sizes.row() + "//" + number(p.narrow_from + 1) + ")*(" +
                  number(p.sum_threads) + "//(32*max(1, ceil_div(" + sizes.row() + ", " +
                  number(32 * p.shared_sum_elements) + ")))))";
      const std::string blocks = "max(1 + " + streamed + ", min(8, " + at_once + "))";
      return "max(1, min(" + sizes.points() + ", max(8, min(ceil_div(" + sizes.points() + ", " + number(p.worker_rows) +
             "), multiprocessors*" + blocks + ")//8*8)))";
    }
    case Shape::Columns:
    case Shape::Points:
      break;
  }
  return "max(1, min(" + sizes.points() + ", 4*multiprocessors))";
}

}  // namespace kw::act::cuda
