"""The exported graph of every operation means what PyTorch computes: in real semantics to 1e-10 of its float64, in
rounded semantics to the bit of its bfloat16 and float16 for what works element by element."""

import copy

import pytest
import torch
from export_cases import CASES, MODULES, make
from graph_eval import run_both

EXACT = [(case, dtype) for case in CASES for dtype in case.exact_in]
each_case = pytest.mark.parametrize("case", [case for case in CASES if case.real], ids=lambda case: case.name)
each_exact_case = pytest.mark.parametrize(
    "case, dtype", EXACT, ids=[f"{case.name}-{str(dtype).removeprefix('torch.')}" for case, dtype in EXACT]
)
each_module = pytest.mark.parametrize("name, build, specs", MODULES, ids=[m[0] for m in MODULES])


def arguments_for(specs, dtype, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [make(spec, dtype, generator) for spec in specs]


def assert_same(ours, theirs, semantics):
    assert len(ours) == len(theirs)
    for mine, reference in zip(ours, theirs):
        assert mine.exported_dtype == reference.dtype
        assert mine.shape == reference.shape
        if semantics == "rounded" or not reference.is_floating_point():
            assert torch.equal(torch.nan_to_num(mine), torch.nan_to_num(reference)), (mine, reference)
            assert torch.equal(mine.isnan(), reference.isnan())
        else:
            torch.testing.assert_close(mine, reference, rtol=1e-10, atol=1e-10, check_dtype=False, equal_nan=True)


@each_case
def test_real_semantics_agree_with_float64(case, tmp_path):
    arguments = arguments_for(case.specs, torch.float64)
    (ours, _), (theirs, _) = run_both(case.function, arguments, "real", tmp_path)
    assert_same(ours, theirs, "real")


@each_exact_case
def test_rounded_semantics_agree_to_the_bit(case, dtype, tmp_path):
    arguments = arguments_for(case.specs, dtype, seed=1)
    (ours, _), (theirs, _) = run_both(case.function, arguments, "rounded", tmp_path)
    assert_same(ours, theirs, "rounded")


@pytest.mark.parametrize("training", [True, False], ids=["training", "eval"])
@each_module
def test_modules_and_their_buffers_agree_with_float64(name, build, specs, training, tmp_path):
    torch.manual_seed(0)
    module = build().double().train(training)
    for parameter in [*module.parameters(), *(b for b in module.buffers() if b.is_floating_point())]:
        torch.nn.init.uniform_(parameter.data, 0.5, 1.5)
    run = copy.deepcopy(module)
    arguments = arguments_for(specs, torch.float64)
    (ours, our_updates), (theirs, updates) = run_both(run, arguments, "real", tmp_path, training)
    assert_same(ours, theirs, "real")
    assert our_updates.keys() == updates.keys()
    for key, value in updates.items():
        torch.testing.assert_close(our_updates[key], value, rtol=1e-10, atol=1e-10, check_dtype=False)
