// What the writers of all kernels share: parameters, positions and addresses, loads of vectors, what is done for each
// element, sums that ride along, results of reductions.
#pragma once

#include <algorithm>

#include "act/emit/cpp/combines.h"
#include "act/emit/cuda/kernel_writer.h"
#include "act/emit/cuda/values.h"
#include "act/emit/skeleton.h"
#include "act/loop/index.h"
#include "base/text.h"

namespace kw::act::cuda {

using Axes = std::vector<LoopAxisId>;
using Shape = KernelPlan::Shape;
using ir::Op;

// Words that the skeletons use themselves.
inline constexpr std::string_view kReserved[] = {
    "kw",     "vector",  "vectors",   "first",     "start",        "step",       "element", "tile",
    "tiles",  "lane",    "lanes",     "groups",    "point",        "points",     "inside",  "end",
    "length", "worker",  "turn",      "kVector",   "kVectors",     "kElements",  "kRoom",   "kPlace",
    "Index",  "int64_t", "kStreamed", "kBlockRow", "lanes_of_row", "v",          "k",       "kRagged",
    "kAhead", "edges",   "slot",      "part",      "parts",        "part_tiles", "cached",  "edge",
    "share",  "shares",  "kPieces",   "whole",     "target",       "total",      "room",    "in_part",
    "here",   "left",    "part_of",   "prefetch",  "landing",      "tiles_here", "wanted"};

inline constexpr int kWorthKeeping = 5;  // instructions

inline constexpr std::string_view kElementsFile = "templates/cuda/elements.cu";
inline constexpr std::string_view kRowsFile = "templates/cuda/rows.cu";
inline constexpr std::string_view kPartsFile = "templates/cuda/parts.cu";
inline constexpr std::string_view kColumnsFile = "templates/cuda/columns.cu";

inline bool has(const Axes& axes, LoopAxisId axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); }

inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
inline size_t find_word(const std::string& text, const std::string& word, size_t from = 0) {
  for (size_t at = text.find(word, from); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const size_t end = at + word.size();
    if (begins && (end == text.size() || !is_word(text[end]))) return at;
  }
  return std::string::npos;
}
inline std::string replace_word(std::string text, const std::string& word, const std::string& by) {
  for (size_t at = find_word(text, word); at != std::string::npos; at = find_word(text, word, at + by.size()))
    text.replace(at, word.size(), by);
  return text;
}

inline Axes axes_of_access(const std::vector<Index>& at) {
  Axes axes;
  for (const Index& index : at)
    for (LoopAxisId a : axes_of(index))
      if (!has(axes, a)) axes.push_back(a);
  return axes;
}

// How a reduction is spelled: the functor of runtime/cuda/reduction.h, and how a term joins.
struct Reduction {
  const char* functor;
  const char* start;
  const char* join;  // with the variable and the term in the places of $ and #
};
inline Reduction reduction_of(Op op) {
  switch (op) {
    case Op::Sum:
    case Op::Mean:
      return {"kw::Sum", "0", "$ += #;"};
    case Op::Prod:
      return {"kw::Product", "1", "$ *= #;"};
    case Op::ReduceMax:
      return {"kw::Maximum", "kw::Least()", "$ = kw::maximum($, #);"};
    case Op::ReduceMin:
      return {"kw::Minimum", "kw::Greatest()", "$ = kw::minimum($, #);"};
    case Op::Any:
      return {"kw::Or", "false", "$ |= #;"};
    case Op::All:
      return {"kw::And", "true", "$ &= #;"};
    default:
      break;
  }
  KW_ASSERT(false, "a reduction that has no loop was expanded or refused before");
  return {};
}

