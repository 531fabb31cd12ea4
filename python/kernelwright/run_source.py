"""Runs a user's PyTorch source on given tensors, forward and backward: `kw verify` asks, and compares its oracle.

One request on stdin, one answer on stdout, both JSON:

    {"file": "source.py", "entry": "RMSNorm", "init": {"eps": "1e-6"}, "eval": false, "sizes": {"hidden": 24},
     "inputs": [{"name": "x", "kind": "tensor", "dtype": "bfloat16", "shape": [2, 24], "values": [...],
                 "gradient": true}, ...],
     "outputs": [{"name": "y", "cotangent": {...} or null, "updates": null}, ...]}
    {"outputs": {"y": {"dtype": ..., "shape": ..., "strides": ..., "values": ...}}, "gradients": {"x": {...}}}
    or   {"skip": "why"}

An input may say its "strides", in elements. With "time": {"device": "cpu", "threads": 8, "seconds": 0.5, "compile":
true} inputs have no values, and the answer is what each pass takes, eager and, where asked for, through torch.compile:

    {"eager": {"forward": {"seconds": [...], "bytes": 4096}, "backward": {...}}, "compiled": {...}}
    or, instead of "compiled",   "uncompiled": "why"

The bytes are the most that the pass holds at once beyond what was there when it began.

Whole numbers that the file assigns to names of sizes at its top take the request's sizes, so that a module that fixes
its sizes can be run small.
"""

import ast
import inspect
import json
import math
import sys
import time
import types


class Unable(Exception):
    """The source cannot be run like this; that says nothing about the kernel."""


def with_sizes(tree, sizes):
    def resized(target, value):
        known = isinstance(target, ast.Name) and target.id in sizes
        if known and isinstance(value, ast.Constant) and type(value.value) is int:
            return ast.copy_location(ast.Constant(sizes[target.id]), value)
        return value

    for statement in tree.body:
        if not isinstance(statement, ast.Assign):
            continue
        for target in statement.targets:
            if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                pairs = zip(target.elts, statement.value.elts, strict=False)
                statement.value.elts = [resized(t, v) for t, v in pairs]
            else:
                statement.value = resized(target, statement.value)
    return tree


def load(path, sizes):
    with open(path, encoding="utf-8") as file:
        tree = with_sizes(ast.parse(file.read(), path), sizes)
    module = types.ModuleType("source")
    module.__file__ = path
    sys.modules["source"] = module
    exec(compile(tree, path, "exec"), module.__dict__)
    return module


def entry_of(module, name):
    if name:
        return getattr(module, name)
    own = [
        value
        for key, value in vars(module).items()
        if getattr(value, "__module__", None) == "source" and key not in ("get_inputs", "get_init_inputs")
    ]
    if len(own) != 1:
        raise Unable(f"the file holds {len(own)} functions and classes, and none was named")
    return own[0]


