// Where shapes, types and values come from, and in which order.
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "ir/text/print.h"
#include "python_source.h"
#include "understand/python/assumptions.h"

namespace kw::understand {
namespace {

bool assumed(const ReadResult& read, const std::string& what, const std::string& value) {
  return std::any_of(read.assumptions.begin(), read.assumptions.end(),
                     [&](const Assumption& a) { return a.what == what && a.value == value; });
}

TEST(PythonInterface, VariablesOfGetInputsNameTheSizes) {
  EXPECT_EQ(header(source("rows, cols = 64, 32\ndef f(x, w):\n    return x * w\ndef get_inputs():\n"
                          "    return [torch.randn(rows, cols, dtype=torch.bfloat16), torch.randn(cols)]\n")),
            "op f(x: T[rows, cols], w: W[cols2 = cols])");
}

TEST(PythonInterface, ASizeNamedLikeATypeIsWrittenSmall) {
  EXPECT_EQ(header(source("H, W = 64, 32\ndef f(x):\n    return x * 2\ndef get_inputs():\n"
                          "    return [torch.randn(H, W)]\n")),
            "op f(x: T[H, w])");
}

TEST(PythonInterface, EqualNumbersAloneAreNotTheSameSize) {
  const auto read = read_python(
      source("n = 8\nm = 8\ndef f(x):\n    return x * 2\ndef get_inputs():\n    return [torch.randn(n, m, 8)]\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(read->graph.symbols.size(), 3u);
}

TEST(PythonInterface, TheSameNameWithAnotherNumberIsAnotherSize) {
  const auto read = read_python(source(
      "features = 6\nclass M(nn.Module):\n    def __init__(self, features):\n        super().__init__()\n"
      "        self.w = nn.Parameter(torch.ones(features, 6))\n    def forward(self, x):\n        return x @ self.w.T\n"
      "def get_inputs():\n    return [torch.rand(3, features)]\ndef get_init_inputs():\n    return [4]\n"));
  ASSERT_TRUE(read) << render(read.error());
  const ir::Graph& graph = read->graph;
  EXPECT_EQ(graph.hinted(graph.axis(graph.inputs[1].dims[0]).size), 4);
  EXPECT_EQ(graph.hinted(graph.axis(graph.inputs[0].dims[1]).size), 6);
}

TEST(PythonInterface, ASizeMadeFromOthersKeepsItsFormula) {
  EXPECT_EQ(header(source("half = 8\nwhole = 2 * half\ndef f(x):\n    return x[:, :1] + 1\ndef get_inputs():\n"
                          "    return [torch.randn(whole, half)]\n")),
            "op f(x: T[x_0 = 2*half, half])");
}

TEST(PythonInterface, OptionsComeBeforeGetInputs) {
  ReadRequest request = source(
      "rows, cols = 64, 32\ndef f(x):\n    return x * 2\ndef get_inputs():\n    return [torch.randn(rows, cols)]\n");
  request.shapes = {{"x", "batch,seq:128,7"}};
  request.dtypes = {{"x", "f16"}};
  const auto read = read_python(request);
  ASSERT_TRUE(read) << render(read.error());
  ASSERT_EQ(read->graph.symbols.size(), 3u);
  EXPECT_EQ(read->graph.symbols[0].name, "batch");
  EXPECT_EQ(read->graph.symbols[1].hint, 128);
  EXPECT_EQ(read->graph.symbols[2].hint, 7);
  EXPECT_EQ(read->graph.type_parameters[0].default_dtype, ir::DType::F16);
}

const char* const kLinearOfNorm =
    "class M(nn.Module):\n    def __init__(self, n=8):\n        super().__init__()\n"
    "        self.scale = nn.Parameter(torch.ones(n))\n        self.norm = nn.LayerNorm(n)\n"
    "        self.register_buffer('shift', torch.zeros(n))\n"
    "    def forward(self, x):\n        return self.norm(x * self.scale) + self.shift\n";

TEST(PythonInterface, AParameterHasTheTypeThatAnOptionGivesIt) {
  ReadRequest request = source(kLinearOfNorm);
  request.dtypes = {{"W", "bf16"}, {"T", "bf16"}, {"norm.weight", "f32"}, {"norm.bias", "f32"}, {"shift", "f16"}};
  const auto read = read_python(request);
  ASSERT_TRUE(read) << render(read.error());
  std::map<std::string, std::string> types;
  for (const ir::Input& input : read->graph.inputs) types[input.name] = ir::text::type_text(read->graph, input.type);
  EXPECT_EQ(types["norm.weight"], "f32");
  EXPECT_EQ(types["norm.bias"], "f32");
  EXPECT_EQ(types["shift"], "f16");
  EXPECT_EQ(types["scale"], "W");
}

TEST(PythonInterface, AnOptionForAParameterThatIsNotThereIsRefused) {
  ReadRequest request = source(kLinearOfNorm);
  request.dtypes = {{"norm.scale", "f32"}};
  const auto read = read_python(request);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "--dtype norm.scale=f32 names nothing that is read");
}

TEST(PythonInterface, ATypeThatIsNoneIsRefusedForAParameterToo) {
  ReadRequest request = source(kLinearOfNorm);
  request.dtypes = {{"norm.weight", "wide"}};
  const auto read = read_python(request);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "--dtype norm.weight=wide: there is no such type");
}

TEST(PythonInterface, AnnotationsGiveShapesAndTypes) {
  EXPECT_EQ(header(source("def f(x: Float[Tensor, 'batch dim'], i: torch.LongTensor, flag: bool = True):\n"
                          "    return x.sum() * i if flag else x\n")),
            "op f(x: T[batch, dim], i: i64[rows, cols])");
}

TEST(PythonInterface, WhatTheRulesSupplyIsRecorded) {
  const auto read = read_python(source("def f(hidden_states, weight):\n    return hidden_states * weight\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_TRUE(assumed(*read, "shape of hidden_states", "[batch, seq, hidden]"));
  EXPECT_TRUE(assumed(*read, "type of hidden_states", "f32"));
}

TEST(PythonInterface, ASuppliedSizeGivesWayToTheOneItMeets) {
  const auto read =
      read_python(source("class Norm(nn.Module):\n    def __init__(self, hidden_size):\n        super().__init__()\n   "
                         "     self.w = nn.Parameter(torch.ones(hidden_size))\n"
                         "    def forward(self, hidden_states):\n        return hidden_states * self.w\n"));
  ASSERT_TRUE(read) << render(read.error());
  for (const ir::Symbol& symbol : read->graph.symbols) EXPECT_NE(symbol.name, "hidden");
}

TEST(PythonInterface, TheNextRowIsTriedWhereAShapeDoesNotFit) {
  const auto read = read_python(source("def f(x):\n    n, c, h, w = x.shape\n    return x.sum((2, 3))\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(read->graph.inputs[0].dims.size(), 4u);
}

std::string shape(const ir::Graph& graph, const std::string& input) {
  const ir::Input* found = graph.find_input(input);
  std::string text;
  for (const ir::AxisId axis : found->dims) {
    if (!text.empty()) text += ", ";
    text += axis == ir::kUnit ? "1" : graph.size_text(graph.axis(axis).size);
  }
  return text;
}

TEST(PythonInterface, TheRowsOfSeveralTensorsAreCombined) {
  const auto read = read_python(source(
      "def f(q, k, cos, sin):\n    cos, sin = cos.unsqueeze(2), sin.unsqueeze(2)\n    return q * cos, k * sin\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(shape(read->graph, "q"), "batch, seq, heads, head_dim");
  EXPECT_EQ(shape(read->graph, "cos"), "batch, seq, head_dim");
}

TEST(PythonInterface, TheRowsForAnyNameAreTriedLast) {
  const auto read = read_python(source("def f(q, k):\n    return (q @ k.t()).sum(1)\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(shape(read->graph, "k"), "rows, cols");
}

TEST(PythonInterface, TwoSuppliedSizesAreNotOneBecauseOfTheirNumber) {
  const auto read = read_python(source("def f(x, targets):\n    return x * targets\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(shape(read->graph, "targets"), "rows, cols");  // and not tokens, though both are 4096
}

TEST(PythonInterface, ExamplesAreNotCountedByAParameter) {
  const auto read =
      read_python(source("class ChannelNorm(nn.Module):\n    def __init__(self, dim):\n        super().__init__()\n"
                         "        self.weight = nn.Parameter(torch.ones(dim))\n    def forward(self, x):\n"
                         "        x = x - x.mean(1, keepdim=True)\n        return self.weight[:, None, None] * x\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(shape(read->graph, "x"), "batch, dim, height, width");
}

TEST(PythonInterface, AnOutputHasTheExamplesOnce) {
  const auto read = read_python(
      source("def modulate(x, shift, scale):\n    return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1)\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(shape(read->graph, "x"), "batch, seq, hidden");
  EXPECT_EQ(shape(read->graph, "shift"), "batch, hidden");
}

TEST(PythonInterface, WhatOnlyAnImplausibleShapeReadsIsReadWithIt) {
  const auto read = read_python(source("def f(x):\n    return x.unsqueeze(1) * x.unsqueeze(0)\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(shape(read->graph, "x"), "cols");  // the one row with which no output has the examples twice
  const auto pairs = read_python(source("def f(a, b):\n    n, d = a.shape\n    return a @ b.t()\n"));
  ASSERT_TRUE(pairs) << render(pairs.error());
  EXPECT_EQ(shape(pairs->graph, "a"), "rows, cols");
}

TEST(PythonInterface, AnErrorOfShapesNamesTheAssumedOnes) {
  const std::string text = failure(source("def f(x, y):\n    a, b, c, d, e = x.shape\n    return x * y\n"));
  EXPECT_NE(text.find("assumed was x [rows, cols]"), std::string::npos) << text;
  EXPECT_NE(text.find("--shape"), std::string::npos) << text;
}

TEST(PythonInterface, AnOptionThatNamesNothingIsRefusedWithTheArguments) {
  ReadRequest request = source("def f(x, weight):\n    return x * weight\n");
  request.shapes = {{"wieght", "cols"}};
  EXPECT_NE(failure(request).find("did you mean weight?"), std::string::npos) << failure(request);
  request.shapes.clear();
  request.dtypes = {{"Tensor", "bf16"}};  // not a type parameter, though it begins like one
  EXPECT_NE(failure(request).find("--dtype Tensor=bf16 names nothing"), std::string::npos) << failure(request);
}

TEST(PythonInterface, ASizeThatMustBeANumberIsFixedAndSaidSo) {
  const auto read = read_python(source(
      "batch, dim, steps = 4, 6, 3\nclass M(nn.Module):\n    def __init__(self, steps):\n        super().__init__()\n"
      "        self.steps = steps\n    def forward(self, x):\n        for _ in range(self.steps):\n            x = x * "
      "2\n"
      "        return x\ndef get_inputs():\n    return [torch.rand(batch, dim)]\ndef get_init_inputs():\n    return "
      "[steps]\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_TRUE(assumed(*read, "size steps", "3"));
  EXPECT_EQ(read->graph.symbols.size(), 2u);
}

TEST(PythonInterface, ASizeThatNoInputTellsIsANumber) {
  const auto read = read_python(
      source("rows, cols, groups = 4, 8, 2\ndef f(x, g: int):\n    return x.view(rows, g, cols // g).sum(-1)\n"
             "def get_inputs():\n    return [torch.rand(rows, cols), groups]\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_TRUE(assumed(*read, "size groups", "2"));
}

TEST(PythonInterface, AnOptionalTensorIsAbsentUnlessItIsGiven) {
  ReadRequest request =
      source("def f(x, bias: torch.Tensor | None = None):\n    return x if bias is None else x + bias\n");
  EXPECT_EQ(header(request), "op f(x: T[rows, cols])");
  request.present = {"bias"};
  EXPECT_EQ(header(request), "op f(x: T[rows, cols], bias: W[cols2 = cols])");
  request.present.clear();
  request.shapes = {{"bias", "rows,cols"}};
  EXPECT_NE(header(request).find("bias: W["), std::string::npos);
}

TEST(PythonInterface, InitOptionsAreReadAsPython) {
  ReadRequest request = source(
      "class M(nn.Module):\n    def __init__(self, k, act, shape):\n        super().__init__()\n        self.k, "
      "self.act = k, act\n"
      "        self.n = len(shape)\n    def forward(self, x):\n        return self.act(x) * self.k * self.n\n");
  request.init = {{"k", "0.25"}, {"act", "torch.exp"}, {"shape", "(1, 2, 3)"}};
  EXPECT_EQ(body(request), "y = exp(x) * k * 3\nreturn y\n");
}

TEST(PythonInterface, AnOptionThatNamesNothingIsRefused) {
  ReadRequest request = source("def f(x):\n    return x * 2\n");
  request.shapes = {{"z", "rows"}};
  EXPECT_NE(failure(request).find("--shape z=rows names nothing that is read"), std::string::npos);
}

TEST(PythonInterface, AConfigurationsOwnDefaultsAreRead) {
  const auto read =
      read_python(source("class MyConfig(PretrainedConfig):\n    attribute_map = {'hidden_size': 'd_model'}\n    "
                         "d_model: int = 96\n    eps: float = 1e-5\n    act: str = 'relu'\n"
                         "class M(nn.Module):\n    def __init__(self, config: MyConfig):\n        super().__init__()\n "
                         "       self.w = nn.Parameter(torch.ones(config.hidden_size))\n"
                         "        self.eps = config.eps\n        self.more = getattr(config, 'absent', 2)\n    def "
                         "forward(self, x):\n        return x * self.w + self.eps * self.more\n",
                         "M"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_TRUE(assumed(*read, "config.hidden_size", "96"));
  ASSERT_EQ(read->graph.inputs.size(), 3u);
  EXPECT_EQ(read->graph.inputs[2].name, "eps");
}

TEST(PythonInterface, AFieldThatAConfigurationComputesIsAskedFor) {
  ReadRequest request = source(
      "class MyConfig:\n    def __init__(self, size=8, heads=2):\n        self.size = size\n        self.dim = size // "
      "heads\n"
      "class M(nn.Module):\n    def __init__(self, config: MyConfig):\n        super().__init__()\n        self.w = "
      "nn.Parameter(torch.ones(config.dim))\n"
      "    def forward(self, x):\n        return x * self.w\n",
      "M");
  EXPECT_NE(failure(request).find("--init config.dim=VALUE"), std::string::npos) << failure(request);
  request.init = {{"config.dim", "16"}};
  EXPECT_TRUE(read_python(request)) << failure(request);
}

class PythonPackage : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(write_file_atomically(folder_.path() + "/" + path, text));
  }
  ReadRequest request(const std::string& path, const std::string& name) {
    ReadRequest result;
    result.path = folder_.path() + "/" + path;
    result.name = name;
    return result;
  }
  TemporaryDirectory folder_ = *TemporaryDirectory::make();
};

TEST_F(PythonPackage, NamesFromOtherFilesOfThePackageAreFollowed) {
  write("pkg/__init__.py", "");
  write("pkg/acts.py",
        "import torch\nSCALE = 3\ndef act(x):\n    return torch.tanh(x) * SCALE\nTABLE = {'act': act}\n");
  write("pkg/models/__init__.py", "from ..acts import act as exported\n");
  write("pkg/models/net.py",
        "from ..acts import TABLE\nfrom . import exported\nimport pkg.acts as acts\nfrom pkg.acts import SCALE as s\n"
        "def f(x):\n    return TABLE['act'](x) + exported(x) + acts.act(x) * s\n");
  EXPECT_EQ(body(request("pkg/models/net.py", "f")), "_1 = tanh(x) * 3\ny = _1 + _1 + _1 * 3\nreturn y\n");
}

TEST_F(PythonPackage, AFileThatIsNotNeededIsNotRead) {
  write("pkg/__init__.py", "");
  write("pkg/broken.py", "def (:\n");
  write("pkg/net.py", "from .broken import thing\ndef f(x):\n    return x * 2\n");
  EXPECT_EQ(body(request("pkg/net.py", "f")), "y = x * 2\nreturn y\n");
}

TEST_F(PythonPackage, ASyntaxErrorInAnotherFileIsShownThere) {
  write("helper.py", "def g(x):\n    return x +\n");
  write("net.py", "from helper import g\ndef f(x):\n    return g(x)\n");
  const std::string text = failure(request("net.py", "f"));
  EXPECT_NE(text.find("helper.py:2:"), std::string::npos) << text;
  EXPECT_NE(text.find("syntax error"), std::string::npos) << text;
}

TEST(PythonRules, ThePublishedDocumentHasTheFormThatItDescribes) {
  const python::Rules& rules = python::published_rules();
  EXPECT_EQ(rules.shapes_of("hidden_states", "LlamaRMSNorm")[0]->shape,
            (std::vector<std::string>{"batch", "seq", "hidden"}));
  EXPECT_EQ(rules.value_of("kernel_size", "Conv")->value, "3");
  EXPECT_EQ(rules.hint_of("batch"), 4);
  EXPECT_EQ(rules.decorator("torch.no_grad")->value, "no gradient");
  EXPECT_EQ(rules.decorator("my_decorator"), nullptr);
}

TEST(PythonRules, ARowForAnyNameServesOnlyNamesThatNoOtherRowKnows) {
  for (const python::ShapeRule* rule : python::published_rules().shapes_of("cos", "f")) EXPECT_NE(rule->names[0], "*");
  EXPECT_EQ(python::published_rules().shapes_of("whatever", "f")[0]->names[0], "*");
}

TEST(PythonRules, ADocumentWithABrokenTableIsRefused) {
  EXPECT_FALSE(python::parse_rules("# nothing\n"));
  EXPECT_FALSE(python::parse_rules("## Shapes\n\n| names | in |\n| --- | --- |\n| `x` | any |\n"));
}

TEST(PythonRules, AStarStandsForAnyCharacters) {
  EXPECT_TRUE(python::matches("*Norm*", "LlamaRMSNormGated"));
  EXPECT_TRUE(python::matches("rotate*", "rotate_half"));
  EXPECT_FALSE(python::matches("rotate*", "apply_rotate"));
  EXPECT_TRUE(python::matches("a*b*c", "aXbYbc"));
  EXPECT_FALSE(python::matches("a", "ab"));
}

}  // namespace
}  // namespace kw::understand
