"""Generated CUDA kernels, first schedule, on this machine's GPU: right or wrong, and their share of the limit.

    python3 gpu_first_schedule.py KERNELS RUNTIME [--types bf16,f16,f32] [--rows NAME,…] [--dry]

KERNELS holds a folder per op (manifest.json, *.cu, reference.py), RUNTIME the headers that they include. Each pass is
compared with its reference in double at a small and a ragged shape, then timed at the table's shape: kernels alone, the
cache evicted before each call, beside a plain kernel that moves as many bytes in the same ratio, by the same clock.
"""

import argparse
import ctypes
import glob
import importlib.util
import json
import math
import os
import random
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import torch

DTYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i64": torch.int64,
    "i32": torch.int32,
    "bool": torch.bool,
}
SPELLED = {"bf16": "kw::bf16", "f16": "kw::f16", "f32": "float", "f64": "double"}

# name of the row, folder of the op, sizes; the first of them is the number of points.
ROWS = [
    ("relu_squared 8192x14336", "relu_squared", {"rows": 8192, "cols": 14336}),
    ("swiglu 8192x14336", "swiglu", {"batch": 4, "seq": 2048, "intermediate": 14336}),
    ("geglu 8192x14336", "geglu", {"batch": 4, "seq": 2048, "x_2": 28672}),
    ("rms_norm 8192x4096", "rms_norm_llama", {"batch": 4, "seq": 2048, "hidden": 4096}),
    ("rms_norm 8192x16384", "rms_norm_llama", {"batch": 4, "seq": 2048, "hidden": 16384}),
    ("fused_add_rms_norm 8192x4096", "fused_add_rms_norm", {"batch": 4, "seq": 2048, "hidden": 4096}),
    ("fused_add_rms_norm 8192x16384", "fused_add_rms_norm", {"batch": 4, "seq": 2048, "hidden": 16384}),
    ("layer_norm 8192x4096", "layer_norm", {"rows": 8192, "cols": 4096}),
    ("layer_norm 8192x16384", "layer_norm", {"rows": 8192, "cols": 16384}),
    ("softmax 8192x32768", "softmax", {"rows": 8192, "cols": 32768}),
    ("dyt 8192x4096", "dyt", {"batch": 4, "seq": 2048, "hidden": 4096}),
    ("poly_norm 8192x4096", "poly_norm", {"batch": 4, "seq": 2048, "hidden": 4096}),
    ("group_norm 64x512x4096", "group_norm", {"batch": 64, "channels": 512, "height": 64, "width": 64}),
]


def drawn_rows(seed, multiple):
    """One row for each op, at a shape that no one chose: any number of points, rows of any multiple of a length."""
    dice = random.Random(seed)
    length = lambda: ceil_div(round(2 ** dice.uniform(10, 15)), multiple) * multiple  # noqa: E731
    rows = []
    for _, folder, sizes in ROWS:
        if any(folder == known for _, known, _ in rows):
            continue
        drawn = {}
        for name in sizes:
            drawn[name] = {"batch": dice.randint(1, 8), "seq": dice.randint(500, 2500)}.get(name)
            if drawn[name] is None:
                drawn[name] = dice.randint(2000, 16000) if name == "rows" else length()
        if folder == "geglu":
            drawn["x_2"] += drawn["x_2"] % 2
        if folder == "group_norm":
            drawn = {"batch": dice.randint(16, 96), "channels": 32 * dice.randint(2, 24)}
            drawn |= {"height": dice.randint(20, 80), "width": dice.randint(20, 80)}
        rows.append((f"{folder} {'x'.join(str(n) for n in drawn.values())}", folder, drawn))
    return rows


