"""Sparsemax: the Euclidean projection of each row onto the probability simplex."""

import torch

rows, cols = 8192, 1024


def sparsemax(x: torch.Tensor) -> torch.Tensor:
    x_sorted, _ = torch.sort(x, dim=-1, descending=True)
    x_cumsum = x_sorted.cumsum(dim=-1)
    rank = torch.arange(1, x.shape[-1] + 1, device=x.device, dtype=x.dtype)
    support_size = (1.0 + rank * x_sorted > x_cumsum).sum(dim=-1, keepdim=True)
    tau = (x_cumsum.gather(-1, support_size - 1) - 1.0) / support_size
    return torch.clamp(x - tau, min=0.0)


def get_inputs():
    return [torch.randn(rows, cols)]
