// Parsing and printing are inverse: on canonical text letter by letter, on graphs in every field. One case per op at
// least.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>

#include "ir/canonical.h"
#include "ir/derivative/derivative.h"
#include "ir/infer.h"
#include "ir/simplify/simplify.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "rearranged.h"
#include "text_cases.h"

namespace kw::ir {
namespace {

Graph parsed(const std::string& text) {
  Result<Graph> graph = text::parse(text);
  if (!graph) throw std::runtime_error(render(graph.error()) + "\nin\n" + text);
  return *graph;
}

TEST(TextRoundTrip, EveryOpHasACase) {
  std::set<Op> covered;
  for (const std::string& text : canonical_texts()) {
    for (const Node& node : parsed(text).nodes) covered.insert(node.op);
  }
  for (int i = 0; i < kOpCount; ++i) {
    EXPECT_TRUE(covered.contains(static_cast<Op>(i)))
        << info(static_cast<Op>(i)).name << " appears in no canonical text";
  }
}

TEST(TextRoundTrip, EveryOpIsParsedUnderItsOwnNameOrSign) {
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (op == Op::Input || op == Op::Const) continue;
    const bool seen = std::any_of(canonical_texts().begin(), canonical_texts().end(), [&](const std::string& text) {
      const Graph graph = parsed(text);
      const NodeId made = graph.outputs.front().node;
      return graph[made].op == op;
    });
    EXPECT_TRUE(seen) << info(op).name << " is the outermost op of no case";
  }
}

TEST(TextRoundTrip, PrintingAParsedCanonicalTextGivesTheText) {
  for (const std::string& text : canonical_texts()) EXPECT_EQ(text::print(parsed(text)), text);
}

TEST(TextRoundTrip, ParsingAPrintedGraphGivesTheGraphWhateverTheOrderOfItsNodesAxesAndSymbols) {
  for (const std::string& text : canonical_texts()) {
    const Graph original = parsed(text);
    for (uint32_t seed = 0; seed < 8; ++seed) {
      const Graph graph = rearranged(original, seed);
      ASSERT_TRUE(same(graph, original)) << text;
      const std::string printed = text::print(graph);
      const Graph again = parsed(printed);
      EXPECT_TRUE(same(again, graph)) << text << "printed as\n" << printed;
      EXPECT_EQ(text::print(again), printed);
    }
  }
}

// Graphs that no parser made: derivatives, as they are taken and simplified.
TEST(TextRoundTrip, TheDerivativeOfEveryCaseIsPrintedAndParsedBack) {
  int derivatives = 0;
  for (const std::string& text : canonical_texts()) {
    const Result<Graph> joint = differentiate(parsed(text));
    if (!joint) continue;
    ++derivatives;
    for (const Graph& graph : {*joint, simplify(*joint)}) {
      const std::string printed = text::print(graph);
      const Graph again = parsed(printed);
      std::string difference;
      EXPECT_TRUE(equivalent(graph, again, &difference)) << difference << "\n" << printed;
      EXPECT_EQ(text::print(again), printed);
    }
  }
  EXPECT_GT(derivatives, 60);
}

TEST(TextRoundTrip, AParsedGraphPassesTheCheckOfGraphsFromOutside) {
  for (const std::string& text : canonical_texts()) {
    const Status checked = check(parsed(text));
    EXPECT_TRUE(checked.has_value()) << (checked ? "" : checked.error().message) << text;
  }
}

TEST(TextRoundTrip, ASecondParseOfTheSameTextGivesTheSameNumbers) {
  for (const std::string& text : canonical_texts()) {
    const Graph a = parsed(text), b = parsed(text::print(a));
    ASSERT_EQ(a.nodes.size(), b.nodes.size()) << text;
    for (size_t i = 0; i < a.nodes.size(); ++i) {
      EXPECT_EQ(a.nodes[i].op, b.nodes[i].op) << text;
      EXPECT_EQ(a.nodes[i].args, b.nodes[i].args) << text;
      EXPECT_TRUE(equal(a.nodes[i].attr, b.nodes[i].attr)) << text;
    }
  }
}

TEST(TextRoundTrip, TheComparisonUsedHereSeesEachKindOfChange) {
  const std::string text = canonical_texts().front();
  const Graph original = parsed(text);
  const auto differs = [&](auto change) {
    Graph copy = original;
    change(copy);
    return !same(copy, original);
  };
  EXPECT_TRUE(differs([](Graph& g) { g.inputs[0].differentiable = false; }));
  EXPECT_TRUE(differs([](Graph& g) { g.inputs[1].kind = InputKind::Buffer; }));
  EXPECT_TRUE(differs([](Graph& g) { g.inputs[2].default_value = Literal{1e-5}; }));
  EXPECT_TRUE(differs([](Graph& g) { g.outputs[0].updates = "w"; }));
  EXPECT_TRUE(differs([](Graph& g) { std::swap(g.outputs[0].dims[0], g.outputs[0].dims[1]); }));
  EXPECT_TRUE(differs([](Graph& g) { g.symbols[0].hint = 3; }));
  EXPECT_TRUE(differs([](Graph& g) { g.type_parameters[0].default_dtype = DType::F16; }));
  EXPECT_TRUE(differs([](Graph& g) { g.axes[0].name = "other"; }));
  EXPECT_TRUE(differs([](Graph& g) { g.names.begin()->second = "other"; }));
  EXPECT_TRUE(differs([](Graph& g) {
    g.constraints.push_back({SizeConstraint::Kind::Divisible, Size::symbol(0), Size(2)});
  }));
}

}  // namespace
}  // namespace kw::ir
