// Decisions rest on the math: other names, another order of statements and another spelling of the same math change no
// decision but the names.
#include <gtest/gtest.h>

#include <map>

#include "base/text.h"
#include "decided.h"

namespace kw::understand {
namespace {

const std::string kNorm = R"(
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, hidden: int, eps: float = 1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))
        self.eps = eps

    def forward(self, x):
        dtype = x.dtype
        h = x.to(torch.float32)
        ms = h.pow(2).mean(-1, keepdim=True)
        rstd = torch.rsqrt(ms + self.eps)
        return self.weight * (h * rstd).to(dtype)


def get_inputs():
    return [torch.randn(64, 512, dtype=torch.bfloat16)]


def get_init_inputs():
    return [512]
)";

// Everything that a decision says, with the names that the source chose replaced by where they stand in the interface.
std::map<std::string, std::string> neutral(const profile::Profile& p) {
  std::vector<std::pair<std::string, std::string>> names;
  for (std::size_t i = 0; i < p.interface.inputs.size(); ++i)
    names.emplace_back(p.interface.inputs[i].name, "input" + std::to_string(i));
  for (std::size_t i = 0; i < p.interface.sizes.size(); ++i)
    names.emplace_back(p.interface.sizes[i].first, "size" + std::to_string(i));
  for (std::size_t i = 0; i < p.interface.types.size(); ++i)
    names.emplace_back(p.interface.types[i].first, "Type" + std::to_string(i));
  for (std::size_t i = 0; i < p.math.saved.size(); ++i)
    if (p.math.saved[i].kind == "value") names.emplace_back(p.math.saved[i].name, "saved" + std::to_string(i));
  const auto replaced = [&](const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
      std::string word = text.substr(i, end - i);
      if (word.empty()) {
        out += text[i++];
        continue;
      }
      for (const auto& [name, place] : names)
        if (word == name) word = place;
      out += word;
      i = end;
    }
    return out;
  };
  std::map<std::string, std::string> decisions;
  for (const profile::Decision& d : p.decisions) {
    if (d.id.starts_with("name.")) continue;
    // Values that are described by the source's own names for intermediate values are names too.
    const bool named = d.id == "reassociate" || d.id == "recomputed";
    decisions[replaced(d.id)] = named ? std::to_string(split(d.value, ',').size()) : replaced(d.value);
  }
  return decisions;
}

void expect_same_decisions(const std::string& source, const std::string& other) {
  const std::map<std::string, std::string> a = neutral(decided_torch(source));
  const std::map<std::string, std::string> b = neutral(decided_torch(other));
  ASSERT_GT(a.size(), 20u);
  for (const auto& [id, text] : a) {
    const auto found = b.find(id);
    ASSERT_NE(found, b.end()) << id << " is decided no more";
    EXPECT_EQ(found->second, text) << id;
  }
  EXPECT_EQ(a.size(), b.size());
}

std::string with(std::string text, std::vector<std::pair<std::string, std::string>> replacements) {
  for (const auto& [from, to] : replacements) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    text = replace_all(text, from, to);
  }
  return text;
}

TEST(Invariance, OtherNamesChangeNoDecision) {
  expect_same_decisions(kNorm, with(kNorm, {{"RMSNorm", "Silu"},
                                            {"self.weight", "self.cross_entropy"},
                                            {"eps", "softmax"},
                                            {"rstd", "pooled"},
                                            {"ms ", "gelu "},
                                            {"dtype = x.dtype", "loss = x.dtype"},
                                            {".to(dtype)", ".to(loss)"},
                                            {"hidden", "vocab"}}));
}

TEST(Invariance, AnotherOrderOfStatementsChangesNoDecision) {
  expect_same_decisions(
      kNorm, with(kNorm, {{"        dtype = x.dtype\n        h = x.to(torch.float32)\n",
                           "        h = x.to(torch.float32)\n        dtype = x.dtype\n"},
                          {"return self.weight * (h * rstd).to(dtype)", "return (rstd * h).to(dtype) * self.weight"}}));
}

TEST(Invariance, AnotherSpellingOfASquareChangesNoDecision) {
  for (const char* square : {"(h * h)", "(h ** 2)", "torch.square(h)", "torch.pow(h, 2)", "h.square()"})
    expect_same_decisions(kNorm, with(kNorm, {{"h.pow(2)", square}}));
}

TEST(Invariance, AnotherSpellingOfACastChangesNoDecision) {
  for (const char* cast : {"x.float()", "x.type(torch.float32)", "x.to(dtype=torch.float32)"})
    expect_same_decisions(kNorm, with(kNorm, {{"x.to(torch.float32)", cast}}));
  expect_same_decisions(kNorm, with(kNorm, {{"(h * rstd).to(dtype)", "(h * rstd).type_as(x)"}}));
}

TEST(Invariance, AHelperFunctionChangesNoDecision) {
  expect_same_decisions(
      kNorm, with(kNorm, {{"class RMSNorm", "def inverse(v, e):\n    return torch.rsqrt(v + e)\n\n\nclass RMSNorm"},
                          {"torch.rsqrt(ms + self.eps)", "inverse(ms, self.eps)"}}));
}

TEST(Invariance, AFunctionAndAModuleDifferInNothingButTheParameter) {
  const std::string function = R"(
import torch


def rms_norm(x, w, eps: float = 1e-6):
    h = x.float()
    return w * (h * torch.rsqrt((h * h).mean(-1, keepdim=True) + eps)).to(x.dtype)


def get_inputs():
    return [torch.randn(64, 512, dtype=torch.bfloat16), torch.ones(512)]
)";
  const profile::Profile module = decided_torch(kNorm);
  const profile::Profile plain = decided_torch(function);
  for (const char* id :
       {"tier", "closest", "casting", "wider", "accumulate", "fp32", "plan.forward", "plan.backward", "deterministic"})
    EXPECT_EQ(value(module, id), value(plain, id)) << id;
}

}  // namespace
}  // namespace kw::understand
