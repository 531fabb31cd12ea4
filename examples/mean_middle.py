"""Mean over the middle axis: one vector per sequence from one vector per token."""

import torch

batch, seq, hidden = 64, 512, 4096


def mean_middle(x: torch.Tensor) -> torch.Tensor:
    return x.mean(dim=1)


def get_inputs():
    return [torch.randn(batch, seq, hidden, dtype=torch.bfloat16)]
