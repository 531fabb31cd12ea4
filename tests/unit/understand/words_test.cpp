#include "understand/words/words.h"

#include <gtest/gtest.h>

#include <set>

#include "understand/words/lexicon.h"

namespace kw::understand {
namespace {

// The one meaning of a phrase; "?" and the choices' names if it has several; "!" and the reason if it is refused.
std::string meaning(std::string_view phrase) {
  Result<WordsAnswer> answer = read_words(phrase);
  if (!answer) return "!" + answer.error().message;
  if (answer->readings.size() == 1) return answer->readings[0].meaning;
  std::string out = "?";
  for (const WordsReading& r : answer->readings) out += " " + r.name;
  return out;
}

TEST(Words, NamesAndTheirModifiersAreUnderstood) {
  EXPECT_EQ(meaning("ReLU squared activation function"), "torch.square(F.relu(x))");
  EXPECT_EQ(meaning("leaky relu with slope 0.2"), "F.leaky_relu(x, 0.2)");
  EXPECT_EQ(meaning("layer norm without bias"), "F.layer_norm(x, (x.shape[-1],), w, None, 1e-5)");
  EXPECT_EQ(meaning("soft cap the logits at 30"), "30 * torch.tanh(x / 30)");
  EXPECT_EQ(meaning("clip x between -1 and 1"), "torch.clamp(x, -1, 1)");
  EXPECT_EQ(meaning("mse between predictions and targets with sum reduction"), "torch.square(x - y).sum()");
  EXPECT_EQ(meaning("softmax with temperature 2 over the first dimension"), "F.softmax(x / 2, dim=0)");
}

TEST(Words, CastingIsPartOfTheMeaning) {
  EXPECT_NE(meaning("RMSNorm with offset 1 in Gemma casting").find("(w.float() + 1)).to(x.dtype)"), std::string::npos);
  EXPECT_NE(meaning("RMSNorm with weight").find(".to(x.dtype)"), std::string::npos);
}

TEST(Words, FormulasAndSentencesMix) {
  EXPECT_EQ(meaning("silu(x) * y"), "F.silu(x) * y");
  EXPECT_EQ(meaning("swish(x) times y"), "F.silu(x) * y");
  EXPECT_EQ(meaning("f(x) = tanh(x)²"), "torch.square(torch.tanh(x))");
  EXPECT_EQ(meaning("x minus its mean over the last axis"), "x - x.mean(-1, keepdim=True)");
  EXPECT_EQ(meaning("add y to x"), "x + y");
  EXPECT_EQ(meaning("subtract y from x"), "x - y");
}

TEST(Words, StagesFollowEachOtherAndBothCanBeReturned) {
  std::string both = meaning("add the residual, then RMSNorm with weight, return both");
  EXPECT_TRUE(both.starts_with("h1 = x + residual; ")) << both;
  EXPECT_TRUE(both.ends_with(", h1")) << both;
}

TEST(Words, WhatCouldMeanTwoThingsIsAnsweredWithTheChoices) {
  EXPECT_EQ(meaning("gelu"), "? gelu_erf gelu_tanh");
  EXPECT_EQ(meaning("cross entropy"),
            "? cross_entropy_indices cross_entropy_of_probabilities cross_entropy_probabilities");
  EXPECT_EQ(meaning("variance over the last axis"), "? var_biased var_unbiased");
  EXPECT_EQ(meaning("sum of x"), "? sum sum");
  EXPECT_EQ(meaning("gelu with the tanh approximation"), "F.gelu(x, approximate='tanh')");
}

TEST(Words, WhereWordsHaveNoPrecedenceBothWaysAreChoices) {
  EXPECT_EQ(meaning("silu of gate times up"), "F.silu(gate) * up");
  EXPECT_EQ(meaning("log of 1 plus exp of x"), "torch.log(1 + torch.exp(x))");
  for (const char* phrase : {"sigmoid of x plus y", "x minus y divided by z", "tanh of x squared", "x over y plus z",
                             "sum over rows", "RMSNorm", "layer norm", "max(x, -1)"})
    EXPECT_EQ(meaning(phrase)[0], '?') << phrase << " → " << meaning(phrase);
}

TEST(Words, EachLayerHasItsOwnWeights) {
  EXPECT_EQ(meaning("linear without bias, then relu, then linear without bias"),
            "h1 = F.linear(x, w, None); h2 = F.relu(h1); F.linear(h2, w2, None)");
}

TEST(Words, AnUnknownWordIsRefusedAndNeverSkipped) {
  for (const char* phrase : {"make it faster please",
                             "the gradient of relu",
                             "softmax over the moon",
                             "rms norm with purple weights",
                             "relu of",
                             "",
                             "gelu with slope 0.1",
                             "layer norm with slope 3",
                             "soft cap",
                             "(((((",
                             "x +",
                             "relu relu",
                             "sum(x, y, z)",
                             "softmax loss",
                             "bias + relu",
                             "mean and variance",
                             "dim-1 mean",
                             "softmax of a number",
                             "relu of 3",
                             "clamp",
                             "group norm",
                             "max over dim 9",
                             "x y z",
                             "1 + 2"})
    EXPECT_EQ(meaning(phrase)[0], '!') << phrase << " → " << meaning(phrase);
}

TEST(Words, ARefusalShowsThePlaceAndTheNearestNames) {
  Result<WordsAnswer> answer = read_words("sotfmax over the last axis");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().place->column, 1);
  EXPECT_NE(answer.error().hint.find("softmax"), std::string::npos);
}

TEST(Words, TheSourceIsAWholeFileWithInputs) {
  Result<WordsAnswer> answer = read_words("swiglu");
  ASSERT_TRUE(answer);
  const std::string& source = answer->readings[0].source;
  EXPECT_NE(source.find("def swiglu(x, y):\n    return F.silu(x) * y\n"), std::string::npos) << source;
  EXPECT_NE(source.find("def get_inputs():\n    return [torch.randn(rows, cols), torch.randn(rows, cols)]\n"),
            std::string::npos)
      << source;
}

TEST(Lexicon, HasAtLeastAHundredOpsAndNoNameTwice) {
  EXPECT_GE(lexicon().size(), 100u);
  std::set<std::string> names;
  for (const WordEntry& entry : lexicon()) {
    std::string_view rest = entry.aliases;
    while (!rest.empty()) {
      size_t bar = std::min(rest.find('|'), rest.size());
      EXPECT_TRUE(names.insert(std::string(rest.substr(0, bar))).second) << rest.substr(0, bar);
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
  }
}

TEST(Lexicon, EveryOptionAndChoiceNamesAnEntry) {
  for (const WordEntry& entry : lexicon()) {
    for (const std::string& choice : pieces(entry.choices, '|'))
      EXPECT_TRUE(find_entry(choice)) << entry.name << " → " << choice;
    for (const std::string& option : pieces(entry.options, '|')) {
      ASSERT_NE(option.find(':'), std::string::npos) << option;
      EXPECT_TRUE(find_entry(option.substr(option.find(':') + 1))) << entry.name << " → " << option;
    }
    EXPECT_EQ(entry.meaning.empty(), !entry.choices.empty()) << entry.name;
  }
}

}  // namespace
}  // namespace kw::understand
