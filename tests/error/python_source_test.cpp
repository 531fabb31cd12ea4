// What the reader of PyTorch source says about sources that it cannot use: the file, the line, the construct, and what
// to do.
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "ir/text/print.h"
#include "understand/python/read.h"

namespace kw::understand {
namespace {

constexpr const char* kImports = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n";

ReadRequest source(std::string text) {
  ReadRequest request;
  request.path = "op.py";
  request.text = kImports + std::move(text);
  return request;
}

std::string refusal(const ReadRequest& request) {
  const auto read = read_python(request);
  if (read) return "it was read:\n" + ir::text::print(read->graph);
  EXPECT_EQ(read.error().kind, ErrorKind::BadInput) << render(read.error());
  return render(read.error());
}

struct Row {
  const char* name;
  const char* text;
  const char* starts;    // what the message begins with
  const char* mentions;  // and what it says somewhere, often in its hint
};

std::ostream& operator<<(std::ostream& out, const Row& row) { return out << row.name; }

class BadSource : public testing::TestWithParam<Row> {};

TEST_P(BadSource, IsRefusedWithPlaceAndReason) {
  const Row row = GetParam();
  const std::string text = refusal(source(row.text));
  EXPECT_TRUE(text.starts_with(row.starts)) << text;
  EXPECT_NE(text.find(row.mentions), std::string::npos) << text;
}

constexpr Row kRows[] = {
    {"SyntaxError", "def f(x):\n    return x +\n", "op.py:5:15: error: syntax error: invalid syntax", "return x +"},
    {"UnclosedParenthesis", "def f(x):\n    return (x\n", "op.py:5:12: error: syntax error", "never closed"},
    {"BadIndentation", "def f(x):\nreturn x\n", "op.py:5:", "indent"},
    {"UnknownCall", "def f(x):\n    return torch.rsqr(x)\n", "op.py:5:12: error: unknown call torch.rsqr",
     "torch.rsqrt"},
    {"UnknownMethod", "def f(x):\n    return x.meen(-1)\n", "op.py:5:12: error", "mean"},
    {"UnknownFunctional", "def f(x):\n    return F.silou(x)\n",
     "op.py:5:12: error: unknown call torch.nn.functional.silou", "silu"},
    {"UnknownLayer",
     "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linnear(3, 4)\n"
     "    def forward(self, x):\n        return self.a(x)\n",
     "op.py:7:18: error: unknown call torch.nn.Linnear", ""},
    {"UnknownLibrary", "import einops\ndef f(x):\n    return einops.rearrange(x, 'a b -> b a')\n",
     "op.py:6:12: error: unknown call einops.rearrange", ""},
    {"UnknownArgument", "def f(x):\n    return torch.sum(x, dims=1)\n", "op.py:5:12: error", "dim"},
    {"UndefinedName", "def f(x):\n    scale = 2\n    return x * scal\n",
     "op.py:6:16: error: the name scal is not defined", "scale"},
    {"ShapesThatDoNotFit",
     "n, m = 3, 4\ndef f(x, y):\n    return x + y\ndef get_inputs():\n    return [torch.rand(n), torch.rand(m)]\n",
     "op.py:6:12: error", "do not"},
    {"BranchOnElements", "def f(x):\n    if (x > 0).all():\n        return x\n    return -x\n", "op.py:5:8: error",
     "torch.where"},
    {"LoopOnElements", "def f(x):\n    while x.sum() > 1:\n        x = x / 2\n    return x\n", "op.py:5:11: error",
     "elements of a tensor"},
    {"Recursion", "def f(x, n=100):\n    return x if n == 0 else f(x * 2, n - 1)\n",
     "op.py:5:29: error: recursion is not read", "loop"},
    {"EndlessLoop", "def f(x):\n    i = 0\n    while True:\n        i += 1\n    return x\n",
     "op.py:", "too long to be read"},
    {"HugeRange", "def f(x):\n    for i in range(10 ** 9):\n        x = x + 1\n    return x\n", "op.py:5:14: error",
     "too long"},
    {"ExponentialProgram",
     "def g(x, n):\n    for _ in range(20000):\n        for _ in range(20000):\n            n = n + 1\n    return x * "
     "n\ndef f(x):\n    return g(x, 1)\n",
     "op.py:", "too long to be read"},
    {"UnknownDecorator", "import magic\n@magic.speedup\ndef f(x):\n    return x\n",
     "op.py:5:2: error: the decorator magic.speedup is not known", ""},
    {"Generator", "def g(x):\n    yield x\ndef f(x):\n    return sum(g(x))\n",
     "op.py:5:5: error: this construct is not read: Yield", ""},
    {"Async", "async def f(x):\n    return x\n", "op.py: error: the file defines no function", ""},
    {"Match", "def f(x, k=1):\n    match k:\n        case 1:\n            return x\n",
     "op.py:5:5: error: this statement is not read: Match", ""},
    {"OpenFile", "def f(x):\n    with open('w') as h:\n        return x\n", "op.py:5:10: error", "open"},
    {"Autocast", "def f(x):\n    with torch.autocast('cuda'):\n        return x * 2\n",
     "op.py:5:10: error: automatic mixed precision", "enabled=False"},
    {"CustomAutograd",
     "class G(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x\ndef f(x):\n    "
     "return G.apply(x)\n",
     "op.py:9:12: error: a custom autograd function is not read", ""},
    {"OutArgument", "def f(x):\n    y = torch.zeros_like(x)\n    torch.exp(x, out=y)\n    return y\n",
     "op.py:6:5: error: out= is not read", ""},
    {"Item", "def f(x):\n    return x * x.max().item()\n", "op.py:5:16: error: Tensor.item()",
     "not known while reading"},
    {"RaisedException", "def f(x):\n    if x.dim() != 7:\n        raise ValueError('needs rank 7')\n    return x\n",
     "op.py:6:9: error: the program raises ValueError: needs rank 7", ""},
    {"FailedAssertion", "def f(x):\n    assert x.ndim == 9\n    return x\n",
     "op.py:5:12: error: the program raises AssertionError", ""},
    {"ReturnsNoTensor", "def f(x):\n    return 3\n", "op.py:4:1: error: the program returns an int", ""},
    {"ReturnsNothing", "def f(x):\n    y = x + 1\n", "op.py:4:1: error: f returns no tensor", ""},
    {"SeveralCandidates", "def f(x):\n    return x\ndef g(x):\n    return x\n",
     "op.py: error: the file has several candidates: f, g", "op.py:f"},
    {"NoCandidate", "x = 3\n", "op.py: error: the file defines no function and no nn.Module", ""},
    {"ConstructorWithoutValue",
     "class M(nn.Module):\n    def __init__(self, flavour):\n        super().__init__()\n    def forward(self, x):\n   "
     "     return x\n",
     "op.py:5:24: error: nothing gives a value to the argument flavour of M", "--init flavour=VALUE"},
    {"TooManyInputs", "def f(x):\n    return x\ndef get_inputs():\n    return [torch.rand(2), torch.rand(2)]\n",
     "op.py:4:7: error: get_inputs() gives 2 values", ""},
    {"InputsAreNoList", "def f(x):\n    return x\ndef get_inputs():\n    return torch.rand(2)\n", "op.py",
     "does not return a list"},
    {"WrongArguments", "def _g(x, y):\n    return x\ndef f(x):\n    return _g(x)\n",
     "op.py:7:12: error: the program raises TypeError: _g() lacks the argument y", ""},
    {"MissingAttribute",
     "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.weights = 2\n    def "
     "forward(self, x):\n        return x * self.weight\n",
     "op.py:9:20: error: an object of class M has no attribute weight", "weights"},
    {"LayerMadeInForward", "class M(nn.Module):\n    def forward(self, x):\n        return nn.Linear(4, 4)(x)\n",
     "op.py:6:16: error: a layer that every call makes anew is not read", "constructor"},
    {"DoublingList", "def f(x):\n    a = [1]\n    for _ in range(60):\n        a = a + a\n    return x * len(a)\n",
     "op.py:7:13: error", "too long"},
    {"ExplodingSize", "def f(x):\n    n = x.shape[0]\n    for _ in range(60):\n        n = n * n\n    return x * n\n",
     "op.py:7:13: error", "64 bits"},
    {"DivisionByZero", "def f(x):\n    return x * (1 // 0)\n",
     "op.py:5:17: error: the program raises ZeroDivisionError", ""},
    {"HugeInteger", "def f(x):\n    return x * 123456789012345678901234567890\n", "op.py:5:16: error",
     "more than 64 bits"},
    {"Bytes", "def f(x):\n    return x * len(b'a')\n", "op.py:5:20: error: this construct is not read: bytes", ""},
};

INSTANTIATE_TEST_SUITE_P(Python, BadSource, testing::ValuesIn(kRows),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BadSourceFile, AMissingFileIsSaidSo) {
  ReadRequest request;
  request.path = "/nowhere/op.py";
  EXPECT_TRUE(refusal(request).starts_with("/nowhere/op.py: error:")) << refusal(request);
}

TEST(BadSourceFile, ABinaryFileIsNotText) {
  for (const std::string& bytes : {std::string("\x7f"
                                               "ELF\0\1\2",
                                               7),
                                   std::string("x = '\xff\xfe'\n")}) {
    ReadRequest request;
    request.path = "op.py";
    request.text = bytes;
    EXPECT_NE(refusal(request).find("not text"), std::string::npos);
  }
}

TEST(BadSourceFile, AFileThatIsTooLargeIsRefusedByItsSize) {
  const auto folder = TemporaryDirectory::make();
  ReadRequest request;
  request.path = folder->path() + "/big.py";
  {
    std::ofstream file(request.path);
    file.seekp(100 << 20);
    file << "\n";
  }
  EXPECT_TRUE(refusal(request).starts_with(request.path + ": error:")) << refusal(request);
}

TEST(BadSourceFile, DeepNestingIsRefusedNotFollowed) {
  std::string sum = "x";
  for (int i = 0; i < 5000; ++i) sum += " + 1";
  const std::string text = refusal(source("def f(x):\n    return " + sum + "\n"));
  EXPECT_NE(text.find("nested too deeply"), std::string::npos) << text.substr(0, 300);
  const std::string brackets =
      refusal(source("def f(x):\n    return " + std::string(3000, '(') + "x" + std::string(3000, ')') + "\n"));
  EXPECT_TRUE(brackets.starts_with("op.py:5:")) << brackets.substr(0, 300);
}

TEST(BadSourceFile, ANameThatIsNotThereSuggestsNearOnes) {
  ReadRequest request = source("class RMSNorm(nn.Module):\n    def forward(self, x):\n        return x\n");
  request.name = "RmsNorm";
  EXPECT_NE(refusal(request).find("RMSNorm"), std::string::npos);
}

TEST(BadSourceFile, AClassThatIsNoModuleIsNotRead) {
  ReadRequest request = source("class Config(dict):\n    size = 3\ndef f(x):\n    return x\n");
  request.name = "Config";
  EXPECT_NE(refusal(request).find("class Config is not an nn.Module"), std::string::npos);
}

TEST(BadSourceFile, BadOptionsAreRefused) {
  ReadRequest request = source("def f(x, k=0.5):\n    return x * k\n");
  request.shapes = {{"x", "rows,-3"}};
  EXPECT_NE(refusal(request).find("cannot be negative"), std::string::npos);
  request.shapes = {{"x", "rows,2cols"}};
  EXPECT_NE(refusal(request).find("a name or a number"), std::string::npos);
  request.shapes.clear();
  request.dtypes = {{"x", "float33"}};
  EXPECT_NE(refusal(request).find("there is no such type"), std::string::npos);
  request.dtypes.clear();
  request.init = {{"k", "1 +"}};
  EXPECT_NE(refusal(request).find("--init k"), std::string::npos);
  request.init = {{"kk", "1"}};
  EXPECT_NE(refusal(request).find("--init kk=1 names nothing"), std::string::npos);
}

}  // namespace
}  // namespace kw::understand
