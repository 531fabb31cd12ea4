"""Builds a package of kernels: compiles its ops for the CPU with the system's compiler and for GPUs with NVRTC, and
packs a wheel. A package holds a copy of this file; pip calls it (PEP 517); `python build_backend.py` builds in place.

Needs PyTorch's headers (any version from the package's range), a C++20 compiler and, for GPUs, NVRTC: neither nvcc nor
a GPU. The result needs none of them."""

import argparse
import base64
import concurrent.futures
import ctypes
import ctypes.util
import hashlib
import importlib.util
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# As the kernels were verified: a*b + c is rounded twice, as it is written; on a GPU it may be rounded once.
CPU_FLAGS = ["-std=c++20", "-fopenmp", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fPIC"]
# Of what -O3 adds to -O2, these two make kernels faster; the rest doubles their code and the time that it takes. The
# last costs no speed: registers are given out once for a whole function, not for every loop.
CPU_LEVEL = {"g++": ["-O2", "-fvect-cost-model=dynamic", "-fversion-loops-for-strides", "-fira-region=one"]}
# What calls the kernels asks a few questions of each tensor: no more than this is gained by optimising it.
CALL_FLAGS = ["-std=c++20", "-O1", "-fPIC"]
CALLS_TOGETHER = 10  # ops of one file at least: a second of each file goes to what all of them include
CUDA_FLAGS = ["--std=c++20", "--fmad=true", "--no-source-include"]
TORCH_TARGET = "0x020b000000000000"  # the oldest PyTorch that the library loads on: 2.11
MARCH = "x86-64-v3"
OLDEST = 75  # the oldest GPU architecture that NVRTC compiles for


class BuildError(RuntimeError):
    """What keeps the package from being built, in a sentence."""


def torch_folder():
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise BuildError("PyTorch is not installed here: its headers are needed (pip: use --no-build-isolation)")
    return Path(spec.submodule_search_locations[0])


def torch_version():
    """Without importing it."""
    text = (torch_folder() / "version.py").read_text()
    return re.search(r"""^__version__ = ['"](.+)['"]""", text, re.M).group(1)


class Nvrtc:
    """NVIDIA's run-time compiler, from the toolkit or from PyTorch's own packages."""

    def __init__(self, wanted=None):
        self.library = self._open(wanted)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    @staticmethod
    def _open(wanted):
        folders = [Path(p) for p in sys.path if p]
        found = [wanted] if wanted else []
        for folder in folders:
            found += sorted(map(str, folder.glob("nvidia/*/lib/libnvrtc.so.*")), reverse=True)
        found += [ctypes.util.find_library("nvrtc"), "libnvrtc.so"]
        found += sorted(map(str, Path("/usr/local").glob("cuda*/lib64/libnvrtc.so")), reverse=True)
        for path in filter(None, found):
            # The compiler asks for its builtins by a name without a path, so they must be there before it.
            for builtins in sorted(Path(path).parent.glob("libnvrtc-builtins.so*")) if os.sep in path else []:
                if ".alt." not in builtins.name:
                    ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
            try:
                return ctypes.CDLL(path)
            except OSError:
                continue
        raise BuildError("there is no NVRTC: pip install nvidia-cuda-nvrtc, or build for the CPU alone (targets=cpu)")

    def compile(self, name, text, headers, options, wanted):
        """What is wanted of CUBIN (machine code) and PTX."""
        encoded = [(n.encode(), t.encode()) for n, t in headers.items()]
        program = ctypes.c_void_p()
        names = (ctypes.c_char_p * len(encoded))(*[n for n, _ in encoded])
        texts = (ctypes.c_char_p * len(encoded))(*[t for _, t in encoded])
        self.library.nvrtcCreateProgram(
            ctypes.byref(program), text.encode(), b"kernels_of_one_mixture.cu", len(encoded), texts, names
        )
        flags = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
        failed = self.library.nvrtcCompileProgram(program, len(options), flags)
        try:
            if failed:
                raise BuildError(f"{name} does not compile:\n{self._read(program, 'ProgramLog').decode()}")
            return [self._read(program, what) for what in wanted]
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def _read(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, buffer)
        return buffer.raw


def _length(path):
    return path.stat().st_size


_nvrtc = None


def _compile_images(task):
    """In a process of its own: NVRTC compiles one program at a time. The images, and the seconds that they took."""
    global _nvrtc
    name, text, headers, architecture, wanted = task
    start = time.process_time()
    _nvrtc = _nvrtc or Nvrtc()
    images = _nvrtc.compile(name, text, headers, [*CUDA_FLAGS, f"--gpu-architecture={architecture}"], wanted)
    return images, time.process_time() - start


def image_tasks(plan, source, architectures):
    """One for each file of kernels, mixture of types and architecture. PTX serves what is not named, from the oldest
    that is on: it is a step of compiling for that one, and costs nothing more."""
    headers = {}
    for path in sorted((source / "cuda").rglob("*")):
        if path.is_file():
            name = str(path.relative_to(source / "cuda"))
            headers[name] = path.read_text()
            if name.startswith("kw/"):
                headers.setdefault(name[3:], f'#include "{name}"\n')
    tasks = []
    for op in plan["ops"]:
        for file in op["images"]:
            for mixture in file["mixtures"]:
                defines = "".join(f"#define {macro} {type_}\n" for macro, type_ in mixture.items())
                text = f'#include "kw/element.h"\n{defines}#include "{file["file"]}"\n'
                needed = {n: t for n, t in headers.items() if n.endswith(".h") or n == file["file"]}
                for architecture in architectures:
                    wanted = ["CUBIN", "PTX"] if architecture == architectures[0] else ["CUBIN"]
                    tasks.append((file["file"], text, needed, architecture, wanted))
    return tasks


def image_targets(architectures):
    """What the images of a mixture are: the number of each architecture, and whether it is PTX."""
    numbers = [number_of(architecture) for architecture in architectures]
    return [(numbers[0], False), (numbers[0], True), *((number, False) for number in numbers[1:])] if numbers else []


def number_of(architecture):
    """90 of sm_90."""
    number = architecture.removeprefix("sm_")
    if not architecture.startswith("sm_") or not number.isdigit() or int(number) < OLDEST:
        raise BuildError(f"'{architecture}' is no architecture to build for: sm_{OLDEST} or later, as in sm_80,sm_90")
    return int(number)


def write_images(plan, targets, images, folder):
    """The images in one file, and a C++ file that says where each begins."""
    with open(folder / "images.bin", "wb") as blob:
        offsets = []
        for image in images:
            blob.write(b"\0" * (-blob.tell() % 64))
            offsets.append(blob.tell())
            blob.write(image + b"\0")
    lines = [
        '#include "kw_torch/gpu.h"',
        'asm(".section .rodata\\n.balign 64\\n.global kw_blob\\n.hidden kw_blob\\nkw_blob:\\n'
        f'.incbin \\"{folder / "images.bin"}\\"\\n.previous");',
        'extern "C" const char kw_blob[];',
    ]
    offset = iter(offsets)
    for op in plan["ops"]:
        for file in op["images"]:
            count = len(file["mixtures"])
            lines.append(f"extern const kw_torch::Image {file['name']}[{count}][{len(targets)}];")
            lines.append(f"const kw_torch::Image {file['name']}[{count}][{len(targets)}] = {{")
            for _ in range(count):
                row = [f"{{{number}, {str(ptx).lower()}, kw_blob + {next(offset)}}}" for number, ptx in targets]
                lines.append("    {" + ", ".join(row) + "},")
            lines.append("};")
    (folder / "images.cpp").write_text("\n".join(lines) + "\n")


def write_calls(files, folder, jobs):
    """What calls the kernels, several ops to a file, which take about as long; no more files than are compiled at a
    time."""
    units = [[] for _ in range(max(1, min(jobs, len(files) // CALLS_TOGETHER)))]
    for file in sorted(files, key=_length, reverse=True):
        min(units, key=lambda unit: sum(map(_length, unit))).append(file)
    paths = []
    for i, unit in enumerate(units):
        paths.append(folder / f"calls_{i}.cpp")
        paths[-1].write_text("".join(f'#include "{file}"\n' for file in unit))
    return paths


def compile_cpp(compiler, source, output, flags):
    """Returns the seconds of the processor that it took."""
    command = [compiler, *flags, "-w", "-fvisibility=hidden", "-c", str(source), "-o", str(output)]
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        if process.returncode != 0:
            raise BuildError(f"{source.name} does not compile:\n{said.read(4000)}")
    return usage.ru_utime + usage.ru_stime


def build_gradients(compiler, source, output, torch):
    """The gradients in C++, for the PyTorch that is here alone: under another one they are taken in Python. Returns the
    seconds that they took, or None where this PyTorch is one that they were not written for."""
    unit = output.with_suffix(".o")
    # Nearly all of the time is PyTorch's headers, which are shorter in C++17; for a tenth of it g++ would look for
    # memory to use again.
    flags = [*CALL_FLAGS, "-std=c++17", "-DAT_PER_OPERATOR_HEADERS", "-isystem", str(torch / "include")]
    flags += ["--param", "ggc-min-heapsize=1000000"] if Path(compiler).name == "g++" else []
    try:
        seconds = compile_cpp(compiler, source / "torch/kw_torch/gradient.cpp", unit, flags)
        link(compiler, [unit], output, torch, ["-lc10"])
    except BuildError as error:
        print(f"the gradients are left to Python: {error}", file=sys.stderr)
        return None
    return seconds


def link(compiler, objects, library, torch, options):
    command = [compiler, "-shared", *map(str, objects), "-o", str(library), "-L", str(torch / "lib"), "-ltorch_cpu"]
    done = subprocess.run([*command, *options, "-s", "-Wl,--exclude-libs,ALL"], capture_output=True, text=True)
    if done.returncode != 0:
        raise BuildError(f"the library does not link:\n{done.stderr[:4000]}")


def build(root=HERE, targets=None, march=MARCH, jobs=None, architectures=None, timed=None):
    """Compiles the package's library into it; returns what it was built with. `timed` is called with each step's kind,
    file and seconds of the processor."""
    root = Path(root).resolve()  # included by its name from a file of the build folder
    plan = json.loads((root / "csrc" / "build.json").read_text())
    source, folder = root / "csrc", root / "build"
    gpu = (targets is None or "cuda" in targets) and any(op["images"] for op in plan["ops"])
    architectures = sorted(set(architectures or plan["architectures"]), key=number_of) if gpu else []
    torch = torch_folder()
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise BuildError("there is no C++ compiler: apt-get install g++")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    jobs = jobs or os.cpu_count() or 1
    library = root / plan["package"] / plan["library"]
    image_kinds = image_targets(architectures)
    flags = [f"-march={march}", f"-DTORCH_TARGET_VERSION={TORCH_TARGET}", f"-DKW_IMAGES={len(image_kinds)}"]
    flags += ["-I", str(source / "cpu"), "-I", str(source / "torch"), "-isystem", str(torch / "include")]
    built = {"march": march, "compiler": Path(compiler).name, "nvrtc": None, "architectures": architectures}
    built["gradients"] = None
    built["ptx"] = f"compute_{image_kinds[0][0]}" if gpu else None
    note = timed or (lambda *_: None)

    cpu_flags = [*CPU_FLAGS, *CPU_LEVEL.get(Path(compiler).name, ["-O3"])]

    def cpp(kind, unit, level):
        output = folder / (unit.name.removesuffix(".cpp") + ".o")
        note(kind, unit.name, compile_cpp(compiler, unit, output, [*level, *flags]))

    def gradients():
        (folder / "gradients").mkdir()
        output = library.with_name("_gradients.so")
        output.unlink(missing_ok=True)
        seconds = build_gradients(compiler, source, folder / "gradients" / output.name, torch)
        if seconds is not None:
            shutil.move(folder / "gradients" / output.name, output)
            note("gradients", "gradient.cpp", seconds)
            built["gradients"] = torch_version()

    # A fresh interpreter for each: a fork would take a compiler along that another thread holds.
    with (
        concurrent.futures.ProcessPoolExecutor(
            jobs if gpu else 1, multiprocessing.get_context("spawn")
        ) as image_compilers,
        concurrent.futures.ThreadPoolExecutor(jobs) as workers,
    ):

        def image(task):
            images, seconds = image_compilers.submit(_compile_images, task).result()
            note("kernels for GPUs", f"{task[0]} {task[3]}", seconds)
            return images

        if gpu:
            built["nvrtc"] = Nvrtc().version
        tasks = image_tasks(plan, source, architectures) if gpu else []
        # What takes longest begins first, so that no core waits at the end.
        kernels = sorted((op["kernels"] for op in plan["ops"] if op["kernels"]), key=lambda k: -_length(source / k))
        waiting = [workers.submit(gradients)] if plan["gradients"] else []
        calls = write_calls([source / op["file"] for op in plan["ops"]], folder, jobs)
        waiting += [workers.submit(cpp, "calls", unit, CALL_FLAGS) for unit in calls]
        waiting += [workers.submit(cpp, "kernels for the CPU", source / unit, cpu_flags) for unit in kernels]
        compiled = {}
        for i in sorted(range(len(tasks)), key=lambda i: -len(tasks[i][2][tasks[i][0]])):
            compiled[i] = workers.submit(image, tasks[i])
        try:
            for one in waiting:
                one.result()
            images = [part for i in range(len(tasks)) for part in compiled[i].result()]
        except BaseException:
            workers.shutdown(cancel_futures=True)
            raise
    if gpu:
        write_images(plan, image_kinds, images, folder)
        compile_cpp(compiler, folder / "images.cpp", folder / "images.o", [*CALL_FLAGS, *flags])
    # OpenMP is PyTorch's own, which libtorch_cpu brings along: one pool of threads, and torch.set_num_threads rules it.
    link(compiler, sorted(folder.glob("*.o")), library, torch, ["-ldl"])
    (root / plan["package"] / "built.json").write_text(json.dumps(built, indent=2) + "\n")
    return built


def _metadata(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    name = project["name"].replace("-", "_")
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}"]
    lines += [f"Summary: {project['description']}", f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {dependency}" for dependency in project["dependencies"]]
    return f"{name}-{project['version']}", "\n".join(lines) + "\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build(HERE, **_options(config_settings or {}))
    return pack(HERE, wheel_directory)


def _options(settings):
    """What pip's --config-settings, or the command line, say: as build takes it."""
    options = {key: settings[key].split(",") for key in ("targets", "architectures") if settings.get(key)}
    if settings.get("jobs"):
        options["jobs"] = int(settings["jobs"])
    return {**options, "march": settings.get("march", MARCH)}


def pack(root, wheel_directory):
    """A wheel of a package that is built; the same bytes for the same files."""
    stem, metadata = _metadata(root)
    package = json.loads((root / "csrc" / "build.json").read_text())["package"]
    files = {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted((root / package).rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    tag = "py3-none-linux_x86_64"
    files[f"{stem}.dist-info/METADATA"] = metadata.encode()
    files[f"{stem}.dist-info/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: kernelwright\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    record = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(content)}")
    record.append(f"{stem}.dist-info/RECORD,,")
    files[f"{stem}.dist-info/RECORD"] = ("\n".join(record) + "\n").encode()
    wheel = f"{stem}-{tag}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return wheel


def main():
    parser = argparse.ArgumentParser(description="builds the package where it stands")
    parser.add_argument("--targets", help="cpu, or cpu,cuda")
    parser.add_argument("--architectures", help="the GPUs to compile for, as in sm_80,sm_90; PTX serves later ones")
    parser.add_argument("--march", default=MARCH, help=f"the CPU to compile for: {MARCH}, native, ...")
    parser.add_argument("--jobs", type=int, help="how many compilers at a time")
    parser.add_argument("--wheel", metavar="DIR", help="packs a wheel into DIR")
    parser.add_argument("--times", action="store_true", help="prints what each step took")
    arguments = parser.parse_args()
    try:
        timed = (lambda kind, file, seconds: print(f"{seconds:7.2f} s  {kind}: {file}")) if arguments.times else None
        build(HERE, **_options(vars(arguments)), timed=timed)
        if arguments.wheel:
            Path(arguments.wheel).mkdir(parents=True, exist_ok=True)
            print(Path(arguments.wheel) / pack(HERE, arguments.wheel))
    except BuildError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
