"""`kw understand` of each example as a user calls it, written to a workspace: wall time, best of five; bar 150 ms."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KW = ROOT / os.environ.get("BUILD", "build") / "kw"
BAR_MS = 150


def best_of(count, command):
    best = float("inf")
    for _ in range(count):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        best = min(best, time.perf_counter() - start)
    return 1000 * best


def main():
    times = {}
    with tempfile.TemporaryDirectory() as workspace:
        for path in sorted((ROOT / "examples").glob("*.py")):
            times[path.stem] = best_of(5, [KW, "understand", path, "--workspace", workspace, "--quiet"])
    for name, ms in times.items():
        print(f"kw understand {name:<30} {ms:6.1f} ms{'' if ms <= BAR_MS else f'   over {BAR_MS} ms'}")
    slowest = max(times, key=times.get)
    print(f"slowest of {len(times)}: {slowest}, {times[slowest]:.1f} ms (bar {BAR_MS} ms)")
    return 0 if times[slowest] <= BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())
