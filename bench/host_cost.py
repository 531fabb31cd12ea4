"""What a call of a packaged op costs the host, against PyTorch's own op in the same run, and what only a GPU can show
of a package: the current stream, graph capture, and every gate on the GPU.

    python bench/host_cost.py PACKAGE_FOLDER OUT.md

PACKAGE_FOLDER holds a package with rms_norm_llama, built on any machine. Tensors are small: the GPU never is the
bottleneck. Timings are interleaved, in batches of calls without synchronisation; the median batch is shown with the
middle half.

Without a GPU the cost is taken on the CPU, in seconds of the processor, with tensors so small that what a kernel
computes is nothing beside the call. PyTorch's own rms_norm is spelled out op by op there, so the measure is its
layer_norm: one op with a gradient in C++, as rms_norm is on a GPU.
"""

import argparse
import importlib
import pathlib
import platform
import re
import statistics
import sys
import time

import torch
import torch.nn.functional as F

BATCHES, CALLS = 60, 100
GPU = torch.cuda.is_available()
if not GPU:
    torch.set_num_threads(1)  # threads that wait would count


def batch(call):
    synchronize, clock = (torch.cuda.synchronize, time.perf_counter) if GPU else (lambda: None, time.process_time)
    synchronize()
    start = clock()
    for _ in range(CALLS):
        call()
    elapsed = clock() - start
    synchronize()
    return 1e6 * elapsed / CALLS


def interleaved(calls):
    """name → microseconds of each batch."""
    times = {name: [] for name in calls}
    for call in calls.values():
        batch(call)
    for i in range(BATCHES):
        names = list(calls)
        for name in names if i % 2 == 0 else reversed(names):
            times[name].append(batch(calls[name]))
    return times


def row(name, times, base):
    lower, middle, upper = (statistics.quantiles(times, n=4)[i] for i in range(3))
    return f"| {name} | {middle:.1f} | {lower:.1f} to {upper:.1f} | {middle / base:.2f} |"


class Nothing(torch.autograd.Function):
    """What a gradient in Python costs at the least."""

    @staticmethod
    def forward(ctx, x, w):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        return dy, None


def host_cost(package, shape):
    module = importlib.import_module(f"{package}.rms_norm_llama")
    norm = module.rms_norm_llama
    public = torch.ops.kw.rms_norm_llama.default
    kind = {"device": "cuda", "dtype": torch.bfloat16} if GPU else {"device": "cpu", "dtype": torch.float32}
    x, w = torch.randn(shape, **kind), torch.randn(shape[-1], **kind)
    dy = torch.randn_like(x)
    size = shape[-1:]
    torch.testing.assert_close(norm(x, w), F.rms_norm(x, size, w, 1e-6), atol=0.05, rtol=0.05)

    def own(x, w):
        return F.rms_norm(x, size, w, 1e-6) if GPU else F.layer_norm(x, size, w, None, 1e-6)

    own_name = f"PyTorch's own {'rms_norm' if GPU else 'layer_norm'}"
    with torch.no_grad():
        forward = interleaved(
            {
                own_name: lambda: own(x, w),
                "rms_norm_llama": lambda: norm(x, w),
                "the inner op alone": lambda: module._forward(x, w, 1e-6),
                "kw::rms_norm_llama, with its autograd formula": lambda: public(x, w, 1e-6),
                "torch.relu": lambda: torch.relu(x),
            }
        )
    xg, wg = x.clone().requires_grad_(), w.clone().requires_grad_()

    def both(call):
        def run():
            call().backward(dy)
            xg.grad = wg.grad = None

        return run

    full = interleaved(
        {
            own_name: both(lambda: own(xg, wg)),
            "rms_norm_llama": both(lambda: norm(xg, wg)),
            "rms_norm_llama, its gradient in Python": both(lambda: module._in_python(xg, wg)),
            "kw::rms_norm_llama, with its autograd formula": both(lambda: public(xg, wg, 1e-6)[0]),
            "an autograd.Function that does nothing": both(lambda: Nothing.apply(xg, wg)),
            "torch.relu": both(lambda: torch.relu(xg)),
        }
    )
    lines = [f"## Microseconds of the host per call, x {list(shape)} {'bf16' if GPU else 'f32, on the CPU'}", ""]
    for title, times in (("forward, no grad", forward), ("forward and backward", full)):
        base = statistics.median(times[own_name])
        lines += [f"| {title} | median | middle half | to PyTorch's own |", "| --- | --- | --- | --- |"]
        lines += [row(name, t, base) for name, t in times.items()]
        lines.append("")
    return lines


