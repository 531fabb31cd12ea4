// Which inputs of an op have a gradient: those that one reaches in PyTorch.
#include <gtest/gtest.h>

#include "decided.h"

namespace kw::understand {
namespace {

TEST(Gradients, AreOfInputsThatOneReaches) {
  const profile::Profile profile = decided_torch(R"(
import torch

def distill(student, teacher, unused):
    return (student - teacher.detach()).pow(2)
)");
  std::map<std::string, bool> gradients;
  for (const profile::InputField& input : profile.interface.inputs) gradients[input.name] = input.gradient;
  EXPECT_EQ(gradients, (std::map<std::string, bool>{{"student", true}, {"teacher", false}, {"unused", false}}));
  EXPECT_EQ(profile.math.backward.find("grad_teacher"), std::string::npos) << profile.math.backward;
}

TEST(Gradients, AreZeroWhereAFunctionIsFlat) {
  const profile::Profile profile = decided_torch(R"(
import torch

def steps(x, y):
    return torch.floor(x) * y
)");
  for (const profile::InputField& input : profile.interface.inputs) EXPECT_TRUE(input.gradient) << input.name;
}

}  // namespace
}  // namespace kw::understand
