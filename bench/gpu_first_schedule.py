"""Generated CUDA kernels, first schedule, on this machine's GPU, beside everyone else's: right or wrong, time, and
share of the limit.

    python3 bench/gpu_first_schedule.py [--kw build/kw] [--liger FOLDER] [--types bf16,f16,f32] [--drawn SEED] …

`kw` reads the examples and writes the kernels (understand, approve, act), in a folder of its own; --workspace takes one
where that is done. Each pass is compared with its reference in double at its shape, a small and a ragged one, then
timed. In one run, call by call in turn, each from a cache that was evicted by reading a buffer of twice its size: our
passes, a plain kernel that moves as many bytes in the same ratio (the limit: the fastest of several), and, in
--peer-types, PyTorch eager, PyTorch's own fused op, torch.compile, and Liger's kernels where FOLDER holds them. Times
are medians, sampled until their intervals are narrow or the time for it is spent (median.py): kernels alone by the
GPU's time stamps, and, for peers, as called from PyTorch between two events.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import torch
from gpu_clock import Clock, Cuda, Plain, compile_all, own_architecture
from gpu_manifest import Op, ceil_div, compare
from gpu_peers import liger_ops, peers_of
from pass_limit import share_of

HERE = os.path.dirname(os.path.abspath(__file__))

# Name of the row, op, sizes.
ROWS = [
    ("relu_squared 8192x14336", "relu_squared", {"rows": 8192, "cols": 14336}),
    ("swiglu 8192x14336", "swiglu", {"batch": 4, "seq": 2048, "intermediate": 14336}),
    ("geglu 8192x14336", "geglu", {"batch": 4, "seq": 2048, "x_2": 28672}),
    ("rms_norm 8192x4096", "rms_norm_llama", {"batch": 4, "seq": 2048, "hidden": 4096}),
    ("rms_norm 8192x16384", "rms_norm_llama", {"batch": 4, "seq": 2048, "hidden": 16384}),
    ("fused_add_rms_norm 8192x4096", "fused_add_rms_norm", {"batch": 4, "seq": 2048, "hidden": 4096}),
    ("fused_add_rms_norm 8192x16384", "fused_add_rms_norm", {"batch": 4, "seq": 2048, "hidden": 16384}),
    ("layer_norm 8192x4096", "layer_norm", {"rows": 8192, "cols": 4096}),
    ("layer_norm 8192x16384", "layer_norm", {"rows": 8192, "cols": 16384}),
    ("softmax 8192x32768", "softmax", {"rows": 8192, "cols": 32768}),
    ("dyt 8192x4096", "dyt", {"batch": 4, "seq": 2048, "hidden": 4096}),
    ("poly_norm 8192x4096", "poly_norm", {"batch": 4, "seq": 2048, "hidden": 4096}),
    ("group_norm 64x512x4096", "group_norm", {"batch": 64, "channels": 512, "height": 64, "width": 64}),
]
PEERS = ["eager", "own", "compile", "liger"]
# By norm, where PyTorch's own result is no worse: an element of the type, and a sum of rounded products.
TOLERANCE = {"bf16": 6e-3, "f16": 8e-4, "f32": 2e-6}


def rows_of_the_tables_size(seed):
    """One row for each op, at a shape that no one chose, of about as many elements as some row of the table has: the
    logarithms of these and of a row's length are drawn. Rows are multiples of 64."""
    dice = random.Random(seed)
    rows = []
    for _, folder, sizes in ROWS:
        if any(folder == known for _, known, _ in rows):
            continue
        elements, length = round(2 ** dice.uniform(25, 28)), ceil_div(round(2 ** dice.uniform(10, 15)), 64) * 64
        names = list(sizes)
        if folder == "group_norm":
            drawn = {
                "channels": 32 * dice.randint(2, 24),
                "height": dice.randint(20, 80),
                "width": dice.randint(20, 80),
            }
            drawn = {"batch": max(1, elements // math.prod(drawn.values()))} | drawn
        else:
            points = max(1, elements // length)
            batch = dice.randint(1, 8)
            drawn = {names[0]: points} if len(names) == 2 else {names[0]: batch, names[1]: ceil_div(points, batch)}
            drawn[names[-1]] = length
        rows.append((f"{folder} {'x'.join(str(n) for n in drawn.values())}", folder, drawn))
    return rows


def drawn_rows(seed, multiple):
    """One row for each op, at a shape that no one chose, down to tensors of 4 MB: any number of points, rows of any
    multiple of a length."""
    dice = random.Random(seed)
    length = lambda: ceil_div(round(2 ** dice.uniform(10, 15)), multiple) * multiple  # noqa: E731
    rows = []
    for _, folder, sizes in ROWS:
        if any(folder == known for _, known, _ in rows):
            continue
        drawn = {}
        for name in sizes:
            drawn[name] = {"batch": dice.randint(1, 8), "seq": dice.randint(500, 2500)}.get(name)
            if drawn[name] is None:
                drawn[name] = dice.randint(2000, 16000) if name == "rows" else length()
        if folder == "geglu":
            drawn["x_2"] += drawn["x_2"] % 2
        if folder == "group_norm":
            drawn = {"batch": dice.randint(16, 96), "channels": 32 * dice.randint(2, 24)}
            drawn |= {"height": dice.randint(20, 80), "width": dice.randint(20, 80)}
        rows.append((f"{folder} {'x'.join(str(n) for n in drawn.values())}", folder, drawn))
    return rows


def small(sizes, ragged):
    out = dict(sizes)
    names = list(sizes)
    for n in names[:-1]:
        out[n] = min(out[n], 37 if ragged else 64)
    if "channels" in out:
        out.update(batch=3, channels=64, height=16 if not ragged else 7, width=16 if not ragged else 9)
    elif ragged:
        last = names[-1]
        out[last] = out[last] // 3 | 1
        if last == "x_2":
            out[last] = out[last] + 1
    return out


def write_kernels(kw, workspace, names):
    for name in names:
        source = os.path.join(HERE, "..", "examples", name + ".py")
        for words in (["understand", source], ["approve", name, "--yes"], ["act", name, "--target", "cuda"]):
            command = [kw, "--quiet", "--workspace", workspace, *words]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(f"{' '.join(command)}: {done.stdout}{done.stderr}")


def shapes_to_check(sizes):
    return [small(sizes, False), small(sizes, True), sizes]


def check_all(rows, types, ops):
    """Every op at its own shape, a small and a ragged one, forward and backward. The number that was right, and of
    all."""
    right, done = 0, set()
    for row, folder, sizes in rows:
        for t in types:
            for shape in shapes_to_check(sizes):
                if (folder, t, tuple(shape.values())) in done:
                    continue
                done.add((folder, t, tuple(shape.values())))
                try:
                    worst = compare(ops[folder, t], shape)
                except Exception as error:
                    print("ERROR", row, t, shape, str(error)[:500], flush=True)
                    continue
                wrong = {n: e for n, e in worst.items() if not e[0] <= max(TOLERANCE[t], 1.5 * e[1])}
                right += not wrong
                if wrong:
                    text = {n: f"{a:.1e}, PyTorch {b:.1e}" for n, (a, b) in wrong.items()}
                    print("WRONG", row, t, list(shape.values()), text, flush=True)
                torch.cuda.empty_cache()
    print(f"right: {right} of {len(done)} comparisons", flush=True)
    return right, len(done)


def time_row(clock, op, sizes, liger, repeats):
    """Figures of one row in ms: by name, [kernels alone, between events]; peers have both for a full pass."""
    given, forward, backward, cotangents = op.prepared(sizes)
    plain = Plain(clock, [p.bytes_moved() for p in (forward, backward)])
    peers = [] if liger is None else peers_of(op.name, given, liger)
    runs = {
        "forward": forward.run,
        "forward limit": plain.runs[0],
        "backward": backward.run,
        "backward limit": plain.runs[1],
        "ours": lambda: (forward.run(), backward.run()),
        "limit": lambda: [run() for run in plain.runs],
    }
    runs |= {p.name: p.run for p in peers}
    kernel = clock.kernel_times(list(runs.values()), repeats)
    called = clock.times(list(runs.values()), repeats)
    figures = {name: [k, c] for name, k, c in zip(runs, kernel, called)}
    widths = {name: [k.width(), c.width()] for name, k, c in zip(runs, kernel, called)}
    inputs = {id(t) for t in [*given.values(), *cotangents.values()]}
    made = {id(t): t for p in (forward, backward) for t in p.tensors.values() if id(t) not in inputs}
    own_bytes = sum(t.numel() * t.element_size() for t in made.values())
    peaks = {"ours": own_bytes / 2**20} | {p.name: p.peak_megabytes() for p in peers}
    chosen = {"forward": forward.chosen, "backward": backward.chosen}
    return {"ms": figures, "widths": widths, "peak_mb": peaks, "chosen": chosen, "plain": plain.text}


def share(result, name, which=0):
    """Of the limit of a full pass."""
    return share_of(result["ms"]["limit"][0], result["ms"][name][which])


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(v) for v in values) / len(values)) if values else float("nan")


def percent(value):
    return f"{100 * value:.0f}%"


def own_table(rows, types, results):
    """Kernels alone: ms and limit in the first type; in each, the share of the limit (forward, backward)."""

    def cell(row, t):
        if (row, t) not in results:
            return "—"
        ms = results[row, t]["ms"]
        each = [percent(ms[p + " limit"][0] / ms[p][0]) for p in ("forward", "backward")]
        return f"{percent(share(results[row, t], 'ours'))} ({', '.join(each)})"

    print(f"\n| op, shape | {types[0]} ms | limit | " + " | ".join(types) + " |")
    print("| --- | ---: | ---: |" + " --- |" * len(types))
    for row, _, _ in rows:
        ms = results[row, types[0]]["ms"] if (row, types[0]) in results else {"ours": [math.nan], "limit": [math.nan]}
        cells = " | ".join(cell(row, t) for t in types)
        print(f"| {row} | {ms['ours'][0]:.4f} | {ms['limit'][0]:.4f} | {cells} |")
    for t in types:
        mine = [share(results[row, t], "ours") for row, _, _ in rows if (row, t) in results]
        if mine:
            mean = geometric_mean(mine)
            print(f"- {t}: geometric mean {100 * mean:.1f}% of {len(mine)} rows, least {percent(min(mine))}")
    passes = ("forward", "backward", "forward limit", "backward limit")
    widths = [
        results[row, t]["widths"][p][0] for row, _, _ in rows for t in types if (row, t) in results for p in passes
    ]
    if widths:
        usual, widest = 100 * statistics.median(widths), 100 * max(widths)
        print(f"- 95% intervals of these {len(widths)} medians: {usual:.1f}% wide in the median, {widest:.1f}% at most")


def peer_table(rows, t, results):
    """Ms as called, kernels alone in brackets, share of the limit by kernels alone."""
    rows = [(row, results[row, t]) for row, _, _ in rows if (row, t) in results]
    rows = [(row, r) for row, r in rows if "eager" in r["ms"]]
    if not rows:
        return
    print(f"\n{t}, full pass: ms as called [kernels alone] share of the limit by kernels alone; peak MB")
    print("| op, shape | limit | ours | " + " | ".join(PEERS) + " | peak ours / eager / compile / liger |")
    print("| --- | ---: | --- |" + " --- |" * len(PEERS) + " --- |")
    for row, r in rows:
        cells = [f"[{r['ms']['ours'][0]:.3f}] {percent(share(r, 'ours'))}"]
        for peer in PEERS:
            have = r["ms"].get(peer)
            cells.append(f"{have[1]:.3f} [{have[0]:.3f}] {percent(share(r, peer))}" if have else "—")
        peaks = [f"{r['peak_mb'][p]:.0f}" if p in r["peak_mb"] else "—" for p in ("ours", "eager", "compile", "liger")]
        print(f"| {row} | {r['ms']['limit'][0]:.3f} | {' | '.join(cells)} | {' / '.join(peaks)} |")
    for which, text in ((0, "kernels alone"), (1, "as called")):
        parts = []
        if which == 0:
            parts.append(f"ours {100 * geometric_mean(share(r, 'ours') for _, r in rows):.1f}%")
        for peer in PEERS:
            shares = [share(r, peer, which) for _, r in rows if peer in r["ms"]]
            if shares:
                parts.append(f"{peer} {100 * geometric_mean(shares):.1f}% ({len(shares)} rows)")
        best = geometric_mean(max(share(r, p, which) for p in PEERS if p in r["ms"]) for _, r in rows)
        parts.append(f"the best peer on each row {100 * best:.1f}%")
        print(f"- geometric mean of {len(rows)} rows, {text}: " + ", ".join(parts))
    slower = [row for row, r in rows if r["ms"]["ours"][0] > 1.05 * min(r["ms"][p][0] for p in PEERS if p in r["ms"])]
    print("- rows where a peer's kernels are faster by over 5%: " + (", ".join(slower) or "none"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--kw", default=os.path.join(HERE, "..", "build", "kw"))
    parser.add_argument("--workspace", help="where kernels/NAME/act/cuda are already; else kw writes them")
    parser.add_argument("--liger", help="a folder that holds liger_kernel")
    parser.add_argument("--types", default="bf16,f16,f32")
    parser.add_argument("--peer-types", default="bf16")
    parser.add_argument("--rows", default="", help="those that begin with one of these words")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument(
        "--drawn", type=int, metavar="SEED", help="ten other shapes too, three times, drawn from a seed"
    )
    parser.add_argument("--sections", default="", metavar="TEXT", help="those alone that have this in their titles")
    parser.add_argument("--skip-check", action="store_true")
    parser.add_argument("--dry", action="store_true", help="choose and compile, without a GPU")
    parser.add_argument("--architecture", default="", help="with --dry: for this one")
    parser.add_argument("--out", help="all figures, as JSON")
    arguments = parser.parse_args()
    types, peer_types = arguments.types.split(","), arguments.peer_types.split(",")
    sections = {"the table": ROWS}
    if arguments.drawn is not None:
        sections[f"drawn from {arguments.drawn}, of the table's size"] = rows_of_the_tables_size(arguments.drawn)
        sections[f"drawn from {arguments.drawn}, down to 4 MB"] = drawn_rows(arguments.drawn, 64)
        sections[f"drawn from {arguments.drawn}, down to 4 MB, any length"] = drawn_rows(arguments.drawn, 1)
    sections = {title: part for title, part in sections.items() if arguments.sections in title}
    if arguments.rows:
        words = tuple(arguments.rows.split(","))
        sections = {title: [r for r in part if r[0].startswith(words)] for title, part in sections.items()}
    rows = list({row[0]: row for part in sections.values() for row in part}.values())
    with tempfile.TemporaryDirectory() as temporary:
        workspace = arguments.workspace or temporary
        started = time.time()
        if not arguments.workspace:
            write_kernels(arguments.kw, workspace, dict.fromkeys(r[1] for r in rows))
        print(f"kernels written in {time.time() - started:.1f} s", flush=True)
        ops = {(r[1], t): Op(None, workspace, r[1], t) for r in rows for t in types}
        wanted = {}
        for _, folder, sizes in rows:
            for t in types:
                for shape in [sizes] if arguments.skip_check else shapes_to_check(sizes):
                    _, forward, backward, _ = ops[folder, t].prepared(shape)
                    for file, symbol in forward.entries + backward.entries:
                        wanted[folder, t, symbol] = (ops[folder, t], file, symbol)
                    if arguments.dry and shape is sizes:
                        print(folder, t, *forward.chosen, *backward.chosen)
        architecture = arguments.architecture or own_architecture()
        compile_all(wanted.values(), architecture, os.cpu_count())
        if arguments.dry:
            return 0
        cuda = Cuda()
        for op in ops.values():
            op.cuda = cuda
        liger = liger_ops(arguments.liger) if arguments.liger else {}
        good = True
        if not arguments.skip_check:
            right, all_ = check_all(rows, types, ops)
            good = right == all_
        clock = Clock(cuda)
        results = {}
        for t in types:
            for row, folder, sizes in rows:
                started = time.time()
                try:
                    peers = liger if t in peer_types and (row, folder, sizes) in ROWS else None
                    result = time_row(clock, ops[folder, t], sizes, peers, arguments.repeats)
                except Exception as error:
                    print("ERROR", row, t, str(error)[:500], flush=True)
                    good = False
                    continue
                results[row, t] = result
                print(
                    f"{row:32s} {t:5s} {percent(share(result, 'ours'))} in {time.time() - started:.1f} s",
                    *result["chosen"]["forward"],
                    *result["chosen"]["backward"],
                    result["plain"],
                    flush=True,
                )
                torch.cuda.empty_cache()
                if arguments.out:  # at once: a run that is cut short keeps what it has
                    with open(arguments.out, "w") as file:
                        json.dump([{"row": r, "type": k, **v} for (r, k), v in results.items()], file, indent=1)
        print(f"\n{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
        for title, part in sections.items():
            print(f"\n{title}")
            own_table(part, types, results)
        for t in peer_types:
            peer_table(ROWS, t, results)
        return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
