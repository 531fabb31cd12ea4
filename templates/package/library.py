"""Loads the compiled ops of the package, once."""

from pathlib import Path

from . import _op

gradients = _op.load(Path(__file__).parent, (KW_OPS))
