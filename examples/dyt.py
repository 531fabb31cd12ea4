"""Dynamic tanh, a drop-in for layer norm: weight * tanh(alpha * x) + bias with a learned scalar alpha."""

import torch
from torch import nn

batch, seq, hidden = 4, 2048, 4096


class DyT(nn.Module):
    def __init__(self, hidden_size: int, alpha_init: float = 0.5, dtype: torch.dtype | None = None):
        super().__init__()
        self.alpha = nn.Parameter(torch.full((1,), alpha_init, dtype=dtype))
        self.weight = nn.Parameter(torch.ones(hidden_size, dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(hidden_size, dtype=dtype))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.weight * torch.tanh(self.alpha * x) + self.bias


def get_inputs():
    return [torch.randn(batch, seq, hidden, dtype=torch.bfloat16)]


def get_init_inputs():
    return [hidden, 0.5, torch.bfloat16]
