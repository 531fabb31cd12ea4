// In-place changes made functional, or refused; what is known of a tensor while reading.
#include "python_source.h"

namespace kw::understand {
namespace {

TEST(PythonTensors, AnInPlaceOperatorGivesTheChangedTensor) {
  EXPECT_EQ(body_of("def f(x):\n    y = x.clone()\n    y += 1\n    y.mul_(2)\n    return y\n"),
            "y = x + 1\n_1 = y * 2\nreturn y = _1\n");
}

TEST(PythonTensors, EveryNameOfATensorSeesAnInPlaceChange) {
  EXPECT_EQ(body_of("def f(x):\n    a = x * 1\n    b = a\n    a += 3\n    return b\n"),
            "a = x * 1\na_2 = a + 3\nreturn a = a_2\n");
}

TEST(PythonTensors, AnInPlaceOperatorKeepsTheTypeOfItsTensor) {
  ReadRequest request = source("def f(x, z):\n    y = x * 1\n    y += z\n    return y\n");
  request.dtypes = {{"x", "bf16"}, {"z", "f32"}};
  const auto read = read_python(request);
  ASSERT_TRUE(read) << render(read.error());
  const ir::Node& result = read->graph[read->graph.outputs[0].node];
  EXPECT_EQ(result.op, ir::Op::Cast);
  EXPECT_EQ(result.type, read->graph.inputs[0].type);
}

TEST(PythonTensors, AssigningToASliceUpdatesTheWholeTensor) {
  const std::string text = body_of("def f(x):\n    y = x * 1\n    y[:, 0] = 5.0\n    return y\n");
  EXPECT_NE(text.find("select("), std::string::npos) << text;
}

TEST(PythonTensors, AViewOfAChangedTensorIsRefused) {
  const std::string text =
      failure(source("def f(x):\n    a = x * 1\n    half = a[:, :2]\n    a += 1\n    return half\n"));
  EXPECT_NE(text.find("shares memory"), std::string::npos) << text;
  EXPECT_NE(text.find("op.py:9:12"), std::string::npos) << text;
}

TEST(PythonTensors, ATensorWhoseViewWasChangedIsRefused) {
  const std::string text =
      failure(source("def f(x):\n    a = x * 1\n    half = a.view(-1)\n    half.add_(1)\n    return a\n"));
  EXPECT_NE(text.find("shares memory"), std::string::npos) << text;
}

TEST(PythonTensors, ACloneIsATensorOfItsOwn) {
  EXPECT_EQ(body_of("def f(x):\n    a = x * 1\n    b = a.clone()\n    a += 1\n    return b\n"),
            "a = x * 1\nreturn a\n");
}

TEST(PythonTensors, AnInputThatIsChangedInPlaceIsReported) {
  const auto read = read_python(source("def f(x):\n    x.mul_(2)\n    return x + 1\n"));
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(read->changed_inputs, std::vector<std::string>{"x"});
}

TEST(PythonTensors, ABranchOnElementsIsRefusedAtItsPlace) {
  const std::string text = failure(source("def f(x):\n    if x.sum() > 0:\n        return x\n    return -x\n"));
  EXPECT_NE(text.find("op.py:6:8: error: this branch depends on the elements of a tensor"), std::string::npos) << text;
  EXPECT_NE(text.find("torch.where"), std::string::npos) << text;
}

TEST(PythonTensors, ElementsAsNumbersAreRefused) {
  for (const char* expression :
       {"x.sum().item()", "float(x.sum())", "int(x.sum())", "range(x.sum())", "math.sqrt(x.sum())", "x.tolist()[0]"}) {
    const std::string text = failure(source(std::string("def f(x):\n    return x * len([") + expression + "])\n"));
    EXPECT_NE(text.find("op.py:6:"), std::string::npos) << expression << "\n" << text;
  }
}

TEST(PythonTensors, ABranchOnTheTypeFixesTheTypes) {
  ReadRequest request = source("def f(x):\n    if x.dtype == torch.float32:\n        return x * 2\n    return x * 3\n");
  EXPECT_EQ(body(request), "y = x * 2\nreturn y\n");
  request.dtypes = {{"x", "bf16"}};
  EXPECT_EQ(body(request), "y = x * 3\nreturn y\n");
  const auto read = read_python(request);
  EXPECT_TRUE(read->graph.type_parameters.empty());
  EXPECT_TRUE(read->graph.inputs[0].type.concrete());
}

TEST(PythonTensors, TheLimitsOfATypeAreThoseOfTheTensor) {
  ReadRequest request = source("def f(x):\n    return x.clamp(min=torch.finfo(x.dtype).eps)\n");
  request.dtypes = {{"x", "bf16"}};
  EXPECT_NE(body(request).find("0.0078125"), std::string::npos) << body(request);
}

TEST(PythonTensors, RandomElementsThatAConstructorMadeAreRefused) {
  const std::string text = failure(source(
      "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.noise = torch.randn(4)\n"
      "    def forward(self, x):\n        return x.sum() + self.noise\n"));
  EXPECT_NE(text.find("random or uninitialised elements"), std::string::npos) << text;
}

}  // namespace
}  // namespace kw::understand