# ---- expressions of a manifest ----
def ceil_div(a, b):
    return -(-a // b)


def next_pow2(a):
    return 1 if a <= 1 else 1 << (a - 1).bit_length()


class Facts:
    def __init__(self, sizes, tensors, multiprocessors):
        self.tensors = tensors
        self.names = dict(sizes)
        self.names.update(multiprocessors=multiprocessors, threads=1, min=min, max=max)
        self.names.update(ceil_div=ceil_div, next_pow2=next_pow2)
        for name in ("shape", "stride", "bytes", "numel", "dense", "packed", "unit", "aligned", "same_strides"):
            self.names[name] = getattr(self, name)
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

    def same_strides(self, x, y):
        return self.tensors[x].stride() == self.tensors[y].stride()


def dtype_of(text, types):
    order = ["bool", "i32", "i64"]
    parts = [types.get(p, p) for p in text.split("|")]
    if len(set(parts)) == 1:
        return parts[0]
    floats = [p for p in parts if p not in order]
    if "f64" in floats:
        return "f64"
    return floats[0] if len(set(floats)) == 1 else "f32"


# ---- compiler and driver ----
def check(code, what):
    if code:
        raise RuntimeError(f"{what}: error {code}")


class Cuda:
    def __init__(self, runtime):
        torch.zeros(1, device="cuda")
        self.driver = ctypes.CDLL("libcuda.so.1")
        folders = glob.glob("/usr/local/cuda*/lib64") + glob.glob("/usr/local/cuda*/targets/*/lib")
        folders += glob.glob(os.path.join(os.path.dirname(torch.__file__), "..", "nvidia", "*", "lib"))
        found = [f for d in folders for f in sorted(glob.glob(os.path.join(d, "libnvrtc.so.*")))]
        found = [f for f in found if "alt" not in f]
        builtins = [f for d in folders for f in glob.glob(os.path.join(d, "libnvrtc-builtins.so.*")) if "alt" not in f]
        for f in builtins[:1]:
            ctypes.CDLL(f, mode=ctypes.RTLD_GLOBAL)
        self.nvrtc = ctypes.CDLL(found[0])
        self.include = runtime
        major, minor = torch.cuda.get_device_capability()
        self.arch = f"sm_{major}{minor}"
        self.multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count

    def compile(self, source, name, defines=()):
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
        options = [f"-arch={self.arch}", f"-I{self.include}", "--std=c++20", "--ptxas-options=-v"]
        options = [o.encode() for o in options + [f"-D{d}" for d in defines]]
        code = self.nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        self.nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.nvrtc.nvrtcGetProgramLog(program, log)
        if code:
            raise RuntimeError(f"{name}: {log.value.decode()[:2000]}")
        self.nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        cubin = ctypes.create_string_buffer(size.value)
        self.nvrtc.nvrtcGetCUBIN(program, cubin)
        return cubin.raw, log.value.decode()

    def load(self, cubin):
        module = ctypes.c_void_p()
        check(self.driver.cuModuleLoadData(ctypes.byref(module), cubin), "cuModuleLoadData")
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        check(self.driver.cuModuleGetFunction(ctypes.byref(function), module, name.encode()), name)
        return function

    def allow_shared(self, function, shared):
        if shared > 32 * 1024:  # static shared memory counts too
            check(self.driver.cuFuncSetAttribute(function, 8, shared), "shared memory")

    def launch(self, function, grid, block, shared, values):
        if grid == 0:
            return
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        code = self.driver.cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared, stream, pointers, None)
        check(code, f"launch of {grid} x {block}, {shared} bytes")


NUMBERS = {"i32": ctypes.c_int, "i64": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double}
PLAIN = """
template <int kReads, int kWrites>
__device__ void move(const uint4* in, uint4* out, long n) {
  const long first = (long)blockIdx.x * blockDim.x * 4 + threadIdx.x;
  uint4 v[4];
  #pragma unroll
  for (int u = 0; u < 4; ++u) {
    const long i = first + u * blockDim.x;
    v[u] = make_uint4(0, 0, 0, 0);
    if (i < n)
      #pragma unroll
      for (int r = 0; r < kReads; ++r) {
        const uint4 x = __ldcs(in + r * n + i);
        v[u].x ^= x.x; v[u].y ^= x.y; v[u].z ^= x.z; v[u].w ^= x.w;
      }
  }
  #pragma unroll
  for (int u = 0; u < 4; ++u) {
    const long i = first + u * blockDim.x;
    if (i < n)
      #pragma unroll
      for (int w = 0; w < kWrites; ++w) __stcs(out + w * n + i, v[u]);
  }
}
#define MOVE(r, w) extern "C" __global__ void move_##r##_##w(const uint4* in, uint4* out, long n) \
  { move<r, w>(in, out, n); }
MOVE(1, 1) MOVE(2, 1) MOVE(3, 1) MOVE(1, 2) MOVE(2, 2) MOVE(3, 2) MOVE(4, 1) MOVE(2, 3) MOVE(4, 2) MOVE(1, 3)
extern "C" __global__ void evict(const uint4* in, unsigned* out, long n) {
  unsigned sum = 0;
  for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) sum += in[i].x;
  if (sum == 0x12345678u) *out = sum;
}
"""


