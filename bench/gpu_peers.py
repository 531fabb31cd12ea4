"""The ops of the table as others have them: PyTorch eager, PyTorch's own fused op, torch.compile, Liger's kernels."""

import os
import sys

import torch
import torch.nn.functional as F

EPS = 1e-6


def relu_squared(x):
    return F.relu(x).square()


def swiglu(gate, up):
    return F.silu(gate) * up


def geglu(gate, up):
    return F.gelu(gate, approximate="tanh") * up


def rms_norm(x, weight):
    wide = x.float()
    return weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPS)).to(x.dtype)


def fused_add_rms_norm(x, residual, weight):
    total = x + residual
    return rms_norm(total, weight), total


def layer_norm(x, weight, bias):
    return F.layer_norm(x, (x.shape[-1],), weight, bias, EPS)


def softmax(x):
    return F.softmax(x, -1)


def dyt(x, alpha, weight, bias):
    return torch.tanh(alpha * x) * weight + bias


def poly_norm(x, weight, bias):
    def norm(t):
        return t * torch.rsqrt(t.pow(2).mean(-1, keepdim=True) + EPS)

    wide = x.float()
    mixed = weight[0] * norm(wide**3) + weight[1] * norm(wide**2) + weight[2] * norm(wide)
    return (mixed + bias).to(x.dtype)


def group_norm(x, weight, bias):
    return F.group_norm(x, 32, weight, bias, EPS)


EAGER = {
    "relu_squared": relu_squared,
    "swiglu": swiglu,
    "geglu": geglu,
    "rms_norm_llama": rms_norm,
    "fused_add_rms_norm": fused_add_rms_norm,
    "layer_norm": layer_norm,
    "softmax": softmax,
    "dyt": dyt,
    "poly_norm": poly_norm,
    "group_norm": group_norm,
}
OWN = {"rms_norm_llama": lambda x, weight: F.rms_norm(x, (x.shape[-1],), weight, EPS)}


def liger_ops(source):
    """From a folder that holds the package liger_kernel; op name → function."""
    sys.path.insert(0, os.path.abspath(source))
    from liger_kernel.ops.dyt import LigerDyTFunction
    from liger_kernel.ops.fused_add_rms_norm import LigerFusedAddRMSNormFunction
    from liger_kernel.ops.geglu import LigerGELUMulFunction
    from liger_kernel.ops.group_norm import LigerGroupNormFunction
    from liger_kernel.ops.layer_norm import LigerLayerNormFunction
    from liger_kernel.ops.poly_norm import LigerPolyNormFunction
    from liger_kernel.ops.relu_squared import LigerReLUSquaredFunction
    from liger_kernel.ops.rms_norm import LigerRMSNormFunction
    from liger_kernel.ops.softmax import LigerSoftmaxFunction
    from liger_kernel.ops.swiglu import LigerSiLUMulFunction

    def group(x, weight, bias):
        return LigerGroupNormFunction.apply(x, weight, bias, x.shape[1], 32, EPS)

    return {
        "relu_squared": LigerReLUSquaredFunction.apply,
        "swiglu": LigerSiLUMulFunction.apply,
        "geglu": LigerGELUMulFunction.apply,
        "rms_norm_llama": lambda x, w: LigerRMSNormFunction.apply(x, w, EPS, 0.0, "llama", False),
        "fused_add_rms_norm": lambda x, r, w: LigerFusedAddRMSNormFunction.apply(x, r, w, EPS, 0.0, "llama", False),
        "layer_norm": lambda x, w, b: LigerLayerNormFunction.apply(x, w, b, EPS),
        "softmax": LigerSoftmaxFunction.apply,
        "dyt": LigerDyTFunction.apply,
        "poly_norm": lambda x, w, b: LigerPolyNormFunction.apply(x, w, b, EPS, False),
        "group_norm": group,
    }


def peer_inputs(name, given):
    """The same tensors as ours have; the two halves of geglu's input are tensors of their own, which is faster."""
    tensors = list(given.values())
    if name == "geglu":
        tensors = [half.contiguous() for half in tensors[0].chunk(2, dim=-1)]
    if name == "group_norm":
        tensors[0] = tensors[0].flatten(2)
    return [t.detach().requires_grad_() for t in tensors]


class Peer:
    """A full pass: forward, then the gradients of all inputs."""

    def __init__(self, name, function, inputs):
        self.name, self.function, self.inputs = name, function, inputs
        self.cotangents = [torch.randn_like(o) for o in self.forward()]

    def forward(self):
        outputs = self.function(*self.inputs)
        return outputs if isinstance(outputs, tuple) else (outputs,)

    def run(self):
        return torch.autograd.grad(self.forward(), self.inputs, self.cotangents, allow_unused=True)

    def peak_megabytes(self):
        self.run()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        self.run()
        torch.cuda.synchronize()
        return (torch.cuda.max_memory_allocated() - before) / 2**20


def peers_of(name, given, liger):
    """All that can be had of an op; one that fails is named and left out."""
    torch._dynamo.reset()
    inputs = peer_inputs(name, given)
    eager = EAGER[name]
    candidates = {"eager": eager, "own": OWN.get(name), "compile": torch.compile(eager, dynamic=False)}
    candidates["liger"] = liger.get(name)
    peers = []
    for peer, function in candidates.items():
        if function is None:
            continue
        try:
            peers.append(Peer(peer, function, inputs))
            peers[-1].run()
            torch.cuda.synchronize()
        except Exception as error:
            print(f"# {name}: {peer} failed: {type(error).__name__}: {str(error)[:200]}", flush=True)
            peers = [p for p in peers if p.name != peer]
    return peers
