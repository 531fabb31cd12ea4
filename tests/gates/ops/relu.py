"""What PyTorch runs for kernels of relu.kw that only PyTorch can tell to be wrong."""

import torch


def relu(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x)
