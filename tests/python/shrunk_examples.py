"""The examples of this project as small PyTorch problems: each file's op as a module, with inputs of shrunken sizes."""

import importlib.util
import inspect
from pathlib import Path

import torch
from torch import nn

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted(EXAMPLES.glob("*.py"))

# Sizes in one example differ from each other, so that no axis can stand in for another by accident.
SMALL = {
    "batch": 2,
    "rows": 24,
    "cols": 20,
    "tokens": 22,
    "seq": 7,
    "hidden": 24,
    "intermediate": 9,
    "vocab": 37,
    "heads": 6,
    "kv_heads": 3,
    "head_dim": 16,
    "rotary_dim": 4,
    "max_positions": 11,
    "channels": 12,
    "in_channels": 5,
    "out_channels": 6,
    "groups": 4,
    "height": 9,
    "width": 8,
    "segments": 3,
    "experts": 10,
    "top_k": 3,
    "kernel_size": 3,
    "stride": 2,
    "padding": 1,
}


class FunctionModule(nn.Module):
    """torch.export takes modules alone; this makes one of a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example


def load_shrunk(path):
    example = load(path)
    for name, value in list(vars(example).items()):
        if isinstance(value, int) and not name.startswith("__"):
            assert name in SMALL, f"{path.name}: no small value is known for the size '{name}'"
            setattr(example, name, SMALL[name])
    return example


def op_of(example, path):
    """The one function or class of the file that is not part of the problem form."""
    own = [
        value
        for name, value in vars(example).items()
        if getattr(value, "__module__", None) == example.__name__ and name not in ("get_inputs", "get_init_inputs")
    ]
    assert len(own) == 1, f"{path.name} holds {len(own)} candidates"
    return own[0]


def module_of(example, path):
    op = op_of(example, path)
    return op(*example.get_init_inputs()) if inspect.isclass(op) else FunctionModule(op)


def problem(path):
    torch.manual_seed(0)
    example = load_shrunk(path)
    module = module_of(example, path)
    # Initial values such as a weight of ones hide a factor that is missing.
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return module, example.get_inputs()


def outputs_of(result):
    return result if isinstance(result, tuple) else (result,)
