#include <algorithm>

#include "act/emit/cuda/entry_writer.h"
#include "base/text.h"

namespace kw::act::cuda {
namespace {

constexpr int64_t kStaticShared = 4096;  // bytes that reductions may have of their own
constexpr int64_t kLongestVector = 8;

}  // namespace

struct RowEntries::Held {
  std::string suffix, why;
  std::string each, constant;  // elements per thread, as an expression of the manifest and as one of C++
  int64_t most_threads, least_blocks;
  std::string place;
  int64_t bytes = 0;  // of an element at most; 0: any
};

// Ragged rows take some registers more; where there are none to spare, fewer threads have them: an eighth gives 8 to
// each of those that are left where all had 64, which some backward passes exceed by as many again. They are for the
// four parts of a multiprocessor alike: the warps of all its blocks are a multiple of four.
int64_t RowEntries::most_threads(int64_t threads, int64_t blocks, bool ragged) {
  const int64_t step = blocks > 1 ? 64 : 128;
  return ragged ? threads * (threads == 1024 ? 6 : 7) / 8 / step * step : threads;
}

std::string RowEntries::length(bool ragged) const { return bracket(sizes_.row() + (ragged ? " + 7" : "")); }

std::string RowEntries::threads(const std::string& length, const std::string& each, const std::string& most) const {
  return "min(" + most + ", 32*max(1, ceil_div(" + length + ", 32*" + each + ")))";
}

std::vector<std::string> RowEntries::arguments(const std::string& vector, const std::string& each, bool streamed,
                                               bool block, const std::string& place, bool ragged) const {
  const char* const kText[] = {"false", "true"};
  return {vector,       each, kText[streamed], kText[block], text_.plan.accumulates ? "kw::Place::" + place : "false",
          kText[ragged]};
}

void RowEntries::fast(Variant& v) const {
  v.dense = v.unit = true;
  aligned(v);
  if (!text_.vectors.empty() && !v.ragged) whole_vectors(v);
  v.guards.push_back(short_index(sizes_.row()));
  // A block's rows all begin alike, so that its threads keep their columns.
  if (v.ragged && text_.column_sums > 0)
    v.guards.push_back(bracket(workers_) + "*" + bracket(sizes_.row()) + " % " + sizes_.vector() + " == 0 or " +
                       sizes_.points() + " <= " + workers_);
}

void RowEntries::lanes(bool ragged) {
  const bool summed = text_.plan.accumulates;
  const int64_t each = summed ? p_.sum_elements : p_.row_elements;
  Variant v{.suffix = ragged ? "_short_ragged" : "_short",
            .why = ragged ? "The same, where rows begin anywhere."
                          : "Rows that some lanes of a warp hold: several in a block."};
  v.ragged = ragged;
  fast(v);
  v.guards.push_back(length(ragged) + " <= " + number(32 * each));
  v.arguments = arguments(vector_constant(), number(each), false, false, "Registers", ragged);
  v.most_threads = summed ? 256 : p_.lane_threads;
  v.block = number(v.most_threads);
  v.lanes = "min(32, next_pow2(max(1, ceil_div(" + length(ragged) + ", " + number(each) + "))))";
  v.grid = summed ? workers_ : "ceil_div(" + bracket(sizes_.points()) + "*" + v.lanes + ", " + v.block + ")";
  if (summed) {
    const std::string sums = text_.column_sums > 0 ? bytes_of_sums() : "0";
    v.shared = "max(" + sums + ", " + sizes_.bytes(text_.ahead) + ")*" + number(each) + "*" + v.block;
  }
  write(v);
}

void RowEntries::held(bool ragged, const Held& how) {
  if (ragged && p_.held_ragged == 0) return;
  const bool summed = text_.plan.accumulates;
  Variant v{.suffix = how.suffix + (ragged ? "_ragged" : ""),
            .why = ragged ? "The same, where rows begin anywhere." : how.why};
  v.ragged = ragged;
  fast(v);
  if (how.bytes > 0) v.guards.push_back(widest() + " <= " + number(how.bytes));
  v.most_threads = most_threads(how.most_threads, how.least_blocks, ragged && how.place != "Registers");
  v.thread_bytes = how.bytes > 0 ? how.bytes : kThreadBytes;
  v.guards.push_back(length(ragged) + " <= " + threads_size(v) + "*" + how.each);
  v.arguments = arguments(vector_constant(), how.constant, false, true, how.place, ragged);
  v.least_blocks = how.least_blocks;
  v.block = threads(length(ragged), how.each, threads_size(v));
  v.grid = summed ? workers_ : sizes_.points();
  std::string bytes = summed ? sizes_.bytes(text_.ahead) : "0";
  if (how.place == "Shared" && text_.column_sums > 0)
    bytes += " + " + number(text_.column_sums) + "*" + bytes_of_sums();
  if (bytes != "0") {
    v.shared = "(" + bytes + ")*" + how.each + "*" + v.block;
    v.guards.push_back(v.shared + " <= " + number(p_.shared_bytes - kStaticShared));
  }
  write(v);
}

// Two blocks on a multiprocessor, so that one reads while the other computes; one with all shared memory, where two
// would keep less than two thirds of a row each.
void RowEntries::streamed(bool ragged) {
  const bool summed = text_.plan.accumulates;
  Variant v{.suffix = ragged ? "_streamed_ragged" : "_streamed",
            .why = ragged ? "The same, where rows begin anywhere." : "Rows of any length, read again in every stage."};
  v.ragged = ragged;
  fast(v);
  const std::string each = elements_size(p_.stream_elements);
  const bool sums = text_.column_sums > 0;
  v.arguments = arguments(vector_constant(), elements_constant(p_.stream_elements), true, true,
                          sums ? "Shared" : "Memory", ragged);
  const int64_t all = p_.shared_bytes - kStaticShared, half = p_.shared_bytes / 2 - kStaticShared;
  const std::string row_bytes = sizes_.bytes(text_.cached);
  const std::string sum_bytes = sums ? number(text_.column_sums) + "*" + bytes_of_sums() : "0";
  const std::string wanted = length(ragged) + "*(" + row_bytes + " + " + sum_bytes + ")";
  const std::string halves = "min(2, max(1, ceil_div(2*" + wanted + ", " + number(3 * half) + ")))";
  v.most_threads = most_threads(p_.stream_threads, 1, ragged);
  v.thread_bytes = kThreadBytes;
  v.block =
      "min(" + threads_size(v, 2) + "*" + halves + ", 32*max(1, ceil_div(" + length(ragged) + ", 32*" + each + ")))";
  v.grid = summed ? workers_ : sizes_.points();
  const std::string room = "min(" + number(all) + ", " + number(half) + "*" + halves + ")";
  const std::string tile = each + "*" + v.block;
  std::string sum_room = "0";
  if (sums) {
    sum_room = "ceil_div(" + length(ragged) + ", " + tile + ")*" + tile + "*" + sum_bytes;
    v.guards.push_back(sum_room + " <= " + number(all));
    v.shared = sum_room;
  }
  if (!text_.cached.empty()) {
    const std::string left = sums ? "(" + room + " - " + sum_room + ")" : room;
    v.cached = "max(0, min(ceil_div(" + length(ragged) + ", " + tile + ")*" + tile + ", " + left + "//(" + row_bytes +
               ")//8*8))";
    v.shared = (sums ? sum_room + " + " : "") + v.cached + "*(" + row_bytes + ")";
  }
  write(v);
}

void RowEntries::any_strides() {
  for (bool wide : {false, true}) {
    Variant v{.suffix = wide ? "_large" : "_strided",
              .why = wide ? "More elements than an int counts." : "Any strides."};
    v.wide_index = wide;
    v.arguments = arguments("1", "4", true, true, "Memory", false);
    if (!wide) v.guards.push_back(short_index(sizes_.row()));
    v.most_threads = p_.stream_threads / 2;
    v.block = threads(length(false), "4", number(v.most_threads));
    v.grid = text_.plan.accumulates ? workers_ : sizes_.points();
    write(v);
  }
}

EntryText RowEntries::run() {
  const std::string sum = number(p_.sum_elements);
  for (bool ragged : {false, true}) {
    if (ragged && !text_.ragged) continue;
    lanes(ragged);
    if (!text_.plan.accumulates) {
      held(ragged, {"", "Rows that the registers of a block hold.", elements_size(p_.row_elements),
                    elements_constant(p_.row_elements), p_.row_threads, p_.row_blocks, ""});
      if (p_.wide_elements * p_.wide_threads > p_.row_elements * p_.row_threads)
        held(ragged, {"_wide", "Rows that the registers of a block as large as can be hold.",
                      elements_size(p_.wide_elements), elements_constant(p_.wide_elements), p_.wide_threads, 1, ""});
    } else {
      held(ragged, {"", "Rows and sums that the registers of a block hold.", sum, sum, p_.sum_threads, 1, "Registers"});
      if (text_.column_sums > 0) {
        const std::string narrow = number(p_.narrow_sum_elements);
        held(ragged, {"_narrow", "Rows of narrow elements: sums in shared memory leave registers to more threads.",
                      narrow, narrow, p_.narrow_threads, 1, "Shared", 2});
        // Of the widest type, a vector that is as long as one of the narrowest.
        const int64_t bytes = std::max(p_.shared_sum_bytes, is_mixed() ? 8 * kLongestVector : 0);
        held(ragged, {"_shared", "Rows that the registers of a block hold, and sums in shared memory.",
                      most_size(p_.shared_sum_elements, bytes), most_constant(p_.shared_sum_elements, bytes),
                      p_.sum_threads, 1, "Shared"});
      }
    }
    streamed(ragged);
  }
  any_strides();
  return std::move(out_);
}

// Of elements that take more than a register each, as many registers; but not less than the longest vector.
std::string RowEntries::elements_size(int64_t most) const {
  return most > kLongestVector ? most_size(most, kThreadBytes * most) : number(most);
}
std::string RowEntries::elements_constant(int64_t most) const {
  return most > kLongestVector ? most_constant(most, kThreadBytes * most) : number(most);
}
bool RowEntries::is_mixed() const {
  std::set<std::string> types;
  for (BufferId id : sizes_.deciding()) types.insert(types_.stored(buffer(id).type));
  return types.size() > 1;
}
std::string RowEntries::bytes_of_sums() const {
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates)
      if (kind_of(text_.plan, sum) == SumKind::Column) return "bytes(" + buffer(sum.buffer).name + ")";
  return "4";
}

}  // namespace kw::act::cuda
