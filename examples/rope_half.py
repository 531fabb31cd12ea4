"""Rotary position embedding of queries and keys in the half-rotated layout: element i turns with element i + d/2."""

import torch

batch, heads, kv_heads, seq, head_dim = 4, 32, 8, 2048, 128


def rope_half(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    cos = cos.unsqueeze(1)
    sin = sin.unsqueeze(1)
    q1, q2 = q.chunk(2, dim=-1)
    k1, k2 = k.chunk(2, dim=-1)
    q_rotated = q * cos + torch.cat((-q2, q1), dim=-1) * sin
    k_rotated = k * cos + torch.cat((-k2, k1), dim=-1) * sin
    return q_rotated, k_rotated


def get_inputs():
    return [
        torch.randn(batch, heads, seq, head_dim, dtype=torch.bfloat16),
        torch.randn(batch, kv_heads, seq, head_dim, dtype=torch.bfloat16),
        torch.randn(batch, seq, head_dim, dtype=torch.bfloat16),
        torch.randn(batch, seq, head_dim, dtype=torch.bfloat16),
    ]