def current_stream(package):
    """Work on a side stream waits for what that stream waits for, and for nothing else."""
    module = importlib.import_module(f"{package}.rms_norm_llama")
    x = torch.zeros(4, 64, 4096, device="cuda", dtype=torch.bfloat16)
    w = torch.ones(4096, device="cuda", dtype=torch.bfloat16)
    new = torch.randn_like(x)
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)  # about a tenth of a second
        x.copy_(new)
        y = module.rms_norm_llama(x, w, strict=True)
    running = not side.query()
    torch.cuda.current_stream().synchronize()
    still = not side.query()  # the default stream had nothing to wait for
    side.synchronize()
    torch.testing.assert_close(y, module.reference(new, w), atol=0.05, rtol=0.05)
    assert running and still, "the side stream was not the one that was used"


def graph_capture(package):
    """Forward and backward are captured, and a replay computes from new values."""
    module = importlib.import_module(f"{package}.rms_norm_llama")
    x = torch.randn(2, 8, 512, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    w = torch.randn(512, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    dy = torch.randn(2, 8, 512, device="cuda", dtype=torch.bfloat16)

    def step():
        y = module.rms_norm_llama(x, w, strict=True)
        return (y, *torch.autograd.grad(y, (x, w), dy))

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = step()
    with torch.no_grad():
        x.normal_()
        w.normal_()
        dy.normal_()
    graph.replay()
    for a, e in zip(captured, step(), strict=True):
        assert torch.equal(a, e), "a replay differs from a call"


def own_device(package):
    """A tensor's own device, where there are two."""
    if torch.cuda.device_count() < 2:
        return "not tried: one GPU"
    module = importlib.import_module(f"{package}.rms_norm_llama")
    x = torch.randn(2, 8, 64, device="cuda:1")
    w = torch.randn(64, device="cuda:1")
    assert module.rms_norm_llama(x, w, strict=True).device == x.device
    torch.testing.assert_close(module.rms_norm_llama(x, w), module.reference(x, w))
    return None


def run_gates(folder, package):
    sys.path.insert(0, str(folder / "tests"))
    gates = importlib.import_module("gates")
    lines, failed = [], 0
    for test in sorted((folder / "tests").glob("test_*.py")):
        line = re.search(r"^SUBJECT = (.*?)\n\n", test.read_text(), re.S | re.M).group(1)
        subject = eval(line, {"gates": gates})
        for gate in gates.GATES:
            try:
                gate(subject)
            except Exception as error:  # every gate is tried
                failed += 1
                lines.append(f"- {subject.name}, {gate.__name__}: {type(error).__name__}: {str(error)[:300]}")
    return len(gates.GATES), failed, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    folder = arguments.package.resolve()
    sys.path.insert(0, str(folder))
    package = folder.name
    machine = torch.cuda.get_device_name() if GPU else "CPU"
    lines = [
        f"PyTorch {torch.__version__}, {machine}, Python {platform.python_version()}; the package",
        f"was built with: `{(folder / package / 'built.json').read_text().strip()}`".replace("\n", " "),
        "",
    ]
    try:
        for shape in ((1, 16, 256), (1, 4, 4096)) if GPU else ((1, 2, 64),):
            lines += host_cost(package, shape)
    except Exception as error:  # the rest is still worth knowing
        lines.append(f"host cost: {type(error).__name__}: {error}")
    if not GPU:
        arguments.out.write_text("\n".join(lines) + "\n")
        return print("\n".join(lines))
    lines += ["## On the GPU", ""]
    for check in (current_stream, graph_capture, own_device):
        try:
            said = check(package) or "holds"
        except Exception as error:
            said = f"FAILS: {type(error).__name__}: {str(error)[:300]}"
        lines.append(f"- {check.__name__.replace('_', ' ')}: {said}")
    arguments.out.write_text("\n".join(lines) + "\n")
    count, failed, said = run_gates(folder, package)
    ops = len(list((folder / "tests").glob("test_*.py")))
    lines.append(f"- gates: {ops} ops, {count} gates each, {failed} failures")
    lines += said
    arguments.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
