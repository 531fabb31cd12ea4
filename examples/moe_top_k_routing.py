"""Router of a mixture of experts: the top k experts of each token, with weights that sum to one."""

import torch
import torch.nn.functional as F
from torch import nn

tokens, hidden, experts, top_k = 8192, 4096, 64, 8


class MoeTopKRouting(nn.Module):
    def __init__(self, hidden_size: int, num_experts: int, top_k: int, dtype: torch.dtype | None = None):
        super().__init__()
        self.top_k = top_k
        self.weight = nn.Parameter(torch.randn(num_experts, hidden_size, dtype=dtype) * hidden_size**-0.5)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        logits = F.linear(x, self.weight)
        probs = F.softmax(logits, dim=-1, dtype=torch.float32)
        top_probs, top_experts = torch.topk(probs, self.top_k, dim=-1)
        top_probs = top_probs / top_probs.sum(dim=-1, keepdim=True)
        return top_probs.to(x.dtype), top_experts


def get_inputs():
    return [torch.randn(tokens, hidden, dtype=torch.bfloat16)]


def get_init_inputs():
    return [hidden, experts, top_k, torch.bfloat16]
