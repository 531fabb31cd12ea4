"""Generated CPU kernels against PyTorch on the same cores: each example of tiers 1 and 2, forward and backward.

    python3 bench/cpu_vs_torch.py [--only silu,softmax] [--threads 2] [--clock wall|cpu] [--seconds 3] [--out FILE.json]
                                  [--as-called | --both] [--set wider=all]

Inputs have at least four times the last-level cache, and every pass moves as much. Kernel to kernel: our kernels write
into warm outputs, and PyTorch's allocator hands back the memory of the call before (malloc neither maps nor trims), so
that no one pays for fresh pages. Calls are interleaved, eager, torch.compile, ours, and a plain kernel that moves what
the pass must, until the interval of every median is narrow (median.py) or the seconds of a pass are spent, and fifteen
times at least; what is shown are the medians with their 95% confidence intervals, their ratios, the bytes that the pass
must move, and the share of the limit, which is the plain kernel's time. Where arithmetic takes longer than memory, the
limit is higher than that and so is the share: `kw verify` counts it too. The results of both are compared first. All
examples take about 20 minutes with --both, most of it for torch.compile's compiler and for eager's slowest passes.

With --as-called PyTorch's allocator is left as it is, and ours asks it for its outputs and workspaces in every call;
with --both every pass is timed so as well, in a process of its own: in one whose heap was kept warm, some calls would
find memory there that is mapped, and others would not.

Our kernels round every step as eager does; torch.compile keeps what lies between in float32. --set wider=all decides
that for ours too, as `kw set` does; any other decision can be set likewise.

On a machine that others use too, --threads 1 --clock cpu counts the time that the process had a core.
"""

import argparse
import ctypes
import importlib.util
import inspect
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KW = ROOT / os.environ.get("BUILD", "build") / "kw"
sys.path.insert(0, str(ROOT / "tools"))

from codegen_diff import EXAMPLES  # noqa: E402
from cpu_limit import FLAGS, Plain, last_level_cache, own_memory, shown_cache  # noqa: E402
from median import until_narrow  # noqa: E402
from pass_limit import bytes_moved, share_of, values_returned  # noqa: E402

SPELLED = {"bf16": "kw::bf16", "f16": "kw::f16", "f32": "float", "f64": "double"}


def keep_memory_warm():
    libc = ctypes.CDLL(None)
    m_trim_threshold, m_mmap_max = -1, -4
    libc.mallopt(m_mmap_max, 0)
    libc.mallopt(m_trim_threshold, 2**31 - 1)


# ---- the example as PyTorch runs it ----
class Example:
    """The example's function or module, and inputs for any number of what its first size counts: rows, or a batch."""

    def __init__(self, name, torch):
        self.torch = torch
        spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
        self.source = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.source)
        named = vars(self.source)
        self.op = next(
            value
            for key, value in named.items()
            if getattr(value, "__module__", None) == self.source.__name__
            and key not in ("get_inputs", "get_init_inputs")
        )
        self.first = next(key for key, value in named.items() if isinstance(value, int) and not key.startswith("__"))
        self.parameters = {}
        called = self.op
        torch.manual_seed(0)
        if inspect.isclass(self.op):
            self.op = self.op(*self.source.get_init_inputs())
            called = self.op.forward
            self.parameters = dict(self.op.named_parameters())
            with torch.no_grad():
                for parameter in self.parameters.values():
                    parameter.add_(0.1 * torch.randn_like(parameter))
        self.names = list(inspect.signature(called).parameters)

    def inputs(self, count):
        setattr(self.source, self.first, count)
        return dict(zip(self.names, self.source.get_inputs(), strict=False))

    def given(self, inputs):
        """Inputs and parameters as a manifest names them."""
        given = {key.replace(".", "_"): value for key, value in {**inputs, **self.parameters}.items()}
        return given | {key + "_": value for key, value in given.items()}  # where the plain name was taken

    def count_for(self, least, passes_of):
        """So many that the inputs, and each of the passes, have `least` bytes; `passes_of` gives those of the passes
        from inputs. The difference between two and one is what each adds: weights are in both."""

        def sizes(count):
            with self.torch.device("meta"):
                inputs = self.inputs(count)
            grown = sum(t.nbytes for t in inputs.values())
            return [grown, *passes_of(self.given(inputs))]

        one, two = sizes(1), sizes(2)
        growing = [(a, b) for a, b in zip(one, two, strict=True) if b > a]
        return max(1, *(1 + math.ceil((least - a) / (b - a)) for a, b in growing))


