#include <array>

#include "ir/simplify/pattern.h"
#include "ir/simplify/simplify.h"
#include "ir/without_nodes.h"

namespace kw::ir {
namespace {

struct CompiledRule {
  const Rule* rule;
  Pattern pattern;
  Pattern result;
};

// The rules by the op at their root, in the table's order.
using RuleIndex = std::array<std::vector<CompiledRule>, kOpCount>;

RuleIndex compile(std::span<const Rule> rules) {
  RuleIndex index;
  for (const Rule& rule : rules) {
    CompiledRule compiled{&rule, {}, {}};
    Op root = rule.root;
    if (!rule.native) {
      compiled.pattern = parse_pattern(rule.pattern);
      compiled.result = parse_pattern(rule.result);
      root = compiled.pattern.op;
    }
    index[static_cast<size_t>(root)].push_back(std::move(compiled));
  }
  return index;
}

class BottomUp final : public Rewriter {
 public:
  BottomUp(GraphBuilder& builder, const RuleIndex& index) : builder_(builder), index_(index) {}

  GraphBuilder& builder() override { return builder_; }

  NodeId make(Op op, std::vector<NodeId> args, Attr attr) override {
    return settle(builder_.make(op, std::move(args), std::move(attr)));
  }

  // The value of `id` after every rule that applies to it. What a rule builds is settled as it is built.
  NodeId settle(NodeId id) {
    if (auto known = settled_.find(id); known != settled_.end()) return known->second;
    KW_ASSERT(++depth_ < 1000, "a rewrite rule undoes another");
    NodeId current = id;
    while (std::optional<NodeId> next = step(current)) current = *next;
    --depth_;
    settled_[id] = current;
    return current;
  }

 private:
  std::optional<NodeId> step(NodeId id) {
    Op op = builder_[id].op;
    for (const CompiledRule& rule : index_[static_cast<size_t>(op)]) {
      std::optional<NodeId> replaced;
      if (rule.rule->native) {
        replaced = rule.rule->native(*this, id);
      } else {
        Match match;
        if (!matches(builder_.graph(), id, rule.pattern, match)) continue;
        if (rule.rule->condition && !rule.rule->condition(builder_.graph(), id)) continue;
        if (!well_typed(rule.result, match)) continue;
        replaced = build(*this, rule.result, match);
      }
      if (!replaced || *replaced == id) continue;
      const Node &before = builder_[id], &after = builder_[*replaced];
      if (before.type == after.type && before.axes == after.axes) return settle(*replaced);
    }
    return std::nullopt;
  }

  // A result such as not(x) is defined on some types only; a rule whose result is not does not apply.
  bool well_typed(const Pattern& pattern, const Match& match) {
    if (pattern.kind != Pattern::Kind::Call) return true;
    for (const Pattern& arg : pattern.args)
      if (!well_typed(arg, match)) return false;
    if (pattern.op == Op::Neg || pattern.op == Op::Not) {
      const Pattern& arg = pattern.args[0];
      if (arg.kind == Pattern::Kind::Any) {
        Type type = builder_[match.at(arg.variable)].type;
        return pattern.op == Op::Neg ? !type.boolean() : !type.floating();
      }
    }
    return true;
  }

  GraphBuilder& builder_;
  const RuleIndex& index_;
  std::unordered_map<NodeId, NodeId> settled_;
  int depth_ = 0;
};

}  // namespace

Graph rewrite(const Graph& graph, std::span<const Rule> rules) {
  GraphBuilder builder(without_nodes(graph));
  RuleIndex index = compile(rules);
  BottomUp rewriter(builder, index);

  std::vector<NodeId> image(graph.nodes.size(), kNoNode);
  for (const Input& input : graph.inputs) {
    builder.set_origin(graph.origins[static_cast<size_t>(input.node)]);
    image[static_cast<size_t>(input.node)] = builder.input(input);
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (image[i] != kNoNode) continue;
    std::vector<NodeId> args = graph.nodes[i].args;
    for (NodeId& arg : args) arg = image[static_cast<size_t>(arg)];
    builder.set_origin(graph.origins[i]);
    image[i] = rewriter.make(graph.nodes[i].op, std::move(args), graph.nodes[i].attr);
  }
  for (const auto& [node, name] : graph.names) builder.set_name(image[static_cast<size_t>(node)], name);
  for (Output output : graph.outputs) {
    output.node = image[static_cast<size_t>(output.node)];
    builder.output(std::move(output));
  }
  return std::move(builder).finish();
}

}  // namespace kw::ir
