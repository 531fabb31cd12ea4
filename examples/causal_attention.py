"""Scaled dot-product attention in which a query sees the keys up to its own position."""

import torch

batch, heads, seq, head_dim = 4, 32, 2048, 128


def causal_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = torch.matmul(q, k.transpose(-2, -1)) * q.shape[-1] ** -0.5
    seq_len = q.shape[-2]
    future = torch.ones(seq_len, seq_len, dtype=torch.bool, device=q.device).triu(diagonal=1)
    scores = scores.masked_fill(future, float("-inf"))
    weights = torch.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
    return torch.matmul(weights, v)


def get_inputs():
    return [
        torch.randn(batch, heads, seq, head_dim, dtype=torch.bfloat16),
        torch.randn(batch, heads, seq, head_dim, dtype=torch.bfloat16),
        torch.randn(batch, heads, seq, head_dim, dtype=torch.bfloat16),
    ]
