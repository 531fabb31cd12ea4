"""What `kw act NAME --into liger:DIR` writes is imported, linted and tested where it lies: in a small checkout written
for these tests, and in a real one where KW_LIGER names it. Triton's interpreter is made to round as a GPU does, so that
the contribution's own tests judge bfloat16 by its real rounding; in a real checkout they run as they are, too."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from liger_fixture import commit, git, make_checkout

ROOT = Path(__file__).resolve().parents[2]
KW = ROOT / os.environ.get("BUILD", "build") / "kw"
LIGER = os.environ.get("KW_LIGER", "")
RUFF = shutil.which("ruff", path=str(Path(sys.executable).parent)) or shutil.which("ruff")

ROUNDS = """
from kernelwright.interpreter import round_as_a_gpu

round_as_a_gpu()


def pytest_sessionstart(session):
    import test.utils

    test.utils.supports_bfloat16 = lambda: True
"""

# One of each kind: element by element, rows, sums that ride along, several gradients, losses, scalars, columns; a
# parameter that begins with a value, parameters of a module inside of it, a type that the backward does not show.
EXAMPLES = [
    "relu_squared", "fused_add_rms_norm", "swiglu", "layer_norm", "l2_normalize", "mean_middle", "huber", "dyt",
    "group_norm", "poly_norm",
]  # fmt: skip


def act(name, checkout, workspace):
    for command in (["understand", ROOT / "examples" / f"{name}.py"], ["act", name, "--into", f"liger:{checkout}"]):
        more = ["--yes"] if command[0] == "act" else []
        run = subprocess.run([KW, *map(str, command), *more], cwd=workspace, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr


def touched(checkout):
    paths = git(checkout, "status", "--porcelain", "--untracked-files=all").splitlines()
    return [line[3:] for line in paths if line.endswith(".py")]


def ruff(checkout, *command):
    run = subprocess.run([RUFF, *command, *touched(checkout)], cwd=checkout, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def run_tests(checkout, name, folder, rounds=True):
    """The contribution's own tests; gives how many passed and how many were skipped."""
    (folder / "rounds.py").write_text(ROUNDS)
    path = os.pathsep.join([str(ROOT / "python"), str(folder)])
    env = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += [*(["-p", "rounds"] if rounds else []), f"test/transformers/test_{name}.py"]
    run = subprocess.run(command, cwd=checkout, env=env, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    words = run.stdout.strip().splitlines()[-1].replace("=", " ").replace(",", " ").split()
    return {word: int(words[i]) for i, word in enumerate(words[1:]) if word in ("passed", "skipped")}


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A checkout with the contributions of all examples, one after the other."""
    pytest.importorskip("triton", reason="Triton is not installed")
    checkout = make_checkout(tmp_path_factory.mktemp("liger"))
    for name in EXAMPLES:
        act(name, checkout, tmp_path_factory.getbasetemp())
    return checkout


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_contributions_own_tests_pass_in_the_interpreter(small, tmp_path, name):
    counts = run_tests(small, name, tmp_path)
    assert counts["passed"] >= 10 and "skipped" not in counts


def test_a_kernel_that_is_off_by_a_hundredth_fails_its_tests(small, tmp_path):
    path = small / "src/liger_kernel/ops/relu_squared.py"
    right = path.read_text()
    assert "2.0 * product" in right
    path.write_text(right.replace("2.0 * product", "2.04 * product"))
    try:
        with pytest.raises(AssertionError, match="gradient 0"):
            run_tests(small, "relu_squared", tmp_path)
    finally:
        path.write_text(right)


@pytest.mark.skipif(RUFF is None, reason="ruff is not installed")
def test_every_touched_file_is_as_ruff_wants_it(small):
    assert len(touched(small)) == 3 + 4 * len(EXAMPLES)
    ruff(small, "check", "--no-cache")
    ruff(small, "format", "--check", "--no-cache")


TWICE = """
import sys, types

configs, utils = types.ModuleType("benchmark_model_configs"), types.ModuleType("utils")
for name in ("MODEL_REGISTRY", "build_model_config_sweep", "build_token_length_sweep", "get_benchmark_model_config"):
    setattr(configs, name, {})
for name in ("build_memory_bench_fn", "build_speed_bench_fn", "parse_benchmark_script_args", "run_benchmarks"):
    setattr(utils, name, None)
utils.SingleBenchmarkRunInput = object
sys.modules |= {"benchmark_model_configs": configs, "utils": utils}
import benchmark_fused_add_rms_norm as script
import torch

config = {key: 64 for key in script.MODEL_KEYS} | {"dtype": torch.float32}
given = types.SimpleNamespace(x=8, kernel_provider="torch_compile", extra_benchmark_config=config)
x, op = script.setup(given)
y = op(x)
y = y[0] if isinstance(y, tuple) else y
for _ in range(2):
    y.backward(torch.ones_like(y), retain_graph=True)
"""


def test_a_benchmark_runs_the_backward_of_torch_compile_again_and_again(small):
    path = os.pathsep.join([str(small / "benchmark/scripts"), str(small / "src")])
    env = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", TWICE], env=env, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-3000:]


def test_an_op_file_imports_torch_triton_and_the_checkouts_own_utilities_alone(small):
    for name in EXAMPLES:
        text = (small / f"src/liger_kernel/ops/{name}.py").read_text()
        imports = [line for line in text.splitlines() if line.startswith(("import ", "from "))]
        assert imports == [
            "import torch",
            "import triton",
            "import triton.language as tl",
            "from liger_kernel.ops.utils import ensure_contiguous",
        ]


def take_out(checkout, name, module):
    """A kernel and its entries leave the checkout."""
    for path in (
        f"src/liger_kernel/ops/{name}.py",
        f"src/liger_kernel/transformers/{name}.py",
        f"test/transformers/test_{name}.py",
        f"benchmark/scripts/benchmark_{name}.py",
    ):
        (checkout / path).unlink()
    gone = (f"liger_kernel.ops.{name} import", f"liger_kernel.transformers.{name} import", f'"{module}",')
    for path in ("ops/__init__.py", "transformers/__init__.py", "transformers/functional.py"):
        file, kept, inside = checkout / "src/liger_kernel" / path, [], False
        for line in file.read_text().splitlines():
            if inside and line and not line.startswith((" ", ")")):
                inside = False
            inside |= line.startswith(f"def liger_{name}(")
            if not inside and not any(word in line for word in gone) and not line.endswith(f"import {module}Function"):
                kept.append(line)
        file.write_text("\n".join(kept) + "\n")


@pytest.fixture(scope="session")
def real(tmp_path_factory):
    checkout = tmp_path_factory.mktemp("real") / "liger"
    shutil.copytree(LIGER, checkout, ignore=shutil.ignore_patterns(".git"))
    take_out(checkout, "relu_squared", "LigerReLUSquared")
    take_out(checkout, "fused_add_rms_norm", "LigerFusedAddRMSNorm")
    git(checkout, "init", "-q")
    commit(checkout)
    for name in ("relu_squared", "fused_add_rms_norm"):
        act(name, checkout, tmp_path_factory.getbasetemp())
        assert len(touched(checkout)) == 7
        ruff(checkout, "check", "--no-cache")
        ruff(checkout, "format", "--check", "--no-cache")
        commit(checkout, name)
    return checkout


@pytest.mark.skipif(not LIGER, reason="KW_LIGER names no checkout of Liger")
@pytest.mark.parametrize("name", ["relu_squared", "fused_add_rms_norm"])
def test_in_a_real_checkout_the_tests_pass_and_the_op_file_is_no_longer_than_the_one_it_replaces(real, tmp_path, name):
    assert run_tests(real, name, tmp_path)["passed"] >= 10
    plain = run_tests(real, name, tmp_path, rounds=False)
    assert plain["passed"] >= 10 and plain["skipped"] >= 1  # bfloat16: the checkout's own rule for a CPU
    path = Path("src/liger_kernel/ops") / f"{name}.py"
    ours, theirs = (len((folder / path).read_text().splitlines()) for folder in (real, Path(LIGER)))
    assert ours <= theirs
