"""No skeleton names an op, and each one frames kernels of at least three examples."""

import re
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import codegen_diff

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "templates"
FAMILIES = ("cpu", "cuda", "triton")
# What ops are called, beside the names of the examples.
OP_WORDS = (
    "softmax norm gelu silu swish relu swiglu geglu loss attention rope embedding entropy sigmoid tanh softplus "
    "batchnorm dropout pooling convolution matmul logsumexp hinge huber divergence"
).split()

SKELETON = re.compile(r"^(?://|#) skeleton (\w+)\n(.*?)^(?://|#) end$", re.MULTILINE | re.DOTALL)
HOLE = re.compile(r"KW_(NAME|EXPRESSION|LIST|CLAUSES|STATEMENTS|LOOPS)(?:\((\w+)\)|_(\w+))")
# What may stand in a hole.
FILLED = {
    "NAME": r"\w+",
    "EXPRESSION": r"[^;{}]*?",
    "LIST": r"[^{}]*?",
    "CLAUSES": r"[^;{}]*?",
    "LOOPS": r"(?:for \([^{}]*?\) ?)+",
}


def flat(text: str) -> str:
    return " ".join(text.split())


def without_comments(text: str) -> str:
    return re.sub(r"^\s*(//|#(?!pragma)).*$", "", text, flags=re.MULTILINE)


def words_of(text: str) -> set[str]:
    """Every word, and every part of one: rows_of_softmax names softmax."""
    words = set(re.findall(r"[A-Za-z]\w*", text.lower()))
    return words | {part for word in words for part in word.split("_")}


def ops_named_in(text: str) -> set[str]:
    return words_of(text) & (set(OP_WORDS) | set(codegen_diff.EXAMPLES))


@dataclass(frozen=True)
class Skeleton:
    name: str  # with its file's: rows.cu and parts.cu both have a stage
    text: str

    def segments(self) -> tuple[re.Pattern, ...]:
        """What stands between whole statements, as patterns, in order."""
        text, out = flat(self.text), []
        for part in re.split(r"KW_STATEMENTS(?:\(\w+\)|_\w+)", text):
            pieces, end = [], 0
            for hole in HOLE.finditer(part):
                pieces += [re.escape(part[end : hole.start()]), FILLED[hole[1]]]
                end = hole.end()
            pieces.append(re.escape(part[end:]))
            # A hole that stays empty leaves no space either.
            if part.strip():
                out.append(re.compile("".join(pieces).strip("\\ ").replace(r"\ ", r"\s*")))
        return tuple(out)

    def fixed(self) -> int:
        return len(HOLE.sub("", flat(self.text)))

    def rank(self) -> tuple[int, int]:
        """Loops before the functions around them, and the longest first: what a short one says too, the longer one
        wrote. Last what says nothing but braces."""
        function = flat(self.text).startswith(("template", "@triton"))
        bare = not re.search(r"\w", HOLE.sub("", flat(self.text)))
        return (2 if bare else int(function), -self.fixed())

    def take_from(self, code: str) -> str | None:
        """The code without this skeleton's own text, where it stands in it; nothing where it does not."""
        segments = self.segments()
        for first in segments[0].finditer(code):
            # A loop is a statement of its own; one of several parallel loops belongs to the function's frame.
            if first[0].startswith("for") and code[: first.start()].rstrip(" \0")[-1:] not in ";{}":
                continue
            spans = [first.span()]
            for segment in segments[1:]:
                match = segment.search(code, spans[-1][1])
                if not match:
                    break
                spans.append(match.span())
            else:
                for start, end in spans:
                    code = code[:start] + "\0" * (end - start) + code[end:]
                return code
        return None


@cache
def skeletons(target: str) -> tuple[Skeleton, ...]:
    found = []
    for path in sorted((TEMPLATES / target).iterdir()):
        found += [
            Skeleton(f"{path.stem}.{name}", without_comments(text)) for name, text in SKELETON.findall(path.read_text())
        ]
    return tuple(sorted(found, key=Skeleton.rank))


def served_by(text: str, target: str) -> set[str]:
    """The skeletons that frame this generated file."""
    served = set()
    for function in re.split(r"\n(?=template <|@triton\.jit)", text):
        code = flat(without_comments(function))
        for skeleton in skeletons(target):
            while (rest := skeleton.take_from(code)) is not None:
                served.add(skeleton.name)
                code = rest
    return served


@pytest.mark.parametrize("target", FAMILIES)
def test_no_skeleton_names_an_op(target):
    for path in sorted((TEMPLATES / target).iterdir()):
        assert ops_named_in(path.read_text()) == set(), path.name


def test_a_planted_op_is_found():
    assert ops_named_in("void rows_of_softmax(); // for layer_norm") >= {"softmax", "layer_norm", "norm"}
    assert ops_named_in("// the rows of a block, normally three") == set()


@pytest.mark.parametrize("target", codegen_diff.TARGETS)
def test_each_skeleton_serves_at_least_three_examples(target):
    examples = {skeleton.name: set() for skeleton in skeletons(target)}
    for example in codegen_diff.EXAMPLES:
        for text in codegen_diff.golden(example, targets=(target,)).values():
            for name in served_by(text, target):
                examples[name].add(example)
    assert {name: served for name, served in examples.items() if len(served) < 3} == {}


def test_a_skeleton_is_told_from_one_that_says_less():
    row = "template <bool kUnit>\nvoid f(int x) {\n  s;\n"
    row += "#pragma omp parallel for schedule(static) if (n >= kParallelElements)\n"
    row += "  for (int64_t i = 0; i < n; ++i) {\n    a;\n  }\n}\n"
    column = row.replace("    a;", "    const int64_t end = kw::min(n, tile + kTile);\n    a;")
    assert "row.row" in served_by(row, "cpu") and "column.column" not in served_by(row, "cpu")
    assert "column.column" in served_by(column, "cpu") and "row.row" not in served_by(column, "cpu")
