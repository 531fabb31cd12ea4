"""A package of kernels, built once for this machine: every gate that its own tests ask is passed by five ops and fails
where it must; it holds what it says, its modules keep their state_dict, and DistributedDataParallel trains them."""

import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest
import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
KW = ROOT / os.environ.get("BUILD", "build") / "kw"
OPS = ["swiglu", "rms_norm_llama", "softmax", "fused_add_rms_norm", "geglu"]
sys.path.insert(0, str(ROOT / "python"))

from kernelwright import build_backend, gates  # noqa: E402


def kw(folder, *arguments):
    run = subprocess.run([KW, *map(str, arguments)], cwd=folder, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="session")
def package(tmp_path_factory):
    """The package's folder, built for the CPU and importable."""
    workspace = tmp_path_factory.mktemp("workspace")
    for op in OPS:
        kw(workspace, "understand", ROOT / "examples" / f"{op}.py", "--quiet")
    kw(workspace, "act", *OPS, "--into", "package:tried_kernels", "--yes", "--quiet")
    folder = workspace / "tried_kernels"
    build_backend.build(folder, targets=["cpu"], march="native", jobs=2)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def subjects(package):
    """op → what the gates are asked about: as the package's own test says."""
    made = {}
    for op in OPS:
        text = (package / "tests" / f"test_{op}.py").read_text()
        line = next(line for line in text.splitlines() if line.startswith("SUBJECT = "))
        scope = {"gates": gates}
        exec(line, scope)
        made[op] = scope["SUBJECT"]
    return made


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("gate", gates.GATES, ids=lambda gate: gate.__name__)
def test_an_op_passes(subjects, op, gate):
    gate(subjects[op])


class Wrong:
    """A subject with something put in the place of a part of it."""

    def __init__(self, subject, **parts):
        self.__dict__.update(subject.__dict__)
        self.__dict__.update(parts)
        self.subject = subject

    def __getattr__(self, name):
        return getattr(self.subject, name)

    tensors = gates.Subject.tensors
    roads = gates.Subject.roads
    differentiable = gates.Subject.differentiable


class WrongOp:
    def __init__(self, op, **parts):
        self.__dict__.update(op.__dict__)
        self.__dict__.update(parts)


