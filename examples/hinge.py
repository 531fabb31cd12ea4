"""Hinge loss for targets of -1 and 1, mean over all elements."""

import torch

rows, cols = 8192, 1024


def hinge(pred: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return torch.mean(torch.clamp(1.0 - pred * target, min=0.0))


def get_inputs():
    return [torch.randn(rows, cols), torch.randint(0, 2, (rows, cols)).float() * 2.0 - 1.0]
