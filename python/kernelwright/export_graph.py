"""Writes the graph that torch.export makes of a function or module as JSON (schema/exported_graph.schema.json).

    python -m kernelwright.export_graph model.py:Model -o graph.json

The file is run: its get_inputs() gives the example inputs, get_init_inputs() the constructor's arguments. Composite
operations stay whole (aten.layer_norm, aten.silu), sizes of the inputs stay symbolic where torch.export can prove them.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import math
import operator
import os
import pathlib
import re
import sys

import torch
from torch.export import Dim
from torch.export.graph_signature import InputKind, OutputKind

FORMAT = "kernelwright.exported_graph"
VERSION = 1
# A constant tensor up to this size is written with its values; a larger one becomes a buffer.
LARGEST_LITERAL = 64
# What a graph checks about itself has no meaning of its own.
CHECKS = ("aten._assert", "aten.sym_constrain", "torch._check")


class ExportError(Exception):
    """The program cannot be exported; the message says why."""


def export_graph(function, inputs, name: str | None = None, training: bool = True) -> dict:
    """The exported graph of a function or nn.Module at the given example inputs, as the JSON object."""
    module = _as_module(function)
    module.train(training)
    program = _functional(_export(module, tuple(inputs)))
    return _Writer(program, name or _name_of(function), training, _input_names(module, inputs)).document()


def _as_module(function) -> torch.nn.Module:
    if isinstance(function, torch.nn.Module):
        return function
    wrapper = torch.nn.Module()
    wrapper.forward = function  # its own signature gives the inputs their names
    return wrapper


def _name_of(function) -> str:
    return type(function).__name__ if isinstance(function, torch.nn.Module) else function.__name__


def _export(module: torch.nn.Module, inputs: tuple) -> torch.export.ExportedProgram:
    try:
        return torch.export.export(module, inputs, dynamic_shapes=_all_dynamic(module, inputs), strict=False)
    except Exception as dynamic_error:  # what torch.export raises has no common type
        try:
            return torch.export.export(module, inputs, strict=False)
        except Exception as error:
            raise ExportError(f"torch.export failed: {error}") from dynamic_error


def _all_dynamic(module: torch.nn.Module, inputs: tuple):
    def dims(value):
        if isinstance(value, torch.Tensor):
            return {i: Dim.AUTO for i in range(value.dim())}
        if isinstance(value, (list, tuple)):
            return type(value)(dims(v) for v in value)
        if isinstance(value, dict):
            return {k: dims(v) for k, v in value.items()}
        return None

    shapes = tuple(dims(value) for value in inputs)
    parameters = list(inspect.signature(module.forward).parameters.values())
    if any(p.kind == inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return None
    return shapes


def _input_names(module: torch.nn.Module, inputs) -> list[str | None]:
    """The parameter that each input is given to, one per tensor or number; None inside a list or dict.

    torch.export changes names (A to a); a list's tensors keep the names that it makes up for them.
    """
    parameters = list(inspect.signature(module.forward).parameters.values())
    names = []
    for i, value in enumerate(inputs):
        count = len(torch.utils._pytree.tree_leaves(value))
        positional = i < len(parameters) and parameters[i].kind != inspect.Parameter.VAR_POSITIONAL
        plain = positional and not isinstance(value, (list, tuple, dict))
        names += [parameters[i].name if plain else None] * count
    return names


def _functional(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """A graph that changes values in place is made functional, unless all that it changes are buffers."""
    buffers = {spec.arg.name for spec in program.graph_signature.input_specs if spec.kind == InputKind.BUFFER}
    for node in program.graph.nodes:
        if not isinstance(node.target, torch._ops.OpOverload):
            continue
        for argument, value in zip(node.target._schema.arguments, node.args):
            changes = argument.alias_info is not None and argument.alias_info.is_write
            if changes and isinstance(value, torch.fx.Node) and value.name not in buffers:
                return program.run_decompositions({})
    return program


class _Writer:
    def __init__(self, program: torch.export.ExportedProgram, name: str, training: bool, input_names: list[str | None]):
        self.program = program
        self.input_names = iter(input_names)
        self.name = name
        self.training = training
        self.symbols: dict[str, str] = {}  # torch's name of a size symbol to ours
        self.hints: dict[str, int] = {}

    def document(self) -> dict:
        inputs = self._inputs()
        nodes = [self._node(node) for node in self.program.graph.nodes if self._is_operation(node)]
        outputs = self._outputs()
        return {
            "format": FORMAT,
            "version": VERSION,
            "name": self.name,
            "torch": torch.__version__.split("+")[0],
            "training": self.training,
            "symbols": self.hints,
            "inputs": inputs,
            "nodes": nodes,
            "outputs": outputs,
        }

    # ---- interface ----
    def _inputs(self) -> list[dict]:
        placeholders = {node.name: node for node in self.program.graph.nodes if node.op == "placeholder"}
        order = {InputKind.USER_INPUT: 0, InputKind.PARAMETER: 1, InputKind.BUFFER: 2, InputKind.CONSTANT_TENSOR: 3}
        result = []
        for spec in sorted(self.program.graph_signature.input_specs, key=lambda spec: order.get(spec.kind, 4)):
            node = placeholders[spec.arg.name]
            own_name = next(self.input_names, None) if spec.kind == InputKind.USER_INPUT else spec.target
            if spec.kind not in order:
                raise ExportError(f"the input {spec.arg.name} is a {spec.kind.name}, which is not written")
            if not isinstance(node.meta["val"], torch.Tensor):
                # A number or None: torch.export writes its value where it is used.
                if node.users:
                    raise ExportError(f"the input {spec.arg.name} is no tensor")
                continue
            result.append(self._input(spec, node, own_name or node.name))
        return result

    def _input(self, spec, node: torch.fx.Node, name: str) -> dict:
        value = node.meta["val"]
        entry = {
            "id": node.name,
            "name": name,
            "kind": {
                InputKind.USER_INPUT: "tensor",
                InputKind.PARAMETER: "parameter",
                InputKind.BUFFER: "buffer",
                InputKind.CONSTANT_TENSOR: "buffer",
            }[spec.kind],
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": [self._size(size) for size in value.shape],
        }
        if spec.kind == InputKind.PARAMETER:
            entry["requires_grad"] = bool(self.program.state_dict[spec.target].requires_grad)
        if spec.kind == InputKind.CONSTANT_TENSOR:
            constant = self.program.constants[spec.target]
            if constant.numel() <= LARGEST_LITERAL:
                entry["kind"] = "constant"
                entry["values"] = [self._number(v) for v in constant.detach().flatten().tolist()]
        return entry

    def _size(self, size) -> int | str:
        if isinstance(size, int):
            return size
        expression = size.node.expr
        if not expression.is_Symbol:
            return int(size.node.hint)
        torch_name = str(expression)
        if torch_name not in self.symbols:
            self.symbols[torch_name] = f"s{len(self.symbols)}"
            self.hints[self.symbols[torch_name]] = int(size.node.hint)
        return self.symbols[torch_name]

    def _outputs(self) -> list[dict]:
        values = next(node for node in self.program.graph.nodes if node.op == "output").args[0]
        result, updates = [], []
        for spec, value in zip(self.program.graph_signature.output_specs, values):
            if spec.kind == OutputKind.BUFFER_MUTATION:
                updates.append({"value": self._argument(value), "updates": spec.target})
            elif spec.kind == OutputKind.USER_OUTPUT:
                if isinstance(value, torch.fx.Node):
                    result.append({"value": self._argument(value)})
            else:
                raise ExportError(f"the program changes its input {spec.target} in place, which is not written")
        return result + updates

    # ---- nodes ----
    @staticmethod
    def _is_operation(node: torch.fx.Node) -> bool:
        return node.op == "call_function" and not str(node.target).startswith(CHECKS)

    def _node(self, node: torch.fx.Node) -> dict:
        entry = {
            "id": node.name,
            "target": self._target(node),
            "args": [self._argument(value) for value in node.args],
            "kwargs": {key: self._argument(value) for key, value in node.kwargs.items()},
        }
        place = _place(node)
        if place:
            entry["at"] = {"file": place[0], "line": place[1]}
        return entry

    @staticmethod
    def _target(node: torch.fx.Node) -> str:
        target = node.target
        if isinstance(target, torch._ops.OpOverload):
            return str(target)  # "aten.add.Tensor"
        module, name = getattr(target, "__module__", ""), getattr(target, "__name__", str(target))
        if module in ("_operator", "operator") or getattr(operator, name, None) is target:
            return f"operator.{name}"
        if module == "math":
            return f"math.{name}"
        if name.startswith("sym_"):
            return f"torch.{name}"
        raise ExportError(f"the graph calls {name}, which is not written")

    def _argument(self, value):
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, torch.fx.Node):
            return {"node": value.name}
        if isinstance(value, (int, float)):
            return self._number(value)
        if isinstance(value, (list, tuple)):
            return [self._argument(v) for v in value]
        if isinstance(value, torch.dtype):
            return {"dtype": str(value).removeprefix("torch.")}
        if isinstance(value, torch.device):
            return {"device": value.type}
        if isinstance(value, (torch.layout, torch.memory_format)):
            return {"opaque": str(value)}
        if isinstance(value, torch.SymInt):
            return int(value.node.hint)
        raise ExportError(f"an argument is a {type(value).__name__}, which is not written")

    @staticmethod
    def _number(value):
        if isinstance(value, float) and not math.isfinite(value):
            return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
        return value


def _place(node: torch.fx.Node) -> tuple[str, int] | None:
    """The innermost line of the user's own files that made the node."""
    torch_root = os.path.dirname(torch.__file__)
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    own = [(file, int(line)) for file, line in frames if not file.startswith(torch_root)]
    if not own:
        return None
    file, line = own[-1]
    relative = os.path.relpath(file)
    return (file if relative.startswith("..") else relative, line)


