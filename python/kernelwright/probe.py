"""Says as JSON what this Python has, without importing any of it: `kw doctor` asks."""

import glob
import json
import os
import platform
import sys
from importlib import metadata


def version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def nvrtc_libraries():
    patterns = ["nvidia/cuda_nvrtc/lib/libnvrtc.so.*", "nvidia/cu*/lib/libnvrtc.so.*"]
    found = (glob.glob(os.path.join(folder, pattern)) for folder in sys.path for pattern in patterns)
    return sorted(path for paths in found for path in paths if "builtins" not in path)


versions = {package: version_of(package) for package in ("torch", "triton")}
print(
    json.dumps(
        {
            "executable": sys.executable,
            "version": platform.python_version(),
            "packages": {package: version for package, version in versions.items() if version},
            "nvrtc": nvrtc_libraries(),
        }
    )
)
