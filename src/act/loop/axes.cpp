#include "act/loop/axes.h"

#include <algorithm>
#include <map>
#include <set>

#include "act/loop/identifier.h"
#include "act/loop/index.h"
#include "ir/infer.h"

namespace kw::act {
namespace {

using ir::AxisId;

class AxisChoice {
 public:
  explicit AxisChoice(const ir::Graph& graph) : graph_(graph), known_(graph.axes.size()), arithmetic_(out_.axes) {
    out_.position.assign(graph.axes.size(), size_index(0));
    for (const ir::Node& node : graph.nodes)
      if (node.op == ir::Op::Split || node.op == ir::Op::Merge) {
        const ir::SplitAttr& s = node.as<ir::SplitAttr>();
        if (!reaches(s.outer, s.whole) && !reaches(s.inner, s.whole)) parts_.try_emplace(s.whole, s.outer, s.inner);
      }
    while (keep_apart()) {
    }
  }

  AxisPositions run() {
    std::vector<std::vector<AxisId>> tensors;
    for (const ir::Input& input : graph_.inputs) tensors.push_back(input.dims);
    for (const ir::Output& output : graph_.outputs) tensors.push_back(output.dims);
    for (std::vector<AxisId>& dims : tensors) std::erase(dims, ir::kUnit);
    std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
    for (const std::vector<AxisId>& dims : tensors) place(dims);
    for (const ir::Node& node : graph_.nodes) {
      place(node.axes);
      place(ir::mentioned_axes(node.attr));
    }
    return std::move(out_);
  }

 private:
  bool reaches(AxisId from, AxisId to) const {
    auto split = parts_.find(from);
    return from == to ||
           (split != parts_.end() && (reaches(split->second.first, to) || reaches(split->second.second, to)));
  }

  // The axes that an axis is walked as.
  void collect_leaves(AxisId a, std::set<AxisId>& leaves) const {
    auto split = parts_.find(a);
    if (split == parts_.end()) {
      leaves.insert(a);
      return;
    }
    collect_leaves(split->second.first, leaves);
    collect_leaves(split->second.second, leaves);
  }

  // Where an op meets an axis and a part of it, or two axes with a part in common, one of them is walked as itself.
  // True when one was found.
  bool keep_apart() {
    for (const ir::Node& node : graph_.nodes) {
      std::set<AxisId> together(node.axes.begin(), node.axes.end());
      const ir::OpKind kind = info(node.op).kind;
      if (kind == ir::OpKind::Pointwise || kind == ir::OpKind::Reduction)
        for (ir::NodeId arg : node.args) together.insert(graph_[arg].axes.begin(), graph_[arg].axes.end());
      std::map<AxisId, AxisId> owner;  // of each leaf
      for (AxisId a : together) {
        std::set<AxisId> leaves;
        collect_leaves(a, leaves);
        for (AxisId leaf : leaves) {
          auto [known, is_new] = owner.emplace(leaf, a);
          if (is_new) continue;
          if (parts_.erase(a) == 0) parts_.erase(known->second);
          return true;
        }
      }
    }
    return false;
  }

  void place(const std::vector<AxisId>& axes) {
    for (AxisId a : axes)
      if (a != ir::kUnit) place(a);
  }

  void place(AxisId a) {
    if (known_[static_cast<size_t>(a)]) return;
    auto split = parts_.find(a);
    if (split != parts_.end()) {
      auto [outer, inner] = split->second;
      place(outer);
      place(inner);
      set(a, arithmetic_.add(arithmetic_.mul(at(outer), size_index(graph_.axis(inner).size)), at(inner)));
      return;
    }
    const ir::Axis& axis = graph_.axis(a);
    if (axis.size == ir::Size(1)) return set(a, size_index(0));
    out_.axes.push_back({names_.take(axis.name, "i"), axis.size, {a}});
    set(a, axis_index(static_cast<LoopAxisId>(out_.axes.size() - 1)));
  }

  const Index& at(AxisId a) const { return out_.position[static_cast<size_t>(a)]; }
  void set(AxisId a, Index position) {
    out_.position[static_cast<size_t>(a)] = std::move(position);
    known_[static_cast<size_t>(a)] = true;
  }

  const ir::Graph& graph_;
  AxisPositions out_;
  std::vector<bool> known_;
  std::map<AxisId, std::pair<AxisId, AxisId>> parts_;
  Identifiers names_;
  IndexArithmetic arithmetic_;
};

}  // namespace

AxisPositions choose_axes(const ir::Graph& pass) { return AxisChoice(pass).run(); }

}  // namespace kw::act
