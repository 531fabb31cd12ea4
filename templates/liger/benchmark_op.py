# The benchmark script of an op in a Liger checkout.
from holes import KW_STATEMENTS

# skeleton benchmark
# SPDX-License-Identifier: KW_EXPRESSION_licence
import torch
import torch._functorch.config

from benchmark_model_configs import MODEL_REGISTRY
from benchmark_model_configs import build_model_config_sweep
from benchmark_model_configs import build_token_length_sweep
from benchmark_model_configs import get_benchmark_model_config
from utils import SingleBenchmarkRunInput
from utils import build_memory_bench_fn
from utils import build_speed_bench_fn
from utils import parse_benchmark_script_args
from utils import run_benchmarks

from liger_kernel.transformers.functional import KW_NAME_functional
from liger_kernel.utils import infer_device

device = infer_device()
# A backward that is timed runs again and again, on what the compiled forward saved.
torch._functorch.config.donated_buffer = False

MODEL_KEYS = KW_EXPRESSION_keys
PROVIDERS = ["liger", "torch", "torch_compile"]


KW_STATEMENTS(reference)


def setup(input: SingleBenchmarkRunInput):
    """The first tensor, and the op as a function of it."""
    config = input.extra_benchmark_config
    if isinstance(input.x, str):
        model = MODEL_REGISTRY[input.x]
        tokens = config["seq_len"] * config["bsz"]
        config = {key: getattr(model, key) for key in MODEL_KEYS}
    else:
        tokens = input.x
    KW_STATEMENTS(tensors)
    ops = {
        "liger": KW_NAME_functional,
        "torch": KW_NAME_reference_name,
        "torch_compile": torch.compile(KW_NAME_reference_name),
    }
    op = ops[input.kernel_provider]
    KW_STATEMENTS(call)


def sweep(args):
    common = {
        "kernel_name": "KW_NAME_op",
        "setup_fn": setup,
        "model_keys": MODEL_KEYS,
        "probe_provider": "torch",
        "overwrite": args.overwrite,
    }
    if args.sweep_mode == "model_config":
        return build_model_config_sweep(probe_dim="BT", bt=args.bt, **common)
    model = get_benchmark_model_config(args.model)
    return build_token_length_sweep(probe_x=1024, model=model, scale_dim="BT", x_label="total tokens", **common)


if __name__ == "__main__":
    configs = sweep(parse_benchmark_script_args())
    configs["kernel_providers"] = PROVIDERS
    run_benchmarks(
        bench_test_fn=build_speed_bench_fn(setup),
        kernel_operation_modes=["forward", "backward", "full"],
        metric_name="speed",
        metric_unit="ms",
        **configs,
    )
    run_benchmarks(
        bench_test_fn=build_memory_bench_fn(setup),
        kernel_operation_modes=["full"],
        metric_name="memory",
        metric_unit="MB",
        **configs,
    )


# end
