"""Max pooling over overlapping windows of an image, as in the stem of a ResNet."""

import torch
import torch.nn.functional as F
from torch import nn

batch, channels, height, width = 32, 64, 112, 112
kernel_size, stride, padding = 3, 2, 1


class MaxPool2d(nn.Module):
    def __init__(self, kernel_size: int, stride: int, padding: int):
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.max_pool2d(x, self.kernel_size, stride=self.stride, padding=self.padding)


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [kernel_size, stride, padding]
