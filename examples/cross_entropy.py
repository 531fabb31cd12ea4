"""Cross entropy with softcapped logits, label smoothing, z-loss and an ignored target, mean over counted tokens."""

import torch

tokens, vocab = 4096, 32000


def cross_entropy(
    logits: torch.Tensor,
    target: torch.Tensor,
    ignore_index: int = -100,
    label_smoothing: float = 0.1,
    z_loss_scale: float = 1e-4,
    softcap: float | None = 30.0,
) -> torch.Tensor:
    logits = logits.float()
    if softcap is not None:
        logits = softcap * torch.tanh(logits / softcap)

    counted = target != ignore_index
    # An ignored target may lie outside the vocabulary; any class will do for it, as its loss is dropped below.
    label = torch.where(counted, target, 0)

    lse = torch.logsumexp(logits, dim=-1)
    nll = lse - logits.gather(-1, label.unsqueeze(-1)).squeeze(-1)
    uniform_nll = lse - logits.mean(dim=-1)
    loss = (1.0 - label_smoothing) * nll + label_smoothing * uniform_nll + z_loss_scale * lse.square()
    return torch.where(counted, loss, 0.0).sum() / counted.sum()


def get_inputs():
    target = torch.randint(0, vocab, (tokens,))
    return [torch.randn(tokens, vocab), target.masked_fill(torch.rand(tokens) < 0.1, -100)]