class Doubled(torch.autograd.Function):
    """The right value, and twice the gradient."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return 2 * gradient


class Counting(torch.autograd.Function):
    """A gradient that is another one each time."""

    calls = 0

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        Counting.calls += 1
        return Counting.calls * gradient


def dense_only(function):
    """Reads every tensor as if it were dense."""

    def call(*tensors, **options):
        strides = [torch.empty(t.shape, device="meta").stride() for t in tensors]
        return function(*[t.as_strided(t.shape, s) for t, s in zip(tensors, strides)], **options)

    return call


# As long as it lives, its ops do.
WRONG_OPS = torch.library.Library("kw_wrong", "FRAGMENT")


def wrong_subjects(subjects):
    """gate → a subject that it must refuse."""
    s = subjects["swiglu"]
    norm = subjects["rms_norm_llama"]
    soft = subjects["softmax"]
    library = WRONG_OPS
    library.define("op(Tensor gate, Tensor up) -> Tensor")
    library.impl("op", lambda gate, up: s.reference(gate, up), "CPU")
    torch.library.register_fake("kw_wrong::op", lambda gate, up: gate.new_empty(gate.shape[1:]), lib=library)

    def breaks_the_graph(gate, up):
        return s.function(gate, up) if gate.detach().sum().item() < 1e30 else gate

    def in_place(gate, up, **_):
        gate.mul_(2)
        return s.reference(gate, up)

    def saves(gate, up):
        with torch.enable_grad():
            return s.reference(gate.detach().requires_grad_(), up)

    def warns_always(gate, up, strict=False):
        import warnings

        if strict:
            raise NotImplementedError
        warnings.warn("swiglu runs its reference: again", stacklevel=2)
        return s.reference(gate, up)

    kept = []

    def keeps(gate, up, **_):
        result = s.reference(gate.clone(), up)
        kept.append(result)
        return result

    def refuses_empty(gate, up, **_):
        assert gate.numel() > 0
        return s.reference(gate, up)

    def all_gradients(x, weight, eps=1e-6):
        class Every(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, weight):
                y, rstd = norm.module._forward(x, weight, eps)
                ctx.save_for_backward(x, weight, rstd)
                return y

            @staticmethod
            def backward(ctx, d_y):
                return norm.module._backward(*ctx.saved_tensors, d_y)

        return Every.apply(x, weight)

    def narrows(x, **_):
        return soft.function(x.to(torch.get_autocast_dtype("cpu")))

    def as_bf16(gate, up, **_):
        return s.function(gate.bfloat16(), up.bfloat16())

    def twice(function, wrapper=Doubled):
        return lambda *t, **_: wrapper.apply(function(*t))

    doubled = Wrong(s, function=twice(s.function))
    g = gates
    return [
        (g.values_and_gradients_are_the_references, doubled),
        (g.values_and_gradients_are_the_references, Wrong(s, op=WrongOp(s.op, traced=lambda a, b: s.op.traced(b, a)))),
        (g.the_ops_pass_opcheck, Wrong(s, public=torch.ops.kw_wrong.op.default)),
        (g.it_compiles_whole, Wrong(s, function=breaks_the_graph)),
        (g.it_compiles_whole, doubled),
        (g.a_graph_calls_the_op, Wrong(s, function=s.reference)),
        (g.autocast_computes_as_the_reference, Wrong(soft, function=narrows)),
        (g.every_mixture_of_types_computes_as_the_reference, Wrong(s, function=as_bf16)),
        (g.what_no_kernel_serves_runs_the_reference_and_warns_once, Wrong(s, function=warns_always)),
        (g.frozen_inputs_cost_nothing, Wrong(norm, function=lambda *t, **_: all_gradients(*t))),
        (g.no_grad_saves_nothing, Wrong(s, function=saves)),
        (g.nothing_is_kept_behind_the_graph, Wrong(s, function=keeps)),
        (g.a_graph_is_walked_twice, Wrong(s, function=twice(s.function, Counting))),
        (g.checkpointing_agrees, doubled),
        (g.gradients_accumulate, doubled),
        (g.a_second_derivative_is_refused_clearly, Wrong(s, function=lambda *t, **_: s.reference(*t))),
        (g.any_layout_of_inputs_is_served, Wrong(s, function=dense_only(s.function))),
        (g.any_layout_of_incoming_gradients_is_served, doubled),
        (g.empty_tensors_are_served, Wrong(s, function=refuses_empty)),
        (g.inputs_are_left_alone, Wrong(s, function=in_place)),
    ]


def test_every_gate_refuses_what_is_wrong(subjects):
    tried = set()
    for gate, wrong in wrong_subjects(subjects):
        tried.add(gate)
        refused = False
        try:
            gate(wrong)
        except Exception:  # an assertion of the gate, or PyTorch's own complaint
            refused = True
        assert refused, f"{gate.__name__} let it pass"
    assert tried == set(gates.GATES)


def test_a_module_keeps_its_state_dict_and_loads_the_sources_checkpoint(package):
    module = importlib.import_module("tried_kernels.rms_norm_llama")
    ours, source = module.RMSNormLlama(64, eps=1e-3), module._Source(64, eps=1e-3)
    torch.nn.init.normal_(source.weight)
    assert list(ours.state_dict()) == list(source.state_dict())
    ours.load_state_dict(source.state_dict(), strict=True)
    x = torch.randn(2, 3, 64)
    torch.testing.assert_close(ours(x), source(x))
    assert (ours(x) - module._Source(64)(x)).abs().max() > 1e-4  # the constructor's eps is the one that is used


def test_the_record_says_what_the_package_was_made_from(package):
    record = json.loads((package / "tried_kernels" / "record.json").read_text())
    assert record["generator"].startswith("kernelwright ")
    assert sorted(record["kernels"]) == sorted(OPS)
    for kernel in record["kernels"].values():
        assert len(kernel["profile"]) == 64 and kernel["targets"] == ["cpu", "cuda"]
    assert torch.__version__.split("+")[0].startswith(("2.11", "2.12", "2.13")) and record["torch"] == ">=2.11,<2.14"


def test_the_library_needs_libtorch_cpu_and_no_other_part_of_pytorch(package):
    needed = subprocess.run(
        ["readelf", "-d", package / "tried_kernels" / "_ops.so"], capture_output=True, text=True, check=True
    ).stdout
    names = [line.split("[")[1].rstrip("]\n") for line in needed.splitlines() if "NEEDED" in line]
    assert "libtorch_cpu.so" in names
    assert not [
        n for n in names if n.startswith(("libtorch", "libc10", "libcuda", "libgomp")) and n != "libtorch_cpu.so"
    ]


def test_a_wheel_holds_the_package_and_its_library(package, tmp_path):
    wheel = build_backend.pack(package, tmp_path)
    with zipfile.ZipFile(tmp_path / wheel) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "installed")
    assert {"tried_kernels/__init__.py", "tried_kernels/_ops.so", "tried_kernels/record.json"} <= set(names)
    program = "import torch, tried_kernels; x = torch.randn(2, 3, 8); print(tried_kernels.swiglu(x, x).shape)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path / "installed", timeout=120
    )
    assert run.stdout == "torch.Size([2, 3, 8])\n", run.stderr


def _train(rank, folder, port, queue):
    sys.path.insert(0, folder)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    module = importlib.import_module("tried_kernels.rms_norm_llama")
    model = torch.nn.parallel.DistributedDataParallel(module.RMSNormLlama(16))
    x = torch.randn(2, 2, 4, 16, generator=torch.Generator().manual_seed(0))
    model(x[rank]).square().sum().backward()
    queue.put(model.module.weight.grad.tolist())
    torch.distributed.barrier()
    # Gloo's threads may still hold tensors when Python's interpreter ends, and then abort the process (pytorch#179291).
    os._exit(0)


def test_two_processes_train_it_with_ddp(package):
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = torch.multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    workers = [context.Process(target=_train, args=(r, str(package), port, queue)) for r in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    module = importlib.import_module("tried_kernels.rms_norm_llama")
    alone = module._Source(16)
    x = torch.randn(2, 2, 4, 16, generator=torch.Generator().manual_seed(0))
    (sum(alone(part).square().sum() for part in x) / 2).backward()
    for _ in workers:
        torch.testing.assert_close(torch.tensor(queue.get()), alone.weight.grad)


def test_bf16_with_f32_weights_has_kernels_and_a_mixture_without_any_is_named(package):
    module = importlib.import_module("tried_kernels.rms_norm_llama")
    x, weight = torch.randn(2, 3, 8), torch.randn(8)
    torch.testing.assert_close(
        module.rms_norm_llama(x.bfloat16(), weight, strict=True), module.reference(x.bfloat16(), weight)
    )
    with pytest.raises(NotImplementedError, match="mixture of element types: f16, f32"):
        module.rms_norm_llama(x.half(), weight, strict=True)
    with pytest.warns(UserWarning, match="runs its reference: .*mixture of element types: f16, f32"):
        answer = module.rms_norm_llama(x.half(), weight)
    assert torch.equal(answer, module.reference(x.half(), weight))


def test_a_result_that_nobody_uses_has_a_gradient_of_zero(package):
    module = importlib.import_module("tried_kernels.fused_add_rms_norm")
    for road in (module._eager, module._in_python):
        for used in (0, 1):
            tensors = [torch.randn(2, 3, 8, requires_grad=True) for _ in range(2)] + [
                torch.randn(8, requires_grad=True)
            ]
            ours = torch.autograd.grad(road(*tensors, 1e-6)[used].sum(), tensors, allow_unused=True)
            own = torch.autograd.grad(module.reference(*tensors, 1e-6)[used].sum(), tensors, allow_unused=True)
            for a, b in zip(ours, own, strict=True):
                torch.testing.assert_close(a, torch.zeros_like(a) if b is None else b)


def test_the_gradient_in_cpp_keeps_autograds_rules(package):
    module = importlib.import_module("tried_kernels.rms_norm_llama")
    assert module._eager is not module._in_python
    x, weight = torch.randn(2, 3, 8, requires_grad=True), torch.randn(8, requires_grad=True)
    y = module.rms_norm_llama(x, weight)
    assert y.grad_fn.name() == "RmsNormLlamaFunctionBackward"
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()
    y = module.rms_norm_llama(x, weight)
    with torch.no_grad():
        weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x.detach(), torch.ones_like(x))
        with pytest.raises(RuntimeError, match="kw::rms_norm_llama has no derivative in forward mode"):
            module.rms_norm_llama(dual, weight.detach())
    with torch.inference_mode():
        assert not module.rms_norm_llama(x, weight).requires_grad


def test_a_transform_of_torch_func_runs_the_reference_and_says_so(package):
    module = importlib.import_module("tried_kernels.softmax")
    x = torch.randn(2, 8)
    with pytest.warns(UserWarning, match="runs its reference: it is transformed by torch.func"):
        ours = torch.func.vjp(module.softmax, x)[1](torch.ones_like(x))[0]
    assert torch.equal(ours, torch.func.vjp(module.reference, x)[1](torch.ones_like(x))[0])
    with pytest.raises(NotImplementedError, match="transformed by torch.func"):
        torch.func.vmap(lambda x: module.softmax(x, strict=True))(x[None])


@pytest.mark.parametrize("built_with", ["2.12.0", "2.14.0.dev20261101+cpu", None])
def test_under_another_pytorch_the_gradient_is_taken_in_python(package, tmp_path, built_with):
    shutil.copytree(package / "tried_kernels", tmp_path / "tried_kernels")
    record = tmp_path / "tried_kernels" / "built.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"gradients": built_with}))
    program = (
        "import torch; from tried_kernels import swiglu; m = __import__('sys').modules['tried_kernels.swiglu'];"
        "x = torch.randn(2, 3, 8, requires_grad=True); y = swiglu(x, x); y.sum().backward();"
        "print(m._eager is m._in_python, y.grad_fn.name(), x.grad.shape)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert run.stdout == "True SwigluFunctionBackward torch.Size([2, 3, 8])\n", run.stderr


def test_a_pytorch_that_the_gradients_do_not_compile_with_leaves_them_to_python(package, tmp_path, capsys):
    source = tmp_path / "csrc"
    (source / "torch" / "kw_torch").mkdir(parents=True)
    (source / "torch" / "kw_torch" / "gradient.cpp").write_text("#error other headers\n")
    made = build_backend.build_gradients("g++", source, tmp_path / "_gradients.so", build_backend.torch_folder())
    assert made is None and "left to Python" in capsys.readouterr().err


def test_a_cotangent_belongs_to_its_result_whichever_results_have_a_gradient():
    a, b = torch.randn(3), torch.randn(3, requires_grad=True)
    one_graph = torch.zeros(3, requires_grad=True)
    apart = gates.run(lambda a, b: (2 * a, 3 * b), [a, b])
    together = gates.run(lambda a, b: (2 * a + one_graph, 3 * b), [a, b])
    assert torch.equal(apart[1][0], together[1][0])


def test_a_tensor_without_dimensions_has_one_layout():
    class Scaled:
        shapes = [((2, 3), ())]
        reference = staticmethod(lambda x, scale: x * scale)
        function = staticmethod(lambda x, scale, strict: x * scale)

        def tensors(self, shapes):
            return [torch.randn(shape, requires_grad=True) for shape in shapes]

    gates.any_layout_of_inputs_is_served(Scaled())
