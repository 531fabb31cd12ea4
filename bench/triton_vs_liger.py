"""Generated Triton kernels, first schedule, on this machine's GPU: right or wrong in every type, and their time beside
Liger's kernels for the same op.

    python3 bench/triton_vs_liger.py KERNELS LIGER OUT.md [--eval build/example_eval] [--rows NAME,…] [--sweep NAME,…]

KERNELS holds what `act_of triton examples/*.py` printed, one JSON object a line; LIGER is the src of its checkout.
Right: each pass of each example, at a usual and a ragged shape, lies within the bound of the rounded oracle (`--eval`;
without it nothing is compared). Time: the kernels alone by the profiler, the cache evicted before each call, and as
called (forward and backward by autograd, ours by a launcher of a few lines), the median. --sweep: kernels of these ops
that hold rows of 16384 and more also with other numbers of warps and stages than the formula's: what it leaves lying.
"""

import argparse
import concurrent.futures
import itertools
import json
import math
import multiprocessing
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import torch

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from kernelwright.manifest import Call, load_module  # noqa: E402

NAMES = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}
USUAL = {
    "rows": 37, "cols": 300, "batch": 3, "seq": 17, "hidden": 264, "intermediate": 90, "vocab": 370, "tokens": 26,
    "channels": 64, "height": 9, "width": 7,
}  # fmt: skip
RAGGED = {"rows": 131, "cols": 1025, "seq": 129, "hidden": 777, "tokens": 61, "batch": 2}

BF16, F32 = torch.bfloat16, torch.float32
# row of the table, example, sizes, type
ROWS = [
    ("relu_squared 8192x14336", "relu_squared", {"rows": 8192, "cols": 14336}, BF16),
    ("swiglu 8192x14336", "swiglu", {"batch": 4, "seq": 2048, "intermediate": 14336}, BF16),
    ("geglu 8192x14336", "geglu", {"batch": 4, "seq": 2048, "x_2": 28672}, BF16),
    ("rms_norm 8192x4096", "rms_norm_llama", {"batch": 4, "seq": 2048, "hidden": 4096}, BF16),
    ("rms_norm 8192x16384", "rms_norm_llama", {"batch": 4, "seq": 2048, "hidden": 16384}, BF16),
    ("fused_add_rms_norm 8192x4096", "fused_add_rms_norm", {"batch": 4, "seq": 2048, "hidden": 4096}, BF16),
    ("fused_add_rms_norm 8192x16384", "fused_add_rms_norm", {"batch": 4, "seq": 2048, "hidden": 16384}, BF16),
    ("layer_norm 8192x4096", "layer_norm", {"rows": 8192, "cols": 4096}, BF16),
    ("layer_norm 8192x16384", "layer_norm", {"rows": 8192, "cols": 16384}, BF16),
    ("softmax 8192x32768", "softmax", {"rows": 8192, "cols": 32768}, BF16),
    ("dyt 8192x4096", "dyt", {"batch": 4, "seq": 2048, "hidden": 4096}, BF16),
    ("poly_norm 8192x4096", "poly_norm", {"batch": 4, "seq": 2048, "hidden": 4096}, BF16),
    ("group_norm 64x512x4096", "group_norm", {"batch": 64, "channels": 512, "height": 64, "width": 64}, BF16),
    ("rms_norm 2048x16384 fp32", "rms_norm_llama", {"batch": 1, "seq": 2048, "hidden": 16384}, F32),
    ("fused_add_rms_norm 2048x8192 fp32", "fused_add_rms_norm", {"batch": 1, "seq": 2048, "hidden": 8192}, F32),
    ("fused_add_rms_norm 2048x16384 fp32", "fused_add_rms_norm", {"batch": 1, "seq": 2048, "hidden": 16384}, F32),
    ("layer_norm 2048x16384 fp32", "layer_norm", {"rows": 2048, "cols": 16384}, F32),
    ("softmax 4096x16384 fp32", "softmax", {"rows": 4096, "cols": 16384}, F32),
    ("softmax 4096x32768 fp32", "softmax", {"rows": 4096, "cols": 32768}, F32),
]


