"""Derf: an error function with a learned slope and shift in the place of a norm, with weight and bias."""

import torch

batch, seq, hidden = 4, 2048, 4096


def derf(
    x: torch.Tensor, alpha: torch.Tensor, shift: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    return weight * torch.erf(alpha * x + shift) + bias


def get_inputs():
    return [
        torch.randn(batch, seq, hidden, dtype=torch.bfloat16),
        torch.full((1,), 0.5, dtype=torch.bfloat16),
        torch.zeros(1, dtype=torch.bfloat16),
        torch.randn(hidden, dtype=torch.bfloat16),
        torch.randn(hidden, dtype=torch.bfloat16),
    ]
