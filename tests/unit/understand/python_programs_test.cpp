// Statements, functions and scopes of the programs that are read.
#include "python_source.h"

namespace kw::understand {
namespace {

TEST(PythonPrograms, ABranchOnAKnownValueReadsOneSideAlone) {
  EXPECT_EQ(body_of("def f(x, flag=True):\n    if flag:\n        return x + 1\n    return x.unknown_method()\n"),
            "y = x + 1\nreturn y\n");
}

TEST(PythonPrograms, ALoopWithAKnownCountIsUnrolled) {
  EXPECT_EQ(body_of("def f(x):\n    for i in range(3):\n        x = x + i\n    return x\n"),
            "x_2 = x + 0\nx_3 = x_2 + 1\nx_4 = x_3 + 2\nreturn y = x_4\n");
}

TEST(PythonPrograms, BreakContinueAndElseFollowPython) {
  EXPECT_EQ(
      body_of(
          "def f(x):\n    n = 0\n    for i in range(9):\n        if i == 1:\n            continue\n        if i == 4:\n"
          "            break\n        n += i\n    else:\n        n = 100\n    while n < 20:\n        n *= 2\n    "
          "return x * n\n"),
      "y = x * 20\nreturn y\n");
}

TEST(PythonPrograms, HelpersAreInlinedWithTheirDefaultsAndKeywords) {
  EXPECT_EQ(body_of("def _scale(t, *, by=2, **more):\n    return t * by\ndef f(x):\n    return _scale(x) + _scale(x, "
                    "by=5, other=1)\n"),
            "y = x * 2 + x * 5\nreturn y\n");
}

TEST(PythonPrograms, AClosureSeesTheNamesOfItsFunction) {
  EXPECT_EQ(body_of("def f(x):\n    k = 3\n    def g(t):\n        return t * k\n    k = 4\n    return g(x)\n"),
            "y = x * 4\nreturn y\n");
}

TEST(PythonPrograms, NonlocalAndGlobalNamesAreTheOuterOnes) {
  EXPECT_EQ(body_of("def f(x):\n    n = 1\n    def up():\n        nonlocal n\n        n += 1\n    up()\n    up()\n    "
                    "return x * n\n"),
            "y = x * 3\nreturn y\n");
}

TEST(PythonPrograms, StarredTargetsTakeWhatIsLeft) {
  EXPECT_EQ(body_of("def f(x):\n    first, *rest, last = 1, 2, 3, 4\n    return x * len(rest) + last\n"),
            "y = x * 2 + 4\nreturn y\n");
}

TEST(PythonPrograms, ATopLevelNameHasTheValueOfItsLastAssignmentBeforeTheUse) {
  EXPECT_EQ(body_of("a = 1\nb = a + 1\na = 10\ndef f(x):\n    return x * b + a\n"), "y = x * 2 + 10\nreturn y\n");
}

TEST(PythonPrograms, ATopLevelStatementThatIsNotNeededIsNotRun) {
  EXPECT_EQ(body_of("something = undefined_name.call()\nraise_me = 1 / 0\ndef f(x):\n    return x + 1\n"),
            "y = x + 1\nreturn y\n");
}

TEST(PythonPrograms, ADictThatChangesAtTheTopLevelIsReadAfterItsChanges) {
  EXPECT_EQ(body_of("d = {'a': 1}\nd['b'] = 2\nd.update(c=3)\ndef f(x):\n    return x * len(d)\n"),
            "y = x * 3\nreturn y\n");
}

TEST(PythonPrograms, AnExceptionThatIsCaughtTakesTheHandler) {
  EXPECT_EQ(body_of("def f(x):\n    try:\n        k = {}['a']\n    except (ValueError, KeyError):\n        k = 2\n    "
                    "finally:\n        k += 1\n"
                    "    return x * k\n"),
            "y = x * 3\nreturn y\n");
}

TEST(PythonPrograms, APackageThatMayBeMissingIsTakenAsAbsentAndSaidSo) {
  const auto read =
      read_python(source("try:\n    import fast_kernels\nexcept ImportError:\n    fast_kernels = None\n"
                         "def f(x):\n    return x + 1 if fast_kernels is None else fast_kernels.f(x)\n"));
  ASSERT_TRUE(read) << render(read.error());
  const auto& assumed = read->assumptions;
  EXPECT_TRUE(std::any_of(assumed.begin(), assumed.end(),
                          [](const Assumption& a) { return a.what == "package fast_kernels" && a.value == "absent"; }));
}

TEST(PythonPrograms, PythonIsOfAVersionThatIsSaid) {
  const auto read = read_python(
      source("import sys\nif sys.version_info >= (3, 12):\n    k = 1\nelif sys.version_info[:2] < (3, 9):\n    k = 2\n"
             "def f(x):\n    return x + k\n"));
  ASSERT_TRUE(read) << render(read.error());
  const auto& assumed = read->assumptions;
  EXPECT_TRUE(std::any_of(assumed.begin(), assumed.end(),
                          [](const Assumption& a) { return a.what == "Python" && a.value == "3.12"; }));
  EXPECT_EQ(body_of("import sys\nk = 2 if sys.version_info[:2] < (3, 9) else 1\ndef f(x):\n    return x + k\n"),
            "y = x + 1\nreturn y\n");
}

TEST(PythonPrograms, MessagesAndAssertionsThatHoldAreNothing) {
  EXPECT_EQ(
      body_of(
          "import warnings, logging\nlogger = logging.getLogger(__name__)\ndef f(x):\n    print(x.shape, undefined)\n"
          "    logger.warning('%s', undefined)\n    warnings.warn('x')\n    assert x.dim() == 2, f'{x.shape}'\n    "
          "return x + 1\n"),
      "y = x + 1\nreturn y\n");
}

TEST(PythonPrograms, ImportAliasesOfTorchAreTheSameOperations) {
  const std::string plain = body_of("def f(x):\n    return torch.nn.functional.silu(x)\n");
  EXPECT_EQ(body_of("from torch.nn.functional import silu as activation\ndef f(x):\n    return activation(x)\n"),
            plain);
  EXPECT_EQ(body_of("import torch as t\ndef f(x):\n    return t.nn.functional.silu(x)\n"), plain);
  EXPECT_EQ(body_of("from torch import nn as layers\ndef f(x):\n    return layers.functional.silu(x)\n"), plain);
  EXPECT_EQ(body_of("def f(x):\n    return nn.SiLU()(x)\n"), plain);
}

TEST(PythonPrograms, SeveralOutputsKeepTheirNamesAndOrder) {
  EXPECT_EQ(body_of("def f(x):\n    total = x.sum(-1)\n    return total, {'twice': x * 2}, None\n"),
            "total = sum(x, cols)\ntwice = x * 2\nreturn total, twice\n");
}

TEST(PythonPrograms, NoGradStopsTheGradientOfWhatItComputes) {
  EXPECT_EQ(body_of("def f(x):\n    with torch.no_grad():\n        m = x.amax(-1, keepdim=True)\n    return x - m\n"),
            "m = stop_gradient(reduce_max(x, cols))\ny = x - m\nreturn y\n");
  EXPECT_EQ(body_of("@torch.no_grad()\ndef _m(x):\n    return x * 2\ndef f(x):\n    return x + _m(x)\n"),
            "y = x + stop_gradient(x * 2)\nreturn y\n");
}

TEST(PythonPrograms, DisabledAutocastChangesNothing) {
  EXPECT_EQ(body_of("def f(x):\n    with torch.autocast('cuda', enabled=False):\n        return x * 2\n"),
            "y = x * 2\nreturn y\n");
}

TEST(PythonPrograms, EveryNodeKnowsItsPlaceInTheSource) {
  const auto read = read_python(source("def f(x):\n    y = x * 2\n    return torch.exp(y)\n"));
  ASSERT_TRUE(read) << render(read.error());
  const ir::Graph& graph = read->graph;
  const ir::NodeId result = graph.outputs[0].node;
  EXPECT_EQ(graph.origins[static_cast<size_t>(result)].line, 7);
  EXPECT_EQ(graph.origins[static_cast<size_t>(result)].column, 12);
  EXPECT_EQ(graph.source_files[0], "op.py");
}

TEST(PythonPrograms, ColumnsCountCharactersNotBytes) {
  EXPECT_NE(failure(source("def f(x):\n    s = 'éé'; return torch.nope(x)\n")).find("op.py:6:22: error"),
            std::string::npos)
      << failure(source("def f(x):\n    s = 'éé'; return torch.nope(x)\n"));
}

TEST(PythonPrograms, RandomNumbersOfAShapeComeFromTheCountedGenerator) {
  const auto read =
      read_python(source("def drop_path(x, p: float = 0.1):\n    keep = 1 - p\n"
                         "    mask = keep + torch.rand((x.shape[0],) + (1,) * (x.ndim - 1), dtype=x.dtype)\n"
                         "    mask.floor_()\n    return x.div(keep) * mask\n"));
  ASSERT_TRUE(read) << render(read.error());
  const auto random = std::find_if(read->graph.nodes.begin(), read->graph.nodes.end(),
                                   [](const ir::Node& node) { return node.op == ir::Op::Random; });
  ASSERT_NE(random, read->graph.nodes.end());
  EXPECT_EQ(random->axes.size(), 1u);  // one number for each example
  EXPECT_EQ(read->graph.outputs[0].dims.size(), 2u);
  EXPECT_NE(failure(source("def f(x):\n    return x + torch.rand(4, dtype=torch.int64)\n")).find("a floating type"),
            std::string::npos);
}

}  // namespace
}  // namespace kw::understand
