"""Loads the compiled ops of the package, once."""

from pathlib import Path

from . import _op

_op.load(str(Path(__file__).with_name("_ops.so")), (KW_OPS))
