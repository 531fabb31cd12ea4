"""Rotary position embedding of the first rotary_dim elements of each head; the rest pass unchanged."""

import torch
from torch import nn

batch, heads, seq, head_dim, rotary_dim = 4, 32, 2048, 128, 32


class RopePartial(nn.Module):
    def __init__(self, rotary_dim: int, base: float = 10000.0):
        super().__init__()
        self.rotary_dim = rotary_dim
        inv_freq = 1.0 / base ** (torch.arange(0, rotary_dim, 2).float() / rotary_dim)
        self.register_buffer("inv_freq", inv_freq, persistent=False)

    def forward(self, x: torch.Tensor, position_ids: torch.Tensor) -> torch.Tensor:
        angles = position_ids[:, None, :, None].float() * self.inv_freq
        cos = torch.cos(angles).to(x.dtype)
        sin = torch.sin(angles).to(x.dtype)
        x_rotary, x_pass = x[..., : self.rotary_dim], x[..., self.rotary_dim :]
        x1, x2 = x_rotary.chunk(2, dim=-1)
        return torch.cat((x1 * cos - x2 * sin, x2 * cos + x1 * sin, x_pass), dim=-1)


def get_inputs():
    return [
        torch.randn(batch, heads, seq, head_dim, dtype=torch.bfloat16),
        torch.arange(seq).expand(batch, seq),
    ]


def get_init_inputs():
    return [rotary_dim]