class Writer {
 public:
  Writer(const LoopProgram& program, const LoopKernel& kernel, const KernelPlan& plan, CppTypes& types)
      : program_(program),
        kernel_(kernel),
        types_(types),
        plan_(plan),
        nest_(plan_.nest),
        names_(program, kernel, nest_.all(), kReserved, types),
        values_(program, kernel, types, names_, [this](const Axes& axes) { return level_of(axes); }),
        combines_(program, kernel, types, "KW_DEVICE ") {
    values_.expressions.element = [this](const Load& load) { return element(load); };
    values_.expressions.division = "kw::divide";
    constexpr std::string_view kSuffix[] = {"_elements", "_rows", "_columns", "_points"};
    text_.plan = plan_;
    text_.function = kernel_.name + std::string(kSuffix[static_cast<size_t>(plan_.shape)]);
    if (nest_.inner >= 0) first_ = "element";
    choose_parameters();
  }

 protected:
  bool has_vectors() const { return plan_.shape == Shape::Elements || plan_.shape == Shape::Rows; }

  Level level_of(const Axes& axes) const {
    if (!has_vectors()) {
      for (LoopAxisId axis : axes)
        if (has(row_axes(), axis)) return Level::Element;
      return Level::Point;
    }
    Level level = Level::Point;
    for (LoopAxisId axis : axes) {
      if (axis == nest_.inner) return Level::Element;
      if (plan_.shape == Shape::Elements || has(nest_.loop, axis)) level = Level::Vector;
    }
    return level;
  }
  // What a stage goes over; in column kernels without the innermost axis.
  Axes row_axes() const { return plan_.row_axes(); }
  Axes point_axes() const {
    Axes axes = nest_.parallel;
    if (nest_.inner >= 0 && !nest_.reduces_inner()) axes.push_back(nest_.inner);
    return axes;
  }
  const Buffer& buffer(BufferId id) const { return program_.buffers[static_cast<size_t>(id)]; }

  // ---- parameters ----
  void choose_parameters() {
    std::set<BufferId> used;
    for (const Access& access : accesses_of(kernel_)) used.insert(access.buffer);
    for (const Stage& stage : kernel_.stages) {
      for (const Store& store : stage.stores) text_.written.insert(store.buffer);
      for (const Store& store : stage.after_stores) text_.written.insert(store.buffer);
      for (const Accumulate& sum : stage.accumulates) {
        text_.written.insert(sum.buffer);
        if (plan_.shape == Shape::Rows && kind_of(plan_, sum) == SumKind::Column) text_.slices.insert(sum.buffer);
      }
      text_.stages += !stage.loop.empty();
    }
    for (size_t b = 0; b < program_.buffers.size(); ++b)
      if (used.contains(static_cast<BufferId>(b))) text_.tensors.push_back(static_cast<BufferId>(b));
    text_.sizes = names_.sizes();
    std::set<std::string> scalars;
    for (const Value& value : kernel_.values)
      if (const Scalar* scalar = std::get_if<Scalar>(&value.what)) scalars.insert(scalar->name);
    for (const auto& [name, type] : program_.scalars)
      if (scalars.contains(name)) text_.scalars.emplace_back(name, values_.expressions.scalar_type(name));
  }

  std::vector<std::string> parameter_list() {
    std::vector<std::string> list;
    for (BufferId b : text_.tensors)
      list.push_back("kw::Tensor<" + std::string(text_.written.contains(b) ? "" : "const ") +
                     types_.stored(buffer(b).type) + ", " +
                     std::to_string(text_.slices.contains(b) ? 1 : buffer(b).shape.size()) + "> " + buffer(b).name);
    for (const SizeParameter& size : text_.sizes) list.push_back("Index " + size.name);
    for (const auto& [name, type] : text_.scalars) list.push_back(type + " " + name);
    if (plan_.shape == Shape::Rows) {
      list.push_back("int lanes_of_row");
      list.push_back("int cached");
    }
    return list;
  }

