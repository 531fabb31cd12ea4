"""Pairwise logits of SigLIP: similarities by a learned scale, and a learned bias; the scale is returned for the log."""

import torch

rows, cols = 8192, 8192


def siglip_logits(
    similarity: torch.Tensor, logit_scale: torch.Tensor, logit_bias: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    scale = logit_scale.exp()
    return similarity * scale + logit_bias, scale


def get_inputs():
    return [
        torch.randn(rows, cols, dtype=torch.bfloat16),
        torch.tensor(2.3026, dtype=torch.bfloat16),
        torch.tensor(-10.0, dtype=torch.bfloat16),
    ]
