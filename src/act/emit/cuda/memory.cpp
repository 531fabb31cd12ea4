// Where elements lie, and how threads read them.
#include <algorithm>

#include "act/emit/cuda/writer.h"
#include "act/emit/words.h"
#include "base/text.h"

namespace kw::act::cuda {

// An axis of size one costs nothing, once its size is known.
Lines Writer::positions(const std::string& number, const Axes& axes, bool vectors) const {
  Lines out;
  std::string before;  // the index of the axes so far, as one
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axes inner(axes.begin() + static_cast<std::ptrdiff_t>(i) + 1, axes.end());
    const std::string size = names_.size(axes[i]);
    std::string text = number;
    if (!inner.empty()) text += " / " + (inner.size() > 1 ? "(" + names_.product(inner) + ")" : names_.product(inner));
    if (!before.empty()) text += " - " + before + " * " + size;
    if (axes.size() > 1 && !inner.empty()) text = size + " == 1 ? 0 : " + text;
    const std::string name = vectors && axes[i] == nest_.inner ? first_ : names_.variable(axes[i]);
    if (name != text) out.line("const Index " + name + " = " + text + ";");
    before = before.empty() ? name : "(" + before + " * " + size + " + " + name + ")";
  }
  return out;
}

Lines Writer::used(const Lines& definitions, const std::vector<const Lines*>& texts) {
  std::string all;
  for (const Lines* lines : texts) all += lines->text();
  std::vector<std::string> kept;
  for (auto line = definitions.all().rbegin(); line != definitions.all().rend(); ++line) {
    const size_t from = line->find("Index ") + 6, to = line->find(" =");
    if (!mentions(all, line->substr(from, to - from))) continue;
    kept.push_back(*line);
    all += *line;
  }
  Lines out;
  for (auto line = kept.rbegin(); line != kept.rend(); ++line) out.line(*line);
  return out;
}

std::string Writer::address(BufferId id, const std::vector<Index>& at, bool of_vector, const std::string& slice) {
  std::vector<std::string> indices;
  if (!slice.empty()) indices.push_back(slice);
  for (const Index& index : at) {
    for (ValueId v : values_of(index)) names_.bind_index_value(v, values_.expressions.as(v, "int64_t"));
    std::string text = names_.text(index);
    if (of_vector && nest_.inner >= 0) text = replace_word(text, names_.variable(nest_.inner), first_);
    indices.push_back(text);
  }
  return buffer(id).name + ".at(" + join(indices, ", ") + ")";
}

std::string Writer::vector_address(BufferId id, const std::vector<Index>& at) { return address(id, at, true); }

bool Writer::lies_alike(BufferId id, const std::vector<Index>& at) const {
  return like_ && at == like_->second && buffer(id).shape == buffer(like_->first).shape;
}

bool Writer::in_order(const std::vector<Index>& at) const {
  const Axes all = nest_.all();
  std::ptrdiff_t last = -1;
  auto follows = [&](LoopAxisId axis) {
    const std::ptrdiff_t place = std::find(all.begin(), all.end(), axis) - all.begin();
    const bool after = place > last;
    last = place;
    return after;
  };
  // An axis, a number, or a multiple of one axis and another: (outer * size + inner).
  auto up = [&](auto&& self, const Index& index) -> bool {
    using Kind = Index::Kind;
    if (index.kind == Kind::Size) return true;
    if (index.kind == Kind::Axis) return follows(index.axis);
    if (index.kind == Kind::Mul) return self(self, index.operands[0]) && self(self, index.operands[1]);
    if (index.kind != Kind::Add) return false;
    const bool swap = index.operands[1].kind == Kind::Mul;
    return self(self, index.operands[swap ? 1 : 0]) && self(self, index.operands[swap ? 0 : 1]);
  };
  return std::all_of(at.begin(), at.end(), [&](const Index& index) { return up(up, index); });
}

std::string Writer::row_offset(const Axes& zero) {
  if (!like_) return "0";
  std::string at = address(like_->first, like_->second, false);
  for (LoopAxisId axis : zero) at = replace_word(at, names_.variable(axis), "0");
  const size_t call = at.find(".at(");
  return at.substr(0, call) + ".offset(" + at.substr(call + 4);
}

std::string Writer::edges_of(const Axes& zero, const std::string& lane) {
  return "const kw::Edges<kVector, kRagged, Index> edges(" + row_offset(zero) + ", length, " + lane + ");";
}

bool Writer::is_large(const std::vector<Index>& at) const {
  const Axes axes = axes_of_access(at), around = nest_.around();
  return std::all_of(around.begin(), around.end(), [&](LoopAxisId axis) { return has(axes, axis); });
}

void Writer::note_vector(BufferId id, const std::vector<Index>& at, const Run& run) {
  text_.vectors.insert(id);
  if (is_large(at)) {
    text_.large.insert(id);
    if (!like_) like_ = {id, at};
  }
  if (!(run.offset == ir::Size(0)) &&
      std::find(text_.offsets.begin(), text_.offsets.end(), run.offset) == text_.offsets.end())
    text_.offsets.push_back(run.offset);
}

std::string Writer::element(const Load& load) {
  const bool neighbours = has_vectors() && load.guard == kNoValue && run_of(load.at, nest_.inner).neighbours;
  return neighbours ? vector_of(load) + "[k]" : "kw::load(" + address(load.buffer, load.at, false) + ")";
}

// One that is held, or one that is read where its elements are used.
std::string Writer::vector_of(const Load& load) {
  note_vector(load.buffer, load.at, run_of(load.at, nest_.inner));
  const std::string from = address(load.buffer, load.at, true);
  auto name = vector_names_.find(from);
  if (name == vector_names_.end())
    name = vector_names_.emplace(from, names_.fresh(buffer(load.buffer).name + "_v")).first;
  if (is_large(load.at)) {
    auto held = std::find_if(held_.begin(), held_.end(), [&](const Held& h) { return h.from == from; });
    if (held == held_.end())
      held = held_.insert(held_.end(),
                          {load.buffer, name->second, from, vector_address(load.buffer, load.at), {}, load.at});
    held->stages.insert(stage_);
    return name->second + "[v]";
  }
  if (declared_.insert(from).second)
    body_->vector.line("const auto " + name->second + " = " + beside(load.buffer, load.at) + ";");
  return name->second;
}

std::string Writer::beside(BufferId id, const std::vector<Index>& at) {
  const std::string row = replace_word(address(id, at, false), names_.variable(nest_.inner), "0");
  return "kRagged && whole ? kw::load_anywhere<kVector>(" + row + ", " + first_ + ", static_cast<Index>(" +
         names_.size(nest_.inner) + ")) : kw::load_piece<kVector>(" + address(id, at, true) + ", whole)";
}

Lines Writer::held_vectors() const {
  Lines out;
  for (const Held& held : held_)
    out.line("kw::Vector<" + types_.stored(buffer(held.buffer).type) + ", kVector> " + held.name + "[kPieces];");
  return out;
}

}  // namespace kw::act::cuda
