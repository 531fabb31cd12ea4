// What a block that goes from row to row reads before it comes to it: the next rows, and what all rows share.
#include <algorithm>

#include "act/emit/cuda/entry_sizes.h"
#include "act/emit/cuda/whole_row_writer.h"

namespace kw::act::cuda {
namespace {

const std::string kElement = "(v * lanes + lane) * kVector + edges.head";

// Of the rows on their way, a thread's vector of the one that lands next.
const std::string kSlot = "(landing * kVectors + v) * kw::threads() + kw::thread()";

}  // namespace

// The text, and before it the indices that it uses of the element.
Lines WholeRowWriter::with_position(const Lines& text) const {
  const Axes row = row_axes();
  Lines out;
  if (row.size() > 1) out.append(used(positions("element", row, true), {&text}));
  out.append(text);
  return out;
}

// The indices of a row that the threads of a block hold: in kernels that walk axes as one where they can be, so that
// each but the last of those is of size one.
Lines WholeRowWriter::held_positions(const std::vector<const Lines*>& users) {
  const EntrySizes sizes(program_, kernel_, text_);
  Lines out;
  Axes walked;
  for (LoopAxisId axis : nest_.parallel) {
    const bool merged = std::any_of(sizes.merged().begin(), sizes.merged().end(),
                                    [&](const Axes& group) { return has(group, axis) && group.back() != axis; });
    if (merged)
      out.line("constexpr Index " + names_.variable(axis) + " = 0;");
    else
      walked.push_back(axis);
  }
  out.append(positions("point", walked, false));
  return used(out, users);
}

// ---- the next rows ----

Lines WholeRowWriter::ahead() {
  SharedRoom room(sums_room());
  if (!prefetches()) return residents(room);
  std::string types;
  Lines places, copies, edges, out;
  for (const Held& held : held_) {
    const std::string type = types_.stored(buffer(held.buffer).type), next = held.name + "_next";
    places.line(room.vectors(next, type, "kRowsAhead * kw::threads() * kElements"));
    copies.line("kw::copy_async<kVector>(" + next + " + (" + kSlot + "), " + held.address + ", wanted);");
    types += ", " + type;
    text_.ahead.push_back(held.buffer);
  }
  out.line("constexpr int kRowsAhead = kw::rows_ahead<kElements" + types + ">();");
  out.append(residents(room));
  out.line("int landing = 0;");
  out.append(places);
  edges.line(edges_of(row_axes(), "lane"));
  const Lines inner = with_position(copies);
  out.open("const auto prefetch = [&](Index from) {");
  out.open("if constexpr (kAhead) {");
  out.line("const Index point = kBlockRow ? from : from + kw::thread() / lanes;");
  out.open("if (point < points) {");
  out.append(held_positions({&inner, &edges}));
  out.append(edges);
  out.line("KW_UNROLL");
  out.open("for (int v = 0; v < kVectors; ++v) {");
  out.line("const Index element = " + kElement + ";");
  out.line("const bool wanted = element < edges.end(length);");
  out.append(inner);
  out.close();
  out.close();
  out.line("kw::copy_commit();");
  out.close();
  out.close("};");
  out.open("for (landing = 0; landing < kRowsAhead; ++landing) {");
  out.line("prefetch(kw::block() * groups + landing * step);");
  out.close();
  out.line("landing = 0;");
  return out;
}

Lines WholeRowWriter::advance() {
  Lines out, edge, copies;
  if (!prefetches()) return out;
  for (const Held& held : held_) {
    edge.line(held.name + "[kVectors] = kw::load_piece<kVector>(" + held.address + ", false);");
    copies.line(held.name + "[v] = " + held.name + "_next[" + kSlot + "];");
  }
  out.open("if constexpr (kAhead) {");
  // An edge is too narrow for such a copy. It is used last.
  out.open("if constexpr (kRagged) {");
  out.open("if (edge) {");
  out.line("const Index element = edges.at;");
  out.append(with_position(edge));
  out.close();
  out.close();
  out.line("kw::copy_wait<kRowsAhead - 1>();");
  out.line("KW_UNROLL");
  out.open("for (int v = 0; v < kVectors; ++v) {");
  out.line("const Index element = " + kElement + ";");
  out.open("if (element < end) {");
  out.append(copies);
  out.close();
  out.close();
  out.line("prefetch(start + kRowsAhead * step);");
  out.line("landing = (landing + 1) % kRowsAhead;");
  out.close();
  return out;
}

// ---- what all rows share ----

bool WholeRowWriter::stays(const std::vector<Index>& at) const {
  const Axes row = row_axes(), axes = axes_of_access(at);
  return plan_.accumulates && std::all_of(axes.begin(), axes.end(), [&](LoopAxisId axis) { return has(row, axis); });
}

std::string WholeRowWriter::beside(BufferId id, const std::vector<Index>& at) {
  std::string vector = Writer::beside(id, at);
  if (!stays(at)) return vector;
  auto same = std::find_if(residents_.begin(), residents_.end(), [&](const Resident& r) { return r.load == vector; });
  if (same == residents_.end()) same = residents_.insert(same, {id, names_.fresh(buffer(id).name + "_all"), vector});
  return "kResident ? " + same->name + "[v] : kBeside ? kw::Vector<" + types_.stored(buffer(id).type) + ", kVector>(" +
         same->name + "_here[v * kw::threads() + kw::thread()]) : " + vector;
}

// All rows of a block begin alike, so that what the first has beside it is beside the others too.
Lines WholeRowWriter::residents(SharedRoom room) {
  Lines out, loads, edges;
  if (residents_.empty()) return out;
  std::string types;
  for (const Held& held : held_) types += ", " + types_.stored(buffer(held.buffer).type);
  for (const Resident& resident : residents_) types += ", " + types_.stored(buffer(resident.buffer).type);
  out.line("constexpr bool kResident = !kStreamed && kPlace == kw::Place::Registers &&");
  out.line("    (!kRagged || kw::fits_beside<kElements" + types + ">());");
  out.line("constexpr bool kBeside = !kStreamed && kPlace == kw::Place::Shared && kRagged;");
  for (const Resident& resident : residents_) {
    const std::string type = types_.stored(buffer(resident.buffer).type);
    out.line("kw::Vector<" + type + ", kVector> " + resident.name + "[kPieces];");
    out.line(room.vectors(resident.name + "_here", type, "kw::threads() * kPieces * kVector"));
    loads.line("const auto " + resident.name + "_v = " + resident.load + ";");
    loads.line("if constexpr (kResident)");
    loads.line("  " + resident.name + "[v] = " + resident.name + "_v;");
    loads.line("else");
    loads.line("  " + resident.name + "_here[v * kw::threads() + kw::thread()] = " + resident.name + "_v;");
    text_.beside.push_back(resident.buffer);
  }
  const Lines inner = with_position(loads);
  edges.line(edges_of(row_axes(), "lane"));
  out.open("if constexpr (kResident || kBeside) {");
  out.line("const Index point = kw::block() * groups + (kBlockRow ? 0 : kw::thread() / lanes);");
  out.append(held_positions({&edges, &inner}));
  out.append(edges);
  out.line("KW_UNROLL");
  out.open("for (int v = 0; v < kPieces; ++v) {");
  out.line("const bool whole = v < kVectors;");
  out.line("const Index element = whole ? " + kElement + " : edges.at;");
  out.open("if (whole ? element < edges.end(length) : edges.at >= 0) {");
  out.append(inner);
  out.close();
  out.close();
  out.close();
  return out;
}

}  // namespace kw::act::cuda
