"""A worker that runs Triton kernels for the engine (src/device/triton): on the GPU, or, where there is none, in
Triton's interpreter. Requests come in by stdin, one line each, with the descriptor of the memory that holds the
buffers; answers leave by the former stdout, so that kernels may print. What a kernel does wrong ends this process, not
the engine."""

import ctypes
import importlib.util
import json
import mmap
import os
import resource
import signal
import socket
import struct
import sys
import time
import traceback

ON_GPU = "--gpu" in sys.argv
if not ON_GPU:
    os.environ["TRITON_INTERPRET"] = "1"

import torch  # noqa: E402

if not ON_GPU:
    from interpreter import round_as_a_gpu

    round_as_a_gpu()

_DTYPES = {
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
}
_PATTERNS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class Situation:
    """What runs at the moment, for who reports a fault."""

    channel = -1
    memory, size = 0, 0
    program, call = -1, -1


def send(answer):
    os.write(Situation.channel, (json.dumps(answer) + "\n").encode())


def send_signal(number, address=0, write=False):
    in_arena = Situation.memory <= address < Situation.memory + Situation.size
    send(
        {
            "signal": number,
            "address": address - Situation.memory if in_arena else address,
            "in_arena": int(in_arena),
            "write": int(write),
            "program": Situation.program,
            "call": Situation.call,
        }
    )
    os._exit(1)


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def report_fault(number, info, context):
    """Of a signal that the machine raised: the address lies in siginfo_t, the kind of access in the saved registers."""
    address = ctypes.c_uint64.from_address(info + 16).value
    error = ctypes.c_uint64.from_address(context + 40 + 19 * 8).value
    send_signal(number, address, bool(error & 2))


def watch_signals():
    # struct sigaction: handler, mask of 128 bytes, flags (SA_SIGINFO), restorer
    action = struct.pack("=Q128xi4xQ", ctypes.cast(report_fault, ctypes.c_void_p).value, 4, 0)
    for number in (signal.SIGSEGV, signal.SIGBUS):
        _libc.sigaction(int(number), action, None)
    signal.signal(signal.SIGALRM, lambda number, frame: send_signal(int(number)))


class Arena:
    """The shared memory: what lies between buffers cannot be touched, inputs cannot be written."""

    def __init__(self, descriptor, request):
        self.size = request["arena_bytes"]
        self.ranges = request.get("ranges", [])
        self.memory = _libc.mmap(None, self.size, 0, mmap.MAP_SHARED | 0x4000, descriptor, 0)
        os.close(descriptor)
        if self.memory in (None, ctypes.c_void_p(-1).value):
            raise OSError("the shared memory cannot be mapped")
        page = mmap.PAGESIZE
        for first, end, writable, *_ in self.ranges:
            first, end = first // page * page, -(-end // page) * page
            protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable or ON_GPU else 0)
            _libc.mprotect(self.memory + first, end - first, protection)
        Situation.memory, Situation.size = self.memory, self.size

    def bytes(self, first, end):
        """A tensor over a part of the memory."""
        return torch.frombuffer(
            (ctypes.c_uint8 * max(end - first, 1)).from_address(self.memory + first), dtype=torch.uint8
        )

    def close(self):
        Situation.memory = Situation.size = 0
        _libc.munmap(self.memory, self.size)


class CpuBuffers:
    """Kernels work on the shared memory itself."""

    def __init__(self, arena):
        self.arena = arena

    def at(self, offset, dtype):
        # The kernel has a pointer, not a shape: one element is enough to say where and of what type.
        return self.arena.bytes(offset, offset + dtype.itemsize).view(dtype)

    def elements(self, offset, count, dtype):
        return self.arena.bytes(offset, offset + count * dtype.itemsize)[: count * dtype.itemsize].view(dtype)

    def synchronize(self):
        pass

    def finish(self):
        return None


class GpuBuffers:
    """A copy of the memory on the GPU, whose gaps are looked at afterwards."""

    def __init__(self, arena):
        self.arena = arena
        self.mirror = torch.zeros(arena.size, dtype=torch.uint8, device="cuda")
        for first, end, *_ in arena.ranges:
            self.mirror[first:end].copy_(arena.bytes(first, end)[: end - first])

    def at(self, offset, dtype):
        return self.mirror[offset : offset + dtype.itemsize].view(dtype)

    def elements(self, offset, count, dtype):
        return self.mirror[offset : offset + count * dtype.itemsize].view(dtype)

    def synchronize(self):
        torch.cuda.synchronize()

    def finish(self):
        """What kernels wrote goes back; the first byte that none may write, and one did."""
        edge = 0
        for first, end, writable, *_ in [*self.arena.ranges, [self.arena.size, self.arena.size, True]]:
            gap = self.mirror[edge:first].nonzero()
            if gap.numel():
                return edge + int(gap[0])
            edge = end
            ours = self.arena.bytes(first, end)[: end - first]
            if writable:
                ours.copy_(self.mirror[first:end])
            else:
                wrong = (self.mirror[first:end].cpu() != ours).nonzero()
                if wrong.numel():
                    return first + int(wrong[0])
        return None


