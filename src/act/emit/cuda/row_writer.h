// Kernels that reduce the innermost axis: the threads of a block, or some lanes of a warp, go over a row together.
#pragma once

#include "act/emit/cuda/entry_sizes.h"
#include "act/emit/cuda/hoist_factors.h"
#include "act/emit/cuda/writer.h"

namespace kw::act::cuda {

class RowWriter : public Writer {
 public:
  using Writer::Writer;
  KernelText run() {
    rows();
    return std::move(text_);
  }

 private:
  // ---- rows ----
  // What a stage computes for every element, down to the loads; not below `stop`.
  std::set<ValueId> computed_in(const Stage& stage, const std::set<ValueId>& stop = {}) const {
    std::set<ValueId> all;
    auto visit = [&](auto&& self, ValueId v) -> void {
      if (level_of(kernel_[v].axes) != Level::Element || std::holds_alternative<Reduced>(kernel_[v].what) ||
          !all.insert(v).second || stop.contains(v))
        return;
      for (ValueId operand : operands_of(kernel_[v])) self(self, operand);
    };
    for (ValueId root : roots_of(stage, kernel_)) visit(visit, root);
    return all;
  }
  // Instructions, about, that a value takes from what a thread holds.
  int cost_of(ValueId v, const std::set<ValueId>& now, std::set<ValueId>& seen) {
    if (!now.contains(v) || !seen.insert(v).second) return 0;
    int cost = instructions(kernel_[v]);
    for (ValueId operand : operands_of(kernel_[v])) cost += cost_of(operand, now, seen);
    return cost;
  }
  // Values that cost more to compute again than to keep: those that a later stage wants as they are.
  void choose_kept() {
    std::vector<const Stage*> loops;
    for (const Stage& stage : kernel_.stages)
      if (!stage.loop.empty()) loops.push_back(&stage);
    std::set<ValueId> before, kept;
    for (const Stage* stage : loops) {
      const std::set<ValueId> now = computed_in(*stage);
      std::set<ValueId> wanted;
      for (ValueId v : now) {
        for (ValueId operand : operands_of(kernel_[v]))
          if (!before.contains(v) && before.contains(operand)) wanted.insert(operand);
      }
      for (ValueId root : roots_of(*stage, kernel_))
        if (before.contains(root)) wanted.insert(root);
      for (ValueId v : wanted)
        if (std::set<ValueId> seen; kernel_[v].type.floating() && cost_of(v, now, seen) >= kWorthKeeping)
          kept.insert(v);
      before.insert(now.begin(), now.end());
    }
    for (ValueId v : kept) values_.kept[v] = names_.fresh(names_.value(v) + "_kept");
    // What is alive at once: in each stage its own loads and those of later stages, and what is kept for these.
    std::set<ValueId> done;
    for (size_t s = 0; s < loops.size(); ++s) {
      std::set<std::vector<int32_t>> loads;
      std::set<ValueId> alive;
      for (size_t t = s; t < loops.size(); ++t)
        for (ValueId v : computed_in(*loops[t], done)) {
          if (done.contains(v)) alive.insert(v);
          const Load* load = std::get_if<Load>(&kernel_[v].what);
          if (load && load->guard == kNoValue && is_large(load->at)) loads.insert({load->buffer});
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

  void rows() {
    choose_kept();
    const Axes row = row_axes();
    if (row.size() > 1 && !plan_.in_parts) first_ = names_.fresh("first_" + names_.variable(nest_.inner));
    // Loads of all stages are known only when all are written; what is fetched is put in its place afterwards.
    std::vector<StageText> stages;
    for (const Stage& stage : kernel_.stages) {
      stages.emplace_back();
      values_.open(Level::Point, &stages.back().before);
      if (!stage.loop.empty()) {
        row_stage(stage, stages.back());
        values_.close();
        declared_.clear();
        ++stage_;
      }
      values_.open(Level::Vector, nullptr);
      values_.open(Level::Element, nullptr);
      values_.open(Level::Point, &stages.back().after);
      after_stores(stage, stages.back().after, plan_.in_parts ? "kw::thread() == 0" : "inside && lane == 0");
    }
    Lines point;
    size_t number = 0;
    for (const StageText& stage : stages) {
      point.append(stage.before);
      if (stage.loops) {
        point.append(stage_loop(stage, number));
        ++number;
      }
      point.append(stage.after);
    }
    Lines edges;
    if (plan_.accumulates && !plan_.in_parts)
      edges.line("if (inside) edges = {" + row_offset(row) + ", length, lane};");
    else if (!plan_.in_parts)
      edges.line(edges_of(row, "lane"));
    Lines place = used(positions("point", nest_.parallel, false), {&point, &edges});
    place.append(edges);
    text_.ragged = is_ragged();
    const Lines tile_lines = tiles();
    if (plan_.in_parts)
      parted(place, tile_lines, point);
    else
      whole(place, tile_lines, point);
  }
  // Whether rows may begin anywhere: all that is read and written for every element begins alike, and the order in
  // which edges come matters to nothing.
  bool is_ragged() const {
    return like_ && in_order(like_->second) && stored_alike_ && (plan_.in_parts || !plan_.has_parts) &&
           !has_combine(kernel_) &&
           std::all_of(held_.begin(), held_.end(), [&](const Held& held) { return lies_alike(held.buffer, held.at); });
  }
  void whole(const Lines& place, const Lines& tile_lines, const Lines& point) {
    const bool summed = plan_.accumulates;
    Skeleton skeleton = Skeleton::load(kRowsFile, summed ? "summed_rows" : "rows");
    skeleton.name(summed ? "summed_kernel" : "kernel", text_.function)
        .list("parameters", parameter_list())
        .statements("shared", shared_)
        .expression("length", names_.product(row_axes()))
        .expression("points", parenthesised(names_.product(nest_.parallel)))
        .statements("outside", outside("!kBlockRow && !inside", point))
        .statements("place", place)
        .statements("tiles", tile_lines)
        .statements("point", point)
        .statements("caches", caches(sums_room()));
    if (summed)
      skeleton.statements("sums", sums_)
          .statements("finish", finish_)
          .statements("ahead", ahead())
          .statements("advance", advance_);
    text_.lines = with_combines(skeleton.fill());
  }
  void parted(const Lines& place, const Lines& tile_lines, const Lines& point) {
    const bool summed = plan_.accumulates;
    if (plan_.has_segments) sums_.line("kw::barrier();");
    std::string room;
    if (plan_.has_segments)
      room = "kPlace == kw::Place::Shared ? kw::PartSums<" + segment_type_ + ">::bytes(parts) * " +
             std::to_string(segments_) + " : 0";
    Skeleton skeleton = Skeleton::load(kPartsFile, summed ? "summed_parts" : "parts");
    skeleton.name(summed ? "summed_kernel" : "kernel", text_.function)
        .list("parameters", parameter_list())
        .statements("shared", shared_)
        .expression("parts", nest_.loop.empty() ? "1" : names_.product(nest_.loop))
        .expression("length", names_.size(nest_.inner))
        .expression("points", parenthesised(names_.product(nest_.parallel)))
        .statements("caches", caches(room.empty() ? "" : "(" + room + ")"))
        .statements("place", place)
        .statements("tiles", tile_lines)
        .statements("ahead", tiles_ahead())
        .statements("point", point);
    if (summed) skeleton.statements("sums", sums_).statements("finish", finish_);
    text_.lines = with_combines(skeleton.fill());
  }
  // The tiles of the next row that shared memory has room for.
  bool has_tiles_ahead() const {
    return plan_.in_parts && std::any_of(held_.begin(), held_.end(), [](const Held& h) { return h.stages.size() > 1; });
  }
  Lines tiles_ahead() {
    Lines out, copies;
    if (!has_tiles_ahead()) return out;
    for (const Held& held : held_)
      if (held.stages.size() > 1)
        copies.line("kw::copy_async<kVector>(" + cache_of(held) + " + slot, " + held.address + ", element < end);");
    Lines edges;
    edges.line(edges_of({nest_.inner}, "Index(kw::lane())"));
    const Lines begins = part_begins({&copies});
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
    out.line("const Index element = ((in_part * kVectors + v) * 32 + kw::lane()) * kVector + edges.head;");
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

  struct StageText {
    bool loops = false;
    bool reduces = false;           // over the block
    bool only_reduces = false;      // and stores nothing: all that is held is wanted by a later stage
    Lines before;                   // of the loop: values of the point, accumulators
    Lines before_tile, after_tile;  // partial results
    Body body;
    Lines segments;                                                                 // what becomes of sums over parts
    std::map<std::pair<std::vector<ValueId>, std::string>, std::string> part_sums;  // names, by terms and type
    Lines after;
  };

  void row_stage(const Stage& stage, StageText& text) {
    text.loops = true;
    text.only_reduces = stage.stores.empty() && stage.accumulates.empty();
    std::set<ValueId> stored;
    for (const Store& s : stage.stores) stored.insert(s.value);
    std::vector<ValueId> roots = roots_of(stage, kernel_);
    if (plan_.in_parts) roots = part_roots(stage);
    define(text.body, roots, stored);
    std::vector<std::string> parts, names;
    Lines after;
    const std::vector<ValueId> plain = plain_reductions(stage);
    for (ValueId r : plain) {
      const Reduction reduction = reduction_of(std::get<Reduced>(kernel_[r].what).op);
      const std::string type = accumulator_type(r), name = reduced_name(r);
      names.push_back(name);
      if (has_partials(r)) {
        const std::string total = names_.fresh(name + "_total");
        text.before.line("kw::Total<kStreamed, " + type + "> " + total + " = " + reduction.start + ";");
        if (const auto sum = in_part(r)) {
          text.after_tile.line(total + " += " + part_sum(*sum, type, name, text, ""));
        } else {
          const std::string part = names_.fresh(name + "_part");
          text.before_tile.line(type + " " + part + " = " + reduction.start + ";");
          text.body.element.line(
              joined(reduction, part, values_.expressions.as(std::get<Reduced>(kernel_[r].what).arg, type)));
          text.after_tile.line(joined(reduction, total, part));
        }
        after.line(type + " " + name + " = static_cast<" + type + ">(" + total + ");");
      } else {
        text.before.line(type + " " + name + " = " + reduction.start + ";");
        text.body.element.line(
            joined(reduction, name, values_.expressions.as(std::get<Reduced>(kernel_[r].what).arg, type)));
      }
      parts.push_back("kw::part<" + std::string(reduction.functor) + ">(" + name + ", " +
                      share(name, type, takes_turns() ? "2 * kw::kMostWarps" : "kw::kMostWarps") + ")");
    }
    for (const Combination& one : combines_.of(stage)) combine_row(one, text);
    for (const Accumulate& sum : stage.accumulates) {
      switch (kind_of(plan_, sum)) {
        case SumKind::Column:
          column_sum(sum, text.body, values_.expressions.as(sum.value, sum_type(sum)));
          break;
        case SumKind::Scalar:
          scalar_sum(sum, text.body, values_.expressions.as(sum.value, sum_type(sum)));
          break;
        case SumKind::Segment:
          segment_sum(sum, text);
          break;
      }
    }
    for (const Store& s : stage.stores) store(s, text.body);
    finish(text.body);
    text.reduces = !parts.empty();
    if (text.reduces) {
      text.after.append(after);
      auto reduce = [&](const std::string& head) {
        for (const std::string& line : split_lines(bracketed(head, parts, ");"))) text.after.line("  " + line);
      };
      if (!plan_.in_parts) text.after.line("if (kBlockRow)");
      reduce(takes_turns() ? "kw::block_reduce(turn, " : "kw::block_reduce(0, ");
      if (!plan_.in_parts) {
        text.after.line("else");
        reduce("kw::lanes_reduce(lanes, ");
      }
      if (takes_turns()) text.after.line("turn = 1 - turn;");
      for (size_t i = 0; i < names.size(); ++i) result(plain[i], names[i], text.after);
    }
  }
  // Whether a block comes to a reduction a second time with no barrier since the first: then it has other parts. Where
  // it goes from row to row, another reduction lies between, or sums over parts of the row do: they are met for in
  // shared memory, or the block is one warp.
  bool takes_turns() const {
    if (has_combine(kernel_)) return true;
    const auto reductions = std::count_if(kernel_.stages.begin(), kernel_.stages.end(),
                                          [&](const Stage& stage) { return !plain_reductions(stage).empty(); });
    const bool goes_on = plan_.accumulates || plan_.in_parts;
    return goes_on && reductions == 1 && !(plan_.in_parts && plan_.has_segments);
  }
  // ---- sums over a tile of a part ----
  // Factors that a part has in common wait until its tile is summed; sums of the same terms are one.
  Factored terms_of_product(ValueId v) const {
    Factored parts = factored(kernel_, v, nest_.inner, [](ValueId) { return true; });
    if (parts.terms.empty()) return {{}, {v}};
    std::sort(parts.terms.begin(), parts.terms.end());
    return parts;
  }
  std::optional<Factored> in_part(ValueId r) const {
    const Reduced& reduced = std::get<Reduced>(kernel_[r].what);
    if (!plan_.in_parts || (reduced.op != Op::Sum && reduced.op != Op::Mean)) return std::nullopt;
    return terms_of_product(reduced.arg);
  }
  std::vector<ValueId> part_roots(const Stage& stage) const {
    std::vector<ValueId> roots;
    auto take = [&](const Factored& parts) {
      roots.insert(roots.end(), parts.terms.begin(), parts.terms.end());
      roots.insert(roots.end(), parts.factors.begin(), parts.factors.end());
    };
    for (ValueId r : stage.reductions)
      if (const auto parts = in_part(r))
        take(*parts);
      else
        for (ValueId term : terms_of(kernel_, r)) roots.push_back(term);
    for (const Store& store : stage.stores) roots.push_back(store.value);
    for (const Accumulate& sum : stage.accumulates)
      if (kind_of(plan_, sum) == SumKind::Segment)
        take(terms_of_product(sum.value));
      else
        roots.push_back(sum.value);
    return roots;
  }
  std::string part_sum(const Factored& product, const std::string& type, const std::string& name, StageText& text,
                       const std::string& function) {
    auto known = text.part_sums.find({product.terms, type});
    if (known == text.part_sums.end()) {
      const std::string part = names_.fresh(name + "_part");
      std::string term;
      for (ValueId v : product.terms) term += (term.empty() ? "" : " * ") + values_.expressions.as(v, type);
      text.before_tile.line(type + " " + part + " = 0;");
      text.body.element.line(part + " += " + term + ";");
      known = text.part_sums.emplace(std::pair(product.terms, type), part).first;
    }
    std::string all = function.empty() ? known->second : function + "(" + known->second + ")";
    for (ValueId v : product.factors) all += " * " + values_.expressions.as(v, type);
    return all + ";";
  }
  // What a thread's vectors became is joined with what others have, tile by tile, in the order of the row.
  void combine_row(const Combination& one, StageText& text) {
    const std::string name = names_.value(one.reduced[0]), all = names_.fresh(name + "_all");
    const std::string runs = names_.fresh(name + "_runs"), run = names_.fresh(name + "_run");
    const std::string type = "kw::Run<" + one.tuple + ">", none = "kw::no_run<" + one.tuple + ">()";
    text.before.line("kw::InOrder<" + one.tuple + ", kStreamed ? 40 : 6> " + all + ";");
    text.before_tile.line(type + " " + runs + "[kVectors];");
    text.before_tile.line("KW_UNROLL");
    text.before_tile.line("for (int v = 0; v < kVectors; ++v) " + runs + "[v] = " + none + ";");
    text.body.vector.line(type + " " + run + " = " + none + ";");
    text.body.element.line(run + ".add(" + tuple_text(one) + ");");
    text.body.stores.line(runs + "[v] = " + run + ";");
    text.after_tile.line("kw::add_tile<kBlockRow>(" + all + ", " + runs + ", lanes, " +
                         share(name, type, "2 * kw::kMostWarps") + ", turn);");
    combined_results(one, all + ".run()", text.after);
  }
  // A sum over a part of the row: warps add what they have of it, and threads the warps' sums where the stage ends.
  void segment_sum(const Accumulate& sum, StageText& text) {
    const std::string part = names_.fresh(buffer(sum.buffer).name + "_part"), type = sum_type(sum);
    const std::string sums = names_.fresh(buffer(sum.buffer).name + "_sums");
    clear_slice(sum, "kw::block()", true);
    segment_type_ = type;
    sums_.line("const kw::PartSums<" + type + "> " + sums + "(" +
               (segments_ == 0 ? "0" : std::to_string(segments_) + " * kw::PartSums<" + type + ">::bytes(parts)") +
               ", parts);");
    ++segments_;
    text.before.line("if (kPlace == kw::Place::Shared) " + sums + ".clear();");
    text.after_tile.line("const " + type + " " + part + " = " +
                         part_sum(terms_of_product(sum.value), type, buffer(sum.buffer).name, text, "kw::warp_sum"));
    const std::string to = address(sum.buffer, sum.at, false, slice("kw::block()"));
    text.after_tile.open("if (kw::lane() == 0) {");
    text.after_tile.line("if (kPlace == kw::Place::Shared)");
    text.after_tile.line("  " + sums + ".add(part, " + part + ");");
    text.after_tile.line("else");
    text.after_tile.line("  " + add_to(to, part, joined_to(to)));
    text.after_tile.close();
    // Axes of the row that the sum has, and those that it is over.
    Axes has_these, over;
    const Axes used_axes = axes_of_access(sum.at);
    for (LoopAxisId axis : nest_.loop) (has(used_axes, axis) ? has_these : over).push_back(axis);
    Lines& after = text.segments;
    after.open("for (Index target = kw::thread(); target < " + (has_these.empty() ? "1" : names_.product(has_these)) +
               "; target += kw::threads()) {");
    after.append(positions("target", has_these, false));
    after.line(type + " total = 0;");
    for (LoopAxisId axis : over) {
      const std::string& i = names_.variable(axis);
      after.open("for (Index " + i + " = 0; " + i + " < " + names_.size(axis) + "; ++" + i + ") {");
    }
    std::string number = nest_.loop.empty() ? "0" : names_.variable(nest_.loop[0]);
    for (size_t i = 1; i < nest_.loop.size(); ++i)
      number = "(" + number + ") * " + names_.size(nest_.loop[i]) + " + " + names_.variable(nest_.loop[i]);
    after.line("total += " + sums + ".total(" + number + ");");
    for (size_t i = 0; i < over.size(); ++i) after.close();
    after.line(add_to(to, "total", joined_to(to)));
    after.close();
    ++text_.other_sums;
    text_.segment_sums = segments_;
  }
  std::string cache_of(const Held& held) const { return held.name + "_cache"; }
  // `before`: bytes of shared memory that have another use.
  Lines caches(std::string before) {
    Lines out;
    if (takes_turns()) out.line("int turn = 0;");
    for (const Held& held : held_) {
      if (held.stages.size() < 2) continue;
      const std::string type = types_.stored(buffer(held.buffer).type);
      out.line("const auto " + cache_of(held) + " = kw::dynamic_shared<kw::Vector<" + type + ", kVector>>(" + before +
               ");");
      before += (before.empty() ? "" : " + ") + ("cached * static_cast<int>(sizeof(" + type + "))");
      text_.cached.push_back(held.buffer);
    }
    return out;
  }
  // Bytes of the column sums, where they are in shared memory.
  std::string sums_room() const {
    std::string sums;
    for (const Stage& stage : kernel_.stages)
      for (const Accumulate& sum : stage.accumulates)
        if (kind_of(plan_, sum) == SumKind::Column)
          sums += (sums.empty() ? "" : " + ") + ("sizeof(" + types_.stored(buffer(sum.buffer).type) + ")");
    if (sums.empty()) return "";
    return "(kPlace == kw::Place::Shared ? tiles * kElements * kw::threads() * static_cast<int>(" + sums + ") : 0)";
  }

  // Whether the next rows are read while this one is worked on: where a block goes from row to row. They land in shared
  // memory in turn, every thread's part in its own place, behind the sums that are there.
  bool prefetches() const { return plan_.accumulates && !plan_.in_parts && !held_.empty(); }
  // For every vector of a thread, in a row that it holds.
  static void over_vectors(Lines& to, const Lines& body, const char* count, const std::string& condition,
                           const std::string& wanted = {}) {
    to.line("KW_UNROLL");
    to.open("for (int v = 0; v < " + std::string(count) + "; ++v) {");
    const bool pieces = count == std::string_view("kPieces");
    if (pieces) to.line("const bool whole = v < kVectors;");
    const std::string vector = "(v * lanes + lane) * kVector + edges.head";
    to.line("const Index element = " + (pieces ? "whole ? " + vector + " : edges.at" : vector) + ";");
    if (!wanted.empty()) to.line("const bool wanted = " + wanted + ";");
    if (!condition.empty()) to.open("if (" + condition + ") {");
    to.append(body);
    if (!condition.empty()) to.close();
    to.close();
  }
  // The indices of a row that the threads of a block hold: in kernels that walk axes as one where they can be, so that
  // each but the last of those is of size one.
  Lines held_positions(const std::vector<const Lines*>& users) {
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
  Lines ahead() {
    Lines out;
    if (!prefetches()) return residents({});
    std::string before = sums_room(), types;
    Lines copies, loads, places, edge;
    const std::string slot = "(landing * kVectors + v) * kw::threads() + kw::thread()";
    for (const Held& held : held_) {
      const std::string type = types_.stored(buffer(held.buffer).type);
      places.line("const auto " + held.name + "_next = kw::dynamic_shared<kw::Vector<" + type + ", kVector>>(" +
                  before + ");");
      before += (before.empty() ? "" : " + ") +
                ("kRowsAhead * kw::threads() * kElements * static_cast<int>(sizeof(" + type + "))");
      loads.line("kw::copy_async<kVector>(" + held.name + "_next + (" + slot + "), " + held.address + ", wanted);");
      edge.line(held.name + "[kVectors] = kw::load_piece<kVector>(" + held.address + ", false);");
      copies.line(held.name + "[v] = " + held.name + "_next[" + slot + "];");
      types += ", " + type;
      text_.ahead.push_back(held.buffer);
    }
    out.line("constexpr int kRowsAhead = kw::rows_ahead<kElements" + types + ">();");
    out.append(residents(before));
    out.line("int landing = 0;");
    out.append(places);
    const Axes row = row_axes();
    auto positioned = [&](const Lines& what) {
      Lines inner;
      if (row.size() > 1) inner.append(used(positions("element", row, true), {&what}));
      inner.append(what);
      return inner;
    };
    Lines edges;
    edges.line(edges_of(row, "lane"));
    const Lines inner = positioned(loads);
    out.open("const auto prefetch = [&](Index from) {");
    out.open("if constexpr (kAhead) {");
    out.line("const Index point = kBlockRow ? from : from + kw::thread() / lanes;");
    out.open("if (point < points) {");
    out.append(held_positions({&inner, &edges}));
    out.append(edges);
    over_vectors(out, inner, "kVectors", "", "element < edges.end(length)");
    out.close();
    out.line("kw::copy_commit();");
    out.close();
    out.close("};");
    out.open("for (landing = 0; landing < kRowsAhead; ++landing) {");
    out.line("prefetch(kw::block() * groups + landing * step);");
    out.close();
    out.line("landing = 0;");
    advance_.open("if constexpr (kAhead) {");
    // An edge is too narrow for such a copy. It is used last.
    advance_.open("if constexpr (kRagged) {");
    advance_.open("if (edge) {");
    advance_.line("const Index element = edges.at;");
    advance_.append(positioned(edge));
    advance_.close();
    advance_.close();
    advance_.line("kw::copy_wait<kRowsAhead - 1>();");
    over_vectors(advance_, copies, "kVectors", "element < end");
    advance_.line("prefetch(start + kRowsAhead * step);");
    advance_.line("landing = (landing + 1) % kRowsAhead;");
    advance_.close();
    return out;
  }

  // All rows of a block begin alike, so that what the first has beside it is beside the others too.
  // `before`: bytes of shared memory that have another use.
  Lines residents(std::string before) {
    Lines out;
    if (residents_.empty()) return out;
    Lines loads;
    std::string types;
    for (const Held& held : held_) types += ", " + types_.stored(buffer(held.buffer).type);
    for (const Resident& resident : residents_) types += ", " + types_.stored(buffer(resident.buffer).type);
    out.line("constexpr bool kResident = !kStreamed && kPlace == kw::Place::Registers &&");
    out.line("    (!kRagged || kw::fits_beside<kElements" + types + ">());");
    out.line("constexpr bool kBeside = !kStreamed && kPlace == kw::Place::Shared && kRagged;");
    for (const Resident& resident : residents_) {
      const std::string type = types_.stored(buffer(resident.buffer).type);
      out.line("kw::Vector<" + type + ", kVector> " + resident.name + "[kPieces];");
      out.line("const auto " + resident.name + "_here = kw::dynamic_shared<kw::Vector<" + type + ", kVector>>(" +
               before + ");");
      before += (before.empty() ? "" : " + ") +
                ("kw::threads() * kPieces * kVector * static_cast<int>(sizeof(" + type + "))");
      loads.line("const auto " + resident.name + "_v = " + resident.load + ";");
      loads.line("if constexpr (kResident)");
      loads.line("  " + resident.name + "[v] = " + resident.name + "_v;");
      loads.line("else");
      loads.line("  " + resident.name + "_here[v * kw::threads() + kw::thread()] = " + resident.name + "_v;");
      text_.beside.push_back(resident.buffer);
    }
    const Axes row = row_axes();
    Lines inner, edges;
    if (row.size() > 1) inner.append(used(positions("element", row, true), {&loads}));
    inner.append(loads);
    edges.line(edges_of(row, "lane"));
    out.open("if constexpr (kResident || kBeside) {");
    out.line("const Index first = kw::block() * groups + (kBlockRow ? 0 : kw::thread() / lanes);");
    out.line("const Index point = first < points ? first : 0;");
    out.append(held_positions({&edges, &inner}));
    out.append(edges);
    over_vectors(out, inner, "kPieces", "whole ? element < edges.end(length) : edges.at >= 0");
    out.close();
    return out;
  }

  static std::string loaded(const Held& held) {
    return held.name + "[v] = kw::load_piece<kVector>(" + held.address + ", whole);";
  }
  // What a stage reads: the first one for all, where the row is held.
  Lines row_fetch(size_t number, const Lines& position) const {
    Lines now, early;  // read for this stage; held for a later one
    for (const Held& held : held_) {
      const size_t first = *held.stages.begin();
      const std::string cache = cache_of(held) + "[slot]";
      if (held.stages.contains(number)) {
        if (number == first) {
          now.line(loaded(held));
          if (held.stages.size() > 1)
            now.line("if (kStreamed && whole && slot * kVector < cached) " + cache + " = " + held.name + "[v];");
        } else {
          now.line("if (whole && slot * kVector < cached)");
          now.line("  " + held.name + "[v] = " + cache + ";");
          now.line("else");
          now.line("  " + loaded(held));
        }
      } else if (number == 0 && first > 0) {
        early.line(loaded(held));
      }
    }
    Lines fetch;
    auto fill = [&](const Lines& loads, const std::string& condition) {
      Lines with = used(position, {&loads});
      with.append(loads);
      if (loads.empty()) return;
      if (!condition.empty()) fetch.open("if (" + condition + ") {");
      fetch.append(Skeleton::load(kRowsFile, "fetch").statements("loads", with).fill());
      if (!condition.empty()) fetch.close();
    };
    fill(now, number > 0 ? "kStreamed" : prefetches() ? "!kAhead" : "");
    fill(early, prefetches() ? "!kStreamed && !kAhead" : "!kStreamed");
    return fetch;
  }
  Lines part_fetch(size_t number) const {
    Lines copies, loads, others;
    for (const Held& held : held_) {
      if (!held.stages.contains(number)) continue;
      if (held.stages.size() == 1) {
        others.line(loaded(held));
        continue;
      }
      copies.line(held.name + "[v] = " + cache_of(held) + "[slot];");
      loads.line(loaded(held));
    }
    Lines other;  // what one stage alone reads
    if (!others.empty()) {
      other.line("KW_UNROLL");
      other.open("for (int v = 0; v < kPieces; ++v) {");
      other.line("const bool whole = v < kVectors;");
      other.line(
          "const Index element = whole ? ((in_part * kVectors + v) * 32 + kw::lane()) * kVector + edges.head "
          ": edges.at;");
      other.open("if (whole ? element < end : edge) {");
      other.append(others);
      other.close();
      other.close();
    }
    if (loads.empty()) return other;
    return Skeleton::load(kPartsFile, "fetch")
        .statements("copies", copies)
        .statements("loads", loads)
        .statements("others", other)
        .fill();
  }

  Lines stage_loop(const StageText& stage, size_t number) {
    const Axes row = row_axes();
    Lines position;
    if (row.size() > 1 && !plan_.in_parts) position = positions("element", row, true);
    const Lines fetch = plan_.in_parts ? part_fetch(number) : row_fetch(number, position);
    Skeleton skeleton = Skeleton::load(plan_.in_parts ? kPartsFile : kRowsFile, "stage");
    const bool last = has_tiles_ahead() && number + 1 == stage_;
    if (plan_.in_parts) {
      Lines next, arrive;
      if (last) next.line("prefetch(point + kw::blocks(), tile);");
      // The tiles of a warp arrive one after the other.
      if (has_tiles_ahead() && number == 0) arrive.line("kw::copy_wait_but(left--);");
      skeleton.statements("arrive", arrive).statements("next", next);
    }
    skeleton.statements("fetch", fetch)
        .statements("before", stage.before_tile)
        .statements("vector", stage.body.vector)
        .statements("body", stage.body.element)
        .statements("stores", stage.body.stores)
        .statements("after", stage.after_tile);
    if (!plan_.in_parts)
      return skeleton.expression("lane", stage.only_reduces ? "kw::anew(lane)" : "lane")
          .statements("position", used(position, stage.body.all()))
          .fill();
    // A part's place, and what is known of it.
    Lines edges;
    edges.line(edges_of({nest_.inner}, "Index(kw::lane())"));
    edges.line("const bool edge = edges.at >= 0 && in_part == 0;");
    std::vector<const Lines*> users = stage.body.all();
    users.insert(users.end(), {&fetch, &stage.after_tile, &edges});
    const Lines begins = part_begins(users);
    users.push_back(&begins);
    Lines place = used(positions("part", nest_.loop, false), users);
    place.append(edges);
    place.append(begins);
    place.append(stage.body.part);
    Lines out;
    if (has_tiles_ahead() && number == 0) out.line("Index left = (tiles - 1 - kw::warp()) / kw::warps();");
    out.append(skeleton.statements("place", place).fill());
    if (!stage.segments.empty()) {
      out.open("if (kPlace == kw::Place::Shared) {");
      out.line("kw::barrier();");
      out.append(stage.segments);
      if (!stage.reduces)
        out.line("kw::barrier();");  // before the next row, whose sums begin anew: the reduction has one
      out.close();
    }
    return out;
  }

  int segments_ = 0;
  std::string segment_type_;
};

}  // namespace kw::act::cuda
