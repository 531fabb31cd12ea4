"""Compiler, driver and clock of the GPU benchmarks: NVRTC in processes of its own, the CUDA driver, and times of calls
that are interleaved and begin with an evicted cache."""

import ctypes
import functools
import gc
import glob
import os
import random
import statistics
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import torch
from gpu_manifest import ceil_div
from median import MOST, until_narrow
from torch.profiler import ProfilerActivity, profile

SPELLED = {"bf16": "kw::bf16", "f16": "kw::f16", "f32": "float", "f64": "double"}
# As src/device/cuda compiles.
OPTIONS = ["--std=c++20", "--fmad=true", "--generate-line-info", "--ptxas-options=-v"]

_nvrtc = None


def nvrtc():
    """The library, opened in this process."""
    global _nvrtc
    if _nvrtc is None:
        os.environ["CUDA_CACHE_DISABLE"] = "1"  # what comes out of NVRTC's own cache comes without a report
        folders = glob.glob("/usr/local/cuda*/lib64") + glob.glob("/usr/local/cuda*/targets/*/lib")
        folders += glob.glob(os.path.join(os.path.dirname(torch.__file__), "..", "nvidia", "*", "lib"))
        builtins = [f for d in folders for f in glob.glob(os.path.join(d, "libnvrtc-builtins.so.*")) if "alt" not in f]
        found = [f for d in folders for f in sorted(glob.glob(os.path.join(d, "libnvrtc.so.*"))) if "alt" not in f]
        ctypes.CDLL(builtins[0], mode=ctypes.RTLD_GLOBAL)
        _nvrtc = ctypes.CDLL(found[0])
    return _nvrtc


def compile_unit(text, options):
    """Cubin, log and seconds."""
    library, program, size = nvrtc(), ctypes.c_void_p(), ctypes.c_size_t()
    started = time.time()
    library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"unit.cu", 0, None, None)
    words = [o.encode() for o in options]
    code = library.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    if code:
        raise RuntimeError(log.value.decode()[:2000])
    library.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    library.nvrtcGetCUBIN(program, cubin)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw, log.value.decode(), time.time() - started


def unit_of(op, file, symbol):
    """One kernel of a file; the others are only declared."""
    text = '#include "kw/element.h"\n'
    text += "".join(f"#define KW_{name} {SPELLED[dtype]}\n" for name, dtype in op.types.items())
    for other in op.entries_of(file):
        if other != symbol:
            text += f"#define {other}(...) {other}(__VA_ARGS__); "
            text += f"template <int> __device__ void kw_unused_{other}(__VA_ARGS__)\n"
    return text + f'#include "{file}"\n'


def own_architecture():
    """Of the first GPU, without opening a context here (the compiler's processes are forked from this one)."""
    words = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"]
    return "sm_" + subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[0].replace(".", "")


def compile_all(wanted, architecture, processes):
    """Each (op, file, symbol) once, in parallel; cubins go to op.cubins. Before the GPU is opened."""
    started = time.time()
    spills, seconds = [], []
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        jobs = []
        for op, file, symbol in wanted:
            options = [*OPTIONS, f"--gpu-architecture={architecture}", f"-I{op.folder}"]
            jobs.append((op, file, symbol, pool.submit(compile_unit, unit_of(op, file, symbol), options)))
        for op, file, symbol, job in jobs:
            cubin, log, took = job.result()
            op.cubins[file, symbol] = cubin
            seconds.append(took)
            lines = [line for line in log.splitlines() if "spill" in line and " 0 bytes spill stores" not in line]
            spills += [f"{symbol} {op.dtype}: {line.strip()}" for line in lines]
    wall = time.time() - started
    print(
        f"compiled {len(jobs)} kernels in {wall:.1f} s on {processes} processes ({len(jobs) / wall:.0f} a second; "
        f"{1e3 * statistics.median(seconds):.0f} ms each in the median)",
        flush=True,
    )
    for line in spills:
        print("SPILLS", line, flush=True)


def check(code, what):
    if code:
        raise RuntimeError(f"{what}: error {code}")


