"""A manifest's passes as a caller has them: sizes to buffers, guards to entries, expressions to launches."""

import ctypes
import importlib.util
import json
import os

import torch
from pass_limit import bytes_moved, values_returned

DTYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i64": torch.int64,
    "i32": torch.int32,
    "bool": torch.bool,
}
NUMBERS = {"i32": ctypes.c_int, "i64": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double}


def ceil_div(a, b):
    return -(-a // b)


def next_pow2(a):
    return 1 if a <= 1 else 1 << (a - 1).bit_length()


class Facts:
    """What the expressions of a manifest are evaluated with."""

    def __init__(self, sizes, tensors, multiprocessors):
        self.tensors = tensors
        self.names = dict(sizes)
        self.names.update(multiprocessors=multiprocessors, threads=1, min=min, max=max)
        self.names.update(ceil_div=ceil_div, next_pow2=next_pow2)
        for name in ("shape", "stride", "bytes", "numel", "dense", "packed", "unit", "aligned", "starts"):
            self.names[name] = getattr(self, name)
        self.names["same_strides"] = self.same_strides
        self.launched = []  # blocks of each step so far
        self.names["blocks"] = self.launched.__getitem__
        self.names.update({name: name for name in tensors})

    def value(self, text):
        return eval(text, {"__builtins__": {}}, self.names)

    def shape(self, x, d):
        return self.tensors[x].shape[d]

    def stride(self, x, d):
        return self.tensors[x].stride(d)

    def bytes(self, x):
        return self.tensors[x].element_size()

    def numel(self, x):
        return self.tensors[x].numel()

    def dense(self, x):
        return self.tensors[x].is_contiguous()

    def packed(self, x):
        return self.tensors[x].is_contiguous()

    def unit(self, x):
        t = self.tensors[x]
        return t.dim() == 0 or t.shape[-1] == 1 or t.stride(-1) == 1

    def aligned(self, x, n):
        t = self.tensors[x]
        strides = [s * t.element_size() for s, m in zip(t.stride(), t.shape) if s != 1 and m != 1]
        return t.data_ptr() % n == 0 and all(s % n == 0 for s in strides)

    def starts(self, x, n):
        return self.tensors[x].data_ptr() % n == 0

    def same_strides(self, x, y):
        return self.tensors[x].stride() == self.tensors[y].stride()


def dtype_of(text, types):
    parts = [types.get(p, p) for p in text.split("|")]
    if len(set(parts)) == 1:
        return parts[0]
    floats = [p for p in parts if p not in ("bool", "i32", "i64")]
    if "f64" in floats:
        return "f64"
    return floats[0] if len(set(floats)) == 1 else "f32"


class Pass:
    """One pass of an op, for some types: prepared for tensors, then launched."""

    def __init__(self, op, name):
        self.op, self.types = op, op.types
        self.description = next(p for p in op.manifest["passes"] if p["name"] == name)

    def prepare(self, sizes, given):
        cuda = self.op.cuda
        device = "cuda" if cuda else "meta"
        multiprocessors = cuda.multiprocessors if cuda else 132
        tensors = dict(given)
        plain = Facts(sizes, {}, multiprocessors)
        self.outputs = {}
        for b in self.description["buffers"]:
            shape = [plain.value(s) for s in b["shape"]]
            dtype = DTYPES[dtype_of(b["type"], self.types)]
            if b["role"] == "input":
                assert list(tensors[b["name"]].shape) == shape, (b["name"], tensors[b["name"]].shape, shape)
                continue
            tensors[b["name"]] = torch.full(shape, float("nan"), dtype=dtype, device=device)
            if b["role"] != "workspace":
                self.outputs[b["name"]] = tensors[b["name"]]
        self.tensors = tensors
        facts = Facts(sizes, tensors, multiprocessors)
        self.entries, self.launches, self.chosen = [], [], []
        for step in self.description["steps"]:
            self.choose(step, facts)
        return self

    def choose(self, step, facts):
        """The first entry whose guards hold and whose i32 arguments fit."""
        cuda = self.op.cuda
        for entry in step["entries"]:
            if not all(facts.value(g) for g in entry.get("guards", [])):
                continue
            values, fits = [], True
            for a in entry["arguments"]:
                if a["kind"] in ("read", "write", "update"):
                    values.append(ctypes.c_void_p(self.tensors[a["of"]].data_ptr() if cuda else 0))
                    continue
                if a["kind"] == "stride":
                    number = self.tensors[a["of"]].stride(a.get("dimension", 0))
                elif a["kind"] == "size":
                    number = facts.value(a["of"])
                else:
                    number = self.op.scalars()[a["of"]]
                kind = dtype_of(a["type"], self.types)
                fits &= kind != "i32" or number < 2**31
                values.append(NUMBERS[kind](number))
            if not fits:
                continue
            launch = entry.get("launch", {})
            grid, block = facts.value(launch.get("grid", ["1"])[0]), facts.value(launch.get("block", ["1"])[0])
            shared = facts.value(launch.get("shared_bytes", "0"))
            self.entries.append((entry["file"], entry["symbol"]))
            function = self.op.function(entry["file"], entry["symbol"], shared) if cuda else None
            self.launches.append((function, grid, block, shared, values))
            facts.launched.append(grid)
            self.chosen.append(f"{entry['symbol']}<{grid},{block},{shared}>")
            return
        raise RuntimeError(f"no entry of {step['entries'][0]['symbol']} serves")

    def run(self):
        for launch in self.launches:
            self.op.cuda.launch(*launch)
        return self.outputs

    def bytes_moved(self):
        """What the pass cannot do without: bytes of inputs, and of what is written."""
        values = values_returned(self.op.profile, self.description["name"])
        return bytes_moved(self.description["buffers"], values, lambda b: self.tensors[b["name"]].nbytes)


def module_of(path):
    spec = importlib.util.spec_from_file_location("reference_" + str(abs(hash(path))), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Op:
    """Kernels of a workspace, for one element type. Without a GPU (`cuda` None) entries are chosen and nothing runs."""

    def __init__(self, cuda, workspace, name, dtype):
        home = os.path.join(workspace, "kernels", name)
        self.name, self.dtype, self.cuda = name, dtype, cuda
        self.folder = os.path.join(home, "act", "cuda")
        with open(os.path.join(self.folder, "manifest.json")) as file:
            self.manifest = json.load(file)
        with open(os.path.join(home, "profile.yaml")) as file:
            self.profile = file.read()
        reference = module_of(os.path.join(home, "reference.py"))
        self.reference = next(f for n, f in vars(reference).items() if callable(f) and n != "example_inputs")
        self.types = dict.fromkeys(self.manifest.get("types", {}), dtype)
        self.modules, self.cubins = {}, {}

    def entries_of(self, file):
        steps = [s for p in self.manifest["passes"] for s in p["steps"]]
        names = [e["symbol"] for s in steps for e in s.get("entries", []) if e["file"] == file]
        return list(dict.fromkeys(names))

    def function(self, file, symbol, shared):
        if symbol not in self.modules:
            self.modules[symbol] = self.cuda.load(self.cubins[file, symbol])
        function = self.cuda.function(self.modules[symbol], symbol)
        self.cuda.allow_shared(function, shared)
        return function

    def inputs(self, sizes, name="forward"):
        facts = Facts(sizes, {}, 1)
        out = {}
        for b in next(p for p in self.manifest["passes"] if p["name"] == name)["buffers"]:
            if b["role"] != "input":
                continue
            shape = [facts.value(s) for s in b["shape"]]
            dtype = DTYPES[dtype_of(b["type"], self.types)]
            if self.cuda:
                out[b["name"]] = torch.randn(shape, device="cuda").to(dtype)
            else:
                out[b["name"]] = torch.empty(shape, dtype=dtype, device="meta")
        return out

    def scalars(self):
        return {s["name"]: float(s["default"]) for s in self.manifest.get("scalars", [])}

    def prepared(self, sizes):
        """Inputs, forward and backward ready to run on them, and the cotangents by output."""
        given = self.inputs(sizes)
        forward = Pass(self, "forward").prepare(sizes, given)
        backward = Pass(self, "backward")
        known = dict(given) | forward.outputs
        cotangents, inputs, fresh = {}, {}, None
        for b in backward.description["buffers"]:
            if b["role"] != "input":
                continue
            if b["name"] in known and not b.get("gradient_of"):
                inputs[b["name"]] = known[b["name"]]
                continue
            fresh = fresh or self.inputs(sizes, "backward")
            inputs[b["name"]] = fresh[b["name"]]
            cotangents[b["gradient_of"]] = fresh[b["name"]]
        backward.prepare(sizes, inputs)
        return given, forward, backward, cotangents


def relative_error(got, want):
    got, want = got.double(), want.double()
    if not torch.isfinite(got).all():
        return float("nan")
    return ((got - want).norm() / want.norm().clamp_min(1e-30)).item()


ENOUGH = 8  # numbers of an output, for a comparison by norm


def compare(op, sizes):
    """Relative error by norm of each output and gradient against the reference in double: ours, and PyTorch's own. The
    draws are the same in every run. An output of few numbers is compared over several draws together: one number that
    is a sum may by chance be small beside what it is a sum of."""
    torch.manual_seed(0)
    draws = [results_of(op, sizes)]
    names = [name for name in draws[0][0] if draws[0][1].get(name) is not None]
    few = [name for name in names if draws[0][1][name].numel() < ENOUGH]
    for _ in range(ENOUGH - 1 if few else 0):
        draws.append([{name: results[name] for name in few} for results in results_of(op, sizes)])

    def joined(name):
        """Over all draws that have it: ours, the reference's in double, PyTorch's own."""
        having = [draw for draw in draws if name in draw[0]]
        return [torch.cat([draw[which][name].double().flatten() for draw in having]) for which in range(3)]

    errors = {}
    for name in names:
        ours, exact, own = joined(name)
        errors[name] = (relative_error(ours, exact), relative_error(own, exact))
    return errors


def results_of(op, sizes):
    """Outputs and gradients of one draw: ours, the reference's in double, and PyTorch's own."""
    given, forward, backward, cotangents = op.prepared(sizes)
    forward.run()
    backward.run()
    torch.cuda.synchronize()

    def reference(dtype):
        leaves = {
            n: (t.to(dtype) if dtype else t).detach().requires_grad_(t.is_floating_point()) for n, t in given.items()
        }
        outputs = op.reference(*leaves.values())
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        names = [b["name"] for b in forward.description["buffers"] if b["role"] == "output"]
        results = dict(zip(names, outputs))
        pairs = [(results[n], c.to(results[n].dtype)) for n, c in cotangents.items()]
        torch.autograd.backward([p[0] for p in pairs], [p[1] for p in pairs])
        return {n: t.detach() for n, t in results.items()} | {"grad_" + n: t.grad for n, t in leaves.items()}

    ours = dict(forward.outputs)
    for b in backward.description["buffers"]:
        if b["role"] == "output" and b.get("gradient_of"):
            ours["grad_" + b["gradient_of"]] = backward.outputs[b["name"]]
    return ours, reference(torch.float64), reference(None)
