#include "act/emit/cuda/entries.h"

#include "act/emit/cuda/entry_writer.h"

namespace kw::act::cuda {

using Shape = KernelPlan::Shape;

namespace {

// The most blocks of a multiprocessor, which memory must have room for: of two bytes an element, the narrowest, as many
// as keep whole rows, or two that keep two thirds of one.
std::string part_blocks(const EntrySizes& sizes, const KernelText& text, const schedule::CudaParameters& p) {
  const int64_t bytes = 2 * std::max<int64_t>(1, std::ssize(text.cached));
  return "max(1, min(8, max(" + number(p.shared_bytes / bytes) + "//(1 + " + sizes.row() + "), min(2, " +
         number(p.shared_bytes * 3 / 2 / bytes) + "//(1 + " + sizes.row() + ")))))";
}

// As many as have worker_threads together; or two whose sums shared memory has room for.
std::string row_blocks(const EntrySizes& sizes, const KernelText& text, const schedule::CudaParameters& p) {
  const bool columns = text.column_sums > 0;
  const int64_t each = columns ? p.sum_elements : std::max(p.sum_elements, p.narrow_sum_elements);
  const auto threads = [&](int64_t elements) {
    return "(32*max(1, ceil_div(" + sizes.row() + ", " + number(32 * elements) + ")))";
  };
  const std::string is_long = "min(1, " + bracket(sizes.row()) + "//" + number(p.narrow_from + 1) + ")";
  std::string all = number(p.worker_threads);
  // Rows of narrow elements that are not short have more threads, in blocks with sums in shared memory, or else twice
  // the elements for a thread.
  if (columns && p.narrow_threads > p.worker_threads)
    all = "(" + all + " + " + number(p.narrow_threads - p.worker_threads) + "*" + is_long + ")";
  std::string at_once = all + "//" + threads(each);
  if (columns && has_few_sums(text))
    at_once =
        "max(" + at_once + ", " + is_long + "*(" + number(p.sum_threads) + "//" + threads(p.shared_sum_elements) + "))";
  const std::string two =
      columns ? "1 + min(1, " + number(p.shared_bytes / 2 / (4 * text.column_sums)) + "//max(1, " + sizes.row() + "))"
              : "2";
  return "max(" + two + ", min(8, " + at_once + "))";
}

}  // namespace

EntryText write_entries(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text, CppTypes& types,
                        const schedule::CudaParameters& parameters, const Workers& workers) {
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

Workers workers_of(const LoopProgram& program, const LoopKernel& kernel, const KernelText& text,
                   const schedule::CudaParameters& parameters) {
  const EntrySizes sizes(program, kernel, text);
  const schedule::CudaParameters& p = parameters;
  switch (text.plan.shape) {
    case Shape::Elements:
      return {"max(1, min(ceil_div(" + sizes.product(text.plan.nest.all()) + ", " +
              number(p.element_threads * p.whole_elements) + "), 4*multiprocessors))"};
    case Shape::Rows: {
      const std::string blocks = text.plan.in_parts ? part_blocks(sizes, text, p) : row_blocks(sizes, text, p);
      // At least 8: where rows are ragged their number is a multiple of that.
      return {"max(1, min(" + sizes.points() + ", max(8, multiprocessors*" + blocks + ")))", blocks};
    }
    case Shape::Columns:
    case Shape::Points:
      break;
  }
  return {"max(1, min(" + sizes.points() + ", 4*multiprocessors))"};
}

}  // namespace kw::act::cuda
