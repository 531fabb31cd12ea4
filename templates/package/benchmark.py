"""Times every op of KW_PACKAGE against its reference, forward and backward, at the sizes of its profile."""

import argparse
import importlib
import time

import torch

OPS = KW_OPS


def milliseconds(call, device):
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    times = []
    for _ in range(12):
        synchronize()
        start = time.perf_counter()
        call()
        synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times[2:])[5]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--shrink", type=int, default=1, help="divides the first size of every tensor")
    arguments = parser.parse_args()
    print(f"{'op':28} {'kernel ms':>10} {'reference ms':>13} {'ratio':>6}")
    for name in OPS:
        module = importlib.import_module("KW_PACKAGE." + name)
        tensors = [
            torch.randn(max(1, shape[0] // arguments.shrink), *shape[1:], device=arguments.device)
            .to(dtype)
            .requires_grad_(gradient)
            for shape, dtype, gradient in zip(
                module._OP.example, module._OP.types[0], module._OP.gradients, strict=True
            )
        ]

        def run(function, tensors=tensors):
            results = function(*tensors)
            results = results if isinstance(results, tuple) else (results,)
            floating = [r for r in results if r.requires_grad]
            if floating:
                torch.autograd.backward(floating, [torch.ones_like(r) for r in floating])

        kernel = milliseconds(lambda run=run, module=module, name=name: run(getattr(module, name)), arguments.device)
        reference = milliseconds(lambda run=run, module=module: run(module.reference), arguments.device)
        print(f"{name:28} {kernel:10.3f} {reference:13.3f} {reference / kernel:6.2f}")


if __name__ == "__main__":
    main()
