"""What it takes to build a package of kernels, step by step, with nothing cached.

    python bench/package_build.py OUT.md [--jobs 2] [--targets cpu,cuda] [OP ...]

Without ops, the ten of tiers 1 and 2 below. Every step's seconds of the processor are printed, since the clock of a
shared machine says nothing: half of them is the least that two idle cores can need.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
KW = ROOT / os.environ.get("BUILD", "build") / "kw"
TEN = "relu_squared swiglu geglu dyt softmax layer_norm rms_norm_llama fused_add_rms_norm group_norm jsd".split()

sys.path.insert(0, str(ROOT / "python"))

from kernelwright import build_backend  # noqa: E402


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def write_package(workspace, ops):
    silent = {"stdout": subprocess.DEVNULL}
    for op in ops:
        subprocess.run(
            [KW, "understand", ROOT / "examples" / f"{op}.py", "--quiet"], cwd=workspace, check=True, **silent
        )
    command = [KW, "act", *ops, "--into", "package:built_kernels", "--yes", "--quiet"]
    subprocess.run(command, cwd=workspace, check=True, **silent)
    return workspace / "built_kernels"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("ops", nargs="*", default=TEN)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--targets", default="cpu,cuda")
    parser.add_argument("--architectures", default="")
    arguments = parser.parse_args()
    steps = []
    os.environ["CCACHE_DISABLE"] = "1"
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        start, cpu = time.perf_counter(), processor_seconds()
        package = write_package(pathlib.Path(folder), arguments.ops)
        written, cpu_written = time.perf_counter() - start, processor_seconds() - cpu
        start, cpu = time.perf_counter(), processor_seconds()
        built = build_backend.build(
            package,
            arguments.targets.split(","),
            jobs=arguments.jobs,
            architectures=arguments.architectures.split(",") if arguments.architectures else None,
            timed=lambda *step: steps.append(step),
        )
        elapsed, spent = time.perf_counter() - start, processor_seconds() - cpu
        size = (package / "built_kernels" / "_ops.so").stat().st_size / 2**20
    kinds = {}
    for kind, _, seconds in steps:
        kinds.setdefault(kind, []).append(seconds)
    lines = [
        f"{len(arguments.ops)} ops: {', '.join(arguments.ops)}. {arguments.jobs} compilers at a time; `{built}`.",
        f"Load of the machine before: {load:.1f} on {os.cpu_count()} cores; after: {os.getloadavg()[0]:.1f}.",
        "",
        "| step | compilations | seconds of the processor |",
        "| --- | --- | --- |",
        f"| written by kw | {len(arguments.ops)} | {cpu_written:.1f} |",
        *(f"| {kind} | {len(seconds)} | {sum(seconds):.1f} |" for kind, seconds in kinds.items()),
        "",
        f"Built in {elapsed:.1f} s by the clock; {spent:.1f} s of the processor (link and interpreters included), half"
        f" of which, {spent / 2:.1f} s, is the least for two idle cores. Written in {written:.1f} s.",
        f"The library has {size:.1f} MiB.",
        "",
        "| file | seconds |",
        "| --- | --- |",
    ]
    files = {}
    for kind, file, seconds in steps:
        files[kind, file] = files.get((kind, file), 0) + seconds
    longest = sorted(files.items(), key=lambda item: -item[1])[:20]
    lines += [f"| {kind}: {file} | {seconds:.1f} |" for (kind, file), seconds in longest]
    arguments.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
