"""A small folder that is laid out as a checkout of Liger is, written for these tests: enough of its names for a
contribution to be imported, tested and looked at. Nothing of it is Liger's own text."""

import subprocess

PYPROJECT = """[project]
name = "liger_kernel"
version = "0"

[tool.pytest.ini_options]
pythonpath = ["src", "."]

[tool.ruff]
line-length = 120
target-version = "py310"
src = ["src"]

[tool.ruff.lint]
select = ["E", "F", "I"]
ignore = ["E501"]

[tool.ruff.lint.isort]
known-first-party = ["liger_kernel"]
force-single-line = true
lines-between-types = 1
"""

OPS = """# The ops of this package.
from liger_kernel.ops.alpha import LigerAlphaFunction  # noqa: F401
from liger_kernel.ops.alpha import alpha_backward  # noqa: F401
from liger_kernel.ops.alpha import alpha_forward  # noqa: F401
from liger_kernel.ops.zeta import LigerZetaFunction  # noqa: F401

# Nothing else is exported.
"""

ALPHA = """import torch


def alpha_forward(x):
    return x + 1


def alpha_backward(d_y):
    return d_y


class LigerAlphaFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return alpha_forward(x)

    @staticmethod
    def backward(ctx, d_y):
        return alpha_backward(d_y)
"""

ZETA = """class LigerZetaFunction:
    pass
"""

OPS_UTILS = """import functools

import torch


def ensure_contiguous(function):
    @functools.wraps(function)
    def wrapped(ctx, *arguments):
        return function(ctx, *(a.contiguous() if isinstance(a, torch.Tensor) else a for a in arguments))

    return wrapped
"""

TRANSFORMERS = """from liger_kernel.transformers.alpha import LigerAlpha  # noqa: F401
from liger_kernel.transformers.zeta import LigerZeta  # noqa: F401

__all__ = [
    "has_everything",
    "LigerAlpha",
    "LigerZeta",
    "LigerBeta",
]
"""

FUNCTIONAL = '''from dataclasses import dataclass

from liger_kernel.ops import LigerAlphaFunction
from liger_kernel.ops import LigerZetaFunction


@dataclass
class Pair:
    first: int = 0


# The first of all.
def liger_alpha(
    x,
):
    """Adds one."""

    return LigerAlphaFunction.apply(x)


# This comment belongs to what follows.
def liger_zeta():
    return LigerZetaFunction()


def liger_beta():
    return Pair()
'''

UTILS = """def infer_device():
    return "cpu"
"""

TEST_UTILS = """def supports_bfloat16():
    return True


def assert_verbose_allclose(a, b, rtol, atol, extra_info=""):
    assert a.shape == b.shape, extra_info
    far = (a - b).abs() > atol + rtol * b.abs()
    assert not (far | (a.isnan() != b.isnan())).any(), f"{extra_info}{a[far][:3]} for {b[far][:3]}"
"""

FILES = {
    "pyproject.toml": PYPROJECT,
    "src/liger_kernel/__init__.py": "",
    "src/liger_kernel/utils.py": UTILS,
    "src/liger_kernel/ops/__init__.py": OPS,
    "src/liger_kernel/ops/utils.py": OPS_UTILS,
    "src/liger_kernel/ops/alpha.py": ALPHA,
    "src/liger_kernel/ops/zeta.py": ZETA,
    "src/liger_kernel/transformers/__init__.py": TRANSFORMERS,
    "src/liger_kernel/transformers/alpha.py": "class LigerAlpha:\n    pass\n",
    "src/liger_kernel/transformers/zeta.py": "class LigerZeta:\n    pass\n",
    "src/liger_kernel/transformers/functional.py": FUNCTIONAL,
    "test/__init__.py": "",
    "test/utils.py": TEST_UTILS,
    "test/transformers/test_alpha.py": "",
    "benchmark/scripts/utils.py": "",
    "benchmark/scripts/benchmark_model_configs.py": "",
    "benchmark/data/all_benchmark_data.csv": "kernel_name,kernel_provider\n",
    ".gitignore": "__pycache__/\n.pytest_cache/\n.ruff_cache/\n",
}


def git(folder, *arguments):
    command = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder, message="what is here"):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", message)


def make_checkout(folder):
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "init", "-q")
    commit(folder)
    return folder