def load(path: str, name: str | None):
    """The function or module class `name` of a Python file, built with get_init_inputs(), and its get_inputs()."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if name is None:
        candidates = [
            key
            for key, value in vars(module).items()
            if getattr(value, "__module__", None) == spec.name
            and (inspect.isfunction(value) or (inspect.isclass(value) and issubclass(value, torch.nn.Module)))
            and key not in ("get_inputs", "get_init_inputs")
            and not key.startswith("_")
        ]
        modules = [key for key in candidates if inspect.isclass(getattr(module, key))]
        chosen = candidates if len(candidates) == 1 else modules
        if len(chosen) != 1:
            raise ExportError(f"{path} has {len(candidates)} candidates: name one, as {path}:NAME")
        name = chosen[0]
    if not hasattr(module, name):
        raise ExportError(f"{path} has no {name}")
    if not hasattr(module, "get_inputs"):
        raise ExportError(f"{path} has no get_inputs()")
    target = getattr(module, name)
    if inspect.isclass(target):
        init = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        target = target(**init) if isinstance(init, dict) else target(*init)
    return target, module.get_inputs(), name


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write the exported graph of a PyTorch function or module as JSON.")
    parser.add_argument("source", help="FILE.py or FILE.py:NAME")
    parser.add_argument("-o", "--output", default="-", help="where to write (default: stdout)")
    parser.add_argument("--eval", action="store_true", help="read modules in evaluation mode")
    options = parser.parse_args(arguments)
    path, separator, name = options.source.rpartition(":")
    if not separator:
        path, name = options.source, None
    try:
        target, inputs, chosen = load(path, name)
        document = export_graph(target, inputs, chosen, training=not options.eval)
    except (ExportError, OSError) as error:
        print(f"export_graph: {error}", file=sys.stderr)
        return 2
    text = json.dumps(document, indent=1, allow_nan=False) + "\n"
    if options.output == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(options.output).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
