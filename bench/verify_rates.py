"""How many ops get kernels that are generated and verified, and how long that takes: ops that nobody here wrote, and
this project's examples.

    python bench/verify_rates.py --kernelbench CHECKOUT [--transformers PACKAGE] [--target cpu] [--only TEXT] [--jobs 2]
    python bench/verify_rates.py --examples [NAME,…] [--target cpu] [--cold] [--timed]

Every KernelBench level 1 problem of tiers 1 and 2; of every level 2 problem what follows its last matrix product or
convolution, whose result becomes an input; every distinct norm and activation of transformers that the reader reads.
Each is understood, approved, and put to every gate of `kw verify`, forward and backward, in its own types. What is left
out is named, with the op and the line that make it tier 3, or with the reader's answer. Nothing of the checkouts is
kept here.

The examples of tiers 1 and 2 are put to every gate in every mixture of types, one after the other, and the seconds from
an approved profile to a verified kernel are shown: `kw act` and `kw verify --no-timing`, and with --timed once more,
with the share of the limit. With --cold each of these begins with empty caches. Without a GPU, --target cuda is
emulated.
"""

import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / os.environ.get("BUILD", "build")
sys.path.insert(0, str(ROOT / "tools"))

from codegen_diff import EXAMPLES  # noqa: E402

REFUSALS = (2, 3, 4)  # exit codes of `kw` where it names what it lacks or does not do


@dataclass(frozen=True)
class Task:
    group: str
    name: str
    source: str
    unread: str = ""  # why there is no source


@dataclass(frozen=True)
class Verdict:
    word: str  # verified, tier 3, unread, refused (a rule), WRONG (a gate said no) or broken off (by this script)
    detail: str = ""
    seconds: float = 0.0  # from an approved profile
    construct: str = ""  # what makes it tier 3


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    error: str

    def first_line(self):
        """Without what it says of progress, and without the folders before a file's name."""
        lines = [line.strip() for line in (self.error + "\n" + self.out).splitlines()]
        said = next((line for line in lines if line and not line.startswith(("understand", "verify"))), "")
        return re.sub(r"^/\S*/", "", said)[:200]


def run(*words, timeout=900, env=None):
    try:
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=timeout, env=env)
    except subprocess.TimeoutExpired:
        return Run(-1, "", f"out of time after {timeout} s")
    return Run(done.returncode, done.stdout, done.stderr)


def kw(*words, env=None):
    return run(BUILD / "kw", *words, "--quiet", env=env)


def tier_3(home):
    """The verdict on a profile of tier 3: the first op of its graph that is none of tiers 1 and 2, and its line."""
    profile = yaml.safe_load((home / "profile.yaml").read_text())
    decision = next(d for d in profile["decisions"] if d["id"] == "tier")
    op, line = re.match(r"'(\w+)'", decision["because"])[1], ""
    if at := re.fullmatch(r"(.+):(\d+)", decision.get("at", "")):
        line = (home / at[1]).read_text().splitlines()[int(at[2]) - 1].strip()
    return Verdict("tier 3", f"{op}: {line[:120]}", construct=op)


def approved(task, workspace):
    """Understands a task and approves its profile; a verdict where that is the end of it."""
    if task.unread:
        return Verdict("unread", task.unread)
    read = kw("understand", task.source, "--name", task.name, "--workspace", workspace)
    if read.code != 0:
        return Verdict("unread", read.first_line())
    home = Path(workspace) / "kernels" / task.name
    if re.search(r"^tier: 3", (home / "profile.yaml").read_text(), re.MULTILINE):
        return tier_3(home)
    kw("approve", task.name, "--yes", "--workspace", workspace)
    return None


def verified(name, workspace, target, *options, env=None):
    """From an approved profile to the gates' verdict."""
    common = ("--target", target, "--workspace", workspace)
    started = time.perf_counter()
    done = kw("act", name, *common, env=env)
    if done.code == 0:
        done = kw("verify", name, *common, *options, env=env)
    seconds = time.perf_counter() - started
    if done.code == 0:
        return Verdict("verified", seconds=seconds)
    failed = [line.strip() for line in done.out.splitlines() if line.strip().startswith("FAIL")]
    word = "refused" if done.code in REFUSALS else "WRONG"
    return Verdict(word, failed[0] if failed else done.first_line(), seconds)


def judge(task, target):
    try:
        with tempfile.TemporaryDirectory() as workspace:
            ended = approved(task, workspace)
            return ended or verified(task.name, workspace, target, "--own-types", "--no-timing")
    except Exception as problem:  # one op does not cost the others
        return Verdict("broken off", f"{type(problem).__name__}: {problem}")


# ---- ops that nobody here wrote ----
def identifier(text):
    return re.sub(r"\W+", "_", text).strip("_").lower()


def level_1(checkout):
    for path in sorted((checkout / "level1").glob("*.py")):
        yield Task("level 1", identifier("p" + path.stem), f"{path}:Model")


def level_2(checkout, folder, only):
    for path in sorted((checkout / "level2").glob("*.py")):
        name = identifier("p" + path.stem)
        if only not in name:  # what follows a product takes a while to read
            continue
        math = Path(folder) / f"{name}.kw"
        after = run(BUILD / "epilogue_of", f"{path}:Model", timeout=120)
        math.write_text(after.out)
        yield Task("level 2", name, str(math), "" if after.code == 0 else after.first_line())


