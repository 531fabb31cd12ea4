#include "act/emit/cuda/entry_writer.h"

namespace kw::act::cuda {
namespace {

constexpr int64_t kStaticShared = 4096;  // bytes that reductions may have of their own

}  // namespace

// Bytes of the warps' sums over parts.
std::string PartEntries::slots(const std::string& warps, const std::string& parts) const {
  std::string bytes;
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates)
      if (kind_of(text_.plan, sum) == SumKind::Segment) bytes = "bytes(" + buffer(sum.buffer).name + ")";
  return number(text_.segment_sums) + "*" + bytes + "*((" + warps + "*" + bracket(parts) + " + 3)//4*4)";
}

void PartEntries::tiled(bool ragged) {
  Variant v{.suffix = ragged ? "_ragged" : "",
            .why = ragged ? "The same, where parts begin anywhere." : "Parts of rows, a tile for a warp at a time."};
  v.ragged = ragged;
  v.dense = v.unit = true;
  aligned(v);
  if (!text_.vectors.empty() && !ragged) whole_vectors(v);
  v.guards.push_back(short_index(sizes_.row()));
  // Ragged parts waste less with short tiles; sums that ride along take registers too.
  const bool segments = text_.segment_sums > 0, summed = text_.plan.accumulates;
  const int64_t longest = summed ? p_.narrow_part_elements / 2 : p_.narrow_part_elements;
  const int64_t narrow = ragged ? p_.stream_elements : std::max(p_.stream_elements, longest);
  const std::string each = elements_size(narrow, p_.stream_elements);
  v.arguments = {vector_constant(), elements_constant(narrow, p_.stream_elements)};
  if (summed) v.arguments.push_back("kw::Place::Shared");
  v.arguments.push_back(ragged ? "true" : "false");
  const std::string parts = bracket(sizes_.parts(true));
  const std::string tiles = parts + "*ceil_div(" + sizes_.inner(true) + (ragged ? " + 7" : "") + ", 32*" + each + ")";
  const int64_t all = p_.shared_bytes - kStaticShared, half = p_.shared_bytes / 2 - kStaticShared;
  const std::string row_bytes = sizes_.bytes(text_.cached);
  const std::string halves =
      "min(2, max(1, ceil_div(2*" + tiles + "*32*" + each + "*(" + row_bytes + "), " + number(3 * half) + ")))";
  v.most_threads = ragged ? p_.stream_threads * 3 / 4 : p_.stream_threads;
  v.thread_bytes = kThreadBytes;
  const std::string warps = "max(1, min(" + threads_size(v, 64) + "*" + halves + ", " + tiles + "))";
  v.block = "32*" + warps;
  v.grid = summed ? workers_ : sizes_.points();
  const std::string slot_bytes = segments ? slots(warps, parts) : "0";
  if (segments) {
    v.guards.push_back(slot_bytes + " <= " + number(half));
    v.shared = slot_bytes;
  }
  if (!text_.cached.empty()) {
    const std::string room = "min(" + number(all) + ", " + number(half) + "*" + halves + ")";
    const std::string left = segments ? "(" + room + " - " + slot_bytes + ")" : room;
    v.cached = "max(0, min(" + tiles + "*32*" + each + ", " + left + "//(" + row_bytes + ")//8*8))";
    v.shared = (segments ? slot_bytes + " + " : "") + v.cached + "*(" + row_bytes + ")";
  }
  write(v);
}

void PartEntries::any_strides() {
  for (bool wide : {false, true}) {
    Variant v{.suffix = wide ? "_large" : "_strided",
              .why = wide ? "More elements than an int counts." : "Any strides."};
    v.wide_index = wide;
    v.arguments = {"1", "4"};
    if (text_.plan.accumulates) v.arguments.push_back("kw::Place::Memory");
    v.arguments.push_back("false");
    if (!wide) v.guards.push_back(short_index(sizes_.row()));
    // One warp adds to its block's slice by itself.
    const std::string warps = text_.segment_sums > 0 ? "1" : "min(16, max(1, ceil_div(" + sizes_.row() + ", 128)))";
    v.most_threads = 512;
    v.block = "32*" + warps;
    v.grid = text_.plan.accumulates ? workers_ : sizes_.points();
    write(v);
  }
}

EntryText PartEntries::run() {
  tiled(false);
  if (text_.ragged) tiled(true);
  any_strides();
  return std::move(out_);
}

}  // namespace kw::act::cuda
