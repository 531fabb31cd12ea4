"""GEGLU over one packed projection: the first half gates, the second half passes."""

import torch
import torch.nn.functional as F

batch, seq, intermediate = 4, 2048, 14336


def geglu(x: torch.Tensor) -> torch.Tensor:
    gate, up = x.chunk(2, dim=-1)
    return F.gelu(gate, approximate="tanh") * up


def get_inputs():
    return [torch.randn(batch, seq, 2 * intermediate, dtype=torch.bfloat16)]
