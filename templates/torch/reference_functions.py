"""Functions that a reference.py brings along where the math says what no single torch call does. Each stands alone or
rests on one above it."""

import torch
import torch.nn.functional as F


def shift_in(x, dim, fill):
    """x moved by one along dim: it begins with the fill, and its last element is dropped."""
    first = torch.full_like(x.narrow(dim, 0, min(1, x.shape[dim])), fill)
    return torch.cat((first, x.narrow(dim, 0, max(0, x.shape[dim] - 1))), dim)


def reduce_with(combine, parts, identity, dim):
    """The slices of the parts along dim, combined from the first to the last."""
    slices = list(zip(*(part.unbind(dim) for part in parts), strict=True))
    if not slices:
        return tuple(
            torch.full_like(part.sum(dim, dtype=part.dtype), e) for part, e in zip(parts, identity, strict=True)
        )
    total = slices[0]
    for piece in slices[1:]:
        total = combine(*total, *piece)
    return total


def scan_with(combine, parts, identity, dim, reverse=False, exclusive=False):
    """The slices of the parts along dim, each combined with all those before it (in reverse: behind it)."""
    slices = list(zip(*(part.unbind(dim) for part in parts), strict=True))
    if not slices:
        return parts
    if reverse:
        slices.reverse()
    totals = [slices[0]]
    for piece in slices[1:]:
        totals.append(combine(*piece, *totals[-1]) if reverse else combine(*totals[-1], *piece))
    if exclusive:
        neutral = tuple(torch.full_like(part, e) for part, e in zip(slices[0], identity, strict=True))
        totals = [neutral, *totals[:-1]]
    if reverse:
        totals.reverse()
    return tuple(torch.stack(part, dim) for part in zip(*totals, strict=True))


def philox_uniform(seed, offset, shape, device=None):
    """Numbers in [0, 1) from Philox 4x32-10: element i has the counter offset + i, the key is the seed."""
    word = 0xFFFFFFFF
    counter = offset + torch.arange(torch.Size(shape).numel(), device=device)
    a, b, c, d = counter & word, (counter >> 32) & word, torch.zeros_like(counter), torch.zeros_like(counter)
    key, key_2 = seed & word, (seed >> 32) & word
    for _ in range(10):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = ((right >> 32) & word) ^ b ^ key, right & word, ((left >> 32) & word) ^ d ^ key_2, left & word
        key, key_2 = (key + 0x9E3779B9) & word, (key_2 + 0xBB67AE85) & word
    return ((a >> 8).float() * 2.0**-24).reshape(shape)


def segment_index(offsets, rows):
    """Which run each row is in: run i holds the rows from offsets[i] up to offsets[i + 1]."""
    row = torch.arange(rows, dtype=offsets.dtype, device=offsets.device).expand(*offsets.shape[:-1], rows)
    return torch.searchsorted(offsets.contiguous(), row.contiguous(), right=True) - 1


def segment_reduce(x, offsets, reduce):
    """The sum, amax or amin of each run of rows. x is [batch, rows, others], offsets [batch, runs + 1]."""
    axis = offsets.dim() - 1
    runs = offsets.shape[-1] - 1
    index = segment_index(offsets, x.shape[axis]).clamp(-1, runs)
    # Rows before the first offset and from the last on belong to no run: they fall into one that is cut off.
    index = torch.where(index < 0, runs, index).reshape(index.shape + (1,) * (x.dim() - axis - 1)).expand_as(x)
    neutral = {"sum": 0, "amax": -torch.inf, "amin": torch.inf}[reduce]
    if not x.is_floating_point() and reduce != "sum":
        neutral = torch.iinfo(x.dtype).min if reduce == "amax" else torch.iinfo(x.dtype).max
    start = x.new_full((*x.shape[:axis], runs + 1, *x.shape[axis + 1 :]), neutral)
    return start.scatter_reduce(axis, index, x, reduce).narrow(axis, 0, runs)


def spread_into(x, dim, size, start, step, fill):
    """A tensor of the given size along dim, full of the fill, with x at start, start + step, ..."""
    shape = list(x.shape)
    shape[dim] = size
    padded = x.new_zeros(shape) + fill
    index = start + step * torch.arange(x.shape[dim], device=x.device)
    return padded.to(x.dtype).index_copy(dim, index, x)


def window_positions(size, out, taps, stride, dilation, pad, input_dilation, device):
    """Where element [o, t] of the windows lies along the axis, and whether there is anything."""
    position = torch.arange(out, device=device)[:, None] * stride + torch.arange(taps, device=device) * dilation - pad
    source = position.div(input_dilation, rounding_mode="floor")
    inside = (position % input_dilation == 0) & (source >= 0) & (source < size)
    return torch.where(inside, source, 0), inside


def windows(x, dim, out, taps, fill, stride=1, dilation=1, pad=0, input_dilation=1):
    """Sliding windows along dim, which becomes [out, taps]; what lies outside is the fill."""
    if x.shape[dim] == 0:
        x = F.pad(x.movedim(dim, -1), (0, 1)).movedim(-1, dim)
    source, inside = window_positions(x.shape[dim], out, taps, stride, dilation, pad, input_dilation, x.device)
    inside = inside.reshape(out, taps, *(1,) * (x.dim() - dim - 1))
    return torch.where(inside, x.index_select(dim, source.flatten()).unflatten(dim, (out, taps)), fill)


def fold_windows(x, dim, size, stride=1, dilation=1, pad=0, input_dilation=1):
    """The transpose of windows: every element of [out, taps] is added where windows read it from."""
    out, taps = x.shape[dim], x.shape[dim + 1]
    source, inside = window_positions(size, out, taps, stride, dilation, pad, input_dilation, x.device)
    x = torch.where(inside.reshape(out, taps, *(1,) * (x.dim() - dim - 2)), x, 0).flatten(dim, dim + 1)
    total = x.new_zeros(x.shape[:dim] + (size,) + x.shape[dim + 1 :])
    return total.index_add(dim, source.flatten(), x)
