"""Times a user's PyTorch source on this machine, eager and through torch.compile: `kw worth` asks.

One request on stdin, one answer on stdout, both JSON:

    {"file": "source.py", "entry": "RMSNorm", "init": {}, "eval": false, "sizes": {"hidden": 4096}, "device": "cpu",
     "inputs": [{"name": "x", "kind": "tensor", "dtype": "bfloat16", "shape": [8192, 4096], "gradient": true}, ...],
     "evict_bytes": 67108864, "seconds": 4}
    {"torch": "2.13.0", "threads": 2, "eager": [0.012, ...], "compiled": [0.004, ...]}   or   {"skip": "why"}

A sample is one full pass as a training step has it: the forward, then the gradients of every input that has one. The
samples of both are taken in turn, each after a buffer was read that empties the cache. Where torch.compile fails,
"compiled" is missing and "uncompiled" says why.
"""

import json
import sys
import time

import run_source


def random_tensor(given, torch, device):
    dtype = getattr(torch, given["dtype"])
    if not dtype.is_floating_point:
        return torch.zeros(given["shape"], dtype=dtype, device=device)  # an index that every table has
    return torch.randn(given["shape"], device=device).to(dtype)


def model_and_inputs(request, torch):
    """The model, its arguments by name, and the leaves whose gradients are wanted."""
    device = request["device"]
    module = run_source.load(request["file"], request["sizes"])
    model = run_source.built(run_source.entry_of(module, request["entry"]), module, request, torch)
    if isinstance(model, torch.nn.Module):
        model.to(device)
    arguments, leaves = {}, []
    for given in request["inputs"]:
        if given["kind"] == "scalar":
            continue
        tensor = random_tensor(given, torch, device).requires_grad_(given["gradient"])
        if given["kind"] == "tensor":
            arguments[given["name"]] = tensor
        else:
            run_source.put(model, given["name"], tensor.detach(), torch)
            owner, _, leaf = given["name"].rpartition(".")
            tensor = getattr(model.get_submodule(owner), leaf)
        if given["gradient"]:
            leaves.append(tensor)
    return model, arguments, leaves


def full_pass(model, arguments, leaves, torch):
    """A function that runs one full pass."""

    def outputs():
        found = model(**arguments)
        found = found if isinstance(found, (tuple, list)) else [found]
        return [t for t in found if isinstance(t, torch.Tensor) and t.requires_grad] if leaves else found

    cotangents = [torch.randn_like(t) for t in outputs()] if leaves else []
    if not leaves:
        return outputs
    return lambda: torch.autograd.grad(outputs(), leaves, cotangents, allow_unused=True)


def clock(request, torch):
    """A function that times one call, in seconds, from an evicted cache."""
    cuda = request["device"] != "cpu"
    trash = torch.ones(max(1, request["evict_bytes"] // 4), device=request["device"])

    def once(call):
        trash.sum()
        if cuda:
            torch.cuda.synchronize()
        start = time.perf_counter()
        call()
        if cuda:
            torch.cuda.synchronize()
        return time.perf_counter() - start

    return once


def run(request):
    import torch

    torch.manual_seed(0)
    model, arguments, leaves = model_and_inputs(request, torch)
    calls = {"eager": full_pass(model, arguments, leaves, torch)}
    answer = {"torch": torch.__version__, "threads": torch.get_num_threads()}
    try:
        calls["compiled"] = full_pass(torch.compile(model, dynamic=False), arguments, leaves, torch)
        calls["compiled"]()
    except Exception as error:  # no compiler, or a source that it cannot take
        calls.pop("compiled", None)
        answer["uncompiled"] = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
    once = clock(request, torch)
    for call in calls.values():
        once(call)
    answer |= {name: [] for name in calls}
    end = time.perf_counter() + request["seconds"]
    while len(answer["eager"]) < 5 or (time.perf_counter() < end and len(answer["eager"]) < 200):
        for name, call in calls.items():
            answer[name].append(once(call))
    return answer


def main():
    for line in sys.stdin:
        try:
            answer = run(json.loads(line))
        except Exception as error:  # whatever the user's code raises
            answer = {"skip": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
