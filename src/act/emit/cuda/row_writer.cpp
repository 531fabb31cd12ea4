#include "act/emit/cuda/row_writer.h"

#include <algorithm>

#include "base/text.h"

namespace kw::act::cuda {
namespace {

constexpr int kWorthKeeping = 5;  // instructions

}  // namespace

std::string RowWriter::SharedRoom::vectors(const std::string& name, const std::string& type, const std::string& count) {
  std::string definition =
      "const auto " + name + " = kw::dynamic_shared<kw::Vector<" + type + ", kVector>>(" + taken_ + ");";
  taken_ += (taken_.empty() ? "" : " + ") + count + " * static_cast<int>(sizeof(" + type + "))";
  return definition;
}

Level RowWriter::level_of(const Axes& axes) const {
  if (has(axes, nest_.inner)) return Level::Element;
  const bool runs = std::any_of(axes.begin(), axes.end(), [&](LoopAxisId axis) { return has(nest_.loop, axis); });
  return runs ? Level::Vector : Level::Point;
}

Lines RowWriter::kernel() {
  choose_kept();
  // Loads of all stages are known only when all are written; what is fetched is put in its place afterwards.
  std::vector<StageText> stages;
  for (const Stage& stage : kernel_.stages) {
    stages.emplace_back();
    write_stage(stage, stages.back());
  }
  Lines point;
  size_t number = 0;
  for (const StageText& stage : stages) {
    point.append(stage.before);
    if (stage.loops) point.append(stage_loop(stage, number++));
    point.append(stage.after);
  }
  return frame(point);
}

// ---- what is kept ----

// What a stage computes for every element, down to the loads; not below `stop`.
std::set<ValueId> RowWriter::computed_in(const Stage& stage, const std::set<ValueId>& stop) const {
  std::set<ValueId> all;
  auto visit = [&](auto&& self, ValueId v) -> void {
    if (level_of(kernel_[v].axes) != Level::Element || std::holds_alternative<Reduced>(kernel_[v].what) ||
        !all.insert(v).second || stop.contains(v))
      return;
    for (ValueId operand : operands_of(kernel_[v])) self(self, operand);
  };
  for (ValueId root : roots_of(stage)) visit(visit, root);
  return all;
}

// Instructions, about, that a value takes from what a thread holds.
int RowWriter::cost_of(ValueId v, const std::set<ValueId>& now, std::set<ValueId>& seen) const {
  if (!now.contains(v) || !seen.insert(v).second) return 0;
  int cost = is_packed(v) ? 1 : instructions(kernel_[v]);
  for (ValueId operand : operands_of(kernel_[v])) cost += cost_of(operand, now, seen);
  return cost;
}

// Values that cost more to compute again than to keep: of those that a later stage wants as they are.
std::set<ValueId> RowWriter::dear_values(const std::vector<const Stage*>& loops) const {
  std::set<ValueId> before, dear;
  for (const Stage* stage : loops) {
    const std::set<ValueId> now = computed_in(*stage);
    std::set<ValueId> wanted;
    for (ValueId v : now) {
      for (ValueId operand : operands_of(kernel_[v]))
        if (!before.contains(v) && before.contains(operand)) wanted.insert(operand);
    }
    for (ValueId root : roots_of(*stage))
      if (before.contains(root)) wanted.insert(root);
    for (ValueId v : wanted)
      if (std::set<ValueId> seen; kernel_[v].type.floating() && cost_of(v, now, seen) >= kWorthKeeping) dear.insert(v);
    before.insert(now.begin(), now.end());
  }
  return dear;
}

void RowWriter::choose_kept() {
  std::vector<const Stage*> loops;
  for (const Stage& stage : kernel_.stages)
    if (!stage.loop.empty()) loops.push_back(&stage);
  const std::set<ValueId> kept = dear_values(loops);
  for (ValueId v : kept) values_.kept[v] = names_.fresh(names_.value(v) + "_kept");
  find_packed();
  count_live(loops, kept);
}

Lines RowWriter::tiles() {
  Lines out = held_vectors();
  const std::string condition = keeps();
  if (!values_.kept.empty() && !condition.empty()) out.line("constexpr bool kKeep = " + condition + ";");
  for (const auto& [value, name] : values_.kept)
    out.line(types_.computed(kernel_[value].type) + " " + name + "[kPieces][kVector];");
  text_.held = std::max(text_.live, static_cast<int>(!held_.empty()));
  return out;
}

// ---- stages ----

void RowWriter::write_stage(const Stage& stage, StageText& text) {
  values_.open(Level::Point, &text.before);
  if (!stage.loop.empty()) {
    write_loop(stage, text);
    values_.close();
    declared_.clear();
    ++stage_;
  }
  values_.open(Level::Vector, nullptr);
  values_.open(Level::Element, nullptr);
  values_.open(Level::Point, &text.after);
  after_stores(stage, text.after, is_one_thread());
}

void RowWriter::write_loop(const Stage& stage, StageText& text) {
  text.loops = true;
  const bool is_last = std::none_of(kernel_.stages.begin(), kernel_.stages.end(),
                                    [&](const Stage& other) { return &other > &stage && !other.loop.empty(); });
  text.holds_on = stage.accumulates.empty() && (stage.stores.empty() || !is_last);
  define(text.body, statements_by_tile(stage), stored_by(stage));
  Lines totals;
  std::vector<std::string> names, parts;
  const std::vector<ValueId> plain = plain_reductions(stage);
  for (ValueId r : plain) {
    names.push_back(reduced_name(r));
    parts.push_back(reduce_terms(r, names.back(), text, totals));
  }
  for (const Combination& one : combines_.of(stage)) combine(one, text);
  for (const Accumulate& sum : stage.accumulates)
    if (kind_of(plan_, sum) == SumKind::Scalar)
      scalar_sum(sum, stage, text);
    else
      sums_of_row(sum, text);
  for (const Store& s : stage.stores) store(s, text.body);
  finish(text.body);
  text.reduces = !parts.empty();
  if (!text.reduces) return;
  text.after.append(totals);
  reduce(parts, text.after);
  if (takes_turns()) text.after.line("turn = 1 - turn;");
  for (size_t i = 0; i < plain.size(); ++i) result(plain[i], names[i], text.after);
}

std::string RowWriter::reduce_terms(ValueId r, const std::string& name, StageText& text, Lines& totals) {
  const Reduction reduction = reduction_of(r);
  const std::string type = accumulator_type(r);
  if (has_partials(r)) {
    const std::string total = names_.fresh(name + "_total");
    text.before.line("kw::Total<kStreamed, " + type + "> " + total + " = " + reduction.start + ";");
    add_tile(r, total, name, text);
    totals.line(type + " " + name + " = static_cast<" + type + ">(" + total + ");");
  } else {
    text.before.line(type + " " + name + " = " + reduction.start + ";");
    Lines& loop = loop_of(text.body, terms_of(kernel_, r));
    loop.line(reduction.joined(name, term_of(r)));
  }
  return "kw::part<" + std::string(reduction.functor) + ">(" + name + ", " +
         share(name, type, takes_turns() ? "2 * kw::kMostWarps" : "kw::kMostWarps") + ")";
}

// Where a block goes from row to row, one reduction comes again with none between; another has its barrier.
bool RowWriter::takes_turns() const {
  if (has_combine(kernel_)) return true;
  const auto reductions = std::count_if(kernel_.stages.begin(), kernel_.stages.end(),
                                        [&](const Stage& stage) { return !plain_reductions(stage).empty(); });
  return reductions == 1 && goes_on_without_barrier();
}

void RowWriter::add_call(const std::string& head, const std::vector<std::string>& arguments, Lines& out) {
  for (const std::string& line : split_lines(bracketed(head, arguments, ");"))) out.line(line);
}

// ---- sums over a tile ----
// Factors that a row, or a part of it, has in common wait until a tile is summed where a sum that rides along has the
// other terms: both are one sum then, and none leaves its type's range that is not wanted by itself.

bool RowWriter::may_be_summed_by_tile(const Accumulate& sum) const {
  const SumKind kind = kind_of(plan_, sum);
  return kind == SumKind::Scalar || (kind == SumKind::Segment && plan_.in_parts);
}
// One sum for everything is, where a sum of the row has its terms; alone it takes fewer registers by vectors.
bool RowWriter::is_summed_by_tile(const Accumulate& sum, const Stage& stage) const {
  if (kind_of(plan_, sum) != SumKind::Scalar) return may_be_summed_by_tile(sum);
  const std::vector<ValueId> terms = terms_of_sum(sum);
  return std::any_of(stage.reductions.begin(), stage.reductions.end(), [&](ValueId r) {
    const auto product = summed_product(r);
    return product && product->terms == terms && accumulator_type(r) == sum_type(sum);
  });
}

std::vector<ValueId> RowWriter::terms_of_sum(const Accumulate& sum) const {
  Factored product = factored(kernel_, sum.value, nest_.inner, [&](ValueId v) {
    const std::vector<ValueId>& operands = std::get<Map>(kernel_[v].what).args;
    return std::all_of(operands.begin(), operands.end(), [&](ValueId o) { return has(kernel_[o].axes, nest_.inner); });
  });
  if (!product.factors.empty()) return {sum.value};
  std::sort(product.terms.begin(), product.terms.end());
  return product.terms;
}

Factored RowWriter::product_of(ValueId v) const {
  std::set<std::vector<ValueId>> wanted;
  std::set<ValueId> whole;  // terms that stay as they are
  for (const Stage& stage : kernel_.stages)
    for (const Accumulate& sum : stage.accumulates)
      if (may_be_summed_by_tile(sum)) {
        const std::vector<ValueId> terms = terms_of_sum(sum);
        whole.insert(terms.begin(), terms.end());
        wanted.insert(terms);
      }
  Factored parts = factored(kernel_, v, nest_.inner, [&](ValueId o) { return !whole.contains(o); });
  std::sort(parts.terms.begin(), parts.terms.end());
  const bool wait = std::all_of(parts.factors.begin(), parts.factors.end(), [&](ValueId factor) {
    return plan_.in_parts || level_of(kernel_[factor].axes) == Level::Point;
  });
  return wait && wanted.contains(parts.terms) ? parts : Factored{{}, {v}};
}

std::optional<Factored> RowWriter::summed_product(ValueId r) const {
  if (!has_partials(r)) return std::nullopt;
  const Reduced& reduced = std::get<Reduced>(kernel_[r].what);
  if (reduced.op != ir::Op::Sum && reduced.op != ir::Op::Mean) return std::nullopt;
  return product_of(reduced.arg);
}

// Those of the stage, where sums over a tile mention a product's terms and factors in its place.
Writer::Statements RowWriter::statements_by_tile(const Stage& stage) const {
  Statements statements;
  const auto take = [&](const Factored& product) {
    statements.push_back(product.terms);
    for (ValueId factor : product.factors) statements.push_back({factor});
  };
  for (ValueId r : stage.reductions)
    if (const auto product = summed_product(r))
      take(*product);
    else
      statements.push_back(terms_of(kernel_, r));
  for (const Store& store : stage.stores) statements.push_back({store.value});
  for (const Accumulate& sum : stage.accumulates)
    if (is_summed_by_tile(sum, stage))
      take(product_of(sum.value));
    else
      statements.push_back({sum.value});
  return statements;
}

std::string RowWriter::tile_sum(const Factored& product, const std::string& type, const std::string& name,
                                StageText& text, const std::string& joined) {
  auto sum = text.sums.find({product.terms, type});
  if (sum == text.sums.end()) {
    const std::string part = names_.fresh(name + "_part");
    Lines& loop = loop_of(text.body, product.terms);
    std::vector<std::string> factors;
    for (ValueId v : product.terms) factors.push_back(values_.expressions.factor(v, type));
    const bool is_one = product.terms.size() == 1;
    const std::string term = is_one ? values_.expressions.as(product.terms[0], type) : join(factors, " * ");
    text.before_tile.line(type + " " + part + " = 0;");
    loop.line(part + " += " + term + ";");
    sum = text.sums.emplace(std::pair(product.terms, type), part).first;
  }
  std::string all = joined.empty() ? sum->second : joined + "(" + sum->second + ")";
  // A tile's sum times one factor may leave the range that it is in again after the next.
  if (product.factors.size() > 1) all = "kw::Total<true, " + type + ">(" + all + ")";
  for (ValueId v : product.factors) all += " * " + values_.expressions.factor(v, type);
  return all;
}

void RowWriter::add_tile(ValueId r, const std::string& total, const std::string& name, StageText& text) {
  if (const auto product = summed_product(r)) {
    text.after_tile.line(total + " += " + tile_sum(*product, accumulator_type(r), name, text) + ";");
    return;
  }
  const Reduction reduction = reduction_of(r);
  const std::string part = names_.fresh(name + "_part");
  text.before_tile.line(accumulator_type(r) + " " + part + " = " + reduction.start + ";");
  Lines& loop = loop_of(text.body, terms_of(kernel_, r));
  loop.line(reduction.joined(part, term_of(r)));
  text.after_tile.line(reduction.joined(total, part));
}

void RowWriter::scalar_sum(const Accumulate& sum, const Stage& stage, StageText& text) {
  const std::string name = buffer(sum.buffer).name;
  if (is_summed_by_tile(sum, stage))
    text.after_tile.line(total_of(sum) + " += " + tile_sum(product_of(sum.value), sum_type(sum), name, text) + ";");
  else
    add_vectors(sum, text.body);
}

// ---- the text around them ----

Skeleton RowWriter::kernel_skeleton(std::string_view file, const std::string& name, const Lines& edges,
                                    const Lines& point) {
  const bool summed = plan_.accumulates;
  std::vector<std::string> parameters = parameter_list();
  parameters.insert(parameters.end(), {"int lanes_of_row", "int cached"});
  Lines place = used(positions("point", nest_.parallel, false), {&point, &edges});
  place.append(edges);
  Skeleton skeleton = Skeleton::load(file, summed ? "summed_" + name : name);
  skeleton.name(summed ? "summed_kernel" : "kernel", text_.function)
      .list("parameters", parameters)
      .statements("shared", shared_)
      .expression("points", parenthesised(names_.product(nest_.parallel)))
      .statements("place", place)
      .statements("tiles", tiles())
      .statements("point", point);
  if (summed) skeleton.statements("sums", sums_).statements("finish", finish_);
  return skeleton;
}

Skeleton RowWriter::stage_skeleton(std::string_view file, const StageText& stage, const Lines& fetch) {
  return Skeleton::load(file, "stage")
      .statements("fetch", fetch)
      .statements("before", stage.before_tile)
      .statements("vector", stage.body.vector)
      .statements("body", stage.body.element)
      .statements("stores", stage.body.stores)
      .statements("after", stage.after_tile);
}

// All that is read and written for every element does, and the order in which edges come matters to nothing.
bool RowWriter::begins_alike() const {
  return like_ && in_order(like_->second) && stored_alike_ && !has_combine(kernel_) &&
         std::all_of(held_.begin(), held_.end(), [&](const Held& held) { return lies_alike(held.buffer, held.at); });
}

Lines RowWriter::caches(const std::string& taken) {
  Lines out;
  if (takes_turns()) out.line("int turn = 0;");
  SharedRoom room(taken);
  for (const Held& held : held_) {
    if (!is_read_again(held)) continue;
    out.line(room.vectors(cache_of(held), types_.stored(buffer(held.buffer).type), "cached"));
    text_.cached.push_back(held.buffer);
  }
  return out;
}

std::string RowWriter::read(const Held& held) {
  return held.name + "[v] = kw::load_piece<kVector>(" + held.address + ", whole);";
}

}  // namespace kw::act::cuda
