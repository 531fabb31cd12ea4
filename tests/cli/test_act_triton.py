"""Sums over rows whose result has a type that no tensor of the op has, generated for Triton."""

POOL = """import torch


def pool(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    wide = mask.unsqueeze(-1).expand(x.size()).float()
    return torch.sum(x * wide, 1) / torch.clamp(wide.sum(1), min=1e-9)


def get_inputs():
    return [torch.randn(4, 16, 8, dtype=torch.bfloat16), torch.ones(4, 16, dtype=torch.int64)]
"""


def test_what_only_the_second_function_of_a_kernel_writes_is_not_given_to_the_first(kw, tmp_path):
    (tmp_path / "pool.py").write_text(POOL)
    understood = kw("understand", "pool.py")
    assert understood.returncode == 0, understood.stderr
    run = kw("act", "pool", "--target", "triton", "--yes")
    assert run.returncode == 0, run.stdout + run.stderr
