"""SwiGLU: the gate through SiLU times the up projection."""

import torch
import torch.nn.functional as F

batch, seq, intermediate = 4, 2048, 14336


def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    return F.silu(gate) * up


def get_inputs():
    return [
        torch.randn(batch, seq, intermediate, dtype=torch.bfloat16),
        torch.randn(batch, seq, intermediate, dtype=torch.bfloat16),
    ]