def transformers_bodies(package):
    from read_transformers import NOT_COUNTED, body_of, find_items

    seen, twice, named_alike = set(), 0, []
    for item in find_items(package.resolve()):
        if item.kind == "rotary":  # neither a norm nor an activation
            continue
        name = f"{Path(item.path).parent.name}_{item.name}"
        if NOT_COUNTED.fullmatch(item.name):
            named_alike.append(name)
        elif body_of(item) in seen:
            twice += 1
        else:
            seen.add(body_of(item))
            yield Task("transformers", identifier(name), f"{item.path}:{item.name}")
    print(f"transformers: {twice} more have a body of these; no norms but by name: {', '.join(named_alike) or 'none'}")


def summary(group, verdicts):
    """Lines on a group: of what is generated for, and of all; and how many each construct keeps out."""
    words = collections.Counter(verdict.word for verdict in verdicts)
    done, judged, every = words["verified"], len(verdicts) - words["tier 3"] - words["unread"], len(verdicts)
    shares = [100 * done / max(1, n) for n in (judged, every)]
    constructs = collections.Counter(verdict.construct for verdict in verdicts if verdict.word == "tier 3")
    counted = ", ".join(f"{name} {n}" for name, n in constructs.most_common())
    others = ", ".join(f"{words[word]} {word}" for word in ("unread", "refused", "WRONG"))
    return [
        f"{group}: {done} of {judged} of tiers 1 and 2 verified ({shares[0]:.1f}%); "
        f"{done} of {every} in all ({shares[1]:.1f}%)",
        f"  {words['tier 3']} of tier 3{f' ({counted})' if counted else ''}, {others}",
    ]


def judge_all(tasks, options):
    verdicts = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for task, verdict in zip(tasks, pool.map(lambda task: judge(task, options.target), tasks)):
            verdicts[task.group].append(verdict)
            if verdict.word != "verified":
                print(f"{task.group}  {task.name}: {verdict.word}: {verdict.detail}", flush=True)
    for group, of_group in sorted(verdicts.items()):
        print("\n".join(summary(group, of_group)))
    return all(verdict.word not in ("WRONG", "broken off") for of_group in verdicts.values() for verdict in of_group)


# ---- this project's examples ----
def judge_example(name, target, cold, *options):
    """In every mixture of types; only what comes after the approval is timed, and begins cold if that is asked for."""
    task = Task("examples", name, str(ROOT / "examples" / f"{name}.py"))
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | ({"XDG_CACHE_HOME": f"{folder}/cache"} if cold else {})
        return approved(task, folder) or verified(name, folder, target, *options, env=env)


def judge_examples(names, options):
    modes = {"without timing": ("--no-timing",)} | ({"with timing": ()} if options.timed else {})
    print(
        f"seconds from an approved profile to a verified kernel, {options.target}, all mixtures of types, one by one,"
    )
    print(f"caches {'cold' if options.cold else 'as they are'}\n")
    print(f"| {'example':<20} | " + " | ".join(f"{mode:>14}" for mode in modes) + " |")
    print("| --- |" + " ---: |" * len(modes))
    verdicts = {}
    for name in names:
        for mode, words in modes.items():
            verdicts[name, mode] = judge_example(name, options.target, options.cold, *words)
        row = [verdicts[name, mode] for mode in modes]
        cells = [f"{v.seconds:.1f}" if v.word == "verified" else v.word for v in row]
        print(f"| {name:<20} | " + " | ".join(f"{cell:>14}" for cell in cells) + " |", flush=True)
    print()
    for mode in modes:
        good = {name: verdicts[name, mode].seconds for name in names if verdicts[name, mode].word == "verified"}
        print(f"{mode}: {len(good)} of {len(names)} verified", end="")
        if good:
            worst = max(good, key=good.get)
            print(f"; the slowest is {worst}, {good[worst]:.1f} s", end="")
        print()
    for (name, mode), verdict in verdicts.items():
        if verdict.word != "verified":
            print(f"{name}, {mode}: {verdict.word}: {verdict.detail}")
    return all(verdict.word == "verified" for verdict in verdicts.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernelbench", type=Path, metavar="CHECKOUT")
    parser.add_argument("--transformers", type=Path, metavar="PACKAGE")
    parser.add_argument("--only", default="", metavar="TEXT", help="ops with this in their names")
    parser.add_argument("--jobs", type=int, default=2, help="ops at a time; examples always come one by one")
    parser.add_argument("--examples", nargs="?", const=",".join(EXAMPLES), metavar="NAMES")
    parser.add_argument("--target", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--cold", action="store_true", help="an empty cache for every example")
    parser.add_argument("--timed", action="store_true", help="examples with the share of the limit too")
    options = parser.parse_args()
    if options.kernelbench and not (options.kernelbench / "level1").is_dir():
        parser.error(f"{options.kernelbench} has no folder level1: it lies in KernelBench/ of a checkout")
    names = options.examples.split(",") if options.examples else []
    if unknown := sorted(set(names) - set(EXAMPLES)):
        parser.error(f"no examples of tiers 1 and 2: {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as folder:
        tasks = []
        if options.kernelbench:
            tasks += [*level_1(options.kernelbench), *level_2(options.kernelbench, folder, options.only)]
        if options.transformers:
            tasks += transformers_bodies(options.transformers)
        good = judge_all([task for task in tasks if options.only in task.name], options)
    if names:
        good &= judge_examples(names, options)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
