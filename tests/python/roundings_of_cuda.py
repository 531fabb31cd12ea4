"""PyTorch on the CPU, rounding where it does on a GPU."""

import torch
from torch.overrides import TorchFunctionMode

NARROW = (torch.bfloat16, torch.float16)


def batch_norm_in_float32(x, running_mean, running_var, *args, **kwargs):
    wide = lambda value: value.float() if isinstance(value, torch.Tensor) else value  # noqa: E731
    statistics = [wide(running_mean), wide(running_var)]
    kwargs = {name: wide(value) for name, value in kwargs.items()}
    y = torch.nn.functional.batch_norm(x.float(), *statistics, *[wide(value) for value in args], **kwargs)
    for own, updated in zip((running_mean, running_var), statistics, strict=True):
        if own is not None:
            own.copy_(updated)
    return y.to(x.dtype)


class RoundingsOfCuda(TorchFunctionMode):
    """Eager on the CPU, rounding where eager on a GPU does. The two differ in narrow types: the CPU's mean rounds the
    sum before it divides, its rsqrt rounds the root too where a tensor is too short for its vectors, its cube of fp16
    rounds once where the GPU's rounds after each product, and its batch norm keeps the statistics narrow."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        x = args[0] if args else None
        once = (torch.mean, torch.Tensor.mean, torch.rsqrt, torch.Tensor.rsqrt)
        if function in once and x.dtype in NARROW:
            return function(x.float(), *args[1:], **kwargs).to(x.dtype)
        if function in (torch.pow, torch.Tensor.pow) and x.dtype == torch.float16 and args[1] == 3:
            return x * x * x
        if function is torch.nn.functional.batch_norm and x.dtype in NARROW:
            return batch_norm_in_float32(*args, **kwargs)
        return function(*args, **kwargs)
