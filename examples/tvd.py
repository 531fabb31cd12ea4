"""Total variation distance between two distributions, mean over tokens."""

import torch

tokens, vocab = 4096, 32000


def tvd(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    return 0.5 * (p - q).abs().sum(dim=-1).mean()


def get_inputs():
    return [
        torch.softmax(torch.randn(tokens, vocab), dim=-1),
        torch.softmax(torch.randn(tokens, vocab), dim=-1),
    ]
