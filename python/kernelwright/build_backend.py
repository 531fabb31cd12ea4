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
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# As the kernels were verified: a*b + c is rounded twice, as it is written.
CPU_FLAGS = ["-std=c++20", "-O3", "-fopenmp", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fPIC"]
CUDA_FLAGS = ["--std=c++20", "--fmad=false", "--no-source-include"]
TORCH_TARGET = "0x020b000000000000"  # the oldest PyTorch that the library loads on: 2.11
MARCH = "x86-64-v3"


class BuildError(RuntimeError):
    """What keeps the package from being built, in a sentence."""


def torch_folder():
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise BuildError("PyTorch is not installed here: its headers are needed (pip: use --no-build-isolation)")
    return Path(spec.submodule_search_locations[0])


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

    def compile(self, name, text, headers, options, ptx):
        """Machine code, or PTX."""
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
            return self._read(program, "PTX" if ptx else "CUBIN")
        finally:
            self.library.nvrtcDestroyProgram(ctypes.byref(program))

    def _read(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, buffer)
        return buffer.raw


_nvrtc = None


def _compile_image(task):
    """In a process of its own: NVRTC compiles one program at a time."""
    global _nvrtc
    name, text, headers, architecture, ptx = task
    _nvrtc = _nvrtc or Nvrtc()
    return _nvrtc.compile(name, text, headers, [*CUDA_FLAGS, f"--gpu-architecture={architecture}"], ptx)


def image_tasks(plan, source):
    """One for each file of kernels, mixture of types and architecture; PTX serves what is not named."""
    headers = {}
    for path in sorted((source / "cuda").rglob("*")):
        if path.is_file():
            name = str(path.relative_to(source / "cuda"))
            headers[name] = path.read_text()
            if name.startswith("kw/"):
                headers.setdefault(name[3:], f'#include "{name}"\n')
    targets = [(a, False) for a in plan["architectures"]] + [(plan["ptx"], True)]
    tasks = []
    for op in plan["ops"]:
        for file in op["images"]:
            for mixture in file["mixtures"]:
                defines = "".join(f"#define {macro} {type_}\n" for macro, type_ in mixture.items())
                text = f'#include "kw/element.h"\n{defines}#include "{file["file"]}"\n'
                needed = {n: t for n, t in headers.items() if n.endswith(".h") or n == file["file"]}
                tasks += [(file["file"], text, needed, architecture, ptx) for architecture, ptx in targets]
    return tasks, targets


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
                numbers = [(a.split("_")[1].rstrip("af"), str(ptx).lower()) for a, ptx in targets]
                row = [f"{{{number}, {ptx}, kw_blob + {next(offset)}}}" for number, ptx in numbers]
                lines.append("    {" + ", ".join(row) + "},")
            lines.append("};")
    (folder / "images.cpp").write_text("\n".join(lines) + "\n")


def compile_cpp(compiler, source, output, flags):
    command = [compiler, *flags, "-w", "-fvisibility=hidden", "-c", str(source), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise BuildError(f"{source.name} does not compile:\n{done.stderr[:4000]}")


def build(root=HERE, targets=None, march=MARCH, jobs=None):
    """Compiles the package's library into it; returns what it was built with."""
    plan = json.loads((root / "csrc" / "build.json").read_text())
    source, folder = root / "csrc", root / "build"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    torch = torch_folder()
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise BuildError("there is no C++ compiler: apt-get install g++")
    jobs = jobs or os.cpu_count() or 1
    gpu = (targets is None or "cuda" in targets) and any(op["images"] for op in plan["ops"])
    flags = [*CPU_FLAGS, f"-march={march}", f"-DTORCH_TARGET_VERSION={TORCH_TARGET}"]
    flags += ["-I", str(source / "cpu"), "-I", str(source / "torch"), "-isystem", str(torch / "include")]
    units = [source / op["file"] for op in plan["ops"]]
    built = {"march": march, "compiler": Path(compiler).name, "nvrtc": None, "architectures": []}
    tasks, image_targets = image_tasks(plan, source) if gpu else ([], [])
    flags.append(f"-DKW_IMAGES={len(image_targets)}")
    with (
        concurrent.futures.ThreadPoolExecutor(jobs) as compilers,
        # A fresh interpreter for each: a fork would take a compiler along that another thread holds.
        concurrent.futures.ProcessPoolExecutor(
            jobs if gpu else 1, multiprocessing.get_context("spawn")
        ) as image_compilers,
    ):
        if gpu:
            built["nvrtc"] = Nvrtc().version
            built["architectures"] = [architecture for architecture, _ in image_targets]
        waiting = [compilers.submit(compile_cpp, compiler, unit, folder / (unit.stem + ".o"), flags) for unit in units]
        images = list(image_compilers.map(_compile_image, tasks, chunksize=2)) if gpu else []
        for one in waiting:
            one.result()
    if gpu:
        write_images(plan, image_targets, images, folder)
        compile_cpp(compiler, folder / "images.cpp", folder / "images.o", flags)
    library = root / plan["package"] / plan["library"]
    # OpenMP is PyTorch's own, which libtorch_cpu brings along: one pool of threads, and torch.set_num_threads rules it.
    command = [compiler, "-shared", *map(str, sorted(folder.glob("*.o"))), "-o", str(library)]
    command += ["-L", str(torch / "lib"), "-ltorch_cpu", "-ldl", "-s", "-Wl,--exclude-libs,ALL"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise BuildError(f"the library does not link:\n{done.stderr[:4000]}")
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
    settings = config_settings or {}
    targets = settings["targets"].split(",") if "targets" in settings else None
    build(HERE, targets, settings.get("march", MARCH), int(settings["jobs"]) if "jobs" in settings else None)
    return pack(HERE, wheel_directory)


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
    parser.add_argument("--march", default=MARCH, help=f"the CPU to compile for: {MARCH}, native, ...")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--wheel", metavar="DIR", help="packs a wheel into DIR")
    arguments = parser.parse_args()
    try:
        if arguments.wheel:
            settings = {k: v for k, v in vars(arguments).items() if k in ("targets", "march", "jobs") and v}
            Path(arguments.wheel).mkdir(parents=True, exist_ok=True)
            print(Path(arguments.wheel) / build_wheel(arguments.wheel, settings))
        else:
            build(HERE, arguments.targets.split(",") if arguments.targets else None, arguments.march, arguments.jobs)
    except BuildError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