  // ---- positions and addresses ----
  // The indices of several axes from one running number. An axis of size one costs nothing, once its size is known.
  Lines positions(const std::string& number, const Axes& axes, bool vectors) const {
    Lines out;
    std::string before;  // the index of the axes so far, as one
    for (size_t i = 0; i < axes.size(); ++i) {
      const Axes inner(axes.begin() + static_cast<std::ptrdiff_t>(i) + 1, axes.end());
      const std::string size = names_.size(axes[i]);
      std::string text = number;
      if (!inner.empty())
        text += inner.size() > 1 ? " / (" + names_.product(inner) + ")" : " / " + names_.product(inner);
      if (!before.empty()) text += " - " + before + " * " + size;
      if (axes.size() > 1 && !inner.empty()) text = size + " == 1 ? 0 : " + text;
      const std::string name = vectors && axes[i] == nest_.inner ? first_ : names_.variable(axes[i]);
      if (name != text) out.line("const Index " + name + " = " + text + ";");
      before = before.empty() ? name : "(" + before + " * " + size + " + " + name + ")";
    }
    return out;
  }
  // Those of the lines of which something is used by the texts or by a later line.
  static Lines used(const Lines& definitions, const std::vector<const Lines*>& texts) {
    std::string all;
    for (const Lines* lines : texts) all += lines->text();
    std::vector<std::string> kept;
    for (auto line = definitions.all().rbegin(); line != definitions.all().rend(); ++line) {
      const size_t from = line->find("Index ") + 6, to = line->find(" =");
      const std::string name = line->substr(from, to - from);
      if (find_word(all, name) == std::string::npos) continue;
      kept.push_back(*line);
      all += *line;
    }
    Lines out;
    for (auto line = kept.rbegin(); line != kept.rend(); ++line) out.line(*line);
    return out;
  }

