"""Two contributions to Liger, as published, measured again, and as kw writes them.

    python3 bench/liger_contributions.py THEIRS OURS

THEIRS is a checkout of Liger Kernel, OURS another from which relu_squared and fused_add_rms_norm were taken out and
into which `kw act NAME --into liger:OURS` put its own. The setup is that of Liger's own benchmark: M rows of a length,
one type, Triton's do_bench, the median. Published figures are those of benchmark/data/all_benchmark_data.csv in THEIRS.
"""

import csv
import json
import os
import pathlib
import subprocess
import sys

SETUPS = {"relu_squared": ("N", 4096, "bfloat16"), "fused_add_rms_norm": ("H", 2048, "float32")}
LENGTHS = (4096, 8192, 16384)
TORCH = {"relu_squared": "torch", "fused_add_rms_norm": "huggingface"}  # by the names of the CSV
LIGER = {"relu_squared": "liger", "fused_add_rms_norm": "liger_fused_add_rms_norm"}


def measure():
    """In a process that imports one checkout: ms of (op, pass, length), and of PyTorch."""
    import torch
    from liger_kernel.transformers import functional
    from triton.testing import do_bench

    def relu_squared(x):
        return torch.nn.functional.relu(x).square()

    def fused_add_rms_norm(x, residual, weight):
        total = x + residual
        wide = total.float()
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return weight * normed.to(x.dtype), total

    def liger_fused(x, residual, weight):
        return functional.liger_fused_add_rms_norm(x, residual, weight, 1e-6)

    def times(function, tensors):
        forward = do_bench(lambda: function(*tensors), rep=300, quantiles=[0.5])
        results = function(*tensors)
        results = results if isinstance(results, tuple) else (results,)
        given = [torch.randn_like(r) for r in results]

        def backward():
            torch.autograd.backward(results, given, retain_graph=True)

        return forward, do_bench(backward, grad_to_none=tensors, rep=300, quantiles=[0.5])

    ops = {
        "relu_squared": {"liger": functional.liger_relu_squared, "torch": relu_squared},
        "fused_add_rms_norm": {"liger": liger_fused, "torch": fused_add_rms_norm},
    }
    out = []
    for name, (_, rows, dtype) in SETUPS.items():
        for length in LENGTHS:
            kind = {"device": "cuda", "dtype": getattr(torch, dtype)}
            tensors = [torch.randn(rows, length, **kind, requires_grad=True)]
            if name == "fused_add_rms_norm":
                tensors.append(torch.randn(rows, length, **kind, requires_grad=True))
                tensors.append(torch.ones(length, **kind, requires_grad=True))
            for provider, function in ops[name].items():
                forward, backward = times(function, tensors)
                out += [[name, provider, "forward", length, forward], [name, provider, "backward", length, backward]]
    print(json.dumps(out))


def measured(checkout):
    environment = os.environ | {"PYTHONPATH": str(pathlib.Path(checkout) / "src")}
    command = [sys.executable, __file__, "--measure"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return {tuple(row[:4]): row[4] for row in json.loads(done.stdout.splitlines()[-1])}


def published(checkout):
    with open(pathlib.Path(checkout) / "benchmark/data/all_benchmark_data.csv") as file:
        rows = [r for r in csv.DictReader(file) if r["kernel_name"] in SETUPS and r["metric_name"] == "speed"]
    figures = {}
    for r in rows:
        for provider, names in (("liger", LIGER), ("torch", TORCH)):
            if r["kernel_provider"] == names[r["kernel_name"]] and r["x_name"] == SETUPS[r["kernel_name"]][0]:
                key = (r["kernel_name"], provider, r["kernel_operation_mode"], int(float(r["x_value"])))
                figures[key] = float(r["y_value_50"])
    return figures


def main(theirs, ours):
    past = published(theirs)
    again, new = measured(theirs), measured(ours)
    print(
        "| op, rows x length, type | pass | published, H100: PyTorch, Liger | again here: PyTorch, Liger | ours |",
        end="",
    )
    print(" gain: published | again | ours |")
    print("| --- | --- | --- | --- | --- | ---: | ---: | ---: |")
    for name, (_, rows, dtype) in SETUPS.items():
        for length in LENGTHS:
            for way in ("forward", "backward"):
                torch_past, liger_past = (past.get((name, p, way, length)) for p in ("torch", "liger"))
                torch_now, liger_now = (again[name, p, way, length] for p in ("torch", "liger"))
                mine = new[name, "liger", way, length]
                old = f"{torch_past:.3f}, {liger_past:.3f}" if torch_past and liger_past else "—"
                gain = f"{torch_past / liger_past:.2f}" if torch_past and liger_past else "—"
                print(
                    f"| {name} {rows}x{length} {dtype} | {way} | {old} | {torch_now:.3f}, {liger_now:.3f} |"
                    f" {mine:.3f} | {gain} | {torch_now / liger_now:.2f} | {torch_now / mine:.2f} |"
                )


if __name__ == "__main__":
    if sys.argv[1:] == ["--measure"]:
        measure()
    elif len(sys.argv) == 3:
        main(*sys.argv[1:])
    else:
        raise SystemExit(__doc__)