def argument(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def values_of(document):
    return [float(value) for value in document["values"]]


def tensor_of(document, torch):
    dtype = getattr(torch, document["dtype"])
    if document["values"] is None:
        draw = torch.rand if dtype.is_floating_point else torch.zeros
        return (draw(document["shape"], device=document["device"]) + 0.5 * dtype.is_floating_point).to(dtype)
    flat = torch.tensor(values_of(document), dtype=torch.float64)
    return laid_out(flat.reshape(document["shape"]).to(dtype), document.get("strides"), torch)


def laid_out(dense, strides, torch):
    """The same tensor with these strides; stride 0 is one slice, seen many times."""
    if strides is None:
        return dense
    part = dense
    for d, stride in enumerate(strides):
        if stride == 0 and dense.shape[d] > 1:
            part = part.narrow(d, 0, 1)
    return torch.empty_strided(part.shape, strides, dtype=dense.dtype).copy_(part).expand(dense.shape)


def as_document(tensor):
    def number(value):
        return value if math.isfinite(value) else str(value)

    flat = tensor.detach().double().reshape(-1).tolist()
    return {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "strides": list(tensor.stride()),
        "values": [number(value) for value in flat],
    }


def built(entry, module, request, torch):
    if not inspect.isclass(entry):
        return entry
    given = {name: argument(text) for name, text in request["init"].items()}
    init = {name: value for name, value in given.items() if "." not in name}
    positional = module.get_init_inputs() if hasattr(module, "get_init_inputs") and not init else []
    bound = inspect.signature(entry).bind_partial(*positional, **init)
    for name, parameter in inspect.signature(entry).parameters.items():
        of = parameter.annotation
        if name in bound.arguments or parameter.default is not parameter.empty:
            continue
        if name in request["sizes"]:
            init[name] = request["sizes"][name]  # as it was read: a size of this name
        elif inspect.isclass(of) and of.__module__ == module.__name__:
            init[name] = of()  # a configuration that has defaults
    for name, value in given.items():
        owner, _, attribute = name.rpartition(".")
        if owner in init:
            setattr(init[owner], attribute, value)
    model = entry(*positional, **init).to(request.get("time", {}).get("device", "cpu"))
    model.train(not request["eval"])
    return model


def put(model, name, tensor, torch):
    """Replaces a parameter or buffer by one of the same shape."""
    owner, _, leaf = name.rpartition(".")
    owner = model.get_submodule(owner)
    old = getattr(owner, leaf)
    if list(old.shape) != list(tensor.shape):
        raise Unable(f"{name} has the shape {list(old.shape)} in the source and {list(tensor.shape)} in this call")
    setattr(owner, leaf, torch.nn.Parameter(tensor) if isinstance(old, torch.nn.Parameter) else tensor)


def run(request):
    import torch

    torch.manual_seed(0)
    module = load(request["file"], request["sizes"])
    model = built(entry_of(module, request["entry"]), module, request, torch)
    named, leaves = {}, {}
    for given in request["inputs"]:
        if given["kind"] == "scalar":
            continue
        given["device"] = request.get("time", {}).get("device", "cpu")
        tensor = tensor_of(given, torch)
        if given["gradient"]:
            tensor.requires_grad_()
        if given["kind"] == "tensor":
            named[given["name"]] = tensor
            leaves[given["name"]] = tensor
        else:
            put(model, given["name"], tensor, torch)
            owner, _, leaf = given["name"].rpartition(".")
            leaves[given["name"]] = getattr(model.get_submodule(owner), leaf)
    forward = model.forward if isinstance(model, torch.nn.Module) else model
    takes = list(inspect.signature(forward).parameters)
    missing = [name for name in named if name not in takes]
    if missing:
        raise Unable(f"the source has no argument {missing[0]}")
    if "time" in request:
        return timed(model, named, leaves, request, torch)
    results = model(**named)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    answer = {"outputs": {}, "gradients": {}}
    loss = []
    for output in request["outputs"]:
        if output["updates"]:
            owner, _, leaf = output["updates"].rpartition(".")
            tensor = getattr(model.get_submodule(owner), leaf)
        elif results:
            tensor = results.pop(0)
        else:
            raise Unable("the source returns fewer values than were read")
        if not isinstance(tensor, torch.Tensor):
            raise Unable(f"{output['name']} is no tensor")
        answer["outputs"][output["name"]] = as_document(tensor)
        if output["cotangent"] and tensor.requires_grad:
            loss.append((tensor, tensor_of(output["cotangent"], torch).to(tensor.dtype)))
    wanted = {given["name"]: leaves[given["name"]] for given in request["inputs"] if given["gradient"]}
    wanted = {name: leaf for name, leaf in wanted.items() if leaf.requires_grad}
    if loss and wanted:
        gradients = torch.autograd.grad(
            [tensor for tensor, _ in loss], list(wanted.values()), [d for _, d in loss], allow_unused=True
        )
        for name, gradient in zip(wanted, gradients, strict=True):
            if gradient is not None:
                answer["gradients"][name] = as_document(gradient)
    return answer


def timed(model, named, leaves, request, torch):
    """Seconds and memory of each pass: warm, with its own allocations."""
    if request["time"]["device"] == "cuda" and not torch.cuda.is_available():
        raise Unable("this PyTorch has no CUDA")
    torch.set_num_threads(request["time"]["threads"])
    answer = {}
    passes = {"eager": passes_of(model, named, leaves, torch)}
    if request["time"].get("compile"):
        try:
            passes["compiled"] = passes_of(torch.compile(model, dynamic=False), named, leaves, torch)
            for call in passes["compiled"].values():
                call()
        except Exception as error:  # no compiler, or a source that it cannot take
            passes.pop("compiled", None)
            answer["uncompiled"] = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
    for who, calls in passes.items():
        answer[who] = {name: {"seconds": [], "bytes": peak_bytes(call, request, torch)} for name, call in calls.items()}
    for name in passes["eager"]:
        calls = {who: calls[name] for who, calls in passes.items()}
        for who, seconds in samples(calls, request, torch).items():
            answer[who][name]["seconds"] = seconds
    return answer


def passes_of(model, named, leaves, torch):
    """The forward, and the backward of what it gave where there is one, each as a function."""
    calls = {"forward": lambda: model(**named)}
    results = calls["forward"]()
    results = [r for r in (results if isinstance(results, (tuple, list)) else [results]) if r.requires_grad]
    wanted = [leaf for leaf in leaves.values() if leaf.requires_grad]
    if results and wanted:
        cotangents = [torch.rand_like(result) for result in results]
        calls["backward"] = lambda: torch.autograd.grad(
            results, wanted, cotangents, retain_graph=True, allow_unused=True
        )
    return calls


def samples(calls, request, torch):
    """Seconds of each call, taken in turn."""
    gpu = request["time"]["device"] == "cuda"

    def once(call):
        if gpu:
            torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        if gpu:
            torch.cuda.synchronize()
        return time.perf_counter() - start

    for call in calls.values():
        once(call), once(call)
    out = {who: [] for who in calls}
    first = next(iter(out.values()))
    end = time.perf_counter() + request["time"]["seconds"] * len(calls)
    while len(first) < 3 or (time.perf_counter() < end and len(first) < 50):
        for who, call in calls.items():
            out[who].append(once(call))
    return out


def peak_bytes(call, request, torch):
    if request["time"]["device"] == "cuda":
        call()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        return torch.cuda.max_memory_allocated() - before
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        call()
    held = peak = 0
    for event in profile.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            peak = max(peak, held)
    return peak


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = run(request)
        except Exception as error:  # whatever the user's code raises
            answer = {"skip": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
