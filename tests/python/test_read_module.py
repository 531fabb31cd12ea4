"""A packaged module runs its kernels where it is the module that was read, and the source's own forward elsewhere."""

import copy
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

os.environ["TRITON_INTERPRET"] = "1"  # torch may import triton, which looks at it then and for all tests
torch = pytest.importorskip("torch")
sys.path.insert(0, str(Path(__file__).parents[2] / "python"))

from kernelwright import op as _op  # noqa: E402
from torch import nn  # noqa: E402


@dataclass
class Config:
    hidden: int = 8
    eps: float = 1e-6
    vocabulary: str = "of no concern here"


class Source(nn.Module):
    def __init__(self, hidden=8, eps=1e-6, alpha=0.25, reduction="mean", start=1.0, bias=True, groups=2, dtype=None):
        super().__init__()
        self.eps = eps
        self.alpha = alpha
        self.reduction = reduction
        self.groups = groups
        self.weight = nn.Parameter(torch.full((hidden,), start, dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(hidden)) if bias else None

    def forward(self, x):
        return "source"


class Configured(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.eps = config.eps
        self.weight = nn.Parameter(torch.ones(config.hidden))

    def forward(self, x):
        return "source"


class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return "source"


def packaged(source, **reading):
    """The module as a package has it, with a kernel that tells its scalars and serves matrices alone."""

    class Module(_op.ReadModule, source):
        _READING = _op.Reading(
            source,
            **{"init": {}, "scalars": {}, "sizes": {}, "fixed": (), "tensors": ("weight",), "training": True} | reading,
        )

        def forward(self, x):
            if self._otherwise:
                return self._own(self._otherwise, super().forward, x)
            try:
                if x.dim() != 2:
                    raise _op.Unserved("x has another rank")
                return ("kernel", *self._scalars)
            except _op.Unserved as why:
                return self._own(why, super().forward, x)

    return Module


Module = packaged(Source, scalars={"eps": 1e-6}, sizes={"groups": 2}, fixed=("alpha",), tensors=("weight", "bias"))
X = torch.ones(2, 8)


def answer(module, x=X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return module(x)


@pytest.mark.parametrize(
    "arguments",
    [{}, {"hidden": 16}, {"dtype": torch.bfloat16}, {"alpha": 0.25, "reduction": "mean"}, {"start": 3.0}],
    ids=str,
)
def test_a_module_as_it_was_read_runs_its_kernels(arguments):
    assert answer(Module(**arguments)) == ("kernel", 1e-6)


def test_a_run_time_scalar_is_the_constructors():
    assert answer(Module(8, 1e-3)) == ("kernel", 1e-3)


@pytest.mark.parametrize(
    "arguments",
    [{"alpha": 0.5}, {"alpha": -1}, {"reduction": "none"}, {"groups": 4}, {"bias": False}, {"eps": None}],
    ids=str,
)
def test_a_module_constructed_otherwise_runs_its_own_forward(arguments):
    assert answer(Module(**arguments)) == "source"
    with pytest.raises(NotImplementedError, match=next(iter(arguments))):
        Module(**arguments, strict=True)(X)


def test_what_was_given_beside_the_source_is_what_was_read():
    module = packaged(Source, init={"reduction": "none"})
    assert answer(module(reduction="none")) == ("kernel",)
    assert answer(module()) == "source"


@pytest.mark.parametrize("name, value", [("alpha", 0.5), ("eps", 1.0), ("reduction", "sum"), ("weight", None)])
def test_a_module_that_was_changed_runs_its_own_forward(name, value):
    module = Module()
    setattr(module, name, value)
    assert answer(module) == "source"


def test_weights_marks_and_copies_change_nothing():
    module = Module()
    module.weight = nn.Parameter(torch.zeros(8))
    module._mark = True
    module.tag = "of a trainer"
    assert answer(copy.deepcopy(module)) == ("kernel", 1e-6)


def test_a_configuration_gives_its_scalars_and_what_the_source_does_not_read_of_it_is_free():
    module = packaged(Configured, scalars={"eps": 1e-6})
    assert answer(module(Config(eps=1e-2))) == ("kernel", 1e-2)
    assert answer(module(Config(vocabulary="other", hidden=4))) == ("kernel", 1e-6)
    assert answer(module(Config(eps="small"))) == "source"


def test_the_mode_counts_where_a_module_looks_at_it():
    module = packaged(Dropping, tensors=(), training=False)()
    assert answer(module) == "source"
    assert answer(module.eval()) == ("kernel",)
    assert answer(module.train()) == "source"
    assert answer(Module().eval()) == ("kernel", 1e-6)


def test_a_call_that_no_kernel_serves_runs_the_sources_forward_and_warns_once():
    module = Module()
    with pytest.warns(UserWarning, match="Module runs its own forward: x has another rank") as caught:
        assert module(torch.ones(8)) == "source"
        assert module(torch.ones(8)) == "source"
    assert len(caught) == 1 and caught[0].filename == __file__
    with pytest.raises(NotImplementedError, match="another rank"):
        Module(strict=True)(torch.ones(8))
