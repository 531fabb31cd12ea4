"""Generalised Jensen-Shannon divergence between student and teacher log-probabilities, mean over tokens."""

import torch
from torch import nn

tokens, vocab = 4096, 32000


class JSD(nn.Module):
    def __init__(self, beta: float = 0.5):
        super().__init__()
        self.beta = beta

    def forward(self, log_student: torch.Tensor, log_teacher: torch.Tensor) -> torch.Tensor:
        student = torch.exp(log_student)
        teacher = torch.exp(log_teacher)
        log_mixture = torch.log(self.beta * teacher + (1.0 - self.beta) * student)
        teacher_kl = (teacher * (log_teacher - log_mixture)).sum(-1)
        student_kl = (student * (log_student - log_mixture)).sum(-1)
        return (self.beta * teacher_kl + (1.0 - self.beta) * student_kl).mean()


def get_inputs():
    return [
        torch.randn(tokens, vocab).log_softmax(dim=-1),
        torch.randn(tokens, vocab).log_softmax(dim=-1),
    ]


def get_init_inputs():
    return [0.5]
