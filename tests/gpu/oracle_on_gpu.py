"""PyTorch eager on a GPU lies within the rounded oracle's bound on every element, as on the CPU.

Needs a GPU, so it is no part of `make test`; bench/results/ holds a recorded run:

    python3 tests/gpu/oracle_on_gpu.py
"""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from example_eval import NAMES, outputs_of  # noqa: E402
from test_oracle_is_sharp import TIER_1, TIER_2, cast_problem, oracle, outside  # noqa: E402


def main():
    failed = 0
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    for name in TIER_1 + TIER_2:
        line = f"{name:20s}"
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            module, inputs = cast_problem(name, dtype)
            expected = oracle(name, module, inputs, dtype)
            module, on_gpu = module.cuda(), [t.cuda() for t in inputs.values()]
            with torch.no_grad():
                results = outputs_of(module(*on_gpu))
            count = sum(outside(v, b, r.cpu()) for (v, b), r in zip(expected, results, strict=True))
            total = sum(r.numel() for r in results)
            failed += count > 0
            line += f"  {NAMES[dtype]} {count} of {total} outside"
        print(line, flush=True)
    print(f"{3 * len(TIER_1 + TIER_2) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
