"""What this machine's memory allows: its last-level cache, and the engine's own plain kernels (templates/measure/),
which move as many bytes as a pass must, in the same ratio."""

import ctypes
import functools
import glob
import math
import mmap
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FLAGS = (
    "-std=c++20 -O3 -march=native -fopenmp -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-thread-jumps "
    "-mprefer-vector-width=512 -fPIC -shared -w"
).split()  # as src/device/cpu/compiler.cpp has them

# A virtual machine may show a part of the cache, or none, where its cores fill all that the neighbours leave: not less
# than a core complex of a server has. It may also show the sum of a socket's caches, of which no core fills more than
# its own: not more than the largest of these, so that four times as much fits into memory with all that eager keeps.
LEAST_CACHE, MOST_CACHE = 32 << 20, 128 << 20


def shown_cache(folder="/sys/devices/system/cpu/cpu0/cache"):
    """Bytes of the first core's last level, as the system shows them; 0 where it does not."""
    units = {"K": 10, "M": 20, "G": 30}
    levels = {0: 0}
    for index in glob.glob(f"{folder}/index*"):
        try:
            level, kind, size = ((Path(index) / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size:
            levels[int(level)] = int(size.rstrip("KMG")) << units.get(size[-1], 0)
    return levels[max(levels)]


def last_level_cache(shown):
    return min(max(shown, LEAST_CACHE), MOST_CACHE)


def own_memory(torch, shape, dtype):
    """Zeros beside PyTorch's heap: what our kernels ask the system for there, its tensors do not inherit."""
    count = math.prod(shape)
    size = max(1, count) * torch.empty((), dtype=dtype).element_size()
    return torch.frombuffer(mmap.mmap(-1, size), dtype=dtype)[:count].reshape(shape).zero_()


class Plain:
    """The plain kernels, compiled as ours are."""

    def __init__(self, torch):
        self.torch = torch
        self.folder = tempfile.TemporaryDirectory()
        headers, out = Path(self.folder.name) / "kw", Path(self.folder.name) / "plain.so"
        headers.symlink_to(ROOT / "runtime" / "cpu")
        source = ROOT / "templates" / "measure" / "plain.cpp"
        subprocess.run(["g++", *FLAGS, "-I", self.folder.name, str(source), "-o", str(out)], check=True)
        self.library = ctypes.CDLL(str(out))

    def movers(self, read, written):
        """Functions that read and write so many bytes, past the cache and through it; the faster is the limit."""
        floats = [n // 4 for n in (read, written)]
        # A little more than is moved, as src/measure/plain.cpp has it.
        memory = [own_memory(self.torch, [n + 64], self.torch.float32) for n in floats]

        def move(function):
            function(*(ctypes.c_void_p(t.data_ptr()) for t in memory), *map(ctypes.c_int64, floats))

        names = ("plain_move", "plain_move_cached")
        return {name: functools.partial(move, self.library[name]) for name in names}