_modules = {}


def load(path, symbol):
    if path not in _modules:
        name = "kernels_" + str(len(_modules))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        _modules[path] = module
    return getattr(_modules[path], symbol)


def number(slot):
    kind, value = slot[0], slot[1]
    return struct.unpack("=d", struct.pack("=Q", value))[0] if kind == "r" else value


class Program:
    def __init__(self, calls, buffers):
        self.calls = [self.ready(call, buffers) for call in calls]

    @staticmethod
    def ready(call, buffers):
        if "fill" in call:
            offset, count, width, pattern = call["fill"]
            dtype = _PATTERNS[width]
            signed = pattern - (1 << 8 * width) if width > 1 and pattern >> (8 * width - 1) else pattern
            return lambda: buffers.elements(offset, count, dtype).fill_(signed)
        kernel = load(call["library"], call["symbol"])
        values = [buffers.at(slot[1], _DTYPES[slot[2]]) if slot[0] == "b" else number(slot) for slot in call["slots"]]
        grid = tuple(call["launch"][0])
        if 0 in grid:
            return lambda: None
        # Nothing is fused but what the text fuses: see manifest.py.
        options = dict(call["constants"], num_warps=call["warps"], enable_fp_fusion=False)
        return lambda: kernel[grid](*values, **options)

    def run(self, index):
        Situation.program = index
        for i, call in enumerate(self.calls):
            Situation.call = i
            call()
        Situation.program = Situation.call = -1


def timed(program, index, calls, buffers):
    if not ON_GPU:
        begin = time.perf_counter_ns()
        for _ in range(calls):
            program.run(index)
        return (time.perf_counter_ns() - begin) // calls
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(calls):
        program.run(index)
    end.record()
    buffers.synchronize()
    return int(start.elapsed_time(end) * 1e6) // calls


def sample(request, programs, before, buffers):
    samples = [[] for _ in programs]
    for _ in range(request["warm_up"]):
        for index, program in enumerate(programs):
            program.run(index)
    buffers.synchronize()
    begin = time.monotonic()
    for i in range(request["samples"]):
        if request["budget_ms"] and i and (time.monotonic() - begin) * 1000 > request["budget_ms"]:
            break
        order = range(len(programs)) if i % 2 == 0 else reversed(range(len(programs)))
        for index in order:
            if before:
                before.run(-2)
            samples[index].append(timed(programs[index], index, max(request["calls_per_sample"], 1), buffers))
    return samples


def private_memory():
    """Writable memory of this process, in bytes."""
    for line in open("/proc/self/status"):
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    return 0


def limit(request):
    if not ON_GPU:  # there a driver may allocate
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = private_memory() + request["memory"]
        if most != resource.RLIM_INFINITY:
            wanted = min(wanted, most)
        # Nobody here wrote code from outside: its limit is final.
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, wanted if request["from_outside"] else most))
    signal.setitimer(signal.ITIMER_REAL, request["time_ms"] / 1000)


def lift_limits():
    signal.setitimer(signal.ITIMER_REAL, 0)
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def run(request, arena):
    buffers = GpuBuffers(arena) if ON_GPU else CpuBuffers(arena)
    try:
        if not ON_GPU:  # what a module does as it is loaded is limited too
            limit(request)
        programs = [Program(program["calls"], buffers) for program in request.get("programs", [])]
        before = Program(request["before"]["calls"], buffers) if "before" in request else None
        limit(request)
        if request["timed"]:
            taken = sample(request, programs, before, buffers)
        else:
            taken = []
            for index, program in enumerate(programs):
                begin = time.perf_counter_ns()
                program.run(index)
                buffers.synchronize()
                taken.append([time.perf_counter_ns() - begin])
        lift_limits()
    except Exception as error:
        lift_limits()
        traceback.print_exc(file=sys.stderr)
        text = str(error).strip().splitlines()
        return {"error": f"{type(error).__name__}: {text[-1] if text else ''}"}
    answer = {"nanoseconds": taken}
    stray = buffers.finish()
    if stray is not None:
        answer["stray"] = stray
    return answer


def main():
    Situation.channel = os.dup(1)
    os.dup2(2, 1)
    watch_signals()
    line, descriptors = b"", []
    with socket.socket(fileno=os.dup(0)) as channel:
        while True:
            while b"\n" not in line:
                data, came, _, _ = socket.recv_fds(channel, 1 << 16, 4)
                if not data:
                    return
                line += data
                descriptors += came
            text, line = line.split(b"\n", 1)
            request = json.loads(text)
            arena = Arena(descriptors.pop(0), request)
            answer = run(request, arena)
            arena.close()
            send(answer)
            if request["last"]:
                return


if __name__ == "__main__":
    main()