def read_kernels(path, folder):
    """name → what act gave, with its files in a folder."""
    kernels = {}
    for line in pathlib.Path(path).read_text().splitlines():
        answer = json.loads(line)
        if "refused" in answer:
            continue
        name = pathlib.Path(answer["path"]).stem
        answer["folder"] = pathlib.Path(folder) / name
        answer["folder"].mkdir(parents=True, exist_ok=True)
        for file, text in answer["files"].items():
            (answer["folder"] / file).write_text(text)
        for pass_name in ("forward", "backward"):
            (answer["folder"] / f"{pass_name}.math").write_text(answer.get(pass_name, ""))
        kernels[name] = answer
    return kernels


class Pass:
    """One pass at one shape: tensors, and launches that are ready."""

    def __init__(self, answer, name, sizes, dtype, known=(), scale=1.0):
        manifest = answer["manifest"]
        multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
        types = dict.fromkeys(manifest.get("types", {}), dtype)
        probe = Call.__new__(Call)
        probe.manifest, probe.sizes, probe.scalars, probe.tensors = manifest, sizes, {}, {}
        probe.multiprocessors, probe.types = multiprocessors, types
        buffers = next(p for p in manifest["passes"] if p["name"] == name)["buffers"]
        self.inputs = {}
        for buffer in (b for b in buffers if b["role"] == "input"):
            shape = [probe.size(n) for n in buffer["shape"]]
            fresh = torch.randn(shape, device="cuda") * scale
            if answer["name"] == "kl_div":
                fresh = torch.softmax(fresh, -1) if fresh.dim() else fresh
            value = dict(known).get(buffer["name"])
            self.inputs[buffer["name"]] = fresh.to(probe.dtype(buffer["type"])) if value is None else value
        self.call = Call(manifest, name, self.inputs, {}, multiprocessors, sizes, types)
        self.made = [b["name"] for b in buffers if b["role"] != "input" and "alias" not in b]
        self.shared = [(b["name"], b["alias"]) for b in buffers if "alias" in b]
        self.call.allocate("cuda")
        self.tensors = self.call.tensors
        self.plan = []
        for step in self.call.pass_["steps"]:
            entry = self.call.entry(step)
            module = load_module(answer["folder"] / entry["file"])
            positional, constants = self.call.arguments(entry)
            slots = [a["of"] if a["kind"] in ("read", "write", "update") else None for a in entry["arguments"]]
            slots = [s for s, a in zip(slots, entry["arguments"]) if a["kind"] != "constant"]
            options = {**constants, **self.call.options(entry)}
            self.plan.append((getattr(module, entry["symbol"]), self.call.grid(entry), positional, slots, options))

    def run(self):
        for kernel, grid, positional, _, options in self.plan:
            kernel[grid](*positional, **options)

    def launch(self, tensors):
        """As a launcher would: fresh outputs, then the kernels."""
        tensors = dict(tensors)
        for name in self.made:
            like = self.tensors[name]
            tensors[name] = torch.empty(like.shape, dtype=like.dtype, device="cuda")
        for name, same in self.shared:
            tensors[name] = tensors[same]
        for kernel, grid, positional, slots, options in self.plan:
            kernel[grid](*[tensors[s] if s else p for s, p in zip(slots, positional)], **options)
        return tensors


# ---- right or wrong ----
def array(tensor):
    return {"shape": list(tensor.shape), "values": [float(v) for v in tensor.detach().double().cpu().flatten()]}


