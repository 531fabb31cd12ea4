#include <algorithm>

#include "act/emit/cuda/entry_writer.h"
#include "base/text.h"

namespace kw::act::cuda {
namespace {

constexpr int64_t kStaticShared = 4096;  // bytes that reductions may have of their own
constexpr int64_t kRowBytes = 96;        // as in runtime/cuda/row.h
constexpr size_t kMostAxes = 2;          // of a ragged row that leaves registers to a second block

}  // namespace

struct RowEntries::Held {
  std::string suffix, why;
  std::string each, constant;  // elements per thread, as an expression of the manifest and as one of C++
  int64_t most_threads, least_blocks;
  std::string place;
  int64_t bytes = 0;  // of an element at most; 0: any
  int64_t from = 0;   // shorter rows are for another
  bool keep = true;   // from stage to stage what is dear to compute
  std::string guard = {};
  bool is_for_wide = false;  // elements of more than two bytes
};

std::string RowEntries::length() const { return bracket(sizes_.row()); }

std::string RowEntries::threads(const std::string& length, const std::string& each, const std::string& most) const {
  return "min(" + most + ", 32*max(1, ceil_div(" + length + ", 32*" + each + ")))";
}

std::vector<std::string> RowEntries::arguments(const std::string& vector, const std::string& each, bool streamed,
                                               bool block, const std::string& place, bool ragged, bool keep) const {
  const char* const kText[] = {"false", "true"};
  std::vector<std::string> all = {vector, each, kText[streamed], kText[block]};
  all.push_back(text_.plan.accumulates ? "kw::Place::" + place : kText[keep && !streamed]);
  all.push_back(kText[ragged]);
  return all;
}

void RowEntries::fast(Variant& v) const {
  v.dense = v.unit = true;
  aligned(v);
  if (!text_.vectors.empty() && !v.ragged) whole_vectors(v);
  v.guards.push_back(short_index(sizes_.row()));
  of_no_wider_beside(v);
}

// As many blocks as run at once leave a slice each. The rows of one all begin alike, so that its threads keep their
// columns.
void RowEntries::share_out(Variant& v, const std::string& at_once) const {
  const bool alike = v.ragged && text_.column_sums > 0;
  v.grid = grid_of_slices(at_once, alike);
  if (alike)
    v.guards.push_back(bracket(v.grid) + "*" + bracket(sizes_.row()) + " % " + sizes_.vector() + " == 0 or " +
                       sizes_.points() + " <= " + v.grid);
}

void RowEntries::lanes(bool ragged) {
  const bool summed = text_.plan.accumulates;
  const int64_t each = summed ? p_.sum_elements : p_.row_elements;
  Variant v{.suffix = ragged ? "_short_ragged" : "_short",
            .why = ragged ? "The same, where rows begin anywhere."
                          : "Rows that some lanes of a warp hold: several in a block."};
  v.ragged = ragged;
  fast(v);
  if (ragged && p_.rare_kernels == 0) of_one_width(v);
  v.guards.push_back(length() + " <= " + number(32 * each));
  v.arguments = arguments(vector_constant(), number(each), false, false, "Registers", ragged);
  v.most_threads = summed ? summing_threads() : p_.lane_threads;
  if (summed) v.thread_bytes = kThreadBytes;
  v.block = summed ? threads_size(v) : number(v.most_threads);
  // Edges are up to 14, one for a lane.
  v.lanes =
      "min(32, next_pow2(max(" + number(ragged ? 16 : 1) + ", ceil_div(" + length() + ", " + number(each) + "))))";
  v.grid = "ceil_div(" + bracket(sizes_.points()) + "*" + v.lanes + ", " + v.block + ")";
  if (summed) {
    v.least_blocks = std::max<int64_t>(1, p_.sum_threads / v.most_threads);
    share_out(v, number(v.least_blocks));
    const std::string sums = text_.column_sums > 0 ? bytes_of_widest_sum() : "0";
    v.shared = "max(" + sums + ", " + ahead_bytes(number(each)) + ")*" + number(each) + "*" + v.block;
  }
  write(v);
}

// Sums that ride along take registers: where they are many, fewer threads have enough.
int64_t RowEntries::summing_threads() const {
  size_t sums = 0;
  for (const Stage& stage : kernel_.stages) sums += stage.accumulates.size();
  return sums > 3 ? 192 : 256;
}

void RowEntries::held(bool ragged, const Held& how) {
  if (ragged && p_.rare_kernels == 0) return;
  const bool summed = text_.plan.accumulates;
  Variant v{.suffix = how.suffix + (ragged ? "_ragged" : ""),
            .why = ragged ? "The same, where rows begin anywhere." : how.why};
  v.ragged = ragged;
  fast(v);
  if (how.bytes > 0) v.guards.push_back(sizes_.widest() + " <= " + number(how.bytes));
  if (how.is_for_wide) v.guards.push_back(sizes_.widest() + " > 2");
  if (how.bytes > 0) v.only_for(are_narrow());
  if (how.is_for_wide) v.only_for("!" + are_narrow());
  if (how.from > 0) v.guards.push_back(length() + " > " + number(how.from));
  if (!how.guard.empty()) v.guards.push_back(how.guard);
  v.most_threads = how.most_threads;
  v.thread_bytes = how.bytes > 0 ? how.bytes : kThreadBytes;
  v.guards.push_back(length() + " <= " + threads_size(v) + "*" + how.each);
  v.arguments = arguments(vector_constant(), how.constant, false, true, how.place, ragged, how.keep);
  v.least_blocks = ragged && how.least_blocks > 2 ? how.least_blocks * 3 / 4 : how.least_blocks;
  v.block = threads(length(), how.each, threads_size(v));
  std::string bytes = summed ? ahead_bytes(how.each) : "0";
  if (how.place == "Shared" && text_.column_sums > 0) bytes += " + " + bytes_of_sums(SumKind::Column);
  if (how.place == "Registers" && text_.column_sums > 0 && ragged)  // threads take sums from each other
    bytes = "max(" + bytes + ", " + bytes_of_widest_sum() + ")";
  if (bytes != "0") {
    v.shared = "(" + bytes + ")*" + how.each + "*" + v.block;
    if (ragged && how.place == "Shared" && !text_.beside.empty())
      v.shared += " + (" + sizes_.bytes(text_.beside) + ")*(" + how.each + " + 8)*" + v.block;
    v.guards.push_back(v.shared + " <= " + number(p_.shared_bytes - kStaticShared));
  }
  v.grid = sizes_.points();
  if (summed) {
    const std::string by_threads = threads_size(v) + "//" + v.block;
    share_out(v, v.shared == "0" ? by_threads
                                 : "max(1, min(" + by_threads + ", " + number(p_.shared_bytes) + "//(" +
                                       number(kStaticShared) + " + " + v.shared + ")))");
  }
  write(v);
}

// Two blocks on a multiprocessor, so that one reads while the other computes; one with all shared memory, where two
// would have no room for their sums, or keep less than two thirds of a row each.
void RowEntries::streamed(bool ragged) {
  const bool summed = text_.plan.accumulates;
  Variant v{.suffix = ragged ? "_streamed_ragged" : "_streamed",
            .why = ragged ? "The same, where rows begin anywhere." : "Rows of any length, read again in every stage."};
  v.ragged = ragged;
  fast(v);
  if (ragged && p_.rare_kernels == 0) of_one_width(v);
  const std::string each = elements_size(p_.stream_elements, p_.stream_elements);
  const bool sums = text_.column_sums > 0;
  v.arguments = arguments(vector_constant(), elements_constant(p_.stream_elements, p_.stream_elements), true, true,
                          sums ? "Shared" : "Memory", ragged);
  const int64_t all = p_.shared_bytes - kStaticShared, half = p_.shared_bytes / 2 - kStaticShared;
  const std::string row_bytes = sizes_.bytes(text_.cached);
  const std::string sum_bytes = sums ? bytes_of_sums(SumKind::Column) : "0";
  const std::string wanted = length() + "*(" + row_bytes + " + " + sum_bytes + ")";
  const std::string least = sums ? "max(1, ceil_div(" + length() + "*" + sum_bytes + ", " + number(half) + "))" : "1";
  const std::string halves = "min(2, max(" + least + ", ceil_div(2*" + wanted + ", " + number(3 * half) + ")))";
  v.most_threads = ragged ? with_edges(p_.stream_threads) : p_.stream_threads;
  if (ragged && sums && !has_few_sums(text_)) v.most_threads = with_edges(v.most_threads);  // which take registers too
  v.thread_bytes = kThreadBytes;
  v.block = "min(" + threads_size(v, 2) + "*" + halves + ", 32*max(1, ceil_div(" + length() + ", 32*" + each + ")))";
  v.grid = sizes_.points();
  if (summed) share_out(v, "2//" + halves);
  const std::string room = "min(" + number(all) + ", " + number(half) + "*" + halves + ")";
  const std::string tile = each + "*" + v.block;
  std::string sum_room = "0";
  if (sums) {
    // What does not fit is in memory.
    sum_room = "min(ceil_div(" + length() + ", " + tile + "), " + number(all) + "//(" + tile + "*" + sum_bytes + "))*" +
               tile + "*" + sum_bytes;
    v.shared = sum_room;
  }
  if (!text_.cached.empty()) {
    const std::string left = sums ? "(" + room + " - " + sum_room + ")" : room;
    v.cached =
        "max(0, min(ceil_div(" + length() + ", " + tile + ")*" + tile + ", " + left + "//(" + row_bytes + ")//8*8))";
    v.shared = (sums ? sum_room + " + " : "") + v.cached + "*(" + row_bytes + ")";
  }
  write(v);
}

// A 64-bit index costs little where it is found once for a row: one kernel serves any number of elements too.
void RowEntries::any_strides() {
  Variant v{.suffix = "_strided", .why = "Any strides, and more elements than an int counts."};
  v.wide_index = true;
  v.arguments = arguments("1", "4", true, true, "Memory", false);
  v.most_threads = p_.stream_threads / 2;
  v.block = threads(length(), "4", number(v.most_threads));
  v.grid = text_.plan.accumulates ? workers_.most : sizes_.points();
  write(v);
}

EntryText RowEntries::run() {
  const bool columns = text_.column_sums > 0;
  const int64_t sum = p_.sum_elements, narrow_sum = columns ? sum : std::max(sum, p_.narrow_sum_elements);
  for (bool ragged : {false, true}) {
    if (ragged && !text_.ragged) continue;
    lanes(ragged);
    if (!text_.plan.accumulates) {
      const int64_t row = p_.row_elements, wide = p_.wide_elements;
      const int64_t narrow_wide = std::max(wide, p_.narrow_wide_elements);
      held(ragged, {"", "Rows that the registers of a block hold.", elements_size(row, row),
                    elements_constant(row, row), p_.row_threads, p_.row_blocks, ""});
      const bool keeps = p_.long_keeps && !ragged;  // edges take the registers
      // Two blocks share the registers of a multiprocessor, unless a ragged row's edges and the vectors beside it,
      // which are put together from two each, or where it is in several axes, take too many of them.
      const bool takes_more = ragged && (p_.long_keeps || text_.vectors.size() > text_.large.size() ||
                                         text_.plan.row_axes().size() > kMostAxes);
      const bool shares = ragged && !takes_more;
      Held longer = {"_long",
                     "Longer rows of narrow elements.",
                     number(p_.long_elements),
                     number(p_.long_elements),
                     shares ? p_.long_threads * 3 / 4 : p_.long_threads,
                     keeps || takes_more ? 1 : 2,
                     "",
                     2,
                     0,
                     keeps};
      const int64_t long_row = p_.long_elements * p_.long_threads;
      if (long_row > row * p_.row_threads) {
        held(ragged, longer);
        if (shares) {
          longer.suffix = "_longest";
          longer.most_threads = p_.long_threads, longer.least_blocks = 1;
          held(ragged, longer);
        }
      }
      Held widest = {"_wide",
                     "Rows that the registers of a block as large as can be hold.",
                     elements_size(narrow_wide, wide),
                     elements_constant(narrow_wide, wide),
                     ragged ? with_edges(with_edges(p_.wide_threads)) : p_.wide_threads,
                     1,
                     ""};
      widest.is_for_wide = long_row > row * p_.row_threads && long_row >= narrow_wide * widest.most_threads;
      if (narrow_wide * p_.wide_threads > row * p_.row_threads) held(ragged, widest);
    } else {
      const std::string narrow = number(p_.narrow_sum_elements);
      const Held registers = {"",
                              "Rows and sums that the registers of a block hold.",
                              columns ? number(sum) : elements_size(narrow_sum, sum),
                              columns ? number(sum) : elements_constant(narrow_sum, sum),
                              p_.sum_threads,
                              1,
                              "Registers"};
      Held shared = {"_narrow",
                     "Rows of narrow elements: sums in shared memory leave registers to more threads.",
                     narrow,
                     narrow,
                     p_.narrow_threads,
                     1,
                     "Shared",
                     2};
      shared.from = p_.narrow_from;
      // Edges take registers, of which sums, or more tensors than two, leave too few.
      if (ragged && (!has_few_sums(text_) || text_.loads > 2)) shared.most_threads = with_edges(shared.most_threads);
      if (columns) {
        // As much of ragged rows, by fewer threads, which have registers for edges too.
        const int64_t most_threads = ragged ? with_edges(p_.sum_threads) : p_.sum_threads;
        auto shared_by = [&](int64_t amount) { return amount * p_.sum_threads / most_threads / 8 * 8; };
        const int64_t most = shared_by(p_.shared_sum_elements);
        const int64_t bytes = element_bytes(shared_by(p_.shared_sum_bytes / kThreadBytes));
        Held wide = {"_shared",
                     "Rows that the registers of a block hold, and sums in shared memory.",
                     most_size(most, bytes),
                     most_constant(most, bytes),
                     most_threads,
                     1,
                     "Shared"};
        if (bytes == 0) {  // registers hold no vector of every tensor beside all else
          held(ragged, shared);
          held(ragged, registers);
        } else if (has_few_sums(text_)) {
          // Rows of narrow elements are for the one of these of which more blocks run at once.
          auto blocks = [&](const Held& how) {
            return number(how.most_threads) + "//(32*ceil_div(" + length() + ", 32*" + how.each + "))";
          };
          shared.guard = blocks(shared) + " >= " + blocks(wide);
          wide.guard = length() + " > " + number(p_.sum_threads * sum) + " or " + length() + " > " +
                       number(p_.narrow_from) + " and " + sizes_.widest() + " <= 2";
          held(ragged, shared);
          held(ragged, wide);
          held(ragged, registers);
        } else {
          held(ragged, shared);
          held(ragged, registers);
          held(ragged, wide);
        }
      } else {
        held(ragged, registers);
      }
    }
    streamed(ragged);
  }
  any_strides();
  return std::move(out_);
}

// Of an element in all rows that are on their way.
std::string RowEntries::ahead_bytes(const std::string& each) const {
  if (text_.ahead.empty()) return "0";
  const std::string bytes = "(" + sizes_.bytes(text_.ahead) + ")";
  return bytes + "*max(1, min(2, " + number(2 * kRowBytes) + "//(" + bytes + "*" + each + ")))";
}

std::string RowEntries::bytes_of_widest_sum() const {
  const std::vector<std::string> each = bytes_of_each_sum(SumKind::Column);
  if (std::count(each.begin(), each.end(), each[0]) == std::ssize(each)) return each[0];
  return "max(" + join(each, ", ") + ")";
}

}  // namespace kw::act::cuda
