// Python's own values and operators: each expression is a factor in the graph, so that the graph shows what it was.
#include "python_source.h"

namespace kw::understand {
namespace {

struct Row {
  const char* expression;
  const char* value;
};

class PythonValue : public testing::TestWithParam<Row> {};

TEST_P(PythonValue, IsWhatPythonHas) {
  const Row row = GetParam();
  const std::string text = std::string("import functools\ndef f(x):\n    return x * (") + row.expression + ")\n";
  EXPECT_EQ(body_of(text), std::string("y = x * ") + row.value + "\nreturn y\n") << row.expression;
}

INSTANTIATE_TEST_SUITE_P(Numbers, PythonValue,
                         testing::Values(Row{"7 // 2", "3"}, Row{"-7 // 2", "-4"}, Row{"-7 % 3", "2"},
                                         Row{"7 / 2", "3.5"}, Row{"2 ** 10", "1024"}, Row{"2 ** -1", "0.5"},
                                         Row{"-7.5 // 2", "-4.0"}, Row{"-7.5 % 2", "0.5"}, Row{"1 << 4", "16"},
                                         Row{"7 & 3", "3"}, Row{"6 ^ 3", "5"}, Row{"~5", "-6"}, Row{"-(3)", "-3"},
                                         Row{"int(3.9)", "3"}, Row{"int(-3.9)", "-3"}, Row{"round(2.5)", "2"},
                                         Row{"float('inf')", "inf"}, Row{"abs(-3)", "3"}, Row{"math.sqrt(4)", "2.0"},
                                         Row{"math.floor(2.7)", "2"}, Row{"math.ceil(2.1)", "3"},
                                         Row{"divmod(7, 2)[1]", "1"}, Row{"True + 1", "2"}, Row{"1e400", "inf"},
                                         Row{"9007199254740993", "9007199254740993"}));

INSTANTIATE_TEST_SUITE_P(
    Containers, PythonValue,
    testing::Values(Row{"len([1, 2, 3])", "3"}, Row{"sum(range(5))", "10"}, Row{"max(1, 2.5)", "2.5"},
                    Row{"min([4, 2])", "2"}, Row{"sorted([3, 1, 2])[0]", "1"},
                    Row{"sorted([3, 1, 2], reverse=True)[0]", "3"}, Row{"[i * i for i in range(4) if i % 2][-1]", "9"},
                    Row{"{'a': 1, 'b': 2}['b']", "2"}, Row{"dict(a=1).get('b', 5)", "5"},
                    Row{"{**{'a': 1}, 'a': 3}['a']", "3"}, Row{"{k: v for k, v in zip('ab', (4, 5))}['b']", "5"},
                    Row{"(1, 2, 3)[::-1][0]", "3"}, Row{"[1, 2, 3, 4][1:3][1]", "3"}, Row{"[1, 2, 3][-5:][0]", "1"},
                    Row{"list(zip([1, 2], [3, 4]))[1][0]", "2"}, Row{"[*range(2), 5][2]", "5"},
                    Row{"([0] * 3 + [7])[3]", "7"}, Row{"len({1, 2, 2})", "2"},
                    Row{"sum(i for i, _ in enumerate('abc'))", "3"}, Row{"list(enumerate('ab', start=4))[1][0]", "5"},
                    Row{"list(reversed([1, 2]))[0]", "2"}, Row{"list(map(lambda i: i + 1, [1, 2]))[1]", "3"},
                    Row{"list(filter(lambda i: i > 1, [1, 2]))[0]", "2"},
                    Row{"functools.reduce(lambda a, b: a * b, [2, 3, 4])", "24"}, Row{"next(iter([8, 9]))", "8"},
                    Row{"[1, 2].index(2)", "1"}, Row{"math.prod((2, 3))", "6"}));

INSTANTIATE_TEST_SUITE_P(
    Logic, PythonValue,
    testing::Values(Row{"2 if 'abc'.upper() == 'ABC' else 3", "2"}, Row{"2 if 1 < 2 < 3 else 3", "2"},
                    Row{"2 if 1 < 2 > 3 else 3", "3"}, Row{"0 or 5", "5"}, Row{"0 and 5", "0"},
                    Row{"2 if not [] else 3", "2"}, Row{"2 if isinstance(True, int) else 3", "2"},
                    Row{"2 if isinstance(1.0, (int, str)) else 3", "3"}, Row{"2 if 'b' in 'abc' else 3", "2"},
                    Row{"2 if 4 not in (1, 2) else 3", "2"}, Row{"2 if (1, 2) == (1, 2) else 3", "2"},
                    Row{"2 if [1] == (1,) else 3", "3"}, Row{"2 if None is None else 3", "2"},
                    Row{"2 if all(i < 3 for i in range(3)) else 3", "2"}, Row{"2 if any([0, '']) else 3", "3"},
                    Row{"len('h\u00e9\u00e9')", "3"}, Row{"len(f'{1}-{2.5}')", "5"},
                    Row{"2 if 'a_b'.split('_')[1] == 'b' else 3", "2"},
                    Row{"2 if 'RMSNorm'.lower().endswith('norm') else 3", "2"}, Row{"(lambda a, b=2: a + b)(1)", "3"},
                    Row{"(lambda *a, **k: len(a) + k['z'])(1, 2, z=5)", "7"}, Row{"(y := 4)", "4"}));

}  // namespace
}  // namespace kw::understand
