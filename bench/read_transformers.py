"""Read rates of the static reader on Hugging Face transformers, and agreement with PyTorch.

    python bench/read_transformers.py [PACKAGE] [--only TEXT] [--list]

PACKAGE is the folder of the installed package (default: the one that this Python imports); nothing of it is kept here.
Read are the activation modules, every class with Norm in its name whose sole base is nn.Module, and every rotate_half
and apply_rotary*. Each one read is held against the original run by PyTorch in float32 and in bfloat16, with parameters
and buffers randomised and optional tensors absent and present: the original's outputs, and those of the reference.py
that was written, have the graph's types and lie within the bound of the rounded semantics on every element.
"""

import argparse
import ast
import copy
import importlib
import inspect
import re
import sys
import types
from pathlib import Path

import torch
from agreement import (
    Misread,
    Reader,
    Unsuitable,
    admits_anything,
    choose_sizes,
    draws_random_numbers,
    flatten,
    load_reference,
    outside_the_bound,
    randomise,
    size,
    summarise,
)
from roundings_of_cuda import RoundingsOfCuda

# Blocks that only share the name: attention and encoder layers.
NOT_COUNTED = re.compile(r".*EncoderStableLayerNorm|DbrxNormAttentionNorm|RobertaPreLayerNorm(\w*Attention|Encoder)")
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
TRIES = 12
RUNS = 2  # of them that must agree


class Item:
    def __init__(self, kind, path, name, tree, source):
        self.kind, self.path, self.name, self.tree, self.source = kind, path, name, tree, source

    def __str__(self):
        return f"{self.path.parent.name}/{self.path.name}:{self.name}"


class Bare(ast.NodeTransformer):
    """A definition without what does not change its math: docstrings, annotations, decorators."""

    def visit_arg(self, node):
        return ast.arg(node.arg)

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.decorator_list = []
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.visit_ClassDef(node)


def body_of(item):
    """The text of a definition with that of everything in its file that it uses, and all of these names replaced by
    numbers: what makes two bodies one."""
    tops = (node for node in item.source.body if isinstance(node, ast.ClassDef | ast.FunctionDef))
    definitions = {node.name: node for node in tops}
    texts = []
    names = [item.tree.name]

    def add(node):
        bare = Bare().visit(copy.deepcopy(node))
        texts.append(ast.unparse(bare))
        for part in ast.walk(bare):
            if isinstance(part, ast.Name) and part.id in definitions and part.id not in names:
                names.append(part.id)
                add(definitions[part.id])

    add(item.tree)
    text = "\n".join(texts)
    for number, name in enumerate(names):
        text = re.sub(rf"\b{name}\b", f"definition_{number}", text)
    return text


def find_items(package):
    items = []
    activations = package / "activations.py"
    for path in [activations, *sorted(package.glob("models/*/modeling_*.py"))]:
        source = path.read_text()
        tree = ast.parse(source)
        guarded = [part for node in tree.body if isinstance(node, ast.If) for part in node.body + node.orelse]
        definitions = [*tree.body, *guarded]
        for node in definitions:
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base) for base in node.bases]
                is_module = bases in (["nn.Module"], ["torch.nn.Module"])
                if is_module and path == activations:
                    items.append(Item("activation", path, node.name, node, tree))
                elif is_module and "Norm" in node.name:
                    items.append(Item("norm", path, node.name, node, tree))
            methods = node.body if isinstance(node, ast.ClassDef) else [node]
            for function in methods:
                is_function = isinstance(function, ast.FunctionDef)
                if is_function and (function.name == "rotate_half" or function.name.startswith("apply_rotary")):
                    inside = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
                    items.append(Item("rotary", path, inside + function.name, function, tree))
    return items


class Sizes(dict):
    """A size that only unused parameters have may be any number."""

    def __missing__(self, name):
        return 8


class Configuration(types.SimpleNamespace):
    """The fields that the reader used, and no others."""


def build_arguments(pairs, sizes, tensors):
    scope = Sizes(sizes, torch=torch, float=float)
    arguments = {}
    for name, text in pairs:
        if "." in name:
            setattr(arguments[name.split(".")[0]], name.split(".", 1)[1], eval(text, {"__builtins__": {}}, scope))
        elif text.startswith("configuration "):
            arguments[name] = Configuration()
        elif text.startswith("tensor("):
            arguments[name] = tensors[text[7:-1]]
        else:
            arguments[name] = eval(text, {"__builtins__": {}}, scope)
    return arguments


