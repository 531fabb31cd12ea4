"""Small programs that are easy to misread: what the static reader made of them computes what PyTorch computes."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / os.environ.get("BUILD", "build") / "read_graph"

PROGRAMS = {
    "in_place_through_two_names": """
        def f(x):
            a = x * 2
            b = a
            b += 1
            a.mul_(3)
            return a + b
    """,
    "in_place_keeps_the_narrow_type": """
        def f(x):
            a = x.to(torch.bfloat16)
            a += x
            a *= 0.3
            return a
    """,
    "augmented_number_is_a_new_number": """
        def f(x):
            k = 2
            j = k
            k += 1
            return x * k + j
    """,
    "augmented_list_is_the_same_list": """
        def f(x):
            a = [1]
            b = a
            b += [2, 3]
            return x * len(a) * sum(a)
    """,
    "list_multiplication_and_nesting": """
        def f(x):
            rows = [[0] * 2 for _ in range(3)]
            rows[1][0] = 5
            return x * sum(sum(r) for r in rows)
    """,
    "assign_to_a_slice": """
        def f(x):
            y = x.clone()
            y[:, 1:3] = 0.5
            y[0] = y[1] * 2
            y[..., -1] += 1
            return y
    """,
    "assign_through_a_mask": """
        def f(x):
            y = x.clone()
            y[y > 0] = -1.0
            return y
    """,
    "masked_fill_and_where": """
        def f(x):
            mask = (x > 0) & ~(x > 1)
            return torch.where(mask, x.masked_fill(mask, 2.0), -x)
    """,
    "negative_and_stepped_slices": """
        def f(x):
            return x[:, ::2] + x[:, 1::2] * 2 + x[:, -4:-2].sum(-1, keepdim=True) + x[1:2, :1]
    """,
    "newaxis_and_ellipsis": """
        def f(x):
            return (x[:, None, :] * x[None, ..., 0:1].transpose(0, 1)).sum(1)
    """,
    "integer_division_of_negative_numbers": """
        def f(x):
            return x * (-7 // 2) + (-7 % 3) + int(-7 / 2) + divmod(-7, 2)[1]
    """,
    "default_arguments_are_evaluated_once": """
        k = 3
        def _g(x, k=k, items=[1, 2]):
            return x * k + len(items)
        k = 10
        def f(x):
            return _g(x) + k
    """,
    "closure_sees_the_last_value": """
        def f(x):
            fs = [lambda t: t * i for i in range(3)]
            return fs[0](x) + fs[1](x)
    """,
    "star_arguments": """
        def _g(a, *rest, k=1, **more):
            return a * k + sum(rest) + more.get("z", 0)
        def f(x):
            return _g(x, *[1, 2], **{"k": 3, "z": 4})
    """,
    "loop_else_and_break": """
        def f(x):
            for i in range(4):
                if i == 2:
                    x = x + 1
                    break
                x = x * 2
            else:
                x = x * 100
            return x
    """,
    "comparison_chain_and_logic": """
        def f(x):
            n = x.shape[-1]
            k = 1 < 2 < 3 and (0 or 5)
            return x * k if n % 2 == 0 and not n == 0 else x
    """,
    "mixed_types_promote": """
        def f(x):
            i = torch.arange(x.shape[-1])
            h = x.half()
            return h * i + x.bfloat16() * 2.5 + (i > 1)
    """,
    "rank_zero_tensors_do_not_widen": """
        def f(x):
            s = x.double().mean()
            return x.bfloat16() * s
    """,
    "integer_true_and_floor_division": """
        def f(x):
            i = torch.arange(-3, 5)
            return x.sum() * (i / 2) + i // 2 + i % 3
    """,
    "power_of_a_tensor_and_of_a_number": """
        def f(x):
            return x ** 2 + 2 ** x + x.abs() ** 0.5 + x ** 3
    """,
    "chunk_split_unbind_stack": """
        def f(x):
            a, b = x.chunk(2, dim=-1)
            c, d = torch.split(x, [2, 4], dim=1)
            e = torch.stack([a, b], dim=0).unbind(0)
            return torch.cat([e[1], c, d[:, :1], e[0]], dim=-1)
    """,
    "transposes_and_products": """
        def f(x):
            return (x @ x.T).softmax(-1) @ x + torch.einsum("ij,kj->ik", x, x).mean()
    """,
    "outer_product_of_a_tensor_with_itself": """
        def f(x):
            v = x[0]
            return v[:, None] * v[None, :] + torch.outer(v, v)
    """,
    "sort_topk_gather_scatter": """
        def f(x):
            values, indices = x.topk(3, dim=-1)
            s, order = torch.sort(x, dim=-1, descending=True)
            back = torch.zeros_like(x).scatter(-1, order, s)
            return back + x.gather(-1, indices).sum(-1, keepdim=True) + values.mean()
    """,
    "cumulative_sums": """
        def f(x):
            return x.cumsum(-1) + torch.flip(torch.cumsum(torch.flip(x, [0]), 0), [0])
    """,
    "reductions_with_and_without_dimensions": """
        def f(x):
            return x.var(-1) + x.std(-1, unbiased=False) + x.amax() - x.norm(dim=-1) + x.prod(-1) + x.mean((0, 1))
    """,
    "argmax_and_one_hot": """
        def f(x):
            return F.one_hot(x.argmax(-1), x.shape[-1]) * x
    """,
    "views_and_reshapes": """
        def f(x):
            n, c = x.shape
            return x.view(n, 2, c // 2).permute(1, 0, 2).reshape(2, -1).T.contiguous().view(-1)
    """,
    "no_grad_and_detach": """
        def f(x):
            with torch.no_grad():
                m = x.amax(-1, keepdim=True)
            return x - m + (x * 2).detach()
    """,
    "exceptions": """
        def f(x):
            try:
                k = {"a": 1}["b"]
            except KeyError:
                k = 7
            else:
                k = 0
            finally:
                k = k + 1
            return x * k
    """,
    "decorated_helper": """
        def _twice(g):
            def inner(*args, **kwargs):
                return g(*args, **kwargs) * 2
            return inner
        @_twice
        def _h(x, k=3):
            return x + k
        def f(x):
            return _h(x, k=4)
    """,
    "class_with_state": """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(6, 6) for _ in range(2)])
                self.scale = nn.Parameter(torch.rand(6))
                self.register_buffer("count", torch.ones(()))
            def forward(self, x):
                for i, layer in enumerate(self.layers):
                    x = torch.relu(layer(x)) if i == 0 else layer(x)
                self.count += 1
                return x * self.scale * self.count
    """,
    "inherited_forward": """
        class A(nn.Module):
            k = 2
            def part(self, x):
                return x + self.k
            def forward(self, x):
                return self.part(x) * self.k
        class M(A):
            k = 3
            def part(self, x):
                return super().part(x) * 10
    """,
    "batch_norm_updates_its_statistics": """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.BatchNorm1d(6, momentum=0.3)
            def forward(self, x):
                return self.norm(x) + self.norm.running_mean
    """,
    "sequential_and_identity": """
        class M(nn.Module):
            def __init__(self, act="gelu", bias: bool = False):
                super().__init__()
                acts = {"gelu": nn.GELU(approximate="tanh"), "none": nn.Identity()}
                self.net = nn.Sequential(nn.Linear(6, 4, bias=bias), acts[act], nn.LayerNorm(4))
            def forward(self, x):
                return self.net(x)[..., :2] if x.ndim == 2 else self.net(x)
    """,
    "scalars_of_the_constructor": """
        class M(nn.Module):
            def __init__(self, alpha: float = 0.3, beta=2.0):
                super().__init__()
                self.a = alpha * math.sqrt(beta)
                self.b = 1.0 / (alpha + beta)
            def forward(self, x, gamma: float = 0.25):
                return x * self.a + self.b ** 2 - gamma
    """,
    "convolution_and_pooling": """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv1d(4, 6, kernel_size=3, stride=2, padding=1, groups=2)
            def forward(self, x):
                y = self.conv(x[None])
                return F.max_pool1d(y, 2) + F.avg_pool1d(y, 2)
    """,
    "two_names_in_one_assignment": """
        def f(x):
            a = b = x * 1
            a += 1
            c, d = b, a
            c, d = d * 2, c
            return c + d
    """,
    "tensors_in_containers": """
        def f(x):
            items = [x * 1, x * 2]
            table = {"a": items[0]}
            items[0] += 1
            table["a"].mul_(2)
            return items[0] + items[1]
    """,
    "loop_over_rows": """
        def f(x):
            total = 0
            for i, (row, other) in enumerate(zip(x, x * 2)):
                total = total + row * i - other
            return total
    """,
    "unpacked_tensor_and_sizes": """
        def f(x):
            a, b, *rest = x
            return (a - b) * len(rest) + x.size(0) * x.numel() // x.shape[-1] + len(x)
    """,
    "named_results": """
        def f(x):
            m = torch.max(x, dim=-1)
            return m.values[:, None] + torch.min(x, dim=1, keepdim=True)[0] + m[1][:, None] + torch.max(x, -x)
    """,
    "softmax_in_another_type": """
        def f(x):
            y = F.softmax(x, dim=-1, dtype=torch.float32)
            return y.type_as(x) + F.log_softmax(x.float(), -1).to(x) + x.to(torch.float16).to(x.dtype)
    """,
    "boolean_reductions": """
        def f(x):
            m = torch.logical_and(x > 0, x < 1) | torch.isnan(x) ^ (x == 0)
            return x.masked_fill(~m, float("-inf")).amax(-1).clamp(min=-5.0) + m.any(-1) + m.all() + m.sum(-1)
    """,
    "clamps_of_all_kinds": """
        def f(x):
            return x.clamp(-0.5, 0.5) + torch.clamp(x, max=x.abs() * 0.5) + x.clip(min=0) + x.clamp_(max=3.0)
    """,
    "names_of_operations_as_values": """
        import functools
        def f(x):
            act = getattr(F, "silu")
            add = functools.partial(torch.add, alpha=2)
            table = {"relu": F.relu, "tanh": torch.tanh}
            return add(act(x), table["tanh"](x)) + list(map(table.get, ["relu"]))[0](x)
    """,
    "generators_in_calls": """
        def f(x):
            return torch.cat(tuple(x * i for i in range(1, 3)), dim=0) + sum(x.mean() for _ in range(2))
    """,
    "small_recursion": """
        def _power(x, n):
            return x if n == 1 else x * _power(x, n - 1)
        def f(x):
            return _power(x, 4)
    """,
    "early_return_inside_try": """
        def _g(x, log=[]):
            try:
                return x + 1
            finally:
                log.append(1)
        def f(x):
            return _g(x) + _g(x)
    """,
    "captured_loop_variable": """
        def f(x):
            fs = [lambda t, i=i: t * i for i in range(3)]
            return fs[1](x) + fs[2](x)
    """,
    "masks_from_positions": """
        def f(x):
            n, m = x.shape
            i = torch.arange(n)[:, None]
            j = torch.arange(m)[None]
            below = torch.tril(torch.ones(n, m, dtype=x.dtype))
            return torch.where(i >= j, x, torch.full_like(x, -1e4)).softmax(-1) + below
    """,
    "numbers_of_the_wrong_kind": """
        def f(x):
            return x * True + x / 3 - (5 if 1.0 == 1 else 6) + 1e-3 * int("7") + float("2.5") + round(2.5)
    """,
    "class_attributes_are_shared": """
        class M(nn.Module):
            steps = []
            scale = 2
            @classmethod
            def _note(cls, k):
                cls.steps.append(k)
                return len(cls.steps)
            @property
            def twice(self):
                return self.scale * 2
            def forward(self, x):
                self._note(1)
                return x * self._note(2) + self.twice
    """,
    "tied_weights": """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.up = nn.Linear(6, 5, bias=False)
                self.down = nn.Linear(5, 6, bias=False)
                self.gain = nn.Parameter(torch.rand(6))
            def forward(self, x):
                return F.linear(self.up(x), self.up.weight.t(), self.gain) + self.down(self.up(x))
    """,
    "layer_with_changed_attributes": """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.LayerNorm(6, eps=1e-3)
                self.norm.eps = 0.5
                self.norm.bias = None
            def forward(self, x):
                return self.norm(x)
    """,
    "embedding_and_index": """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(7, 6)
            def forward(self, x):
                ids = torch.arange(x.shape[0]) % 3
                return self.table(ids) + self.table.weight[ids] * x[ids, :] + x[ids][:, [0, 2, 4, 1, 3, 5]]
    """,
    "attention": """
        class M(nn.Module):
            def __init__(self, heads: int = 2):
                super().__init__()
                self.heads = heads
                self.qkv = nn.Linear(6, 18)
            def forward(self, x):
                n, c = x.shape
                q, k, v = self.qkv(x).view(n, 3, self.heads, c // self.heads).permute(1, 2, 0, 3)
                scores = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
                mask = torch.ones(n, n, dtype=torch.bool).triu(1)
                out = scores.masked_fill(mask, float("-inf")).softmax(-1) @ v
                fused = F.scaled_dot_product_attention(q, k, v, is_causal=True)
                return out.transpose(0, 1).reshape(n, c) + fused.mean()
    """,
}


def run_tool(path, dtype):
    environment = os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    weights = {"float64": "f64", "bfloat16": "bf16"}[dtype]  # the module is moved to the type of its input
    run = subprocess.run(
        [TOOL, path, "--json", "--dtype", f"W={weights}"], capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert "error" not in answer, answer["error"]
    return answer


def load(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def flat(value):
    return [value] if isinstance(value, torch.Tensor) else [tensor for item in value for tensor in flat(item)]


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_graph_computes_what_the_program_computes(name, dtype, tmp_path):
    text = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n" + textwrap.dedent(
        PROGRAMS[name]
    )
    text += f"\n\nrows, cols = 4, 6\n\ndef get_inputs():\n    return [torch.randn(rows, cols, dtype=torch.{dtype})]\n"
    path = tmp_path / "program.py"
    path.write_text(text)
    answer = run_tool(path, dtype)

    torch.manual_seed(0)
    module = load(path)
    (x,) = module.get_inputs()
    state = {}
    if hasattr(module, "M"):
        program = module.M().to(x.dtype)
        state = {key: value.clone() for key, value in program.state_dict().items()}
    else:
        program = module.f
    namespace = {"__name__": "reference"}
    exec(compile(answer["reference"], "<reference>", "exec"), namespace)
    values = {row["argument"]: state[row["name"]] for row in answer["inputs"] if row["kind"] in ("parameter", "buffer")}
    values |= {row["argument"]: x.clone() for row in answer["inputs"] if row["kind"] == "tensor"}
    with torch.no_grad():
        got = flat(namespace[answer["function"]](**values))
        wanted = flat(program(x))
    updated = [row["updates"] for row in answer["outputs"] if row["updates"]]
    wanted += [program.state_dict()[key] for key in updated]
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        # Rounded at the same places, two orders of summation may still differ by a unit.
        exact = b.dtype == torch.float64 and "float32" not in text
        tolerance = (
            1e-12
            if exact
            else 1e-6
            if b.dtype == torch.float64
            else torch.finfo(b.dtype).eps
            if b.is_floating_point()
            else 0
        )
        torch.testing.assert_close(a.double(), b.double(), rtol=tolerance, atol=tolerance)
