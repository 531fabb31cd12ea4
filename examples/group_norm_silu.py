"""Group norm and SiLU of image features in one, as in the residual blocks of diffusion models."""

import torch
import torch.nn.functional as F
from torch import nn

batch, channels, height, width = 16, 320, 64, 64
groups = 32


class GroupNormSiLU(nn.Module):
    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, dtype: torch.dtype | None = None):
        super().__init__()
        self.norm = nn.GroupNorm(num_groups, num_channels, eps=eps, dtype=dtype)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.silu(self.norm(x))


def get_inputs():
    return [torch.randn(batch, channels, height, width, dtype=torch.bfloat16)]


def get_init_inputs():
    return [groups, channels, 1e-5, torch.bfloat16]