class Cuda:
    def __init__(self):
        torch.zeros(1, device="cuda")
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.properties = torch.cuda.get_device_properties(0)
        self.multiprocessors = self.properties.multi_processor_count
        self.architecture = f"sm_{self.properties.major}{self.properties.minor}"

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


# The plain kernel has 16-byte vectors in flight in each thread, blocks of some threads, and loads and stores that are
# ordinary or marked as used once: the fastest of all these is the limit.
FLIGHTS, THREADS, HINTS = (1, 2, 4, 8), (256, 512, 1024), ("plain", "once")
PLAIN = """
#define plain_load(p) (*(p))
#define plain_store(p, v) (*(p) = (v))
#define once_load(p) __ldcs(p)
#define once_store(p, v) __stcs(p, v)
#define MOVE(kReads, kWrites, kFlight, hint) \\
extern "C" __global__ void move_##kFlight##_##hint(const uint4* in, uint4* out, long n) { \\
  const long first = (long)blockIdx.x * blockDim.x * kFlight + threadIdx.x; \\
  uint4 v[kFlight]; \\
  _Pragma("unroll") for (int u = 0; u < kFlight; ++u) { \\
    const long i = first + u * blockDim.x; \\
    v[u] = make_uint4(0, 0, 0, 0); \\
    if (i < n) \\
      _Pragma("unroll") for (int r = 0; r < kReads; ++r) { \\
        const uint4 x = hint##_load(in + r * n + i); \\
        v[u].x ^= x.x; v[u].y ^= x.y; v[u].z ^= x.z; v[u].w ^= x.w; \\
      } \\
  } \\
  _Pragma("unroll") for (int u = 0; u < kFlight; ++u) { \\
    const long i = first + u * blockDim.x; \\
    if (i < n) _Pragma("unroll") for (int w = 0; w < kWrites; ++w) hint##_store(out + w * n + i, v[u]); \\
  } \\
}
"""
EVICT = """
extern "C" __global__ void evict(const uint4* in, unsigned* out, long n) {
  unsigned sum = 0;
  for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) sum += in[i].x;
  if (sum == 0x12345678u) *out = sum;
}
"""


