"""`kw understand` of each example as a user calls it, written to a workspace; the bar is 150 ms of wall time.

Printed are the least wall time of several runs and the least processor time of engine and Python together. On an idle
machine the two are near each other; on a shared one only the second says what the command costs. The python3 that kw
starts is the one that runs this script: a version manager's shim in the PATH would be measured instead of kw.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KW = ROOT / os.environ.get("BUILD", "build") / "kw"
ENVIRONMENT = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
BAR_MS = 150
RUNS = int(os.environ.get("RUNS", "5"))


def run_once(command):
    """(wall, processor) milliseconds, children included."""
    start = time.perf_counter()
    null = (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)
    child = os.posix_spawn(command[0], command, ENVIRONMENT, file_actions=[null])
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    if status != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return 1000 * wall, 1000 * (usage.ru_utime + usage.ru_stime)


def main():
    walls, processors = {}, {}
    with tempfile.TemporaryDirectory() as workspace:
        for path in sorted((ROOT / "examples").glob("*.py")):
            command = [str(KW), "understand", str(path), "--workspace", workspace, "--quiet"]
            runs = [run_once(command) for _ in range(RUNS)]
            walls[path.stem], processors[path.stem] = (min(column) for column in zip(*runs))
    for name in walls:
        over = "" if walls[name] <= BAR_MS else f"   over {BAR_MS} ms"
        print(f"kw understand {name:<30} {walls[name]:6.1f} ms wall {processors[name]:6.1f} ms processor{over}")
    slowest, costliest = max(walls, key=walls.get), max(processors, key=processors.get)
    print(f"slowest of {len(walls)}: {slowest}, {walls[slowest]:.1f} ms wall (bar {BAR_MS} ms)")
    print(f"costliest: {costliest}, {processors[costliest]:.1f} ms processor")
    return 0 if walls[slowest] <= BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())