  std::string address(BufferId id, const std::vector<Index>& at, bool of_vector, const std::string& slice = {}) {
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

  // Where a vector of neighbours begins. Where rows are in parts, each part has its own beginning.
  std::string vector_address(BufferId id, const std::vector<Index>& at) {
    if (!plan_.in_parts) return address(id, at, true);
    const std::string begin = replace_word(address(id, at, false), names_.variable(nest_.inner), "0");
    auto known = part_begins_.find(begin);
    if (known == part_begins_.end()) known = part_begins_.emplace(begin, names_.fresh(buffer(id).name + "_part")).first;
    return known->second + " + " + first_ + " * " + buffer(id).name + ".strides[" +
           std::to_string(buffer(id).shape.size() - 1) + "]";
  }
  // Those that the texts use.
  Lines part_begins(const std::vector<const Lines*>& texts) const {
    Lines out;
    std::string all;
    for (const Lines* lines : texts) all += lines->text();
    for (const auto& [begin, name] : part_begins_)
      if (find_word(all, name) != std::string::npos) out.line("const auto " + name + " = " + begin + ";");
    return out;
  }

  bool is_large(const std::vector<Index>& at) const {
    const Axes axes = axes_of_access(at);
    if (plan_.shape == Shape::Elements) return axes.size() == nest_.all().size();
    return std::all_of(nest_.parallel.begin(), nest_.parallel.end(), [&](LoopAxisId a) { return has(axes, a); }) &&
           std::all_of(nest_.loop.begin(), nest_.loop.end(), [&](LoopAxisId a) { return has(axes, a); });
  }
  void note_vector(BufferId id, const std::vector<Index>& at, const Run& run) {
    text_.vectors.insert(id);
    if (is_large(at)) {
      text_.large.insert(id);
      if (!like_) like_ = {id, at};
    }
    if (!(run.offset == ir::Size(0)) &&
        std::find(text_.offsets.begin(), text_.offsets.end(), run.offset) == text_.offsets.end())
      text_.offsets.push_back(run.offset);
  }

  // That a value takes from its operands, about.
  int instructions(const Value& value) const {
    if (std::holds_alternative<Load>(value.what)) return 0;  // what uses it converts it
    if (const Map* map = std::get_if<Map>(&value.what)) {
      switch (map->op) {
        case Op::Add:
        case Op::Sub:
        case Op::Mul:
        case Op::Neg:
        case Op::Max:
        case Op::Min:
        case Op::Abs:
        case Op::Eq:
        case Op::Ne:
        case Op::Lt:
        case Op::Le:
        case Op::And:
        case Op::Or:
        case Op::Not:
        case Op::Select:
        case Op::StopGradient:
        case Op::Cast:
          break;
        default:
          return 8;
      }
    }
    return value.type.floating() && types_.rounds(value.type) ? 2 : 1;
  }

  // ---- rows that begin anywhere ----
  // Whether the access has its rows where the kernel's first one has: then their vectors are the same.
  bool lies_alike(BufferId id, const std::vector<Index>& at) const {
    return like_ && at == like_->second && buffer(id).shape == buffer(like_->first).shape;
  }
  // Whether rows follow each other in memory as they do in the kernel.
  bool in_order(const std::vector<Index>& at) const {
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
  // Where a row begins in memory, as the number of elements before it.
  std::string row_offset(const Axes& zero) {
    if (!like_) return "0";
    std::string at = address(like_->first, like_->second, false);
    for (LoopAxisId axis : zero) at = replace_word(at, names_.variable(axis), "0");
    const size_t call = at.find(".at(");
    return at.substr(0, call) + ".offset(" + at.substr(call + 4);
  }
  std::string edges_of(const Axes& zero, const std::string& lane) {
    return "const kw::Edges<kVector, kRagged, Index> edges(" + row_offset(zero) + ", length, " + lane + ");";
  }

  // ---- loads ----
  struct Held {  // vectors that a thread holds for the whole row, or reads before it uses any
    BufferId buffer;
    std::string name, from, address;  // by which it is known; where it is
    std::set<size_t> stages;          // that use it
    std::vector<Index> at = {};
  };
  std::string element(const Load& load) {
    const Run run = has_vectors() && load.guard == kNoValue ? run_of(load.at, nest_.inner) : Run{};
    if (!run.neighbours) return "kw::load(" + address(load.buffer, load.at, false) + ")";
    note_vector(load.buffer, load.at, run);
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
      return name->second + "[v][k]";
    }
    if (declared_.insert(from).second) {
      const std::string vector = beside(load.buffer, load.at);
      std::string resident;
      if (stays(load)) {
        auto same =
            std::find_if(residents_.begin(), residents_.end(), [&](const Resident& r) { return r.load == vector; });
        if (same == residents_.end())
          same = residents_.insert(same, {load.buffer, names_.fresh(buffer(load.buffer).name + "_all"), vector});
        resident = "kResident ? " + same->name + "[v] : kBeside ? kw::Vector<" +
                   types_.stored(buffer(load.buffer).type) + ", kVector>(" + same->name +
                   "_here[v * kw::threads() + kw::thread()]) : ";
      }
      body_->vector.line("const auto " + name->second + " = " + resident + vector + ";");
    }
    return name->second + "[k]";
  }
  // Vectors that are the same for every row, in the place of a block's threads: where a block goes from row to row,
  // they are read once where it has the registers, or where rows are ragged and shared memory has the sums: there they
  // are put together from two, and are kept beside the sums.
  struct Resident {
    BufferId buffer;
    std::string name, load;
  };
  bool stays(const Load& load) const {
    if (plan_.shape != Shape::Rows || !plan_.accumulates || plan_.in_parts) return false;
    const Axes row = row_axes();
    for (LoopAxisId axis : axes_of_access(load.at))
      if (!has(row, axis)) return false;
    return true;
  }
  // A vector of a tensor whose rows lie elsewhere.
  std::string beside(BufferId id, const std::vector<Index>& at) {
    const std::string row = replace_word(address(id, at, false), names_.variable(nest_.inner), "0");
    return "kRagged && whole ? kw::load_anywhere<kVector>(" + row + ", " + first_ + ", static_cast<Index>(" +
           names_.size(nest_.inner) + ")) : kw::load_piece<kVector>(" + address(id, at, true) + ", whole)";
  }
  Lines tiles() {
    Lines out;
    for (const Held& held : held_)
      out.line("kw::Vector<" + types_.stored(buffer(held.buffer).type) + ", kVector> " + held.name + "[kPieces];");
    if (!values_.kept.empty() && (plan_.accumulates || plan_.in_parts))
      out.line(std::string("constexpr bool kKeep = ") +
               (plan_.in_parts ? "false;" : "!kStreamed && kPlace == kw::Place::Registers;"));
    for (const auto& [value, name] : values_.kept)
      out.line(types_.computed(kernel_[value].type) + " " + name + "[kPieces][kVector];");
    text_.held = std::max(text_.live, static_cast<int>(held_.size() > 0));
    if (plan_.shape == Shape::Elements) text_.held = static_cast<int>(held_.size());
    return out;
  }

  // ---- what is done for each element ----
  struct Body {
    Lines part, vector, element, stores;
    std::vector<const Lines*> all() const { return {&part, &vector, &element, &stores}; }
  };
  void define(Body& body, const std::vector<ValueId>& roots, const std::set<ValueId>& stored) {
    body_ = &body;
    values_.open(Level::Vector, !has_vectors() ? nullptr : plan_.in_parts ? &body.part : &body.vector);
    values_.open(Level::Element, &body.element);
    values_.define(roots, stored);
  }
  std::string stored_text(const Store& store) {
    return values_.expressions.stored(store.value, buffer(store.buffer).type);
  }
  void store(const Store& store, Body& body) {
    const Run run = has_vectors() ? run_of(store.at, nest_.inner) : Run{};
    if (!run.neighbours) {
      body.element.line("kw::store(" + address(store.buffer, store.at, false) + ", " + stored_text(store) + ");");
      return;
    }
    note_vector(store.buffer, store.at, run);
    if (is_large(store.at))
      stored_alike_ &= lies_alike(store.buffer, store.at);
    else
      stored_alike_ = false;
    const std::string name = names_.fresh(buffer(store.buffer).name + "_v");
    body.vector.line("kw::Vector<" + types_.stored(buffer(store.buffer).type) + ", kVector> " + name + ";");
    body.element.line(name + "[k] = " + stored_text(store) + ";");
    body.stores.line("kw::store_piece(" + vector_address(store.buffer, store.at) + ", " + name + ", whole);");
  }
  // The index of an element, where something wants it.
  void finish(Body& body) {
    if (!has_vectors() || nest_.inner < 0) return;
    const std::string& name = names_.variable(nest_.inner);
    if (find_word(body.element.text(), name) == std::string::npos) return;
    Lines with;
    with.line("const Index " + name + " = " + first_ + " + k;");
    with.append(body.element);
    body.element = with;
  }

  static std::vector<ValueId> roots_of(const Stage& stage, const LoopKernel& kernel) {
    std::vector<ValueId> roots;
    for (ValueId r : stage.reductions)
      for (ValueId term : terms_of(kernel, r)) roots.push_back(term);
    for (const Store& store : stage.stores) roots.push_back(store.value);
    for (const Accumulate& sum : stage.accumulates) roots.push_back(sum.value);
    return roots;
  }

  // ---- sums that ride along ----
  // The slice that a worker adds to: its own, or the one that all share.
  std::string slice(const char* worker) const { return program_.atomic ? "0" : worker; }
  static std::string joined_to(const std::string& to) { return "kw::load(" + to + ") + "; }
  std::string add_to(const std::string& to, const std::string& value, const std::string& before) const {
    if (program_.atomic) return "kw::add_atomically(" + to + ", " + value + ");";
    return "kw::store(" + to + ", " + before + value + ");";
  }
  std::string sum_type(const Accumulate& sum) { return types_.stored(buffer(sum.buffer).type); }
  void scalar_sum(const Accumulate& sum, Body& body, const std::string& term) {
    const std::string total = names_.fresh(buffer(sum.buffer).name + "_total");
    const std::string part = names_.fresh(buffer(sum.buffer).name + "_part");
    const std::string type = sum_type(sum);
    sums_.line("kw::Total<true, " + type + "> " + total + " = 0;");
    body.vector.line(type + " " + part + " = 0;");
    body.element.line(part + " += " + term + ";");
    body.stores.line(total + " += " + part + ";");
    const std::string name = names_.fresh(buffer(sum.buffer).name + "_sum");
    const std::string parts = share(name, type, "kw::kMostWarps");
    finish_.line(type + " " + name + " = static_cast<" + type + ">(" + total + ");");
    finish_.line("kw::block_reduce(0, kw::part<kw::Sum>(" + name + ", " + parts + "));");
    finish_.line("if (kw::thread() == 0) " +
                 add_to(address(sum.buffer, sum.at, false, slice("kw::block()")), name, ""));
    ++text_.other_sums;
  }
  std::string share(const std::string& name, const std::string& type, const std::string& count) {
    const std::string parts = names_.fresh(name + "_parts");
    shared_.line("KW_SHARED(" + type + ", " + parts + ", " + count + ");");
    return parts;
  }
  void column_sum(const Accumulate& sum, Body& body, const std::string& term) {
    const std::string name = names_.fresh(buffer(sum.buffer).name + "_sums"), type = sum_type(sum);
    const std::string terms = names_.fresh(buffer(sum.buffer).name + "_terms");
    const std::string times = text_.column_sums > 1 ? std::to_string(text_.column_sums) + " * " : "";
    const std::string room = text_.column_sums == 0 ? "0" : times + "room * static_cast<int>(sizeof(" + type + "))";
    if (text_.column_sums == 1)
      sums_.line("const int room = kPlace == kw::Place::Shared ? tiles * kElements * kw::threads() : 0;");
    const std::string head = "kw::Sums<" + type + ", kVector, kVectors, kPlace, kRagged" +
                             (program_.atomic ? ", true> " : "> ") + name + "(";
    for (const std::string& line : split_lines(
             bracketed(head, {buffer(sum.buffer).name + ".at(" + slice("kw::block()") + ")", room, "length", "tiles"},
                       ");", 116)))
      sums_.line(line);
    body.vector.line("kw::Vector<" + type + ", kVector> " + terms + ";");
    body.element.line(terms + "[k] = " + term + ";");
    body.stores.line(name + ".add(tile, v, element, " + terms + ");");
    finish_.line(name + ".finish(lane, lanes, groups, edges);");
    ++text_.column_sums;
  }
  // The number of sums in one slice.
  std::string slice_size(const Accumulate& sum) const { return names_.product(axes_of_access(sum.at)); }
  void clear_slice(const Accumulate& sum, const std::string& worker, bool by_block) {
    if (program_.atomic) return;  // a step before the kernel does
    const std::string start = by_block ? "kw::thread()" : "0", step = by_block ? "kw::threads()" : "1";
    const std::string slice = buffer(sum.buffer).name + ".at(" + worker + ")";
    sums_.line("for (Index i = " + start + "; i < " + slice_size(sum) + "; i += " + step + ") kw::store(" + slice +
               " + i, 0);");
  }
  static std::string parenthesised(const std::string& text) {
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
  }
  // Threads without a point are given the first one, where all threads read something of theirs: in a line that stands
  // in no block, and so behind no question.
  static Lines outside(const std::string& condition, const Lines& point) {
    Lines out;
    const bool reads = std::any_of(point.all().begin(), point.all().end(), [](const std::string& line) {
      return !line.starts_with(" ") && line.find("kw::load(") != std::string::npos;
    });
    if (reads) out.line("if (" + condition + ") point = 0;");
    return out;
  }

  // ---- results of reductions ----
  bool has_partials(ValueId r) const {
    const Op op = std::get<Reduced>(kernel_[r].what).op;
    return (op == Op::Sum || op == Op::Mean || op == Op::Prod) && kernel_[r].type.floating();
  }
  std::string accumulator_type(ValueId r) {
    const Op op = std::get<Reduced>(kernel_[r].what).op;
    return op == Op::Any || op == Op::All ? "bool" : types_.computed(kernel_[r].type);
  }
  static std::string joined(const Reduction& reduction, const std::string& variable, const std::string& term) {
    return replace_all(replace_all(reduction.join, "#", term), "$", variable);
  }
  // The result of a reduction as a variable, from what the threads have together.
  void result(ValueId r, const std::string& from, Lines& out) {
    const Reduced& reduced = std::get<Reduced>(kernel_[r].what);
    const std::string type = accumulator_type(r);
    std::string text = from;
    if (reduced.op == Op::Mean) {
      std::string count = names_.product(reduced.over);
      if (reduced.over.size() > 1)
        count = "static_cast<int64_t>(" + names_.size(reduced.over[0]) + ")" +
                count.substr(names_.size(reduced.over[0]).size());
      text += " / " + type + "(" + count + ")";
    }
    if (kernel_[r].type.floating() && types_.rounds(kernel_[r].type))
      text = "kw::round_to<" + types_.stored(kernel_[r].type) + ">(" + text + ")";
    std::string name = from;
    if (text != from) {
      name = names_.value(r);
      out.line("const " + type + " " + name + " = " + text + ";");
    }
    values_.expressions.environment[r] = {name, Binding::Primary, type};
  }
  // The variable that is reduced: the result's own name where nothing is left to do to it.
  std::string reduced_name(ValueId r) {
    const Reduced& reduced = std::get<Reduced>(kernel_[r].what);
    const bool more = reduced.op == Op::Mean || (kernel_[r].type.floating() && types_.rounds(kernel_[r].type));
    const std::string name = names_.value(r);
    return more ? names_.fresh(name + "_sum") : name;
  }

  // ---- reductions by a combine ----
  std::vector<ValueId> plain_reductions(const Stage& stage) const {
    std::vector<ValueId> plain;
    for (ValueId r : stage.reductions)
      if (!is_combined(kernel_, r)) plain.push_back(r);
    return plain;
  }
  std::string tuple_text(const Combination& one) {
    std::vector<std::string> parts;
    for (size_t part = 0; part < one.args.size(); ++part)
      parts.push_back(values_.expressions.as(one.args[part], one.types[part]));
    return one.tuple + "{" + join(parts, ", ") + "}";
  }
  // The results, from the run that all terms became.
  void combined_results(const Combination& one, const std::string& run, Lines& out) {
    const std::string tuple = names_.fresh(names_.value(one.reduced[0]) + "_tuple");
    out.line("const " + one.tuple + " " + tuple + " = " + run + ".total();");
    for (ValueId r : one.reduced) {
      const std::string name = names_.value(r), type = combines_.type(r);
      out.line("const " + type + " " + name + " = " + combines_.part(one, r, tuple) + ";");
      values_.expressions.environment[r] = {name, Binding::Primary, type};
    }
  }
  Lines with_combines(const Lines& kernel) const {
    if (combines_.definitions().empty()) return kernel;
    Lines out = combines_.definitions();
    out.line("");
    out.append(kernel);
    return out;
  }

  // Values of the point that are known now, and their stores, by one of its threads.
  void after_stores(const Stage& stage, Lines& out, const std::string& condition) {
    if (stage.after_stores.empty()) return;
    std::vector<ValueId> roots;
    for (const Store& store : stage.after_stores) roots.push_back(store.value);
    values_.define(roots);
    Lines stores;
    for (const Store& store : stage.after_stores)
      stores.line("kw::store(" + address(store.buffer, store.at, false) + ", " + stored_text(store) + ");");
    if (condition.empty()) {
      out.append(stores);
      return;
    }
    out.open("if (" + condition + ") {");
    out.append(stores);
    out.close();
  }

  const LoopProgram& program_;
  const LoopKernel& kernel_;
  CppTypes& types_;
  KernelPlan plan_;
  const Nest& nest_;
  KernelNames names_;
  Values values_;
  Combines combines_;
  KernelText text_;
  std::string first_;                                // the index of a vector's first element along the innermost axis
  std::map<std::string, std::string> vector_names_;  // by address
  std::set<std::string> declared_;
  std::vector<Resident> residents_;  // vectors of the present stage, by address
  std::vector<Held> held_;
  std::map<std::string, std::string> part_begins_;  // names, by what they are
  size_t stage_ = 0;
  Lines shared_, sums_, finish_, advance_;
  Body* body_ = nullptr;                                         // of the present stage
  std::optional<std::pair<BufferId, std::vector<Index>>> like_;  // the access whose rows others lie like
  bool stored_alike_ = true;
};

}  // namespace kw::act::cuda