def load(item, package):
    relative = item.path.relative_to(package.parent).with_suffix("")
    target = importlib.import_module(".".join(relative.parts))
    for part in item.name.split("."):
        target = getattr(target, part)
    return target


def make_inputs(answer, sizes, types_, seed):
    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for row in answer["inputs"]:
        if row["kind"] != "tensor":
            continue
        shape = [size(dim, sizes) for dim in row["dims"]]
        if row["type"] == "i64":
            tensors[row["name"]] = torch.randint(0, min(sizes.values()), shape, generator=generator)
        elif row["type"] == "bool":
            tensors[row["name"]] = torch.rand(shape, generator=generator) < 0.5
        else:
            dtype = types_.get(row["type"]) or getattr(torch, {"f32": "float32", "bf16": "bfloat16"}[row["type"]])
            tensors[row["name"]] = torch.randn(shape, generator=generator).to(dtype)
    return tensors


def kept_in_float32(item):
    """What the file's models keep in float32 whatever type they are loaded in: parts of parameters' names."""
    for node in ast.walk(item.source):
        names = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
        if any(name.startswith("_keep_in_fp32_modules") for name in names) and isinstance(node.value, ast.List):
            yield from ast.literal_eval(node.value)


def in_float32(item, answer):
    """The parameters of a narrow reading that stay in float32, as their models load them."""
    kept = set(kept_in_float32(item))
    names = [row["name"] for row in answer["inputs"] if row["kind"] in ("parameter", "buffer")]
    return [name for name in names if any(part in name for part in kept)]


def check(reader, item, package, answer, dtype, wide, seed, training):
    sizes = choose_sizes(answer, seed, largest=8 + 4 * seed)
    types_ = {name: getattr(torch, text) for name, text in answer["types"].items()}
    tensors = make_inputs(answer, sizes, types_, seed)
    target = load(item, package)
    values, named = {}, {}
    module = None
    call = build_arguments(answer["call"], sizes, {name: tensor.clone() for name, tensor in tensors.items()})
    if answer["is_module"]:
        owner = target
        if "." in item.name:
            owner = load(Item(item.kind, item.path, item.name.split(".")[0], item.tree, None), package)
        try:
            module = owner(**build_arguments(answer["constructor"], sizes, {}))
        except Exception as problem:
            raise Unsuitable(f"the original is not built: {type(problem).__name__}: {problem}") from problem
        module = module.to(dtype).train(training)
        for name, parameter in module.named_parameters():
            if name in wide:
                parameter.data = parameter.data.float()
        randomise(module, seed)
        state = dict([*module.named_parameters(), *module.named_buffers()])
        for row in answer["inputs"]:
            if row["kind"] in ("parameter", "buffer"):
                named[row["name"]] = values[row["argument"]] = state[row["name"]].detach().clone()
        target = module if "." not in item.name else getattr(module, item.name.split(".")[1])
    for row in answer["inputs"]:
        if row["kind"] == "tensor":
            named[row["name"]] = values[row["argument"]] = tensors[row["name"]]
    oracle = reader.evaluate(named, sizes)
    if admits_anything(oracle):
        raise Unsuitable("the numbers lie at a jump")
    try:
        with RoundingsOfCuda():
            wanted = flatten(target(**call))
    except Exception as problem:
        raise Unsuitable(f"the original does not run: {type(problem).__name__}: {problem}") from problem
    try:
        with RoundingsOfCuda():
            got = flatten(load_reference(answer)(**values))
    except Exception as problem:
        raise Misread(f"the graph does not run: {type(problem).__name__}: {problem}") from problem
    if module is not None:
        state = module.state_dict()
        wanted = [*wanted, *(state[row["updates"]] for row in answer["outputs"] if row["updates"])]
    for who, results in (("the original", wanted), ("reference.py", got)):
        difference = outside_the_bound(oracle, [tensor.detach() for tensor in results])
        if difference:
            raise Misread(f"{who}: {difference} ({dtype}, sizes {sizes})")


