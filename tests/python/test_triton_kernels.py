"""Triton kernels of every example, emitted from the same loop form as the others, run in Triton's interpreter and lie
within the oracle's bound, in each type and in mixtures. The interpreter cuts bits off where it casts to bf16, and a GPU
rounds: here it is made to round (kernelwright/interpreter.py), so that one sharp bound judges both."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from example_eval import NAMES, TOOL, tensor
from graph_eval import array

os.environ["TRITON_INTERPRET"] = "1"
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tools")]

from codegen_diff import EXAMPLES  # noqa: E402
from kernelwright.interpreter import round_as_a_gpu, to_bf16  # noqa: E402
from kernelwright.manifest import Call, run_triton  # noqa: E402

ACT = ROOT / os.environ.get("BUILD", "build") / "act_of"
round_as_a_gpu()

SIZES = [
    {},
    {"rows": 1, "cols": 1, "batch": 1, "seq": 1, "hidden": 1},
    {"rows": 37, "seq": 129, "hidden": 300, "cols": 1025},
]
USUAL = {
    "rows": 5, "cols": 20, "batch": 3, "seq": 7, "hidden": 24, "intermediate": 9, "vocab": 37, "tokens": 6,
    "channels": 32, "height": 2, "width": 3,
}  # fmt: skip
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.float64]


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
    # A buffer's name is an identifier that no kernel uses; the math may call it norm.weight, or shift.
    of_math = {name.replace(".", "_"): name for name in re.findall(r"[A-Za-z_][\w.]*", answer[pass_name])}
    named = {of_math.get(name) or of_math[name.removesuffix("_")]: array(t) for name, t in inputs.items()}
    call = {"inputs": named, "sizes": dict(sizes)}
    command = [TOOL, answer["folder"] / f"{pass_name}.math", "rounded", *types]
    run = subprocess.run(command, input=json.dumps(call), capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    outputs = {name: result["outputs"][name] for name in result["names"]}
    return {name.replace(".", "_"): (tensor(out), tensor(out, "bounds")) for name, out in outputs.items()}


def fresh_inputs(manifest, pass_name, sizes, dtypes, generator, known=()):
    """Tensors for the inputs of a pass that are not known yet; `dtypes` by type parameter."""
    pass_ = next(p for p in manifest["passes"] if p["name"] == pass_name)
    tensors = dict(known)
    probe = Call.__new__(Call)
    probe.manifest, probe.sizes, probe.scalars, probe.tensors, probe.multiprocessors = manifest, sizes, {}, {}, 1
    probe.types = dtypes
    for buffer in pass_["buffers"]:
        if buffer["role"] == "input" and buffer["name"] not in tensors:
            shape = [probe.size(n) for n in buffer["shape"]]
            tensors[buffer["name"]] = torch.randn(shape, generator=generator).to(probe.dtype(buffer["type"]))
    return {b["name"]: tensors[b["name"]] for b in pass_["buffers"] if b["role"] == "input"}


def expect_within_bounds(answer, pass_name, inputs, results, dtypes, sizes=()):
    types = [f"{parameter}={NAMES[dtype]}" for parameter, dtype in dtypes.items()]
    for name, (value, bound) in oracle(answer, pass_name, inputs, types, sizes).items():
        ours = results[name].double()
        same = (value == ours) | (value.isnan() & ours.isnan())
        wrong = ~same & ~((value - ours).abs() <= bound)
        assert not wrong.any(), (
            f"{name}: {int(wrong.sum())} of {ours.numel()} outside, e.g. {ours[wrong][0]} for {value[wrong][0]}"
            f" ± {bound[wrong][0]}"
        )


def run_both_passes(answer, name, dtypes, sizes, seed=7):
    manifest = answer["manifest"]
    generator = torch.Generator().manual_seed(seed)
    sizes = {symbol: {**USUAL, **sizes}.get(symbol, 18) for symbol in manifest["sizes"]}
    inputs = fresh_inputs(manifest, "forward", sizes, dtypes, generator)
    if name == "kl_div":
        inputs = {n: torch.softmax(t.float(), -1).to(t.dtype) for n, t in inputs.items()}
    results = run_triton(manifest, answer["folder"], "forward", inputs, multiprocessors=2)
    expect_within_bounds(answer, "forward", inputs, results, dtypes, sizes)
    given = fresh_inputs(manifest, "backward", sizes, dtypes, generator, known=results)
    gradients = run_triton(manifest, answer["folder"], "backward", given, multiprocessors=2, sizes=sizes, types=dtypes)
    expect_within_bounds(answer, "backward", given, gradients, dtypes, sizes)


@pytest.mark.parametrize("sizes", SIZES, ids=["usual", "ones", "longer_than_a_tile"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: NAMES[d])
@pytest.mark.parametrize("name", EXAMPLES)
def test_both_passes_lie_within_the_oracles_bound(generated, name, dtype, sizes):
    types = dict.fromkeys(generated[name]["manifest"].get("types", {}), dtype)
    run_both_passes(generated[name], name, types, sizes)


@pytest.mark.parametrize("first", [torch.bfloat16, torch.float16, torch.float32], ids=lambda d: NAMES[d])
@pytest.mark.parametrize("name", [e for e in EXAMPLES if "norm" in e or e == "dyt"])
def test_types_may_be_mixed(generated, name, first):
    parameters = list(generated[name]["manifest"].get("types", {}))
    other = torch.bfloat16 if first == torch.float32 else torch.float32
    run_both_passes(generated[name], name, {p: first if p == "T" else other for p in parameters}, {})


def test_a_cast_to_bf16_rounds_to_nearest_even_and_keeps_nan():
    values = torch.randn(10000, dtype=torch.float64, generator=torch.Generator().manual_seed(1)) * 3
    values = torch.cat([values, torch.tensor([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-8 + 2**-40, 0.0, -0.0, 3.5e38, 1e-40])])
    special = torch.tensor([float("inf"), float("-inf"), float("nan")])
    for given in (values.float(), values, special, special.double()):
        bits = torch.from_numpy(to_bf16(given.numpy()).view(np.int16).copy())
        assert torch.equal(bits.view(torch.bfloat16).isnan(), given.isnan())
        ours, theirs = bits.view(torch.bfloat16)[~given.isnan()], given[~given.isnan()]
        # PyTorch casts fp64 by way of fp32, and so rounds twice: there the nearest is found by distance.
        if given.dtype == torch.float32:
            assert torch.equal(ours, theirs.bfloat16())
        else:
            finite = ours.isfinite() & theirs.isfinite()
            distance = (ours.double() - theirs).abs()
            for side in (float("inf"), float("-inf")):
                neighbour = torch.nextafter(ours, torch.full_like(ours, side)).double()
                assert (distance <= (neighbour - theirs).abs())[finite].all()


def test_the_interpreter_alone_would_cut_bits_off():
    """Once it rounds by itself, kernelwright/interpreter.py has nothing left to do."""
    script = (
        "import os; os.environ['TRITON_INTERPRET'] = '1'\n"
        "import numpy as np, triton.language as tl\n"
        "from triton.runtime.interpreter import InterpreterBuilder, TensorHandle\n"
        "x = TensorHandle(np.array([1 + 3 * 2.0**-9], dtype=np.float32), tl.float32)\n"
        "print(InterpreterBuilder().cast_impl(x, tl.bfloat16).data[0])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert run.stdout.strip() == str(0x3F80), run.stderr  # 1.0; the nearest is 1 + 2^-7


def test_strided_inputs_take_the_other_entry(generated):
    answer = generated["rms_norm_llama"]
    generator = torch.Generator().manual_seed(3)
    wide = torch.randn((3, 7, 48), generator=generator)
    inputs = {"x": wide[:, ::2, ::2], "weight": torch.randn(48, generator=generator)[::2]}
    step = next(p for p in answer["manifest"]["passes"] if p["name"] == "forward")["steps"][0]
    assert Call(answer["manifest"], "forward", inputs, {}).entry(step)["symbol"].endswith("_general")
    results = run_triton(answer["manifest"], answer["folder"], "forward", inputs)
    expect_within_bounds(answer, "forward", inputs, results, dict.fromkeys(answer["manifest"]["types"], torch.float32))


def test_a_row_that_registers_cannot_hold_is_read_again(generated):
    text = generated["softmax"]["files"]["softmax.py"]
    assert "if BLOCK * d_y.dtype.element_ty.primitive_bitwidth > 8 * 65536:" in text and "evict_first" in text
    types = {parameter: torch.float32 for parameter in generated["softmax"]["manifest"]["types"]}
    run_both_passes(generated["softmax"], "softmax", types, {"rows": 2, "cols": 16400})


def test_a_row_beside_two_sums_that_registers_cannot_hold_is_read_again(generated):
    answer = generated["layer_norm"]
    backward = answer["files"]["layer_norm.py"].split("def layer_norm_backward(")[1]
    assert "if BLOCK >= 16384:\n            x_i = tl.load(" in backward
    types = {parameter: torch.float32 for parameter in answer["manifest"]["types"]}
    run_both_passes(answer, "layer_norm", types, {"rows": 5, "cols": 8200})


def test_a_row_too_long_for_one_program_goes_by_in_tiles(generated):
    answer = generated["softmax"]
    inputs = {"x": torch.randn((2, 33000), generator=torch.Generator().manual_seed(5))}
    step = next(p for p in answer["manifest"]["passes"] if p["name"] == "forward")["steps"][0]
    call = Call(answer["manifest"], "forward", inputs, {})
    call.allocate("cpu")
    assert call.entry(step)["symbol"].endswith("_general")
    results = run_triton(answer["manifest"], answer["folder"], "forward", inputs)
    expect_within_bounds(answer, "forward", inputs, results, dict.fromkeys(answer["manifest"]["types"], torch.float32))
