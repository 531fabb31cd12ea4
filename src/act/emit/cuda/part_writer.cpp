#include "act/emit/cuda/part_writer.h"

#include <algorithm>

#include "act/emit/words.h"

namespace kw::act::cuda {
namespace {

constexpr std::string_view kFile = "templates/cuda/parts.cu";

// The index in its part of a vector's first element.
const std::string kElement = "((in_part * kVectors + v) * 32 + kw::lane()) * kVector + edges.head";

// What sums over parts take of shared memory.
std::string room_of(const std::vector<std::string>& types) {
  std::string room;
  for (auto type = types.begin(); type != types.end();) {
    const auto other = std::find_if(type, types.end(), [&](const std::string& one) { return one != *type; });
    room += room.empty() ? "" : " + ";
    if (other - type > 1) room += std::to_string(other - type) + " * ";
    room += "kw::PartSums<" + *type + ">::bytes(parts)";
    type = other;
  }
  return room.empty() ? "0" : room;
}

}  // namespace

Lines PartWriter::frame(const Lines& point) {
  std::string sums_room;
  if (plan_.has_segments) {
    sums_.line("kw::barrier();");
    sums_room = "(kPlace == kw::Place::Shared ? " + room_of(segment_types_) + " : 0)";
  }
  text_.ragged = begins_alike();
  return kernel_skeleton(kFile, "parts", {}, point)
      .expression("parts", nest_.loop.empty() ? "1" : names_.product(nest_.loop))
      .expression("length", names_.size(nest_.inner))
      .statements("caches", caches(sums_room))
      .statements("ahead", ahead())
      .fill();
}

// ---- tiles ----

Lines PartWriter::stage_loop(const StageText& stage, size_t number) {
  const bool first = prefetches() && number == 0, last = prefetches() && number + 1 == stage_;
  const Lines loads = fetch(number);
  Lines out, arrive, next;
  if (first) {  // The tiles of a warp arrive one after the other.
    out.line("Index left = (tiles - 1 - kw::warp()) / kw::warps();");
    arrive.line("kw::copy_wait_but(left--);");
  }
  if (last) next.line("prefetch(point + kw::blocks(), tile);");
  out.append(stage_skeleton(kFile, stage, loads)
                 .statements("place", place(stage, number, loads))
                 .statements("arrive", arrive)
                 .statements("next", next)
                 .fill());
  const Lines& segments = parts_of_stage_[number].segments;
  if (!segments.empty()) {
    out.open("if (kPlace == kw::Place::Shared) {");
    out.line("kw::barrier();");
    out.append(segments);
    // Before the next row, whose sums begin anew: a reduction has a barrier.
    if (!stage.reduces) out.line("kw::barrier();");
    out.close();
  }
  return out;
}

Lines PartWriter::place(const StageText& stage, size_t number, const Lines& fetch) {
  const Lines& common = parts_of_stage_[number].place;
  Lines edges;
  edges.line(edges_of({nest_.inner}, "Index(kw::lane())"));
  edges.line("const bool edge = edges.at >= 0 && in_part == 0;");
  std::vector<const Lines*> users = stage.body.all();
  users.insert(users.end(), {&common, &fetch, &stage.after_tile, &edges});
  const Lines begins = this->begins(users);
  users.push_back(&begins);
  Lines out = used(positions("part", nest_.loop, false), users);
  out.append(edges);
  out.append(begins);
  out.append(common);
  return out;
}

Lines PartWriter::fetch(size_t number) const {
  Lines copies, loads, others;
  for (const Held& held : held_) {
    if (!held.stages.contains(number)) continue;
    if (is_read_again(held)) {
      copies.line(held.name + "[v] = " + cache_of(held) + "[slot];");
      loads.line(read(held));
    } else {
      others.line(read(held));
    }
  }
  Lines other;  // what one stage alone reads
  if (!others.empty()) {
    other.line("KW_UNROLL");
    other.open("for (int v = 0; v < kPieces; ++v) {");
    other.line("const bool whole = v < kVectors;");
    other.line("const Index element = whole ? " + kElement + " : edges.at;");
    other.open("if (whole ? element < end : edge) {");
    other.append(others);
    other.close();
    other.close();
  }
  if (loads.empty()) return other;
  return Skeleton::load(kFile, "fetch")
      .statements("copies", copies)
      .statements("loads", loads)
      .statements("others", other)
      .fill();
}

// Each part has its own beginning.
std::string PartWriter::vector_address(BufferId id, const std::vector<Index>& at) {
  const std::string begin = replace_word(address(id, at, false), names_.variable(nest_.inner), "0");
  auto known = begins_.find(begin);
  if (known == begins_.end()) known = begins_.emplace(begin, names_.fresh(buffer(id).name + "_part")).first;
  return known->second + " + " + first_ + " * " + buffer(id).name + ".strides[" +
         std::to_string(buffer(id).shape.size() - 1) + "]";
}

Lines PartWriter::begins(const std::vector<const Lines*>& users) const {
  std::string all;
  for (const Lines* lines : users) all += lines->text();
  Lines out;
  for (const auto& [begin, name] : begins_)
    if (mentions(all, name)) out.line("const auto " + name + " = " + begin + ";");
  return out;
}

bool PartWriter::prefetches() const { return std::any_of(held_.begin(), held_.end(), is_read_again); }

// The tiles of the next row that shared memory has room for.
Lines PartWriter::ahead() {
  Lines out, copies, edges;
  if (!prefetches()) return out;
  for (const Held& held : held_)
    if (is_read_again(held))
      copies.line("kw::copy_async<kVector>(" + cache_of(held) + " + slot, " + held.address + ", element < end);");
  edges.line(edges_of({nest_.inner}, "Index(kw::lane())"));
  const Lines begins = this->begins({&copies});
  out.open("const auto prefetch = [&](Index point, Index tile) {");
  out.open("if constexpr (kAhead) {");
  out.open("if (point < points && tile < tiles_here) {");
  out.append(used(positions("point", nest_.parallel, false), {&begins, &edges}));
  out.line("const Index part = part_of(tile), in_part = tile - part * part_tiles;");
  out.append(used(positions("part", nest_.loop, false), {&begins, &edges}));
  out.append(edges);
  out.append(begins);
  out.line("KW_UNROLL");
  out.open("for (int v = 0; v < kVectors; ++v) {");
  out.line("const Index element = " + kElement + ";");
  out.line("const Index slot = (tile * kVectors + v) * 32 + kw::lane();");
  out.append(copies);
  out.close();
  out.close();
  out.line("kw::copy_commit();");
  out.close();
  out.close("};");
  out.line("for (Index tile = kw::warp(); tile < tiles; tile += kw::warps()) prefetch(kw::block(), tile);");
  return out;
}

void PartWriter::combine(const Combination&, StageText&) {
  KW_ASSERT(false, "warps take parts in no order that a combine could rely on: the plan has such rows as a whole");
}

// ---- sums over parts of a row, or over some of the rows ----

// Warps add what they have of a part, and threads the warps' sums where the stage ends.
void PartWriter::sums_of_row(const Accumulate& sum, StageText& text) {
  const std::string part = names_.fresh(buffer(sum.buffer).name + "_part"), type = sum_type(sum);
  const std::string sums = names_.fresh(buffer(sum.buffer).name + "_sums");
  clear_slice(sum, "kw::block()", true);
  sums_.line("const kw::PartSums<" + type + "> " + sums + "(" + room_of(segment_types_) + ", parts);");
  segment_types_.push_back(type);
  ++text_.segment_sums;
  text.before.line("if (kPlace == kw::Place::Shared) " + sums + ".clear();");
  text.after_tile.line("const " + type + " " + part + " = " +
                       tile_sum(product_of(sum.value), type, buffer(sum.buffer).name, text, "kw::warp_sum") + ";");
  const std::string to = address(sum.buffer, sum.at, false, slice("kw::block()"));
  text.after_tile.open("if (kw::lane() == 0) {");
  text.after_tile.line("if (kPlace == kw::Place::Shared)");
  text.after_tile.line("  " + sums + ".add(part, " + part + ");");
  text.after_tile.line("else");
  text.after_tile.line("  " + add_to(to, part, joined_to(to)));
  text.after_tile.close();
  parts_of_stage_[stage_].segments.append(segment_totals(sum, sums, to));
  ++text_.other_sums;
}

// From the warps' sums of every part.
Lines PartWriter::segment_totals(const Accumulate& sum, const std::string& sums, const std::string& to) {
  Axes along, over;  // axes of the row that the sum has, and those that it is over
  const Axes axes = axes_of_access(sum.at);
  for (LoopAxisId axis : nest_.loop) (has(axes, axis) ? along : over).push_back(axis);
  Lines out;
  out.open("for (Index target = kw::thread(); target < " + (along.empty() ? "1" : names_.product(along)) +
           "; target += kw::threads()) {");
  out.append(positions("target", along, false));
  out.line(sum_type(sum) + " total = 0;");
  for (LoopAxisId axis : over) {
    const std::string& i = names_.variable(axis);
    out.open("for (Index " + i + " = 0; " + i + " < " + names_.size(axis) + "; ++" + i + ") {");
  }
  std::string number = nest_.loop.empty() ? "0" : names_.variable(nest_.loop[0]);
  for (size_t i = 1; i < nest_.loop.size(); ++i)
    number = "(" + number + ") * " + names_.size(nest_.loop[i]) + " + " + names_.variable(nest_.loop[i]);
  out.line("total += " + sums + ".total(" + number + ");");
  for (size_t i = 0; i < over.size(); ++i) out.close();
  out.line(add_to(to, "total", joined_to(to)));
  out.close();
  return out;
}

}  // namespace kw::act::cuda
