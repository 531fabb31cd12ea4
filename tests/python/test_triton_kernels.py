"""Triton kernels, emitted from the same loop form as the others, run in Triton's interpreter and lie within the
oracle's bound. In bf16 the interpreter truncates where a GPU rounds to nearest, so its runs prove nothing about bf16:
fp32 and fp16 are judged here."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import torch
from example_eval import NAMES, TOOL, tensor
from graph_eval import array

os.environ["TRITON_INTERPRET"] = "1"
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from kernelwright.manifest import Call, run_triton  # noqa: E402

ACT = ROOT / os.environ.get("BUILD", "build") / "act_of"

# One of each family at least; what an example's passes are made of.
EXAMPLES = {
    "relu_squared": "elements",
    "swiglu": "elements",
    "geglu": "elements",
    "mish": "elements",
    "rms_norm_llama": "row",
    "rms_norm_gemma": "row",
    "layer_norm": "row",
    "softmax": "row",
    "log_softmax": "row",
    "l2_normalize": "row",
    "mean_middle": "column",
    "mse": "whole",
    "huber": "whole",
    "kl_div": "whole",
    "tvd": "whole",
}
SIZES = [
    {},
    {"rows": 1, "cols": 1, "batch": 1, "seq": 1, "hidden": 1},
    {"rows": 37, "seq": 129, "hidden": 300, "cols": 1025},
]
USUAL = {"rows": 5, "cols": 20, "batch": 3, "seq": 7, "hidden": 24, "intermediate": 9, "vocab": 37, "tokens": 6}


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    """name → what act gave, with its files in a folder."""
    paths = [str(ROOT / "examples" / f"{name}.py") for name in EXAMPLES]
    run = subprocess.run([ACT, "triton", *paths], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    answers = {}
    for name, line in zip(EXAMPLES, run.stdout.splitlines(), strict=True):
        answer = json.loads(line)
        assert "refused" not in answer, f"{name}: {answer.get('refused')}"
        answer["folder"] = tmp_path_factory.mktemp(name)
        for file, text in answer["files"].items():
            (answer["folder"] / file).write_text(text)
        for pass_name in ("forward", "backward"):
            (answer["folder"] / f"{pass_name}.math").write_text(answer.get(pass_name, ""))
        answers[name] = answer
    return answers


def oracle(answer, pass_name, inputs, types, sizes):
    call = {"inputs": {name: array(t) for name, t in inputs.items()}, "sizes": dict(sizes)}
    command = [TOOL, answer["folder"] / f"{pass_name}.math", "rounded", *types]
    run = subprocess.run(command, input=json.dumps(call), capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    return {n: (tensor(result["outputs"][n]), tensor(result["outputs"][n], "bounds")) for n in result["names"]}


def fresh_inputs(manifest, pass_name, sizes, dtype, generator, known=()):
    """Tensors for the inputs of a pass that are not known yet."""
    pass_ = next(p for p in manifest["passes"] if p["name"] == pass_name)
    tensors = dict(known)
    probe = Call.__new__(Call)
    probe.manifest, probe.sizes, probe.scalars, probe.tensors, probe.multiprocessors = manifest, sizes, {}, {}, 1
    probe.types = dict.fromkeys(manifest.get("types", {}), dtype)
    for buffer in pass_["buffers"]:
        if buffer["role"] == "input" and buffer["name"] not in tensors:
            shape = [probe.size(n) for n in buffer["shape"]]
            tensors[buffer["name"]] = torch.randn(shape, generator=generator).to(probe.dtype(buffer["type"]))
    return {b["name"]: tensors[b["name"]] for b in pass_["buffers"] if b["role"] == "input"}


def expect_within_bounds(answer, pass_name, inputs, results, dtype, sizes=()):
    types = [f"{parameter}={NAMES[dtype]}" for parameter in answer["manifest"].get("types", {})]
    for name, (value, bound) in oracle(answer, pass_name, inputs, types, sizes).items():
        ours = results[name].double()
        same = (value == ours) | (value.isnan() & ours.isnan())
        wrong = ~same & ~((value - ours).abs() <= bound)
        assert not wrong.any(), (
            f"{name}: {int(wrong.sum())} of {ours.numel()} outside, e.g. {ours[wrong][0]} for {value[wrong][0]}"
            f" ± {bound[wrong][0]}"
        )


@pytest.mark.parametrize("sizes", SIZES, ids=["usual", "ones", "longer_than_a_tile"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=lambda d: NAMES[d])
@pytest.mark.parametrize("name", EXAMPLES)
def test_both_passes_lie_within_the_oracles_bound(generated, name, dtype, sizes):
    answer = generated[name]
    manifest = answer["manifest"]
    generator = torch.Generator().manual_seed(7)
    sizes = {symbol: {**USUAL, **sizes}.get(symbol, 18) for symbol in manifest["sizes"]}
    inputs = fresh_inputs(manifest, "forward", sizes, dtype, generator)
    if name == "kl_div":
        inputs = {n: torch.softmax(t.float(), -1).to(dtype) for n, t in inputs.items()}
    results = run_triton(manifest, answer["folder"], "forward", inputs, multiprocessors=2)
    expect_within_bounds(answer, "forward", inputs, results, dtype, sizes)
    given = fresh_inputs(manifest, "backward", sizes, dtype, generator, known=results)
    gradients = run_triton(manifest, answer["folder"], "backward", given, multiprocessors=2, sizes=sizes)
    expect_within_bounds(answer, "backward", given, gradients, dtype, sizes)


def test_strided_inputs_take_the_other_entry(generated):
    answer = generated["rms_norm_llama"]
    generator = torch.Generator().manual_seed(3)
    wide = torch.randn((3, 7, 48), generator=generator)
    inputs = {"x": wide[:, ::2, ::2], "weight": torch.randn(48, generator=generator)[::2]}
    step = next(p for p in answer["manifest"]["passes"] if p["name"] == "forward")["steps"][0]
    assert Call(answer["manifest"], "forward", inputs, {}).entry(step)["symbol"].endswith("_strided")
    results = run_triton(answer["manifest"], answer["folder"], "forward", inputs)
    expect_within_bounds(answer, "forward", inputs, results, torch.float32)


def test_a_row_too_long_for_one_program_goes_by_in_tiles(generated):
    answer = generated["softmax"]
    inputs = {"x": torch.randn((2, 33000), generator=torch.Generator().manual_seed(5))}
    step = next(p for p in answer["manifest"]["passes"] if p["name"] == "forward")["steps"][0]
    assert Call(answer["manifest"], "forward", inputs, {}).entry(step)["symbol"].endswith("_streamed")
    results = run_triton(answer["manifest"], answer["folder"], "forward", inputs)
    expect_within_bounds(answer, "forward", inputs, results, torch.float32)