def outside(answer, name, given, results, dtype, sizes, tool):
    """Elements beyond the oracle's bound."""
    text = answer[name]
    of_math = {n.replace(".", "_"): n for n in re.findall(r"[A-Za-z_][\w.]*", text)}
    # Names that kernels keep for themselves end in an underscore.
    of_math |= {n + "_": m for n, m in of_math.items() if n + "_" in given or n + "_" in results}
    of_kernel = {m: n for n, m in of_math.items() if n in results}
    call = {"inputs": {of_math[n]: array(t) for n, t in given.items()}, "sizes": dict(sizes)}
    types = [f"{parameter}={NAMES[dtype]}" for parameter in answer["manifest"].get("types", {})]
    command = [tool, answer["folder"] / f"{name}.math", "rounded", *types]
    finished = subprocess.run(command, input=json.dumps(call), capture_output=True, text=True, timeout=200)
    if finished.returncode:
        raise RuntimeError(finished.stderr[-300:])
    document, wrong, elements = json.loads(finished.stdout), 0, 0
    for output in document["names"]:
        want = document["outputs"][output]
        value = torch.tensor([float(v) for v in want["values"]], dtype=torch.float64).reshape(want["shape"])
        bound = torch.tensor([float(v) for v in want["bounds"]], dtype=torch.float64).reshape(want["shape"])
        ours = results[of_kernel[output]].double().cpu()
        same = (value == ours) | (value.isnan() & ours.isnan())
        wrong += int((~same & ~((value - ours).abs() <= bound)).sum())
        elements += ours.numel()
    return wrong, elements


def judge(job):
    """Both passes of an example in one type at one shape."""
    answer, dtype, shape, tool = job
    torch.manual_seed(7)
    try:
        sizes = {symbol: {**USUAL, **shape}.get(symbol, 18) for symbol in answer["manifest"]["sizes"]}
        forward = Pass(answer, "forward", sizes, dtype)
        forward.run()
        torch.cuda.synchronize()
        wrong, elements = outside(answer, "forward", forward.inputs, forward.tensors, dtype, sizes, tool)
        if "backward" in answer:
            backward = Pass(answer, "backward", sizes, dtype, known=forward.tensors)
            backward.run()
            torch.cuda.synchronize()
            more = outside(answer, "backward", backward.inputs, backward.tensors, dtype, sizes, tool)
            wrong, elements = wrong + more[0], elements + more[1]
        return f"{wrong} of {elements} outside"
    except Exception as error:
        return f"failed: {type(error).__name__}: {str(error).strip().splitlines()[-1][:160]}"


# ---- time ----
_stale = None


def kernel_ms(function, n=10):
    """Time of the function's kernels alone, per call, the cache evicted by reading before each."""
    from torch.profiler import ProfilerActivity, profile

    global _stale
    if _stale is None:
        _stale = torch.ones(2**25, dtype=torch.int32, device="cuda")
    for _ in range(3):
        function()
    torch.cuda.synchronize()

    def total(body):
        with profile(activities=[ProfilerActivity.CUDA]) as trace:
            for _ in range(n):
                body()
            torch.cuda.synchronize()
        return sum(e.self_device_time_total for e in trace.key_averages()) / n / 1e3

    def evicted():
        _stale.sum()
        function()

    return total(evicted) - total(lambda: _stale.sum())


def called_ms(function):
    from triton.testing import do_bench

    return do_bench(function, warmup=25, rep=80, return_mode="median")


