#include "act/emit/cuda/entry_writer.h"

#include <algorithm>

namespace kw::act::cuda {
namespace {

constexpr int64_t kStaticShared = 4096;  // bytes that reductions may have of their own
constexpr int64_t kMostBlocks = 16;      // on a multiprocessor
constexpr int64_t kFewBlocks = 8;        // as many, where each has warps enough
constexpr int kMostHeld = 3;             // tensors of which a thread has 16 elements beside sums that ride along

}  // namespace

// Bytes of the warps' sums over parts.
std::string PartEntries::slots(const std::string& warps, const std::string& parts) const {
  return bytes_of_sums(SumKind::Segment) + "*((" + warps + "*" + bracket(parts) + " + 3)//4*4)";
}

// Of every element: each takes registers for the cases that are rare.
int64_t PartEntries::divisions() const {
  return std::count_if(kernel_.values.begin(), kernel_.values.end(), [&](const Value& value) {
    const Map* map = std::get_if<Map>(&value.what);
    return map && map->op == ir::Op::Div &&
           std::find(value.axes.begin(), value.axes.end(), text_.plan.nest.inner) != value.axes.end();
  });
}

void PartEntries::tiled(Variant v) {
  const bool ragged = v.ragged;
  v.dense = v.unit = true;
  if (v.parts > 1) {
    partly_aligned(v);
  } else {
    aligned(v);
    if (!text_.vectors.empty() && !ragged) whole_vectors(v);
  }
  if (ragged && p_.rare_kernels == 0) of_one_width(v);
  v.guards.push_back(short_index(sizes_.row()));
  // What a warp does once for a tile costs as much as some elements: tiles are long, by fewer threads where sums that
  // ride along take registers too.
  const bool segments = text_.segment_sums > 0, summed = text_.plan.accumulates;
  const int64_t less = summed ? p_.stream_threads * 3 / 4 : p_.stream_threads;
  const int64_t threads = summed && divisions() > 1 ? with_edges(less) : less;
  const bool is_long = summed && text_.held <= kMostHeld;
  const int64_t some = is_long ? std::max<int64_t>(p_.stream_elements, 16) : p_.stream_elements;
  const int64_t narrow = std::max(some, p_.narrow_part_elements);
  const std::string each = elements_size(narrow, some);
  v.arguments = {vector_constant(v.parts), elements_constant(narrow, some)};
  if (summed) v.arguments.push_back("kw::Place::Shared");
  v.arguments.push_back(ragged ? "true" : "false");
  const std::string parts = bracket(sizes_.parts(true));
  const std::string part_tiles = "ceil_div(" + sizes_.inner(true) + ", 32*" + each + ")";
  const std::string tiles = parts + "*" + part_tiles;
  v.guards.push_back(tiles + "*" + part_tiles + " < 4294967296");  // so that a tile's part is found by a multiplication
  // As many blocks as keep whole rows, or two that keep two thirds of one each; and as few warps in each as have as
  // many tiles as the others.
  const int64_t all = p_.shared_bytes - kStaticShared, half = p_.shared_bytes / 2 - kStaticShared;
  v.most_threads = ragged || (summed && v.parts > 1) ? with_edges(threads) : threads;
  v.thread_bytes = kThreadBytes;
  const std::string room = tiles + "*32*" + each + "*(" + sizes_.bytes(text_.cached) + ")";
  // Where there are fewer rows than that, they have more warps each.
  const auto fitting = [&](int64_t limit) {
    if (text_.cached.empty()) return number(limit);
    return "min(" + number(limit) + ", max(" + number(p_.shared_bytes) + "//(" + number(kStaticShared) + " + " + room +
           "), min(2, " + number(3 * half) + "//(1 + " + room + "))))";
  };
  const std::string few =
      "max(1, min(" + fitting(kFewBlocks) + ", ceil_div(" + sizes_.points() + ", multiprocessors)))";
  const std::string most = "max(1, " + threads_size(v, 32) + "//" + few + ")";
  const std::string warps = "max(1, ceil_div(" + tiles + ", max(1, ceil_div(" + tiles + ", " + most + "))))";
  v.block = "32*" + warps;
  // Rows of few tiles leave room for more blocks; but each of these would leave a slice of its sums.
  const std::string blocks = summed ? few
                                    : "max(" + few + ", min(" + fitting(kMostBlocks) + ", " + threads_size(v, 32) +
                                          "//" + bracket(warps) + "))";
  const std::string slot_bytes = segments ? slots(warps, parts) : "0";
  if (segments) {
    v.guards.push_back(slot_bytes + " <= " + number(half));
    v.shared = slot_bytes;
  }
  if (!text_.cached.empty()) {
    const std::string row_bytes = "(" + sizes_.bytes(text_.cached) + ")";
    const std::string share = "(" + number(p_.shared_bytes) + "//" + blocks + " - " + number(kStaticShared) + ")";
    const std::string left = segments ? "(" + share + " - " + slot_bytes + ")" : share;
    v.cached = "max(0, min(" + tiles + "*32*" + each + ", " + left + "//" + row_bytes + "//(32*" + each + ")*32*" +
               each + "))";
    v.shared = (segments ? slot_bytes + " + " : "") + v.cached + "*" + row_bytes;
    v.guards.push_back(v.shared + " <= " + number(all));
  }
  // As many blocks as run at once, so that each has a next row.
  v.grid = summed ? grid_of_slices(blocks) : "max(1, min(" + sizes_.points() + ", multiprocessors*" + blocks + "))";
  write(v);
}

void PartEntries::any_strides() {
  Variant v{.suffix = "_strided", .why = "Any strides, and more elements than an int counts."};
  v.wide_index = true;
  v.arguments = {"1", "4"};
  if (text_.plan.accumulates) v.arguments.push_back("kw::Place::Memory");
  v.arguments.push_back("false");
  // One warp adds to its block's slice by itself.
  const std::string warps = text_.segment_sums > 0 ? "1" : "min(16, max(1, ceil_div(" + sizes_.row() + ", 128)))";
  v.most_threads = 512;
  v.block = "32*" + warps;
  v.grid = text_.plan.accumulates ? workers_.most : sizes_.points();
  write(v);
}

EntryText PartEntries::run() {
  tiled({.suffix = "", .why = "Parts of rows, a tile for a warp at a time."});
  if (p_.rare_kernels != 0 && !text_.vectors.empty() && !is_mixed())
    tiled({.suffix = "_halves", .why = "The same, where parts are whole halves of vectors.", .parts = 2});
  if (text_.ragged) tiled({.suffix = "_ragged", .why = "The same, where parts begin anywhere.", .ragged = true});
  any_strides();
  return std::move(out_);
}

}  // namespace kw::act::cuda
