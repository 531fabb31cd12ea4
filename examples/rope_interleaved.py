"""Rotary position embedding in the interleaved layout: neighbours (2i, 2i + 1) turn together, by cached angles."""

import torch
from torch import nn

batch, heads, seq, head_dim = 4, 32, 2048, 128
max_positions = 4096


class RopeInterleaved(nn.Module):
    def __init__(self, head_dim: int, max_positions: int, base: float = 10000.0):
        super().__init__()
        inv_freq = base ** (-torch.arange(0, head_dim, 2).float() / head_dim)
        angles = torch.outer(torch.arange(max_positions).float(), inv_freq)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seq_len = x.shape[-2]
        cos = self.cos[:seq_len]
        sin = self.sin[:seq_len]
        x_float = x.float()
        even, odd = x_float[..., 0::2], x_float[..., 1::2]
        rotated = torch.stack((even * cos - odd * sin, odd * cos + even * sin), dim=-1)
        return rotated.flatten(-2).type_as(x)


def get_inputs():
    return [torch.randn(batch, heads, seq, head_dim, dtype=torch.bfloat16)]


def get_init_inputs():
    return [head_dim, max_positions]
