"""PReLU with a slope per channel of image features."""

import torch
import torch.nn.functional as F

batch, channels, height, width = 32, 256, 56, 56


def prelu(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return F.prelu(x, weight)


def get_inputs():
    return [
        torch.randn(batch, channels, height, width, dtype=torch.bfloat16),
        torch.randn(channels, dtype=torch.bfloat16),
    ]
