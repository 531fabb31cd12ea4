#!/usr/bin/env python3
"""What a change of the generator does to the kernels of every example.

    tools/codegen_diff.py              the difference to the golden files, and how many lines of how many files
    tools/codegen_diff.py COMMIT       likewise, to the golden files of that commit
    tools/codegen_diff.py --update     makes what is generated now the golden files
    tools/codegen_diff.py --stat       the counts alone

Golden files: tests/golden/TARGET/EXAMPLE/. The binary is build/kw.
"""

import argparse
import difflib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
KW = ROOT / os.environ.get("BUILD", "build") / "kw"

# Of tiers 1 and 2.
EXAMPLES = (
    "calibrated_logits clip_logits derf dyisru dyt fused_add_rms_norm geglu gelu_erf gelu_tanh group_norm "
    "group_norm_silu hardswish hinge huber instance_norm jsd kl_div l2_normalize layer_norm log_softmax "
    "mean_middle mish mse poly_norm poly_relu prelu relu_squared rms_norm_gemma rms_norm_llama rms_norm_mixed "
    "rms_norm_none siglip_logits silu softmax softplus swiglu tvd"
).split()
TARGETS = ("cpu", "cuda", "triton")


def kw(workspace, *arguments, env=None):
    finished = subprocess.run(
        [KW, *arguments, "--workspace", workspace, "--quiet"],
        capture_output=True, text=True, check=False, env=env,
    )  # fmt: skip
    if finished.returncode != 0:
        raise RuntimeError(f"kw {' '.join(map(str, arguments))}: {finished.stderr}")


def generate(example, targets=TARGETS, env=None, changes=()):
    """{"cpu/rms_norm_llama/rms_norm_llama_forward.cpp": text} of one example, as `kw act` writes it."""
    with tempfile.TemporaryDirectory() as workspace:
        # The path that a user types ends up in the profile, not in the kernels.
        kw(workspace, "understand", ROOT / "examples" / f"{example}.py", "--name", example, env=env)
        for change in changes:
            kw(workspace, "set", example, change, env=env)
        files = {}
        for target in targets:
            kw(workspace, "act", example, "--target", target, "--yes", env=env)
            folder = Path(workspace) / "kernels" / example / "act" / target
            for path in sorted(folder.iterdir()):
                if path.is_file():
                    files[f"{target}/{example}/{path.name}"] = path.read_text()
        return files


def golden(example, targets=TARGETS, commit=None):
    files = {}
    for target in targets:
        if commit:
            listed = subprocess.run(
                ["git", "ls-tree", "--name-only", f"{commit}", f"tests/golden/{target}/{example}/"],
                cwd=ROOT, capture_output=True, text=True, check=True,
            ).stdout.split()  # fmt: skip
            for path in listed:
                text = subprocess.run(
                    ["git", "show", f"{commit}:{path}"], cwd=ROOT, capture_output=True, text=True, check=True
                ).stdout
                files[path.removeprefix("tests/golden/")] = text
        else:
            for path in sorted((GOLDEN / target / example).glob("*")):
                files[path.relative_to(GOLDEN).as_posix()] = path.read_text()
    return files


def update(example, files):
    for target in TARGETS:
        shutil.rmtree(GOLDEN / target / example, ignore_errors=True)
    for path, text in files.items():
        (GOLDEN / path).parent.mkdir(parents=True, exist_ok=True)
        (GOLDEN / path).write_text(text)


def difference(before, after):
    """Unified diffs of what differs, by path."""
    diffs = {}
    for path in sorted({*before, *after}):
        lines = list(
            difflib.unified_diff(
                before.get(path, "").splitlines(), after.get(path, "").splitlines(), path, path, lineterm=""
            )
        )
        if lines:
            diffs[path] = lines
    return diffs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--stat", action="store_true")
    options = parser.parse_args()
    changed = added = removed = 0
    for example in EXAMPLES:
        after = generate(example)
        diffs = difference(golden(example, commit=options.commit), after)
        for path, lines in diffs.items():
            plus = sum(line.startswith("+") and not line.startswith("+++") for line in lines)
            minus = sum(line.startswith("-") and not line.startswith("---") for line in lines)
            changed, added, removed = changed + 1, added + plus, removed + minus
            print(f"{path}: +{plus} -{minus}" if options.stat else "\n".join(lines))
        if options.update:
            update(example, after)
    print(f"{changed} files differ, +{added} -{removed} lines", file=sys.stderr)
    return 0 if options.update or changed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
