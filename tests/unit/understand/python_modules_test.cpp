// nn.Module classes: construction, inheritance, parameters, buffers, containers.
#include "python_source.h"

namespace kw::understand {
namespace {

std::vector<std::string> input_names(const ReadRequest& request) {
  const auto read = read_python(request);
  if (!read) return {render(read.error())};
  std::vector<std::string> names;
  for (const ir::Input& input : read->graph.inputs) names.push_back(input.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(PythonModules, ParametersAreNamedAsInTheStateDict) {
  const ReadRequest request = source(
      "class Block(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n        self.inner = "
      "nn.Linear(dim, dim)\n"
      "        self.scale = nn.Parameter(torch.ones(dim))\n    def forward(self, t):\n        return self.inner(t) * "
      "self.scale\n"
      "class Net(nn.Module):\n    def __init__(self, dim):\n        super(Net, self).__init__()\n        block = "
      "Block(dim)\n"
      "        self.blocks = nn.ModuleList([block, Block(dim)])\n        self.head = nn.Sequential(nn.ReLU(), "
      "nn.Linear(dim, dim, bias=False))\n"
      "    def forward(self, x):\n        for block in self.blocks:\n            x = block(x)\n        return "
      "self.head(x)\n",
      "Net");
  EXPECT_EQ(input_names(request),
            (Names{"x", "blocks.0.scale", "blocks.0.inner.weight", "blocks.0.inner.bias", "blocks.1.scale",
                   "blocks.1.inner.weight", "blocks.1.inner.bias", "head.1.weight"}));
}

TEST(PythonModules, BuffersAreInputsAndUnusedOnesAreNot) {
  const ReadRequest request = source(
      "class M(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
      "        self.register_buffer('table', torch.arange(dim).float())\n        self.register_buffer('spare', "
      "torch.zeros(3))\n"
      "    def forward(self, x):\n        return x + self.table\n");
  const auto read = read_python(request);
  ASSERT_TRUE(read) << render(read.error());
  ASSERT_EQ(read->graph.inputs.size(), 2u);
  EXPECT_EQ(read->graph.inputs[1].kind, ir::InputKind::Buffer);
  EXPECT_FALSE(read->graph.inputs[1].differentiable);
}

TEST(PythonModules, AParameterRemembersItsInitialValue) {
  const auto read =
      read_python(source("class M(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
                         "        self.w = nn.Parameter(torch.ones(dim) * 0.5, requires_grad=False)\n    def "
                         "forward(self, x):\n        return x * self.w\n"));
  ASSERT_TRUE(read) << render(read.error());
  ASSERT_EQ(read->parameters.size(), 1u);
  EXPECT_EQ(read->parameters[0].name, "w");
  EXPECT_EQ(read->parameters[0].init, "nn.Parameter(torch.ones(dim) * 0.5, requires_grad=False)");
  EXPECT_FALSE(read->graph.inputs[1].differentiable);
}

TEST(PythonModules, InitialisersInTheConstructorChangeNothing) {
  EXPECT_EQ(
      body_of(
          "class M(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
          "        self.w = nn.Parameter(torch.empty(dim))\n        nn.init.normal_(self.w, std=0.02)\n"
          "        self.reset()\n    def reset(self):\n        with torch.no_grad():\n            self.w.fill_(1.0)\n"
          "            self.w.data.uniform_(-1, 1)\n    def forward(self, x):\n        return x.sum() * self.w\n"),
      "y = W(sum(x, rows, cols)) * w\nreturn y\n");
}

TEST(PythonModules, MethodsPropertiesAndStaticMethodsAreFound) {
  EXPECT_EQ(
      body_of(
          "class M(nn.Module):\n    factor = 3\n    @property\n    def twice(self):\n        return self.factor * 2\n"
          "    @staticmethod\n    def plus(t, k):\n        return t + k\n    @classmethod\n    def of(cls):\n        "
          "return cls.factor\n"
          "    def forward(self, x):\n        return self.plus(x, self.twice) * self.of()\n"),
      "y = (x + 6) * 3\nreturn y\n");
}

TEST(PythonModules, InheritanceFollowsPythonsOrder) {
  EXPECT_EQ(body(source("class A(nn.Module):\n    def part(self, x):\n        return x + 1\n    def forward(self, "
                        "x):\n        return self.part(x) * 2\n"
                        "class B(A):\n    def part(self, x):\n        return super().part(x) + 10\n"
                        "class C(A):\n    def part(self, x):\n        return super().part(x) + 100\n"
                        "class D(B, C):\n    pass\n",
                        "D")),
            "y = (x + 1 + 100 + 10) * 2\nreturn y\n");
}

TEST(PythonModules, AClassThatInheritsFromALayerUsesTheLayer) {
  const std::string text = body(source(
      "class Wide(nn.LayerNorm):\n    def forward(self, x):\n        return super().forward(x.float()).type_as(x)\n"
      "class M(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
      "        self.norm = Wide(dim, eps=1e-5)\n    def forward(self, x):\n        return self.norm(x)\n",
      "M"));
  EXPECT_NE(text.find("f32(x)"), std::string::npos) << text;
  EXPECT_NE(text.find("norm.weight"), std::string::npos) << text;
}

TEST(PythonModules, AModuleIsReadInTrainingModeUnlessAskedOtherwise) {
  ReadRequest request =
      source("class M(nn.Module):\n    def forward(self, x):\n        return x * 2 if self.training else x * 3\n");
  EXPECT_EQ(body(request), "y = x * 2\nreturn y\n");
  request.training = false;
  EXPECT_EQ(body(request), "y = x * 3\nreturn y\n");
}

TEST(PythonModules, ABufferThatForwardChangesIsAnOutput) {
  const auto read =
      read_python(source("class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        "
                         "self.register_buffer('count', torch.zeros(()))\n"
                         "    def forward(self, x):\n        self.count += 1\n        return x * self.count\n"));
  ASSERT_TRUE(read) << render(read.error());
  ASSERT_EQ(read->graph.outputs.size(), 2u);
  EXPECT_EQ(read->graph.outputs[1].updates, "count");
}

TEST(PythonModules, RunningStatisticsAreOutputsInTrainingMode) {
  ReadRequest request = source(
      "class M(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
      "        self.norm = nn.BatchNorm1d(n)\n    def forward(self, x):\n        return self.norm(x)\n");
  const auto training = read_python(request);
  ASSERT_TRUE(training) << render(training.error());
  std::vector<std::string> updates;
  for (const ir::Output& output : training->graph.outputs) {
    if (output.updates) updates.push_back(*output.updates);
  }
  EXPECT_NE(std::find(updates.begin(), updates.end(), "norm.running_mean"), updates.end());
  EXPECT_NE(std::find(updates.begin(), updates.end(), "norm.running_var"), updates.end());
  request.training = false;
  const auto evaluation = read_python(request);
  ASSERT_TRUE(evaluation) << render(evaluation.error());
  EXPECT_EQ(evaluation->graph.outputs.size(), 1u);
}

TEST(PythonModules, FloatsOfTheConstructorAreScalarsOfTheGraph) {
  EXPECT_EQ(header(source("class M(nn.Module):\n    def __init__(self, alpha: float = 0.5, power: int = 3):\n        "
                          "super().__init__()\n"
                          "        self.a = alpha * 2\n        self.power = power\n    def forward(self, x):\n        "
                          "return x ** self.power * self.a\n")),
            "op M(x: T[rows, cols]; alpha = 0.5)");
}

TEST(PythonModules, AScalarThatDecidesABranchBecomesANumber) {
  const ReadRequest request = source(
      "class M(nn.Module):\n    def __init__(self, p: float = 0.5):\n        super().__init__()\n        self.p = p\n"
      "    def forward(self, x):\n        return x * self.p if self.p > 0 else x\n");
  EXPECT_EQ(body(request), "y = x * 0.5\nreturn y\n");
  const auto read = read_python(request);
  const auto& assumed = read->assumptions;
  EXPECT_TRUE(std::any_of(assumed.begin(), assumed.end(), [](const Assumption& a) { return a.what == "scalar p"; }));
}

TEST(PythonModules, ADictOfClassesGivesTheClass) {
  EXPECT_EQ(body_of("ACTS = {'relu': nn.ReLU, 'double': lambda: (lambda t: t * 2)}\nclass M(nn.Module):\n    def "
                    "__init__(self, act='double'):\n"
                    "        super().__init__()\n        self.act = ACTS[act]()\n    def forward(self, x):\n        "
                    "return self.act(x)\n"),
            "y = x * 2\nreturn y\n");
}

TEST(PythonModules, APartialFunctionKeepsItsArguments) {
  EXPECT_EQ(body_of("import functools\ndef _g(t, k, j=0):\n    return t * k + j\nclass M(nn.Module):\n    def "
                    "__init__(self):\n        super().__init__()\n"
                    "        self.act = functools.partial(_g, k=3)\n    def forward(self, x):\n        return "
                    "self.act(x, j=1)\n"),
            "y = x * 3 + 1\nreturn y\n");
}

TEST(PythonModules, AMethodOfAModuleIsReadByItsName) {
  EXPECT_EQ(body(source("class M(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n        self.w "
                        "= nn.Parameter(torch.ones(dim))\n"
                        "    def scaled(self, x):\n        return x * self.w\n    @staticmethod\n    def plain(x):\n   "
                        "     return x + 1\n"
                        "    def forward(self, x):\n        return x\n",
                        "M.plain")),
            "y = x + 1\nreturn y\n");
}

}  // namespace
}  // namespace kw::understand
