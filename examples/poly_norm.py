"""PolyNorm: a learned mix of the RMS-normalised first, second and third powers of x."""

import torch
from torch import nn

batch, seq, hidden = 4, 2048, 8192


class PolyNorm(nn.Module):
    def __init__(self, eps: float = 1e-6, dtype: torch.dtype | None = None):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.full((3,), 1.0 / 3.0, dtype=dtype))
        self.bias = nn.Parameter(torch.zeros(1, dtype=dtype))

    def _norm(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = x.float()
        weight = self.weight.float()
        y = weight[0] * self._norm(h**3) + weight[1] * self._norm(h**2) + weight[2] * self._norm(h)
        return (y + self.bias.float()).to(x.dtype)


def get_inputs():
    return [torch.randn(batch, seq, hidden, dtype=torch.bfloat16)]


def get_init_inputs():
    return [1e-6, torch.bfloat16]