# ---- our kernels, by their manifest ----
def ceil_div(a, b):
    return -(-a // b)


class Kernels:
    def __init__(self, name, torch, decisions=()):
        self.torch = torch
        self.dtypes = {
            "bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64,
            "i64": torch.int64, "i32": torch.int32, "bool": torch.bool,
        }  # fmt: skip
        self.folder = tempfile.TemporaryDirectory()
        understand = ["understand", str(ROOT / "examples" / f"{name}.py"), "--name", name]
        decide = [["set", name, decision] for decision in decisions]
        for command in (understand, *decide, ["act", name, "--yes"]):
            subprocess.run([KW, *command, "--workspace", self.folder.name, "--quiet"], check=True, capture_output=True)
        kernel = Path(self.folder.name) / "kernels" / name
        self.act = kernel / "act" / "cpu"
        self.manifest = json.loads((self.act / "manifest.json").read_text())
        import yaml

        self.profile = (kernel / "profile.yaml").read_text()
        interface = yaml.safe_load(self.profile)["interface"]
        self.types = interface.get("types") or {}
        self.own_sizes = interface.get("sizes") or {}
        self.libraries = {}

    def dtype(self, text):
        names = [self.types.get(part, part) for part in text.split("|")]
        result = self.dtypes[names[0]]
        for other in names[1:]:
            result = self.torch.promote_types(result, self.dtypes[other])
        return result

    def library(self, file):
        if file not in self.libraries:
            out = self.act / (file + ".so")
            defines = [f"-DKW_{parameter}={SPELLED[dtype]}" for parameter, dtype in self.types.items()]
            command = ["g++", *FLAGS, *defines, "-include", "kw/element.h", "-I", ".", file, "-o", str(out)]
            subprocess.run(command, cwd=self.act, check=True)
            self.libraries[file] = ctypes.CDLL(str(out))
        return self.libraries[file]

    def sizes(self, run, given):
        """What the manifest's expressions are evaluated with, from the pass's inputs as far as they are there."""
        sizes = {"max": max, "min": min, "ceil_div": ceil_div, **self.own_sizes}
        for buffer in run["buffers"]:
            if buffer["role"] == "input" and buffer["name"] in given:
                for symbol, n in zip(buffer["shape"], given[buffer["name"]].shape, strict=True):
                    if symbol in self.manifest["sizes"]:
                        sizes[symbol] = n
        return sizes

    def bytes_moved(self, run, sizes):
        """What a pass cannot do without: bytes read, and bytes written."""

        def size_of(buffer):
            count = math.prod(eval(size, {}, sizes) for size in buffer["shape"])
            return count * self.dtype(buffer["type"]).itemsize

        return [sum(side) for side in bytes_moved(run["buffers"], values_returned(self.profile, run["name"]), size_of)]

    def prepare(self, pass_name, given, as_called=False):
        """A function that runs the pass on `given` (buffer name → tensor), and every buffer of it."""
        torch = self.torch
        run = next(p for p in self.manifest["passes"] if p["name"] == pass_name)
        sizes = self.sizes(run, given)
        buffers = {}
        for buffer in run["buffers"]:
            if buffer["role"] == "input":
                buffers[buffer["name"]] = given[buffer["name"]].detach().contiguous()
            else:
                shape = [eval(size, {}, sizes) for size in buffer["shape"]]
                buffers[buffer["name"]] = own_memory(torch, shape, self.dtype(buffer["type"]))
        defaults = {scalar["name"]: scalar.get("default") for scalar in self.manifest.get("scalars", [])}
        made = {b["name"] for b in run["buffers"] if b["role"] != "input"}
        calls, places = [], []  # places: the pointers of what a call makes
        for step in run["steps"]:
            entry = step["entries"][0]
            function = self.library(entry["file"])[entry["symbol"]]
            function.restype = None
            arguments = []
            for argument in entry["arguments"]:
                kind, of = argument["kind"], argument["of"]
                if kind in ("read", "write", "update"):
                    arguments.append(ctypes.c_void_p(buffers[of].data_ptr()))
                    if of in made:
                        places.append((arguments[-1], of))
                elif kind == "stride":
                    arguments.append(ctypes.c_int64(buffers[of].stride(argument["dimension"])))
                elif kind == "size":
                    arguments.append(ctypes.c_int64(eval(of, {}, sizes)))
                else:
                    dtype = self.dtype(argument["type"])
                    c_type = {torch.float32: ctypes.c_float, torch.float64: ctypes.c_double}.get(dtype, ctypes.c_int64)
                    text = defaults[of]
                    value = float(text) if c_type is not ctypes.c_int64 else int(text)
                    arguments.append(c_type(value))
            calls.append((function, arguments))

        def call():
            for function, arguments in calls:
                function(*arguments)

        def call_with_fresh_memory():
            fresh = {name: torch.empty_like(buffers[name]) for name in made}
            for pointer, name in places:
                pointer.value = fresh[name].data_ptr()
            call()
            return fresh

        return call_with_fresh_memory if as_called else call, buffers, run


# ---- timing ----
ROUND = 15  # calls of each: a few calls say nothing, however near they are to each other


def interleaved(functions, clock, **until):
    """The medians of each, by name; `until` says when there are enough calls."""
    for function in functions.values():
        for _ in range(2):
            function()
    order = list(functions)

    def take():
        times = {name: [] for name in functions}
        for _ in range(ROUND):
            random.shuffle(order)
            for name in order:
                start = clock()
                functions[name]()
                times[name].append(clock() - start)
        return times.values()

    return dict(zip(functions, until_narrow(take, len(functions), **until)))


def close(torch, ours, theirs):
    ours, theirs = ours.double().flatten(), theirs.double().flatten()
    scale = theirs.abs().mean().clamp_min(1e-30)
    return float((ours - theirs).abs().mean() / scale)


def bench(name, options, torch):
    kernels = Kernels(name, torch, options.decisions)
    example = Example(name, torch)
    passes = [p for p in kernels.manifest["passes"] if p["name"] == "forward" or not options.forward_only]

    def bytes_of_passes(given):
        sizes = kernels.sizes(passes[0], given)
        return [sum(kernels.bytes_moved(run, sizes)) for run in passes]

    inputs = example.inputs(example.count_for(options.megabytes << 20, bytes_of_passes))
    args = [tensor.requires_grad_(tensor.is_floating_point()) for tensor in inputs.values()]
    eager = example.op
    compiled = torch.compile(eager, dynamic=False) if options.compiled else None
    clock = time.process_time if options.clock == "cpu" else time.perf_counter
    identifier = example.given(inputs)
    rows = []

    call, buffers, run = kernels.prepare("forward", identifier)
    call()

    def record(ours, called, functions):
        """The times of one pass, beside what it moves."""
        read, written = kernels.bytes_moved(run, kernels.sizes(run, buffers))
        assert options.megabytes << 20 <= read + written, (run["name"], read, written)
        functions["ours"] = called() if options.as_called else ours
        if options.plain:  # memory that is new in every call has no limit of this kind
            movers = options.plain.movers(read, written)
            tried = interleaved(movers, clock, most=1)
            functions["limit"] = movers[min(movers, key=tried.get)]
        times = interleaved(functions, clock, most=math.inf, budget=options.seconds)
        row = {"pass": run["name"] + (", as called" if options.as_called else "")}
        row |= {"times": {name: (m, m.low, m.high, m.samples) for name, m in times.items()}}
        row |= {"error": error, "read": read, "written": written}
        if "limit" in times:
            row["share"] = share_of(times["limit"], times["ours"])
        rows.append(row)

    def forward(function):
        def timed():
            with torch.no_grad():
                return function(*args)

        return timed

    outputs = eager(*args)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    names = [buffer["name"] for buffer in run["buffers"] if buffer["role"] == "output"]
    error = max(close(torch, buffers[n], o.detach()) for n, o in zip(names, outputs, strict=False))
    functions = {"eager": forward(eager)}
    if compiled is not None:
        functions["compile"] = forward(compiled)
    record(call, lambda: kernels.prepare("forward", identifier, True)[0], functions)

    if any(p["name"] == "backward" for p in passes):
        given = dict(identifier)
        given.update({n: b for n, b in buffers.items() if n not in given})
        backward = next(p for p in kernels.manifest["passes"] if p["name"] == "backward")
        cotangents = [torch.randn_like(o) for o in outputs]
        of = dict(zip(names, cotangents, strict=False))
        for buffer in backward["buffers"]:
            if buffer["role"] == "input" and buffer.get("gradient_of"):
                given[buffer["name"]] = of[buffer["gradient_of"]]
        call, buffers, run = kernels.prepare("backward", given)
        call()
        wanted = {b["gradient_of"]: b["name"] for b in run["buffers"] if b["role"] == "output" and b.get("gradient_of")}
        leaves = [identifier[source] for source in wanted]

        def gradient(function):
            out = function(*args)
            out = out if isinstance(out, tuple) else (out,)

            def timed():
                return torch.autograd.grad(out, leaves, cotangents, retain_graph=True)

            return timed

        functions = {"eager": gradient(eager)}
        if compiled is not None:
            functions["compile"] = gradient(compiled)
        theirs = functions["eager"]()
        error = max(close(torch, buffers[n], t) for n, t in zip(wanted.values(), theirs, strict=True))
        record(call, lambda: kernels.prepare("backward", given, True)[0], functions)
    return rows


# ---- what is shown ----
PEERS = {"eager": "eager", "compile": "torch.compile"}
COLUMNS = ["pass", "MB", "GB/s", *(f"{who} ms" for who in (*PEERS.values(), "ours")), "limit ms", "share"]
COLUMNS += [*(f"times {who}" for who in PEERS.values()), "error"]
WIDTHS = [37, 5, 6, 26, 26, 26, 8, 5, 11, 19, 8]


def line_of(cells):
    return f"| {cells[0]:<{WIDTHS[0]}} | {' | '.join(f'{cell:>{n}}' for cell, n in zip(cells[1:], WIDTHS[1:]))} |"


def cells_of(row):
    times, moved = row["times"], row["read"] + row["written"]

    def with_interval(name):
        median, low, high = (1e3 * seconds for seconds in times[name][:3])
        return f"{median:.2f} ({low:.2f} to {high:.2f})"

    return [
        f"{row['example']} {row['pass']}",
        f"{moved / 1e6:.0f}",
        f"{moved / times['ours'][0] / 1e9:.1f}",
        *(with_interval(name) if name in times else "—" for name in (*PEERS, "ours")),
        f"{1e3 * times['limit'][0]:.2f}" if "limit" in times else "—",
        f"{100 * row['share']:.0f}%" if "share" in row else "—",
        *(f"{times[peer][0] / times['ours'][0]:.2f}" if peer in times else "—" for peer in PEERS),
        f"{row['error']:.1e}",
    ]


def conclusions(results, goal=1):
    """Means over all passes, and the passes that the means hide: those under the goal for a ratio."""
    rows = {f"{row['example']} {row['pass']}": row for row in results if "times" in row}
    lines = []
    for peer, who in PEERS.items():
        ratios = {
            name: row["times"][peer][0] / row["times"]["ours"][0] for name, row in rows.items() if peer in row["times"]
        }
        if not ratios:
            continue
        mean, least = math.exp(statistics.fmean(map(math.log, ratios.values()))), min(ratios, key=ratios.get)
        slower = [
            f"{name} {ratio:.2f}" for name, ratio in sorted(ratios.items(), key=lambda item: item[1]) if ratio < goal
        ]
        lines.append(
            f"- against {who}: geometric mean {mean:.2f} of {len(ratios)} passes, least {ratios[least]:.2f} ({least})"
        )
        by = "" if goal == 1 else " by more than 5%"
        lines.append(f"  slower than {who}{by}: {', '.join(slower) or 'none'}")
    shares = {name: row["share"] for name, row in rows.items() if "share" in row}
    if shares:
        mean, least = math.exp(statistics.fmean(map(math.log, shares.values()))), min(shares, key=shares.get)
        lines.append(
            f"- share of the limit: geometric mean {100 * mean:.0f}%, least {100 * shares[least]:.0f}% ({least})"
        )
    widths = [(t[2] - t[1]) / t[0] for row in rows.values() for t in row["times"].values()]
    if widths:
        lines.append(
            f"- intervals: {100 * statistics.median(widths):.1f}% wide in the median, {100 * max(widths):.0f}% at most"
        )
    problems = [row["example"] for row in results if "problem" in row]
    return lines + ([f"- not timed: {', '.join(problems)}"] if problems else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall")
    parser.add_argument("--seconds", type=float, default=3.0, help="for all calls of a pass, where intervals stay wide")
    parser.add_argument(
        "--megabytes", type=int, default=0, help="of inputs and passes, at least; 0: four last-level caches"
    )
    parser.add_argument("--as-called", action="store_true", help="with PyTorch's own allocation in every call")
    parser.add_argument("--both", action="store_true", help="kernel to kernel, then as called")
    parser.add_argument("--set", dest="decisions", action="append", default=[], metavar="ID=VALUE")
    parser.add_argument("--forward-only", action="store_true")
    parser.add_argument("--no-compile", dest="compiled", action="store_false")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    shown = shown_cache()
    options.megabytes = options.megabytes or 4 * last_level_cache(shown) >> 20
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if not options.as_called:
        keep_memory_warm()
    import torch

    torch.set_num_threads(options.threads)
    import torch._functorch.config

    torch._functorch.config.donated_buffer = False  # the backward runs more than once
    options.plain = None if options.as_called else Plain(torch)
    chosen = options.only.split(",") if options.only else EXAMPLES
    results = []
    print(f"last-level cache: {shown / 2**20:g} MiB; inputs and passes have {options.megabytes} MiB at least\n")
    print(line_of(COLUMNS))
    print("| --- |" + " ---: |" * (len(COLUMNS) - 1))
    for name in chosen:
        try:
            rows = bench(name, options, torch)
        except Exception as problem:  # one row's trouble is not the table's
            print(f"{name}: {type(problem).__name__}: {problem}", flush=True)
            results.append({"example": name, "problem": str(problem)})
            continue
        for row in rows:
            results.append({"example": name, **row})
            print(line_of(cells_of(results[-1])), flush=True)
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))
    print("\n" + "\n".join(conclusions(results, 1 / 1.05 if options.as_called else 1)), flush=True)
    if options.both:
        results += as_called_elsewhere()
        if options.out:
            options.out.write_text(json.dumps(results, indent=1))
    return int(any("problem" in row for row in results))


def as_called_elsewhere():
    """The same passes, as called, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "called.json"
        same = [argument for argument in sys.argv[1:] if argument != "--both"]
        subprocess.run([sys.executable, __file__, *same, "--as-called", "--out", str(out)], check=False)
        return json.loads(out.read_text())


if __name__ == "__main__":
    sys.exit(main())
