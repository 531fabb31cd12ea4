"""Mean of each run of rows; run i holds the rows from offsets[i] up to offsets[i + 1], and runs differ in length."""

import torch

rows, cols, segments = 65536, 1024, 128


def segment_mean_pool(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    return torch.segment_reduce(x, "mean", offsets=offsets, axis=0)


def get_inputs():
    # Run lengths that grow from the first to the last.
    offsets = (torch.linspace(0.0, 1.0, segments + 1) ** 2 * rows).long()
    return [torch.randn(rows, cols), offsets]