class Pass:
    """One pass of an op, compiled for some types: prepared for tensors, then launched."""

    def __init__(self, cuda, folder, manifest, name, types, modules):
        self.cuda, self.manifest, self.types, self.modules = cuda, manifest, types, modules
        self.description = next(p for p in manifest["passes"] if p["name"] == name)

    def prepare(self, sizes, given, scalars):
        device = "cuda" if self.cuda else "meta"
        multiprocessors = self.cuda.multiprocessors if self.cuda else 132
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
        facts = Facts(sizes, tensors, multiprocessors)
        self.launches, self.chosen = [], []
        for step in self.description["steps"]:
            for entry in step["entries"]:
                if not all(facts.value(g) for g in entry.get("guards", [])):
                    continue
                values, fits = [], True
                for a in entry["arguments"]:
                    if a["kind"] in ("read", "write", "update"):
                        pointer = tensors[a["of"]].data_ptr() if self.cuda else 0
                        values.append(ctypes.c_void_p(pointer))
                        continue
                    if a["kind"] == "stride":
                        number = tensors[a["of"]].stride(a.get("dimension", 0))
                    elif a["kind"] == "size":
                        number = facts.value(a["of"])
                    else:
                        number = scalars[a["of"]]
                    kind = dtype_of(a["type"], self.types)
                    fits &= kind != "i32" or number < 2**31
                    values.append(NUMBERS[kind](number))
                if not fits:
                    continue
                launch = entry.get("launch", {})
                grid, block = facts.value(launch.get("grid", ["1"])[0]), facts.value(launch.get("block", ["1"])[0])
                shared = facts.value(launch.get("shared_bytes", "0"))
                function = None
                if self.cuda:
                    function = self.cuda.function(self.modules[entry["file"]], entry["symbol"])
                    self.cuda.allow_shared(function, shared)
                self.launches.append((function, grid, block, shared, values))
                self.chosen.append(f"{entry['symbol']}<{grid},{block},{shared}>")
                break
            else:
                raise RuntimeError(f"no entry of {step['entries'][0]['symbol']} serves")
        self.tensors = tensors
        return self

    def run(self):
        for launch in self.launches:
            self.cuda.launch(*launch)
        return self.outputs

    def bytes_moved(self):
        """Each input read once, each output written once; in units of the smallest large tensor."""
        moved = {"read": [], "write": []}
        for b in self.description["buffers"]:
            if b["role"] != "workspace":
                t = self.tensors[b["name"]]
                moved["read" if b["role"] == "input" else "write"].append(t.numel() * t.element_size())
        return moved["read"], moved["write"]


