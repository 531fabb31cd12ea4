// Kernels that reduce the innermost axis: the threads of a block, or some lanes of a warp, go over a row together.
#pragma once

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
    int cost = kernel_[v].type.floating() && types_.rounds(kernel_[v].type) ? 2 : 1;
    if (std::holds_alternative<Load>(kernel_[v].what)) cost = 0;  // what uses it converts it
    if (const Map* map = std::get_if<Map>(&kernel_[v].what)) {
      switch (map->op) {
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
        case Op::Neg:
        case Op::Max:
        case Op::Min:
        case Op::Select:
        case Op::StopGradient:
          break;
        case Op::Cast:
          break;
        default:
          cost = 8;
      }
    }
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
      for (ValueId v : computed_in(*loops[s]))
        if (kept.contains(v)) done.insert(v);
    }
    if (has_combine(kernel_)) text_.live += 2;  // what its runs take
  }

  void rows() {
    choose_kept();
    const Axes row = row_axes();
    if (row.size() > 1) first_ = names_.fresh("first_" + names_.variable(nest_.inner));
    // Loads of all stages are known only when all are written; what is fetched is put in its place afterwards.
    std::vector<StageText> stages;
    for (const Stage& stage : kernel_.stages) {
      for (const Stage& part : parts_of(stage)) {
        stages.emplace_back();
        values_.open(Level::Point, &stages.back().before);
        if (part.loop.empty()) continue;
        row_stage(part, stages.back());
        values_.close();
        declared_.clear();
        ++stage_;
      }
      values_.open(Level::Vector, nullptr);
      values_.open(Level::Element, nullptr);
      values_.open(Level::Point, &stages.back().after);
      after_stores(stage, stages.back().after, "inside && lane == 0");
    }
    Lines point;
    Lines all;
    size_t number = 0;
    for (const StageText& stage : stages) {
      all.append(stage.before);
      if (stage.loops) {
        all.append(stage_loop(stage, number));
        ++number;
      }
      all.append(stage.after);
    }
    point.append(used(positions("point", nest_.parallel, false), {&all}));
    point.append(all);
    const bool summed = plan_.accumulates;
    if (plan_.has_segments) sums_.line("kw::barrier();");
    const Lines tile_lines = tiles();
    Skeleton skeleton = Skeleton::load(kRowsFile, summed ? "summed_rows" : "rows");
    skeleton.name(summed ? "summed_kernel" : "kernel", text_.function)
        .list("parameters", parameter_list())
        .statements("shared", shared_)
        .expression("length", names_.product(row))
        .expression("points", parenthesised(names_.product(nest_.parallel)))
        .statements("tiles", tile_lines)
        .statements("point", point);
    skeleton.statements("caches", caches()).statements("ahead", ahead()).statements("advance", advance_);
    if (summed) skeleton.statements("sums", sums_).statements("finish", finish_);
    text_.lines = with_combines(skeleton.fill());
  }

  // Sums over parts of a row are taken part by part, after everything else of their stage.
  std::vector<Stage> parts_of(const Stage& stage) const {
    Stage rest = stage, parts;
    rest.accumulates.clear();
    parts.loop = stage.loop;
    for (const Accumulate& sum : stage.accumulates)
      (kind_of(plan_, sum) == SumKind::Segment ? parts : rest).accumulates.push_back(sum);
    if (parts.accumulates.empty()) return {stage};
    if (rest.reductions.empty() && rest.stores.empty() && rest.accumulates.empty()) return {parts};
    return {rest, parts};
  }

  struct StageText {
    bool loops = false;
    bool in_parts = false;
    Lines before;                   // of the loop: values of the point, accumulators
    Lines before_tile, after_tile;  // partial results
    Lines before_part, after_part;  // of a row, where it is gone over in parts
    Body body;
    Lines after;
  };

  void row_stage(const Stage& stage, StageText& text) {
    text.loops = true;
    text.in_parts = std::any_of(stage.accumulates.begin(), stage.accumulates.end(),
                                [&](const Accumulate& sum) { return kind_of(plan_, sum) == SumKind::Segment; });
    std::set<ValueId> stored;
    for (const Store& s : stage.stores) stored.insert(s.value);
    define(text.body, roots_of(stage, kernel_), stored);
    std::vector<std::string> parts, names;
    Lines after;
    const std::vector<ValueId> plain = plain_reductions(stage);
    for (ValueId r : plain) {
      const Reduction reduction = reduction_of(std::get<Reduced>(kernel_[r].what).op);
      const std::string type = accumulator_type(r), name = reduced_name(r);
      const std::string term = values_.expressions.as(std::get<Reduced>(kernel_[r].what).arg, type);
      names.push_back(name);
      if (has_partials(r)) {
        const std::string total = names_.fresh(name + "_total"), part = names_.fresh(name + "_part");
        text.before.line("kw::Total<kStreamed, " + type + "> " + total + " = " + reduction.start + ";");
        text.before_tile.line(type + " " + part + " = " + reduction.start + ";");
        text.body.element.line(joined(reduction, part, term));
        text.after_tile.line(joined(reduction, total, part));
        after.line(type + " " + name + " = static_cast<" + type + ">(" + total + ");");
      } else {
        text.before.line(type + " " + name + " = " + reduction.start + ";");
        text.body.element.line(joined(reduction, name, term));
      }
      parts.push_back("kw::part<" + std::string(reduction.functor) + ">(" + name + ", " + share(name, type) + ")");
    }
    for (const Combination& one : combines_.of(stage)) combine_row(one, text);
    for (const Accumulate& sum : stage.accumulates) {
      const std::string term = values_.expressions.as(sum.value, sum_type(sum));
      switch (kind_of(plan_, sum)) {
        case SumKind::Column:
          column_sum(sum, text.body, term);
          break;
        case SumKind::Scalar:
          scalar_sum(sum, text.body, term);
          break;
        case SumKind::Segment:
          segment_sum(sum, text.body, term, text.before_part, text.after_part);
          break;
      }
    }
    if (!segment_parts_.empty()) {
      for (const std::string& line : split_lines(bracketed("kw::block_reduce(turn, ", segment_parts_, ");")))
        text.after_part.line(line);
      text.after_part.line("turn = 1 - turn;");
      text.after_part.open("if (kw::thread() == 0) {");
      text.after_part.append(segment_stores_);
      text.after_part.close();
      segment_parts_.clear();
      segment_stores_ = Lines();
    }
    for (const Store& s : stage.stores) store(s, text.body);
    finish(text.body);
    if (!parts.empty()) {
      text.after.append(after);
      auto reduce = [&](const std::string& head) {
        for (const std::string& line : split_lines(bracketed(head, parts, ");"))) text.after.line("  " + line);
      };
      text.after.line("if (kBlockRow)");
      reduce("kw::block_reduce(" + turn() + ", ");
      text.after.line("else");
      reduce("kw::lanes_reduce(lanes, ");
      text.after.line("turn = 1 - turn;");
      for (size_t i = 0; i < names.size(); ++i) result(plain[i], names[i], text.after);
    }
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
    text.after_tile.line("kw::add_tile<kBlockRow>(" + all + ", " + runs + ", lanes, " + share(name, type) + ", turn);");
    combined_results(one, all + ".run()", text.after);
  }
  // An element's number in its row.
  std::string row_element(bool in_parts) const {
    if (!in_parts || nest_.loop.empty()) return "element";
    std::string number;
    for (LoopAxisId axis : nest_.loop)
      number = number.empty() ? names_.variable(axis)
                              : "(" + number + ") * " + names_.size(axis) + " + " + names_.variable(axis);
    return "((" + number + ") * part + element)";
  }
  std::string cache_of(const Held& held) const { return held.name + "_cache"; }
  Lines caches() {
    Lines out;
    std::string bytes;
    for (const Held& held : held_) {
      if (held.stages.size() < 2) continue;
      const std::string type = types_.stored(buffer(held.buffer).type);
      out.line("const auto " + cache_of(held) + " = kw::dynamic_shared<kw::Vector<" + type + ", kVector>>(" +
               (bytes.empty() ? "" : "cached * static_cast<int>(" + bytes + ")") + ");");
      bytes += (bytes.empty() ? "" : " + ") + ("sizeof(" + type + ")");
      text_.cached.push_back(held.buffer);
    }
    return out;
  }

  // Whether the next row may be read while this one is worked on. It lands in shared memory, every thread's part in its
  // own place, behind the sums that are there.
  bool prefetches() const { return !plan_.has_segments && !held_.empty(); }
  Lines ahead() {
    Lines out;
    if (!prefetches()) return out;
    std::string sums, before;
    for (const Stage& stage : kernel_.stages)
      for (const Accumulate& sum : stage.accumulates)
        if (kind_of(plan_, sum) == SumKind::Column)
          sums += (sums.empty() ? "" : " + ") + ("sizeof(" + sum_type(sum) + ")");
    if (!sums.empty()) before = "(kPlace == kw::Place::Shared ? " + sums + " : 0)";
    Lines copies, loads;
    for (const Held& held : held_) {
      const std::string type = types_.stored(buffer(held.buffer).type);
      out.line("const auto " + held.name + "_next = kw::dynamic_shared<kw::Vector<" + type + ", kVector>>(" +
               (before.empty() ? "" : "kw::threads() * kElements * static_cast<int>(" + before + ")") + ");");
      before += (before.empty() ? "" : " + ") + ("sizeof(" + type + ")");
      loads.line("kw::copy_async<kVector>(" + held.name + "_next + (v * kw::threads() + kw::thread()), " +
                 held.address + ");");
      copies.line(held.name + "[v] = " + held.name + "_next[v * kw::threads() + kw::thread()];");
      text_.ahead.push_back(held.buffer);
    }
    const Axes row = row_axes();
    Lines inner;
    if (row.size() > 1) inner.append(used(positions("element", row, true), {&loads}));
    inner.append(loads);
    auto over_vectors = [](Lines& to, const Lines& body, const std::string& bound) {
      to.line("KW_UNROLL");
      to.open("for (int v = 0; v < kVectors; ++v) {");
      to.line("const Index element = (v * lanes + lane) * kVector;");
      to.open("if (element < " + bound + ") {");
      to.append(body);
      to.close();
      to.close();
    };
    out.open("const auto prefetch = [&](Index from) {");
    out.open("if constexpr (kAhead) {");
    out.line("const Index point = kBlockRow ? from : from + kw::thread() / lanes;");
    out.open("if (point < points) {");
    out.append(used(positions("point", nest_.parallel, false), {&inner}));
    over_vectors(out, inner, "length");
    out.close();
    out.line("kw::copy_commit();");
    out.close();
    out.close("};");
    out.line("prefetch(kw::block() * groups);");
    advance_.open("if constexpr (kAhead) {");
    advance_.line("kw::copy_wait<0>();");
    over_vectors(advance_, copies, "end");
    advance_.line("prefetch(start + step);");
    advance_.close();
    return out;
  }

  Lines stage_loop(const StageText& stage, size_t number) {
    const Axes row = row_axes();
    Lines position;
    if (stage.in_parts && first_ != "element")
      position.line("const Index " + first_ + " = element;");
    else if (row.size() > 1)
      position = positions("element", row, true);
    Lines now, early;  // read for this stage; held for a later one
    for (const Held& held : held_) {
      const size_t first = *held.stages.begin();
      const bool only = held.stages.size() == 1;
      const std::string load =
          std::string(only ? "kw::load_vector_once" : "kw::load_vector") + "<kVector>(" + held.address + ");";
      const std::string slot = cache_of(held) + "[" + row_element(stage.in_parts) + " / kVector]";
      if (held.stages.contains(number)) {
        if (number == first || only) {
          now.line(held.name + "[v] = " + load);
          if (!only)
            now.line("if (kStreamed && " + row_element(stage.in_parts) + " < cached) " + slot + " = " + held.name +
                     "[v];");
        } else {
          now.open("if (" + row_element(stage.in_parts) + " < cached) {");
          now.line(held.name + "[v] = " + slot + ";");
          now.close("} else {");
          now.line("  " + held.name + "[v] = " + load);
          now.line("}");
        }
      } else if (number == 0 && first > 0) {
        early.line(held.name + "[v] = " + load);
      }
    }
    Lines fetch;
    auto fill = [&](const Lines& loads) {
      Lines with = used(position, {&loads});
      with.append(loads);
      return Skeleton::load(kRowsFile, "fetch").statements("loads", with).fill();
    };
    if (!now.empty()) {
      const bool again = number > 0;
      // The first stage reads for all, where the row is held.
      const std::string condition = again ? "kStreamed" : prefetches() ? "!kAhead" : "";
      if (!condition.empty()) fetch.open("if (" + condition + ") {");
      fetch.append(fill(now));
      if (!condition.empty()) fetch.close();
    }
    if (!early.empty()) {
      fetch.open(prefetches() ? "if (!kStreamed && !kAhead) {" : "if (!kStreamed) {");
      fetch.append(fill(early));
      fetch.close();
    }
    Lines loop = Skeleton::load(kRowsFile, "stage")
                     .statements("fetch", fetch)
                     .statements("before", stage.before_tile)
                     .statements("position", used(position, stage.body.all()))
                     .statements("vector", stage.body.vector)
                     .statements("body", stage.body.element)
                     .statements("stores", stage.body.stores)
                     .statements("after", stage.after_tile)
                     .fill();
    if (!stage.in_parts) return loop;
    // Other threads have these elements than in the stages over the whole row.
    Lines out;
    out.line("kw::barrier();");
    out.line("const Index part = " + names_.size(nest_.inner) + ", part_end = inside ? part : 0;");
    out.line("const Index part_tiles = (part + kElements * lanes - 1) / (kElements * lanes);");
    Lines in_part;
    for (const std::string& line : loop.all())
      in_part.line(replace_word(replace_word(line, "tiles", "part_tiles"), "end", "part_end"));
    loop = in_part;
    for (LoopAxisId axis : nest_.loop) {
      const std::string& i = names_.variable(axis);
      out.open("for (Index " + i + " = 0; " + i + " < " + names_.size(axis) + "; ++" + i + ") {");
    }
    out.append(stage.before_part);
    out.append(loop);
    out.append(stage.after_part);
    for (size_t i = 0; i < nest_.loop.size(); ++i) out.close();
    out.line("kw::barrier();");
    return out;
  }
};

}  // namespace kw::act::cuda
