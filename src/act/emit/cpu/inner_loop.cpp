#include "act/emit/cpu/inner_loop.h"

#include <algorithm>

#include "act/emit/cpu/lanes.h"
#include "act/emit/skeleton.h"
#include "act/loop/index.h"
#include "act/loop/uses.h"
#include "base/text.h"

namespace kw::act::cpu {

namespace {

constexpr std::string_view kLoopFile = "templates/cpu/loop.cpp";

}  // namespace

std::vector<ValueId> roots_of(const Stage& stage, const LoopKernel& kernel) {
  std::vector<ValueId> roots;
  for (ValueId r : stage.reductions)
    for (ValueId term : terms_of(kernel, r)) roots.push_back(term);
  for (const Store& store : stage.stores) roots.push_back(store.value);
  for (const Accumulate& sum : stage.accumulates) roots.push_back(sum.value);
  return roots;
}

std::vector<Accumulator> InnerLoopWriter::accumulators(const Stage& stage) {
  const auto partials = std::count_if(stage.reductions.begin(), stage.reductions.end(),
                                      [&](ValueId r) { return has_partials(kernel_, r); });
  std::vector<Accumulator> all;
  for (ValueId r : stage.reductions)
    if (!is_combined(kernel_, r))
      all.push_back(make_accumulator(kernel_, r, partials + sums_inside(stage) == 1, types_, names_));
  return all;
}

std::vector<Ordered> InnerLoopWriter::ordered(const Stage& stage) {
  std::vector<Ordered> all;
  for (const Combination& combination : combines.of(stage)) {
    const std::string name = names_.value(combination.reduced[0]);
    all.push_back({combination, names_.fresh(name + "_terms"), names_.fresh(name + "_all")});
  }
  return all;
}

int64_t InnerLoopWriter::sums_inside(const Stage& stage) const {
  return std::count_if(stage.accumulates.begin(), stage.accumulates.end(),
                       [&](const Accumulate& sum) { return !moves(sum); });
}

bool InnerLoopWriter::moves(const Accumulate& sum) const {
  return std::any_of(sum.at.begin(), sum.at.end(),
                     [&](const Index& index) { return has(axes_of(index), nest_.inner); });
}

bool InnerLoopWriter::is_in_loop(const Accumulate& sum) const {
  const auto goes_over = [&](LoopAxisId axis) {
    return std::any_of(sum.at.begin(), sum.at.end(), [&](const Index& index) { return has(axes_of(index), axis); });
  };
  const bool is_row = nest_.shape == Nest::Shape::Row;
  return std::none_of(nest_.loop.begin(), nest_.loop.end(), goes_over) && (is_row ? !moves(sum) : !nest_.loop.empty());
}

bool InnerLoopWriter::goes_by_lanes(const Stage& stage, const std::vector<Accumulator>& sums,
                                    const std::vector<ValueId>& roots, const std::vector<Store>& stores) const {
  const auto type_of = [&](BufferId id) { return program_.buffers[static_cast<size_t>(id)].type; };
  return std::all_of(sums.begin(), sums.end(), [](const Accumulator& sum) { return sum.adds_tiles(); }) &&
         std::all_of(stores.begin(), stores.end(),
                     [&](const Store& s) { return is_streamed(s) && fits_lanes(type_of(s.buffer)); }) &&
         std::all_of(stage.accumulates.begin(), stage.accumulates.end(),
                     [&](const Accumulate& sum) {
                       return !moves(sum) || (runs_along(sum.at, nest_.inner) && !is_in_loop(sum));
                     }) &&
         fits_lanes(kernel_, nest_, roots, [&](ValueId v) { return scopes_.expressions.environment.contains(v); });
}

// Whether elements are long chains of roundings, and nothing else: what also sums waits for its accumulators.
bool InnerLoopWriter::is_long() const {
  constexpr int kRoundings = 5;
  if (kernel_.stages.size() != 1) return false;
  const std::vector<int> uses = use_counts(kernel_);
  int roundings = 0;
  for (size_t v = 0; v < kernel_.values.size(); ++v) {
    const Map* map = std::get_if<Map>(&kernel_.values[v].what);
    const ir::Type type = kernel_.values[v].type;
    roundings += map && uses[v] > 0 && type.floating() && !spelling_of(map->op).exact && types_.rounds(type);
  }
  return roundings >= kRoundings;
}

void InnerLoopWriter::declare_lanes(bool wide) {
  if (declared_lanes_) return;
  declared_lanes_ = true;
  std::vector<std::string> types;
  for (const Access& access : accesses_of(kernel_)) {
    const ir::Type type = program_.buffers[static_cast<size_t>(access.buffer)].type;
    const std::string name = types_.stored(type);
    if (type.floating() && std::find(types.begin(), types.end(), name) == types.end()) types.push_back(name);
  }
  scopes_.setup.line("constexpr bool kByLanes = kw::kByLanes<kUnit, " + join(types, ", ") + ">;");
  if (wide) scopes_.setup.line("constexpr bool kAreHalves = kw::kAreHalves<" + join(types, ", ") + ">;");
}

bool InnerLoopWriter::is_streamed(const Store& store) const {
  Axes axes;
  for (const Index& index : store.at)
    for (LoopAxisId a : axes_of(index))
      if (!has(axes, a)) axes.push_back(a);
  return axes.size() == nest_.around().size() + 1 && runs_along(store.at, nest_.inner);
}

InnerLoop InnerLoopWriter::write(const Stage& stage, const std::vector<Accumulator>& sums,
                                 const std::vector<Ordered>& combined, const std::string& at,
                                 const std::vector<Store>& stores, const std::vector<Kept>& kept, bool alone) {
  InnerLoop out;
  std::vector<ValueId> roots;
  std::set<ValueId> stored;
  for (const Accumulator& sum : sums) roots.push_back(sum.arg);
  for (const Ordered& one : combined)
    roots.insert(roots.end(), one.combination.args.begin(), one.combination.args.end());
  for (const Accumulate& sum : stage.accumulates) roots.push_back(sum.value);
  for (const Store& store : stores) {
    roots.push_back(store.value);
    stored.insert(store.value);
  }
  for (const Kept& keep : kept) roots.push_back(keep.value);
  out.by_lanes = alone && combined.empty() && goes_by_lanes(stage, sums, roots, stores);
  const bool sums_nothing = sums.empty() && stage.accumulates.empty() && kept.empty();
  out.by_wide_lanes = out.by_lanes && sums_nothing && is_long();
  if (out.by_lanes) declare_lanes(out.by_wide_lanes);
  scopes_.expressions.by_lanes = out.by_lanes;
  const std::string lanes = out.by_lanes ? "kByLanes" : "false";
  scopes_.define(roots, out.body, stored);
  for (const Kept& keep : kept) {
    const std::string type = types_.computed(kernel_[keep.value].type);
    out.body.line(element(keep) + " = " + scopes_.expressions.as(keep.value, type) + ";");
  }
  for (const Accumulator& sum : sums) {
    const std::string term = scopes_.expressions.as(sum.arg, sum.type);
    if (at.empty() && sum.adds_tiles()) {
      out.before.line("kw::TileSum<" + sum.type + ", kTile, " + lanes + "> " + sum.name + ";");
      out.body.line(sum.name + in_tile() + " = " + term + ";");
      continue;
    }
    if (out.by_lanes) {
      const std::string row = names_.fresh(sum.name + "_row");
      out.before.line("const kw::Row<" + sum.type + ", true> " + row + "{" + sum.name + ", 1};");
      out.body.line(row + at + " += " + term + ";");
      continue;
    }
    out.body.line(sum.combine(term, at));
    if (!at.empty()) continue;
    if (sum.partial()) out.before.line(sum.type + " " + sum.name + " = " + sum.start + ";");
    out.clauses.push_back("reduction(" + sum.clause + " : " + sum.name + ")");
  }
  for (const Ordered& one : combined) {
    std::vector<std::string> parts;
    for (size_t part = 0; part < one.combination.args.size(); ++part)
      parts.push_back(scopes_.expressions.as(one.combination.args[part], one.combination.types[part]));
    out.before.line(array(one.combination.tuple, one.terms) + ";");
    out.body.line(one.terms + in_tile() + " = {" + join(parts, ", ") + "};");
  }
  for (const Accumulate& sum : stage.accumulates) accumulate(sum, lanes, out);
  for (const Store& store : stores) {
    const std::string target = scopes_.element(store.buffer, store.at);
    if (!is_streamed(store)) {
      out.body.line(target + " = " + stored_text(store) + ";");
      continue;
    }
    const Buffer& buffer = program_.buffers[static_cast<size_t>(store.buffer)];
    // The tile rounds its block when it is written.
    const std::string value =
        buffer.type.floating() ? scopes_.expressions.computed(store.value, buffer.type) : stored_text(store);
    const std::string row = *scopes_.row(store.buffer, store.at);
    const std::string block = names_.fresh(buffer.name + "_block"), place = names_.fresh(buffer.name + "_tile");
    const Index offset = *offset_along(store.at.back(), nest_.inner);
    const std::string first = offset == size_index(0) ? "tile" : "tile + " + names_.factor(offset);
    out.before.line("kw::OutputTile<" + types_.stored(buffer.type) + ", kUnit, kTile, " + lanes + "> " + block + "(" +
                    row + ", " + first + ", " + stream_flag(store, lanes + (out.by_wide_lanes ? ", kAreHalves" : "")) +
                    ");");
    out.before.line("const auto " + place + " = " + block + ".row();");
    out.body.line(place + "[" + names_.variable(nest_.inner) + " - tile] = " + value + ";");
    out.after.line(block + ".finish(end - tile);");
  }
  scopes_.expressions.by_lanes = false;
  return out;
}

// The terms of a point are added up in double, and go to the slice together: a slice takes few in a row.
void InnerLoopWriter::accumulate(const Accumulate& sum, const std::string& lanes, InnerLoop& out) {
  const std::string tensor = names_.tensor(sum.buffer);
  const std::string wide = types_.stored(program_.buffers[static_cast<size_t>(sum.buffer)].type);
  const std::string term = scopes_.expressions.as(sum.value, wide);
  const std::string element = scopes_.element(sum.buffer, sum.at, true);
  if (moves(sum)) {
    if (!is_in_loop(sum)) {
      out.body.line(element + " += " + term + ";");
      return;
    }
    const std::string total = names_.fresh(tensor + "_sum");
    out.declared.line(array("double", total) + " = {};");
    out.body.line(total + in_tile() + " += " + term + ";");
    InnerLoop add;
    add.body.line(element + " += " + total + in_tile() + ";");
    out.added.append(loop(add, "tile", "end"));
    return;
  }
  const std::string name = names_.fresh(tensor + "_terms");
  out.before.line("kw::TileSum<" + wide + ", kTile, " + lanes + "> " + name + ";");
  out.body.line(name + in_tile() + " = " + term + ";");
  std::string total = element;
  if (is_in_loop(sum)) {
    total = names_.fresh(tensor + "_sum");
    out.declared.line("double " + total + " = 0;");
    out.added.line(element + " += " + total + ";");
  }
  out.after.line(total + " += " + name + ".total(end - tile);");
}

Lines InnerLoopWriter::loop(const InnerLoop& inner, const std::string& first, const std::string& last) const {
  Skeleton skeleton = Skeleton::load(kLoopFile, inner.by_wide_lanes ? "wide_lanes" : inner.by_lanes ? "lanes" : "line");
  skeleton.name("i", names_.variable(nest_.inner))
      .expression("first", first)
      .expression("last", last)
      .statements("body", inner.body);
  if (!inner.by_lanes) skeleton.clauses("reductions", join(inner.clauses, " "));
  return skeleton.fill();
}

std::string InnerLoopWriter::stored_text(const Store& store) {
  return scopes_.expressions.stored(store.value, program_.buffers[static_cast<size_t>(store.buffer)].type);
}

Axes InnerLoopWriter::reduced_axes() const {
  Axes axes = nest_.loop;
  axes.push_back(nest_.inner);
  return axes;
}

std::string InnerLoopWriter::element(const Kept& keep) const {
  std::string at;
  for (LoopAxisId axis : nest_.loop) {
    const std::string outer = at.empty() ? "" : (at.find(' ') == std::string::npos ? at : "(" + at + ")");
    at = (at.empty() ? "" : outer + " * " + names_.size(axis) + " + ") + names_.variable(axis);
  }
  if (!at.empty())
    at = (at.find(' ') == std::string::npos ? at : "(" + at + ")") + " * " + names_.size(nest_.inner) + " + ";
  return keep.array + "[" + at + names_.variable(nest_.inner) + "]";
}

std::string InnerLoopWriter::in_tile() const { return "[" + names_.variable(nest_.inner) + " - tile]"; }

std::string InnerLoopWriter::stream_flag(const Store& store, const std::string& lanes) {
  const Buffer& buffer = program_.buffers[static_cast<size_t>(store.buffer)];
  auto known = stream_flags_.find(store.buffer);
  if (known != stream_flags_.end()) return known->second;
  Axes axes;
  for (const Index& index : store.at)
    for (LoopAxisId a : axes_of(index))
      if (!has(axes, a)) axes.push_back(a);
  const std::string flag = names_.fresh("stream_" + buffer.name);
  scopes_.setup.line("const kw::Streamed " + flag + " = kw::streams<" + lanes + ">(" + buffer.name + ".data, " +
                     names_.product(axes) + ", " + names_.size(nest_.inner) + ", kStreamBytes);");
  return stream_flags_[store.buffer] = flag;
}
}  // namespace kw::act::cpu
