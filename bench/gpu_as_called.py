"""A package's ops as they are called from PyTorch, forward and backward, beside everyone else's, on this machine's GPU.

    python3 bench/gpu_as_called.py PACKAGE_FOLDER WORKSPACE [--liger FOLDER] [--rows NAME,…] [--repeats N]

PACKAGE_FOLDER holds a built package with the ops of the table, WORKSPACE the same ops (kernels/NAME/act/cuda), for
their shapes. Calls take turns, each from a cache that was evicted by reading; times are medians between two events, the
host's part included where the GPU waits for it, and of the kernels alone by the GPU's time stamps.
"""

import argparse
import importlib
import pathlib
import sys
import time

import torch
from gpu_clock import Clock, Cuda
from gpu_first_schedule import PEERS, ROWS, geometric_mean
from gpu_manifest import Op
from gpu_peers import Peer, liger_ops, peers_of


def ours_of(package, name, given):
    """The function of the package, whose arguments are the tensors in the manifest's order."""
    function = getattr(importlib.import_module(f"{package}.{name}"), name)
    inputs = [t.detach().clone().requires_grad_() for t in given.values()]
    return Peer("ours", lambda *tensors: function(*tensors, strict=True), inputs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("workspace")
    parser.add_argument("--liger", help="a folder that holds liger_kernel")
    parser.add_argument("--rows", default="", help="those that begin with one of these words")
    parser.add_argument("--repeats", type=int, default=101)
    arguments = parser.parse_args()
    package = arguments.package.resolve()
    sys.path.insert(0, str(package))
    name = next(p.parent.name for p in package.glob("*/record.json"))
    cuda = Cuda()
    clock = Clock(cuda)
    liger = liger_ops(arguments.liger) if arguments.liger else {}
    rows = [r for r in ROWS if r[0].startswith(tuple(arguments.rows.split(",")))]
    print(
        "| op, shape, bf16 | ours | " + " | ".join(PEERS) + " | ours to the fastest peer: as called | kernels alone |"
    )
    print("| --- | --- |" + " --- |" * len(PEERS) + " ---: | ---: |")
    ratios, slower = [], []
    for row, op_name, sizes in rows:
        started = time.time()
        given = Op(cuda, arguments.workspace, op_name, "bf16").inputs(sizes)
        ours = ours_of(name, op_name, given)
        ours.run()
        everyone = [ours, *peers_of(op_name, given, liger)]
        runs = [p.run for p in everyone]
        called, kernels = clock.times(runs, arguments.repeats), clock.kernel_times(runs, arguments.repeats)
        of = {p.name: (c, k) for p, c, k in zip(everyone, called, kernels)}
        cells = [f"{of[p][0]:.3f} [{of[p][1]:.3f}]" if p in of else "—" for p in ("ours", *PEERS)]
        best = [min(of[p][which] for p in PEERS if p in of) for which in (0, 1)]
        ratio = [of["ours"][which] / best[which] for which in (0, 1)]
        ratios.append(ratio)
        if ratio[0] > 1.05:
            slower.append(row)
        print(f"| {row} | {' | '.join(cells)} | {ratio[0]:.2f} | {ratio[1]:.2f} |", flush=True)
        print(f"# {row} in {time.time() - started:.1f} s", file=sys.stderr)
        del given, ours, everyone, runs
        torch.cuda.empty_cache()
    means = [geometric_mean(r[which] for r in ratios) for which in (0, 1)]
    print(f"\n- geometric mean of {len(ratios)} rows: as called {means[0]:.2f}, kernels alone {means[1]:.2f}")
    print("- slower than the fastest peer by over 5% as called: " + (", ".join(slower) or "none"))
    print(f"- {torch.cuda.get_device_name()}, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
