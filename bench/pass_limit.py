"""The limit of a pass: the bytes that it cannot do without, and how near it comes to a plain kernel that moves as many.

The bytes come from the graph of the pass and its types, never from the program: each input is read once, each output
and saved value written once. Outputs that the graph gives as one value (both gradients of a sum) are one value, as they
are one tensor where PyTorch returns them; what a kernel writes beyond that, it writes beyond the limit.
"""

import re


def values_returned(profile, name):
    """What the graph of a pass returns, in the order of the manifest's buffers; `profile` is the text of profile.yaml.

    `return grad_x = d[rows, cols], grad_y = d[rows, cols], grad_w` is d[rows, cols] twice, and grad_w."""
    graph = re.search(rf"^  {name}: \|\n((?: {{4}}.*\n|\n)*)", profile, re.MULTILINE)[1]
    items = re.split(r",\s*(?![^\[]*\])", graph[graph.rindex("\n    return ") :].split(maxsplit=1)[1].strip())
    return [" ".join(item.split(" = ", 1)[-1].split()) for item in items]


def bytes_moved(buffers, values, size_of):
    """Two lists: the bytes of each input, and of each value written. `buffers` are the manifest's of the pass, `values`
    what its graph returns, `size_of` the bytes of a buffer."""
    read = [size_of(b) for b in buffers if b["role"] == "input"]
    written = [b for b in buffers if b["role"] not in ("input", "workspace")]
    assert len(written) == len(values), (written, values)
    return read, list({value: size_of(b) for b, value in zip(written, values)}.values())


def share_of(limit, time):
    """A share counts at most 100%."""
    return min(1.0, limit / time)