def module_of(path):
    spec = importlib.util.spec_from_file_location("reference_" + str(abs(hash(path))), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Op:
    def __init__(self, cuda, folder, types):
        self.folder = folder
        self.manifest = json.load(open(os.path.join(folder, "manifest.json")))
        reference = module_of(os.path.join(folder, "reference.py"))
        functions = [f for n, f in vars(reference).items() if callable(f) and n not in ("example_inputs", "torch")]
        self.reference = functions[0]
        self.types = {t: types for t in self.manifest.get("types", {})}
        self.cuda = cuda
        self.modules, self.logs, self.cubins = {}, {}, {}

    def sources(self):
        return sorted(glob.glob(os.path.join(self.folder, "*.cu")))

    def compile(self, path):
        defines = [f"KW_{t}={SPELLED[d]}" for t, d in self.types.items()]
        started = time.time()
        cubin, log = self.cuda.compile(open(path).read(), os.path.basename(path), defines)
        self.cubins[os.path.basename(path)] = (cubin, log, time.time() - started)

    def load(self):
        for name, (cubin, log, _) in self.cubins.items():
            self.modules[name] = self.cuda.load(cubin)
            self.logs[name] = log

    def inputs(self, sizes, name="forward", device="cuda"):
        facts = Facts(sizes, {}, 1)
        out = {}
        for b in next(p for p in self.manifest["passes"] if p["name"] == name)["buffers"]:
            if b["role"] == "input":
                shape = [facts.value(s) for s in b["shape"]]
                dtype = DTYPES[dtype_of(b["type"], self.types)]
                out[b["name"]] = (
                    torch.randn(shape, device=device).to(dtype)
                    if device != "meta"
                    else torch.empty(shape, dtype=dtype, device="meta")
                )
        return out

    def scalars(self):
        return {s["name"]: float(s["default"]) for s in self.manifest.get("scalars", [])}

    def prepared(self, sizes, device="cuda"):
        """Forward and backward, each ready to run on fresh inputs."""
        sizes = dict(sizes)
        scalars = self.scalars()
        given = self.inputs(sizes, device=device)
        forward = Pass(self.cuda, self.folder, self.manifest, "forward", self.types, self.modules)
        forward.prepare(sizes, given, scalars)
        if len(self.manifest["passes"]) < 2:
            return given, forward, None, {}
        backward = Pass(self.cuda, self.folder, self.manifest, "backward", self.types, self.modules)
        known = dict(given) | forward.outputs
        cotangents, back_inputs = {}, {}
        fresh = None
        for b in backward.description["buffers"]:
            if b["role"] != "input":
                continue
            if b["name"] in known and not b.get("gradient_of"):
                back_inputs[b["name"]] = known[b["name"]]
                continue
            fresh = fresh or self.inputs(sizes, "backward", device)
            back_inputs[b["name"]] = fresh[b["name"]]
            cotangents[b["gradient_of"]] = fresh[b["name"]]
        backward.prepare(sizes, back_inputs, scalars)
        return given, forward, backward, cotangents


def relative_error(got, want):
    got, want = got.double(), want.double()
    if not torch.isfinite(got).all():
        return float("nan")
    return ((got - want).norm() / want.norm().clamp_min(1e-30)).item()


def compare(op, sizes):
    """The largest relative error (by norm) of outputs and gradients against double, ours and PyTorch's own."""
    given, forward, backward, cotangents = op.prepared(sizes)
    forward.run()
    if backward:
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
        if backward:
            pairs = [(results[n], c.to(results[n].dtype)) for n, c in cotangents.items()]
            torch.autograd.backward([p[0] for p in pairs], [p[1] for p in pairs])
            results |= {"grad_" + n: t.grad for n, t in leaves.items()}
        return results

    exact, own = reference(torch.float64), reference(None)
    worst = {}
    ours = dict(forward.outputs)
    if backward:
        for b in backward.description["buffers"]:
            if b["role"] == "output" and b.get("gradient_of"):
                ours["grad_" + b["gradient_of"]] = backward.outputs[b["name"]]
    for name, value in ours.items():
        if name in exact and exact[name] is not None:
            worst[name] = (relative_error(value, exact[name]), relative_error(own[name], exact[name]))
    return worst


class Clock:
    def __init__(self, cuda):
        self.cuda = cuda
        cubin, _ = cuda.compile(PLAIN, "plain.cu")
        self.module = cuda.load(cubin)
        self.evict_function = cuda.function(self.module, "evict")
        self.trash = torch.zeros(256 << 20, dtype=torch.uint8, device="cuda")
        self.sink = torch.zeros(1, dtype=torch.int32, device="cuda")

    def evict(self):
        n = self.trash.numel() // 16
        values = [ctypes.c_void_p(self.trash.data_ptr()), ctypes.c_void_p(self.sink.data_ptr()), ctypes.c_int64(n)]
        self.cuda.launch(self.evict_function, 132 * 8, 256, 0, values)

    def plain(self, read, written):
        """A plain kernel that reads and writes as many bytes, in whole streams of one size."""
        unit = min([b for b in read + written if b * 4 >= max(read + written)])
        reads, writes = max(1, round(sum(read) / unit)), max(1, round(sum(written) / unit))
        total = sum(read) + sum(written)
        n = total // (reads + writes) // 16
        source = torch.randint(0, 255, (n * 16 * reads,), dtype=torch.uint8, device="cuda")
        target = torch.empty(n * 16 * writes, dtype=torch.uint8, device="cuda")
        function = self.cuda.function(self.module, f"move_{reads}_{writes}")
        values = [ctypes.c_void_p(source.data_ptr()), ctypes.c_void_p(target.data_ptr()), ctypes.c_int64(n)]
        keep = (source, target)
        return lambda: (keep, self.cuda.launch(function, ceil_div(n, 1024), 256, 0, values)), f"{reads}:{writes}"

    def times(self, runs, repeats):
        """Medians in ms, interleaved, each from an evicted cache."""
        samples = [[] for _ in runs]
        for r in range(repeats + 2):
            for i, run in enumerate(runs):
                start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                self.evict()
                start.record()
                run()
                stop.record()
                torch.cuda.synchronize()
                if r >= 2:
                    samples[i].append(start.elapsed_time(stop))
        return [statistics.median(s) for s in samples]


def small(sizes, ragged):
    out = dict(sizes)
    names = list(sizes)
    for n in names[:-1]:
        out[n] = min(out[n], 37 if ragged else 64)
    if "channels" in out:
        out.update(batch=3, channels=64, height=16 if not ragged else 7, width=16 if not ragged else 9)
    elif ragged:
        last = names[-1]
        out[last] = out[last] // 3 | 1
        if last == "x_2":
            out[last] = out[last] + 1
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kernels")
    parser.add_argument("runtime")
    parser.add_argument("--types", default="bf16,f16,f32")
    parser.add_argument("--rows", default="")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--dry", action="store_true", help="choose entries and launches without a GPU")
    parser.add_argument("--skip-check", action="store_true")
    parser.add_argument("--drawn", type=int, metavar="SEED", help="ten other shapes, drawn from a seed")
    parser.add_argument("--multiple", type=int, default=1, help="of which drawn lengths are multiples")
    arguments = parser.parse_args()
    types = arguments.types.split(",")
    table = ROWS if arguments.drawn is None else drawn_rows(arguments.drawn, arguments.multiple)
    rows = [r for r in table if os.path.exists(os.path.join(arguments.kernels, r[1], "manifest.json"))]
    if arguments.rows:
        rows = [r for r in rows if any(r[0].startswith(w) for w in arguments.rows.split(","))]
    cuda = None if arguments.dry else Cuda(arguments.runtime)
    ops = {(r[1], t): Op(cuda, os.path.join(arguments.kernels, r[1]), t) for r in rows for t in types}
    if arguments.dry:
        for row, folder, sizes in rows:
            for t in types:
                _, forward, backward, _ = ops[folder, t].prepared(sizes, "meta")
                print(row, t, forward.chosen, backward.chosen if backward else "")
        return
    started = time.time()
    with ThreadPoolExecutor(16) as pool:
        jobs = [pool.submit(op.compile, path) for op in ops.values() for path in op.sources()]
        for job in jobs:
            job.result()
    print(f"compiled {len(jobs)} files in {time.time() - started:.1f} s", flush=True)
    for (folder, t), op in ops.items():
        op.load()
        for name, log in op.logs.items():
            spills = [line for line in log.splitlines() if "spill" in line and " 0 bytes spill stores" not in line]
            if spills:
                print("SPILLS", folder, t, name, spills)
    if not arguments.skip_check:
        done = set()
        for row, folder, sizes in rows:
            for t in types:
                for ragged in (False, True):
                    shape = small(sizes, ragged)
                    key = (folder, t, tuple(shape.values()))
                    if key in done:
                        continue
                    done.add(key)
                    try:
                        worst = compare(ops[folder, t], shape)
                    except Exception as error:
                        print("ERROR", row, t, shape, str(error)[:500], flush=True)
                        continue
                    limit = {"bf16": 6e-3, "f16": 8e-4, "f32": 2e-6}[t]
                    wrong = {n: e for n, e in worst.items() if not e[0] <= max(limit, 1.5 * e[1])}
                    print(
                        "WRONG" if wrong else "right",
                        row,
                        t,
                        list(shape.values()),
                        {n: f"{a:.1e}/{b:.1e}" for n, (a, b) in (wrong or worst).items()},
                        flush=True,
                    )
    clock = Clock(cuda)
    shares = {}
    table = []
    for t in types:
        for row, folder, sizes in rows:
            try:
                given, forward, backward, cotangents = ops[folder, t].prepared(sizes)
                total = limit_total = 0
                parts = []
                for p in (forward, backward):
                    if p is None:
                        continue
                    read, written = p.bytes_moved()
                    plain, ratio = clock.plain(read, written)
                    ours, limit = clock.times([p.run, plain], arguments.repeats)
                    total, limit_total = total + ours, limit_total + limit
                    parts.append(f"{ours:.4f}/{limit:.4f}={100 * limit / ours:.0f}% ({ratio}) {' '.join(p.chosen)}")
                    del plain
                share = min(1.0, limit_total / total)
                shares[row, t] = share
                table.append((row, t, total, limit_total, share, parts))
                print(f"{row:32s} {t:5s} {total:.4f} ms, limit {limit_total:.4f}, share {100 * share:.0f}%", flush=True)
                for part in parts:
                    print("      ", part, flush=True)
                del given, forward, backward, cotangents
                torch.cuda.empty_cache()
            except Exception as error:
                print("ERROR", row, t, str(error)[:500], flush=True)
    for t in types:
        mine = [s for (_, kind), s in shares.items() if kind == t]
        if mine:
            mean = math.exp(sum(math.log(s) for s in mine) / len(mine))
            print(f"{t}: geometric mean {100 * mean:.1f}% over {len(mine)} rows, least {100 * min(mine):.0f}%")


if __name__ == "__main__":
    sys.exit(main())
