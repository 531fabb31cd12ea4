"""Processor time that NVRTC takes for generated CUDA, which a busy machine does not change: each kernel by itself and
each file whole, of the golden files (or of FOLDER), bf16, without a GPU.

    .venv/bin/python bench/cuda_compile_ms.py [--architecture sm_90] [--ops NAME,…] [FOLDER]
"""

import argparse
import json
import os
import statistics
import tempfile
import time

from gpu_clock import OPTIONS, compile_unit, unit_of

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL = 'extern "C" __global__ void small(float* x) { x[threadIdx.x] = 1; }\n'


class Kernels:
    """What unit_of asks of an op."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "manifest.json")) as file:
            self.manifest = json.load(file)
        self.types = dict.fromkeys(self.manifest["types"], "bf16")

    def entries(self):
        """(file, symbol), each once."""
        steps = [s for p in self.manifest["passes"] for s in p["steps"]]
        return list(dict.fromkeys((e["file"], e["symbol"]) for s in steps for e in s.get("entries", [])))

    def entries_of(self, file):
        return [symbol for name, symbol in self.entries() if name == file]


def milliseconds(text, options):
    start = time.process_time()
    compile_unit(text, options)
    return 1e3 * (time.process_time() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", nargs="?", default=os.path.join(HERE, "..", "tests", "golden", "cuda"))
    parser.add_argument("--architecture", default="sm_90")
    parser.add_argument("--ops", default="")
    arguments = parser.parse_args()
    names = arguments.ops.split(",") if arguments.ops else sorted(os.listdir(arguments.folder))
    with tempfile.TemporaryDirectory() as headers:
        os.symlink(os.path.join(HERE, "..", "runtime", "cuda"), os.path.join(headers, "kw"))
        options = [*OPTIONS, f"--gpu-architecture={arguments.architecture}", f"-I{headers}"]
        milliseconds(SMALL, options)
        print(f"a kernel of one line: {min(milliseconds(SMALL, options) for _ in range(5)):.0f} ms\n")
        print("| op | kernels | ms each: least | median | most | sum | files whole |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        every = []
        for name in names:
            op = Kernels(os.path.join(arguments.folder, name))
            own = [*options, f"-I{op.folder}"]
            each = [milliseconds(unit_of(op, file, symbol), own) for file, symbol in op.entries()]
            files = dict.fromkeys(file for file, _ in op.entries())
            head = "".join(f"#define KW_{t} kw::bf16\n" for t in op.types)
            whole = sum(milliseconds(f'#include "kw/element.h"\n{head}#include "{f}"\n', own) for f in files)
            every += each
            figures = [min(each), statistics.median(each), max(each), sum(each), whole]
            print(f"| {name} | {len(each)} | " + " | ".join(f"{f:.0f}" for f in figures) + " |", flush=True)
        print(f"\n{len(every)} kernels: {statistics.median(every):.0f} ms each in the median, {max(every):.0f} at most")


if __name__ == "__main__":
    main()