class Plain:
    """For each pass a plain kernel that reads and writes as many bytes, in whole streams of one size. The passes share
    their memory, as the passes of an op share its tensors."""

    def __init__(self, clock, passes):
        self.clock, self.shapes = clock, []
        for read, written in passes:
            unit = min(b for b in read + written if b * 4 >= max(read + written))
            reads, writes = max(1, round(sum(read) / unit)), max(1, round(sum(written) / unit))
            self.shapes.append((reads, writes, (sum(read) + sum(written)) // (reads + writes) // 16))
        source, target = (max(16 * s[2] * s[side] for s in self.shapes) for side in (0, 1))
        self.source = torch.randint(0, 255, (source,), dtype=torch.uint8, device="cuda")
        self.target = torch.empty(target, dtype=torch.uint8, device="cuda")
        self.variants = [self.fastest(shape) for shape in self.shapes]
        self.runs = [v[2] for v in self.variants]
        self.text = [f"{s[0]}:{s[1]} {v[1]}" for s, v in zip(self.shapes, self.variants)]

    def fastest(self, shape):
        reads, writes, n = shape
        module = self.clock.movers(reads, writes)
        pointers = [ctypes.c_void_p(self.source.data_ptr()), ctypes.c_void_p(self.target.data_ptr())]
        values = [*pointers, ctypes.c_int64(n)]
        names, runs = [], []
        for flight, hint in ((f, h) for f in FLIGHTS for h in HINTS):
            function = self.clock.cuda.function(module, f"move_{flight}_{hint}")
            for threads in THREADS:
                launch = (function, ceil_div(n, flight * threads), threads, 0, values)
                try:
                    self.clock.cuda.launch(*launch)
                except RuntimeError:  # too many registers for such a block
                    continue
                names.append(f"{flight}x{threads} {hint}")
                runs.append(functools.partial(self.clock.cuda.launch, *launch))
        return min(zip(self.clock.times(runs, 5, rounds=1), names, runs))  # a search: the winner is timed again


def is_work(event):
    """What the GPU did; the spans that PyTorch draws around its compiled graphs are no work."""
    kind = event.activity_type() if hasattr(event, "activity_type") else ""
    named = "annotation" in kind or event.name().startswith("##") or "CompiledF" in event.name()
    return "CUDA" in str(event.device_type()) and not named


class Turns:
    """In which order `count` things are called, another in every round, the same in every run."""

    def __init__(self, count):
        self.order, self.dice = list(range(count)), random.Random(count)

    def drawn(self):
        self.dice.shuffle(self.order)
        return self.order


class Clock:
    def __init__(self, cuda):
        self.cuda = cuda
        self.modules = {}
        cubin, _, _ = compile_unit(EVICT, [f"--gpu-architecture={cuda.architecture}"])
        self.module = cuda.load(cubin)
        self.evict_function = cuda.function(self.module, "evict")
        self.trash = torch.zeros(2 * cuda.properties.L2_cache_size, dtype=torch.uint8, device="cuda")
        self.sink = torch.zeros(1, dtype=torch.int32, device="cuda")

    def movers(self, reads, writes):
        """All plain kernels of a ratio."""
        if (reads, writes) not in self.modules:
            text = PLAIN + "".join(f"MOVE({reads}, {writes}, {f}, {h})\n" for f in FLIGHTS for h in HINTS)
            cubin, _, _ = compile_unit(text, [f"--gpu-architecture={self.cuda.architecture}"])
            self.modules[reads, writes] = self.cuda.load(cubin)
        return self.modules[reads, writes]

    def evict(self):
        n = self.trash.numel() // 16
        values = [ctypes.c_void_p(self.trash.data_ptr()), ctypes.c_void_p(self.sink.data_ptr()), ctypes.c_int64(n)]
        self.cuda.launch(self.evict_function, 8 * self.cuda.multiprocessors, 256, 0, values)

    def times(self, runs, repeats, rounds=MOST):
        """Medians in ms between two events: calls of all in turns that are drawn, queued without waiting, each from an
        evicted cache. What a call costs on the host shows where the GPU waits for it. `repeats` of each are a round,
        whose first fifth warms the host up."""
        first, turns = max(2, repeats // 5), Turns(len(runs))

        def take():
            samples = [[] for _ in runs]
            gc.collect()
            gc.disable()  # what one leaves behind is not collected while another is timed
            for r in range(repeats + first):
                for i in turns.drawn():
                    run = runs[i]
                    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    self.evict()
                    start.record()
                    run()
                    stop.record()
                    if r >= first:
                        samples[i].append((start, stop))
            torch.cuda.synchronize()
            gc.enable()
            return [[a.elapsed_time(b) for a, b in pairs] for pairs in samples]

        return until_narrow(take, len(runs), rounds)

    def kernel_times(self, runs, repeats):
        """Medians in ms of what the GPU itself did, by its own time stamps: the sum over all kernels, copies and fills
        of a call, in turns that are drawn, `repeats` of each in a round. The eviction before each call tells the calls
        apart."""
        for run in runs:
            run()
        torch.cuda.synchronize()
        turns = Turns(len(runs))

        def take():
            called = []
            with profile(activities=[ProfilerActivity.CUDA]) as prof:
                for _ in range(repeats):
                    for i in turns.drawn():
                        self.evict()
                        runs[i]()
                        called.append(i)
                torch.cuda.synchronize()
            events = [e for e in prof.profiler.kineto_results.events() if is_work(e)]
            events.sort(key=lambda e: e.start_ns())
            calls = []
            for event in events:
                if event.name() == "evict":
                    calls.append(0)
                elif calls:
                    calls[-1] += event.duration_ns()
            if len(calls) != len(called):
                raise RuntimeError(f"the profiler saw {len(calls)} calls of {len(called)}")
            samples = [[] for _ in runs]
            for i, nanoseconds in zip(called, calls):
                samples[i].append(nanoseconds / 1e6)
            return samples

        return until_narrow(take, len(runs))