def liger_function(row, tensors):
    """Liger's function for a row, and its inputs from ours."""
    import importlib

    def ops(module, name):
        return getattr(importlib.import_module("liger_kernel.ops." + module), name).apply

    t = {n: v.detach().flatten(0, -2) if v.dim() > 2 and "group" not in row else v.detach() for n, v in tensors.items()}
    name = row.split()[0]
    if name == "relu_squared":
        return ops(name, "LigerReLUSquaredFunction"), [t["x"]], []
    if name == "swiglu":
        return ops(name, "LigerSiLUMulFunction"), [t["gate"], t["up"]], []
    if name == "geglu":
        gate, up = (half.contiguous() for half in t["x"].chunk(2, -1))
        return ops(name, "LigerGELUMulFunction"), [gate, up], []
    if name == "rms_norm":
        return ops(name, "LigerRMSNormFunction"), [t["x"], t["weight"]], [1e-6, 0.0, "llama", False]
    if name == "fused_add_rms_norm":
        given = [v for n, v in t.items() if n != "weight"] + [t["weight"]]
        return ops(name, "LigerFusedAddRMSNormFunction"), given, [1e-6, 0.0, "llama", False]
    if name == "layer_norm":
        return ops(name, "LigerLayerNormFunction"), [t["x"], t["weight"], t["bias"]], [1e-6]
    if name == "softmax":
        return ops(name, "LigerSoftmaxFunction"), [t["x"]], []
    if name == "dyt":
        return ops(name, "LigerDyTFunction"), [t["x"], t["alpha"], t["weight"], t["bias"]], []
    if name == "poly_norm":
        return ops(name, "LigerPolyNormFunction"), [t["x"], t["weight"], t["bias"]], [1e-6, False]
    x = t["x"].flatten(2)
    return ops(name, "LigerGroupNormFunction"), [x, t["norm_weight"], t["norm_bias"]], [x.shape[1], 32, 1e-6]


def time_ours(answer, sizes, dtype):
    forward = Pass(answer, "forward", sizes, dtype)
    forward.run()
    backward = Pass(answer, "backward", sizes, dtype, known=forward.tensors)
    kernels = kernel_ms(forward.run), kernel_ms(backward.run)
    wanted = [name for name in backward.inputs]

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *tensors):
            results = forward.launch(zip(forward.inputs, tensors))
            ctx.save_for_backward(*[results[n] for n in wanted if n in results])
            return tuple(results[n] for n in outputs)

        @staticmethod
        def backward(ctx, *gradients):
            saved = dict(zip([n for n in wanted if n in forward.tensors], ctx.saved_tensors))
            saved |= dict(zip([n for n in wanted if n not in forward.tensors], gradients))
            results = backward.launch(saved)
            return tuple(results.get("grad_" + n) for n in forward.inputs)

    passes = {p["name"]: p for p in answer["manifest"]["passes"]}
    outputs = [b["name"] for b in passes["forward"]["buffers"] if b["role"] == "output"]
    inputs = [t.detach().requires_grad_() for t in forward.inputs.values()]
    gradients = [torch.randn_like(forward.tensors[n]) for n in outputs]
    called = called_ms(lambda: torch.autograd.grad(Function.apply(*inputs), inputs, gradients, allow_unused=True))
    return kernels, called, forward


def launched(one, options):
    """Time of a pass's first kernel with other options."""
    kernel, grid, positional, *_ = one.plan[0]
    try:
        return 1e3 * kernel_ms(lambda: kernel[grid](*positional, **options), n=6)
    except Exception:  # registers or shared memory do not suffice
        return math.inf


def row_length(sizes):
    return sizes.get("hidden", sizes.get("cols", 0))


def sweep(row, answer, sizes, dtype):
    """Rows of a table: the first kernel of each pass, where it holds whole rows, launched otherwise than the formula
    says."""
    length, lines = row_length(sizes), []
    forward = Pass(answer, "forward", sizes, dtype)
    forward.run()
    for name in ("forward", "backward"):
        one = Pass(answer, name, sizes, dtype, known={} if name == "forward" else forward.tensors)
        chosen = one.plan[0][-1]
        if length > chosen.get("BLOCK", 0):
            continue
        took = {}
        names = [k for k in ("num_warps", "STAGES") if k in chosen]
        for values in itertools.product(*([8, 16, 32], [1, 2, 3])[: len(names)]):
            took[values] = launched(one, chosen | dict(zip(names, values)))
        ours = tuple(chosen[k] for k in names)
        best = sorted(took, key=took.get)[:5]
        texts = [f"{' '.join(map(str, o))}: {took[o]:.0f}" for o in (ours, *best)]
        lines.append(f"| {row} {name} | {texts[0]} | {'; '.join(texts[1:])} |")
        print(lines[-1], flush=True)
    return lines


