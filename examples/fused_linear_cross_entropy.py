"""The language model head and its loss as one op, so that the logits need never be stored as a whole."""

import torch
import torch.nn.functional as F
from torch import nn

tokens, hidden, vocab = 8192, 4096, 128256


class FusedLinearCrossEntropy(nn.Module):
    def __init__(self, hidden_size: int, vocab_size: int, ignore_index: int = -100, dtype: torch.dtype | None = None):
        super().__init__()
        self.ignore_index = ignore_index
        self.lm_head = nn.Linear(hidden_size, vocab_size, bias=False, dtype=dtype)

    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        logits = self.lm_head(x).float()
        return F.cross_entropy(logits, target, ignore_index=self.ignore_index)


def get_inputs():
    return [torch.randn(tokens, hidden, dtype=torch.bfloat16), torch.randint(0, vocab, (tokens,))]


def get_init_inputs():
    return [hidden, vocab, -100, torch.bfloat16]
