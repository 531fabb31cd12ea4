"""DyISRU: x over the root of its square and a learned constant, in the place of a norm, with weight and bias."""

import torch

batch, seq, hidden = 4, 2048, 4096


def dyisru(x: torch.Tensor, alpha: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    return weight * (x * torch.rsqrt(x * x + alpha)) + bias


def get_inputs():
    return [
        torch.randn(batch, seq, hidden, dtype=torch.bfloat16),
        torch.ones(1, dtype=torch.bfloat16),
        torch.randn(hidden, dtype=torch.bfloat16),
        torch.randn(hidden, dtype=torch.bfloat16),
    ]
