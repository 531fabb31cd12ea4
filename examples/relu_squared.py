"""Squared ReLU, the activation of Primer: relu(x)^2."""

import torch
import torch.nn.functional as F
from torch import nn

rows, cols = 8192, 14336


class ReLUSquared(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.square(F.relu(x))


def get_inputs():
    return [torch.randn(rows, cols, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
