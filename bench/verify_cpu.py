"""Kernels for the CPU, generated and verified, for ops that nobody here wrote.

    python bench/verify_cpu.py --kernelbench CHECKOUT [--transformers PACKAGE] [--only TEXT] [--jobs 2]

Every KernelBench level 1 problem of tiers 1 and 2; of every level 2 problem what follows its last matrix product or
convolution, whose result becomes an input; every distinct norm and activation of transformers that the reader reads.
Each is understood, approved, and put to every gate of `kw verify`, forward and backward, in its own types. Nothing of
the checkouts is kept here.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("BUILD", "build")


def kw(*arguments, timeout=600):
    return subprocess.run([BUILD / "kw", *map(str, arguments)], capture_output=True, text=True, timeout=timeout)


def tier_of(workspace, name):
    profile = (workspace / "kernels" / name / "profile.yaml").read_text()
    return int(re.search(r"^tier: (\d)", profile, re.MULTILINE)[1])


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("understand", "verify"))]
    return lines[0][:160] if lines else ""


def judge(name, source, options=()):
    """One op: (name, verdict, detail). Verdicts: verified, tier 3, refused (a rule), unread, WRONG (a gate said no)."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder)
        run = kw("understand", source, "--name", name, "--workspace", workspace, "--quiet", *options)
        if run.returncode != 0:
            return name, "unread", first_line(run.stderr)
        if tier_of(workspace, name) > 2:
            return name, "tier 3", ""
        kw("approve", name, "--yes", "--workspace", workspace, "--quiet")
        try:
            run = kw("verify", name, "--own-types", "--no-timing", "--workspace", workspace, "--quiet")
        except subprocess.TimeoutExpired:
            return name, "WRONG", "out of time"
        if run.returncode == 0:
            return name, "verified", ""
        failed = [line.strip() for line in run.stdout.splitlines() if line.strip().startswith("FAIL")]
        detail = failed[0] if failed else first_line(run.stderr) or first_line(run.stdout)
        return name, "WRONG" if run.returncode == 1 else "refused", detail


def identifier(text):
    return re.sub(r"\W+", "_", text).strip("_").lower()


def level_1(checkout):
    for path in sorted((checkout / "level1").glob("*.py")):
        yield "level 1", identifier("p" + path.stem), f"{path}:Model", ()


def level_2(checkout, folder):
    for path in sorted((checkout / "level2").glob("*.py")):
        name = identifier("p" + path.stem)
        math = Path(folder) / f"{name}.kw"
        run = subprocess.run([BUILD / "epilogue_of", f"{path}:Model"], capture_output=True, text=True, timeout=120)
        math.write_text(run.stdout or "not read")
        yield "level 2", name, str(math), ()


def transformers_bodies(package):
    from read_transformers import NOT_COUNTED, body_of, find_items

    seen = set()
    for item in find_items(package.resolve()):
        if item.kind == "rotary" or NOT_COUNTED.fullmatch(item.name) or body_of(item) in seen:
            continue
        seen.add(body_of(item))
        yield "transformers", identifier(f"{Path(item.path).parent.name}_{item.name}"), f"{item.path}:{item.name}", ()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelbench", type=Path)
    parser.add_argument("--transformers", type=Path, metavar="PACKAGE")
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.kernelbench and not (options.kernelbench / "level1").is_dir():
        parser.error(f"{options.kernelbench} has no folder level1: it lies in KernelBench/ of a checkout")
    with tempfile.TemporaryDirectory() as folder:
        tasks = []
        if options.kernelbench:
            tasks += [*level_1(options.kernelbench), *level_2(options.kernelbench, folder)]
        if options.transformers:
            tasks += transformers_bodies(options.transformers)
        tasks = [task for task in tasks if options.only in task[1]]
        counts = collections.defaultdict(collections.Counter)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            jobs = {pool.submit(judge, name, source, more): group for group, name, source, more in tasks}
            for job in concurrent.futures.as_completed(jobs):
                name, verdict, detail = job.result()
                counts[jobs[job]][verdict] += 1
                if verdict not in ("verified", "tier 3"):
                    print(f"{jobs[job]}  {name}: {verdict}: {detail}", flush=True)
    wrong = 0
    for group, verdicts in sorted(counts.items()):
        judged = sum(n for verdict, n in verdicts.items() if verdict not in ("tier 3", "unread"))
        share = 100 * verdicts["verified"] / max(1, judged)
        print(f"{group}: {verdicts['verified']} of {judged} verified ({share:.1f}%); {json.dumps(verdicts)}")
        wrong += verdicts["WRONG"]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