def optional_tensors(item, answer):
    """Arguments that are absent by default and may be tensors."""
    functions = [node for node in ast.walk(item.tree) if isinstance(node, ast.FunctionDef) and node.name == "forward"]
    function = item.tree if isinstance(item.tree, ast.FunctionDef) else functions[0] if functions else None
    if function is None:
        return []
    annotations = {arg.arg: ast.unparse(arg.annotation) if arg.annotation else "" for arg in function.args.args}
    absent = [name for name, text in answer["call"] if text == "None"]
    return [name for name in absent if not annotations.get(name) or "Tensor" in annotations[name]]


class Finding:
    """What became of one item: refused, misread, not compared; or none of these."""

    def __init__(self, refused=None, misread=None, uncompared=None):
        self.refused, self.misread, self.uncompared = refused, misread, uncompared
        self.comparisons = 0
        self.not_tensors = []  # optional arguments that are not read as tensors, with the reason


def compare_variant(reader, item, package, answer, dtype, wide, training, finding):
    """Runs one reading until enough drawn sizes and numbers have been compared."""
    agreed, problem = 0, None
    for seed in range(TRIES):
        try:
            check(reader, item, package, answer, dtype, wide, seed, training)
            agreed += 1
            finding.comparisons += 1
            if agreed == RUNS:
                return
        except Unsuitable as reason:
            problem = str(reason)
        except Misread as reason:
            finding.misread = str(reason)
            return
    finding.uncompared = f"{agreed} of {RUNS} runs: {problem}"


def read_and_check(reader, item, package):
    finding = Finding()
    for label, dtype in DTYPES.items():
        arguments = [f"{item.path}:{item.name}", "--dtype", f"T={label}", "--dtype", f"W={label}"]
        answer = reader.read(*arguments)
        if "error" in answer:
            finding.refused = answer["error"]
            return finding
        wide = in_float32(item, answer)
        arguments += [part for name in wide for part in ("--dtype", f"{name}=f32")]
        optional = optional_tensors(item, answer)
        for variant in [[], *([optional] if optional else [])]:
            present = [part for name in variant for part in ("--present", name)]
            answer = reader.read(*arguments, *present)
            if "error" in answer and not variant:
                finding.refused = answer["error"]
                return finding
            if "error" in answer:
                finding.not_tensors.append(f"{', '.join(variant)} ({label}): {answer['error'].splitlines()[0]}")
                continue
            training = not draws_random_numbers(answer)
            if not training:
                answer = reader.read(*arguments, *present, "--eval")
            compare_variant(reader, item, package, answer, dtype, wide, training, finding)
            if finding.misread:
                return finding
    return finding


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package", type=Path, nargs="?")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    import transformers

    package = (options.package or Path(inspect.getfile(transformers)).parent).resolve()
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    every = find_items(package)
    kinds = {kind: sum(item.kind == kind for item in every) for kind in ("activation", "norm", "rotary")}
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    print(f"{len(every)} items ({kinds}), {len({body_of(item) for item in every})} distinct bodies")
    items = [item for item in every if options.only in str(item) and not NOT_COUNTED.fullmatch(item.name)]
    print(f"counted: {len(items)} items, {len({body_of(item) for item in items})} distinct bodies")
    reader = Reader()
    read, comparisons, refused, misread, unchecked, not_tensors = 0, 0, [], [], [], []
    bodies = {}
    for item in items:
        finding = read_and_check(reader, item, package)
        bodies.setdefault(body_of(item), []).append(finding.refused is None and finding.misread is None)
        comparisons += finding.comparisons
        if options.list:
            print(item, finding.refused or finding.misread or finding.uncompared or "ok", flush=True)
        if finding.refused:
            refused.append((str(item), finding.refused))
        else:
            read += 1
        if finding.misread:
            misread.append((str(item), finding.misread))
        if finding.uncompared:
            unchecked.append((str(item), finding.uncompared))
        not_tensors += [(str(item), text) for text in finding.not_tensors]
    summarise("transformers", len(items), read, refused, misread)
    whole = sum(all(results) for results in bodies.values())
    print(f"distinct bodies: {whole} of {len(bodies)} read; {comparisons} comparisons")
    for name, text in not_tensors:
        print(f"  optional, not read as tensors: {name}: {text}")
    for name, text in unchecked:
        print(f"  not compared {name}: {text}")
    sys.exit(1 if misread or unchecked or read < 0.98 * len(items) else 0)


if __name__ == "__main__":
    main()
