"""Calls kernels by their manifest: from tensors to sizes, from sizes to what must be allocated, and from both to the
entry that serves the call and its arguments. The engine's own reading of a manifest is src/kernel/; this one is for
kernels that Python launches (target triton)."""

import importlib.util
import math
import re

import torch

_DTYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}


def _is_dense(tensor):
    expected = 1
    for size, stride in reversed(list(zip(tensor.shape, tensor.stride()))):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def _is_packed(tensor):
    expected = 1
    for stride, size in sorted((s, n) for s, n in zip(tensor.stride(), tensor.shape) if n != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def _is_aligned(tensor, n):
    strides = (s * tensor.element_size() for s, m in zip(tensor.stride(), tensor.shape) if s != 1 and m != 1)
    return tensor.data_ptr() % n == 0 and all(stride % n == 0 for stride in strides)


def _number(scalar):
    default = scalar.get("default")
    if default is None:
        return None
    return {"real": float, "int": int, "bool": lambda text: text == "true"}[scalar["type"]](default)


class Call:
    """What is known about one call of a pass: its sizes, scalars, tensors and types."""

    blocks = ()  # of each step so far

    def __init__(self, manifest, pass_name, tensors, scalars, multiprocessors=1, sizes=(), types=()):
        self.manifest = manifest
        self.passes = {p["name"]: p for p in manifest["passes"]}
        self.pass_ = self.passes[pass_name]
        self.tensors = dict(tensors)
        self.scalars = {s["name"]: _number(s) for s in manifest.get("scalars", [])} | dict(scalars)
        self.multiprocessors = multiprocessors
        self.blocks = []
        self.types = dict(types)  # those that no tensor shows, by parameter
        self.sizes = dict(sizes)  # those that no shape shows; the others follow from the tensors
        self._bind()

    def _bind(self):
        given = [b for b in self.pass_["buffers"] if b["name"] in self.tensors]
        for buffer in given:
            if buffer["type"] in self.manifest.get("types", {}):
                self.types[buffer["type"]] = self.tensors[buffer["name"]].dtype
            for dimension, size in zip(buffer["shape"], self.tensors[buffer["name"]].shape):
                if re.fullmatch(r"[A-Za-z_]\w*", dimension):
                    self.sizes[dimension] = size
        for buffer in given:
            tensor = self.tensors[buffer["name"]]
            shape = [self.size(dimension) for dimension in buffer["shape"]]
            if shape != list(tensor.shape):
                raise ValueError(f"{buffer['name']} has the shape {list(tensor.shape)}, and the others ask for {shape}")
            if self.dtype(buffer["type"]) != tensor.dtype:
                raise TypeError(
                    f"{buffer['name']} is {tensor.dtype}, and the others ask for {self.dtype(buffer['type'])}"
                )

    def dtype(self, type_):
        result = None
        for part in type_.split("|"):
            dtype = self.types[part] if part in self.types else _DTYPES[part]
            result = dtype if result is None else torch.promote_types(result, dtype)
        return result

    def _names(self):
        of = self.tensors
        return {
            "multiprocessors": self.multiprocessors,
            "threads": 1,
            "min": min,
            "max": max,
            "ceil_div": lambda a, b: -(-a // b),
            "next_pow2": lambda a: 1 << max(0, a - 1).bit_length(),
            "blocks_of_step": self.blocks.__getitem__,
            "dense": lambda name: _is_dense(of[name]),
            "unit": lambda name: of[name].dim() == 0 or of[name].shape[-1] == 1 or of[name].stride(-1) == 1,
            "packed": lambda name: _is_packed(of[name]),
            "aligned": lambda name, n: _is_aligned(of[name], n),
            "starts": lambda name, n: of[name].numel() == 0 or of[name].data_ptr() % n == 0,
            "bytes": lambda name: of[name].element_size(),
            "numel": lambda name: of[name].numel(),
            "shape": lambda name, d: of[name].shape[d],
            "stride": lambda name, d: of[name].stride(d),
            "same_strides": lambda name, other: of[name].stride() == of[other].stride(),
        }

    def _evaluate(self, text):
        # Functions of a buffer take its name; a size may be called blocks.
        text = re.sub(r"\bblocks\(", "blocks_of_step(", text)
        text = re.sub(r"\bsame_strides\((\w+), *(\w+)", r'same_strides("\1", "\2"', text)
        text = re.sub(r"\b(dense|packed|unit|aligned|bytes|numel|shape|stride)\((\w+)", r'\1("\2"', text)
        return eval(text, {"__builtins__": {}}, self._names() | self.scalars | self.sizes)

    def size(self, text):
        return int(self._evaluate(text))

    def holds(self, guard):
        return bool(self._evaluate(guard))

    def allocate(self, device):
        """Outputs, saved values and workspace that the caller did not give."""
        for buffer in self.pass_["buffers"]:
            if "alias" in buffer:
                self.tensors[buffer["name"]] = self.tensors[buffer["alias"]]
            elif buffer["name"] not in self.tensors:
                shape = [self.size(dimension) for dimension in buffer["shape"]]
                self.tensors[buffer["name"]] = torch.empty(shape, dtype=self.dtype(buffer["type"]), device=device)

    def entry(self, step):
        for entry in step["entries"]:
            if all(self.holds(guard) for guard in entry.get("guards", [])):
                return entry
        raise ValueError(f"no entry of {step['entries'][0]['symbol']} serves this call")

    def arguments(self, entry):
        positional, constants = [], {}
        for argument in entry["arguments"]:
            kind, of = argument["kind"], argument["of"]
            if kind in ("read", "write", "update"):
                positional.append(self.tensors[of])
            elif kind == "stride":
                positional.append(self.tensors[of].stride(argument["dimension"]))
            elif kind == "size":
                positional.append(self.size(of))
            elif kind == "scalar":
                positional.append(self.scalars[of])
            else:
                constants[argument["name"]] = self.size(of)
        return positional, constants

    def grid(self, entry):
        return tuple(self.size(n) for n in entry["launch"].get("grid", ["1"]))

    def warps(self, entry):
        return self.size(str(entry["launch"].get("warps", 4)))

    def options(self, entry):
        """How a Triton kernel is compiled. A product that is rounded to 16 bits and then added to would become one
        fused operation, without its rounding: nothing is fused but what the text itself fuses."""
        return {"num_warps": self.warps(entry), "enable_fp_fusion": False}


def load_module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_triton(manifest, folder, pass_name, tensors, scalars=None, multiprocessors=1, sizes=(), types=()):
    """Runs a pass of Triton kernels; returns its tensors by name, results included."""
    call = Call(manifest, pass_name, tensors, scalars or {}, multiprocessors, sizes, types)
    call.allocate(next(iter(tensors.values())).device)
    modules = {}
    for step in call.pass_["steps"]:
        if step["kind"] == "fill":
            call.tensors[step["buffer"]].fill_(step["value"])
            call.blocks.append(0)
            continue
        entry = call.entry(step)
        grid = call.grid(entry)
        call.blocks.append(grid[0])
        if math.prod(grid) == 0:
            continue
        if entry["file"] not in modules:
            modules[entry["file"]] = load_module(folder / entry["file"])
        positional, constants = call.arguments(entry)
        kernel = getattr(modules[entry["file"]], entry["symbol"])
        kernel[grid](*positional, **constants, **call.options(entry))
    return call.tensors