def time_liger(row, tensors):
    function, inputs, rest = liger_function(row, tensors)
    inputs = [t.contiguous().clone().requires_grad_() for t in inputs]

    def forward():
        out = function(*inputs, *rest)
        return out if isinstance(out, tuple) else (out,)

    gradients = [torch.randn_like(v) for v in forward()]
    full = lambda: torch.autograd.grad(forward(), inputs, gradients, allow_unused=True)  # noqa: E731
    ahead = kernel_ms(forward)
    return (ahead, kernel_ms(full) - ahead), called_ms(full)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels")
    parser.add_argument("liger")
    parser.add_argument("out")
    parser.add_argument("--eval")
    parser.add_argument("--rows")
    parser.add_argument("--sweep", default="")
    options = parser.parse_args()
    begin = time.monotonic()
    folder = tempfile.mkdtemp()
    kernels = read_kernels(options.kernels, folder)
    for name, answer in kernels.items():
        answer["name"] = name
    import triton

    lines = [f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Triton {triton.__version__}", ""]
    if options.eval:
        jobs = [(a, d, s, options.eval) for a in kernels.values() for d in NAMES for s in ({}, RAGGED)]
        spawn = multiprocessing.get_context("spawn")
        with concurrent.futures.ProcessPoolExecutor(14, mp_context=spawn) as pool:
            verdicts = list(pool.map(judge, jobs, chunksize=2))
        right = sum(v.startswith("0 of") for v in verdicts)
        lines += [f"right: {right} of {len(jobs)} (example, type, shape)", "", "```"]
        for (answer, dtype, shape, _), verdict in zip(jobs, verdicts):
            if not verdict.startswith("0 of"):
                lines.append(f"{answer['name']} {NAMES[dtype]} {'ragged' if shape else 'usual'}: {verdict}")
        lines += ["```", "", f"({time.monotonic() - begin:.0f} s)", ""]
        print("\n".join(lines), flush=True)
        pathlib.Path(options.out).write_text("\n".join(lines) + "\n")
    sys.path.insert(0, options.liger)
    lines += [
        "| op, shape, bf16 | ours: forward + backward = both, µs | Liger's | ratio | as called, µs | Liger's | ratio |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    ratios = []
    for row, name, sizes, dtype in ROWS:
        if options.rows and name not in options.rows.split(","):
            continue
        ours, called, forward = time_ours(kernels[name], sizes, dtype)
        text = f"| {row} | {1e3 * ours[0]:.0f} + {1e3 * ours[1]:.0f} = {1e3 * sum(ours):.0f} "
        try:
            theirs, theirs_called = time_liger(row, forward.inputs)
            ratio, called_ratio = sum(ours) / sum(theirs), called / theirs_called
            ratios.append((ratio, called_ratio))
            text += f"| {1e3 * theirs[0]:.0f} + {1e3 * theirs[1]:.0f} = {1e3 * sum(theirs):.0f} | {ratio:.2f} "
            text += f"| {1e3 * called:.0f} | {1e3 * theirs_called:.0f} | {called_ratio:.2f} |"
        except Exception as error:
            text += f"| {type(error).__name__}: {str(error)[:60]} | | {1e3 * called:.0f} | | |"
        lines.append(text)
        print(text, flush=True)
        del forward
        torch.cuda.empty_cache()
        pathlib.Path(options.out).write_text("\n".join(lines) + "\n")
    if ratios:
        means = [statistics.geometric_mean(column) for column in zip(*ratios)]
        lines += ["", f"Geometric mean of the ratios: {means[0]:.2f} kernels alone, {means[1]:.2f} as called."]
    head = ["", "| pass | as launched: warps, stages: µs | the fastest five |", "| --- | --- | --- |"]
    for row, name, sizes, dtype in ROWS:
        if name in options.sweep.split(",") and row_length(sizes) >= 16384:
            lines += head + sweep(row, kernels[name], sizes, dtype)
            head = []
            pathlib.Path(options.out).write_text("\n".join(lines) + "\n")
            torch.cuda.empty_cache()
    pathlib.Path(options.out).write_text("\n".join(lines) + "\n")
    print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
