"""Read rates of the static reader on Hugging Face transformers, and agreement with PyTorch.

    python bench/read_transformers.py [PACKAGE] [--only TEXT] [--list]

PACKAGE is the folder of the installed package (default: the one that this Python imports); nothing of it is kept here.
Read are the activation modules, every class with Norm in its name whose sole base is nn.Module, and every rotate_half
and apply_rotary*. Each one read runs beside the original in float32 and in bfloat16, with parameters and buffers
randomised and optional tensors absent and present.
"""

import argparse
import ast
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
    choose_sizes,
    compare,
    draws_random_numbers,
    flatten,
    load_reference,
    randomise,
    size,
    summarise,
)

# Blocks that only share the name: attention and encoder layers.
NOT_COUNTED = re.compile(r".*EncoderStableLayerNorm|DbrxNormAttentionNorm|RobertaPreLayerNorm(\w*Attention|Encoder)")
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16}
TRIES = 12


class Item:
    def __init__(self, kind, path, name, tree, source):
        self.kind, self.path, self.name, self.tree, self.source = kind, path, name, tree, source

    def __str__(self):
        return f"{self.path.parent.name}/{self.path.name}:{self.name}"


def without_docstrings(node):
    for part in ast.walk(node):
        body = getattr(part, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            part.body = body[1:] or [ast.Pass()]
    return node


def body_of(item, definitions, seen=()):
    """The text of a definition with that of everything in its file that it uses: what makes two bodies one."""
    node = item if isinstance(item, ast.AST) else item.tree
    text = ast.unparse(without_docstrings(node))
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} & definitions.keys() - {node.name, *seen}
    for number, name in enumerate(sorted(used)):
        if isinstance(definitions[name], ast.ClassDef | ast.FunctionDef) and not name.endswith("Config"):
            text += "\n" + body_of(definitions[name], definitions, (*seen, node.name, *used))
        text = text.replace(name, f"used{number}")
    return text.replace(node.name, "itself")


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
                elif is_module and "Norm" in node.name and not NOT_COUNTED.fullmatch(node.name):
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


def check(item, package, answer, dtype, seed, training):
    sizes = choose_sizes(answer, seed, largest=8 + 4 * seed)
    types_ = {name: getattr(torch, text) for name, text in answer["types"].items()}
    tensors = make_inputs(answer, sizes, types_, seed)
    target = load(item, package)
    values = {}
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
        randomise(module, seed)
        state = dict([*module.named_parameters(), *module.named_buffers()])
        for row in answer["inputs"]:
            if row["kind"] in ("parameter", "buffer"):
                values[row["argument"]] = state[row["name"]].detach().clone()
        target = module if "." not in item.name else getattr(module, item.name.split(".")[1])
    for row in answer["inputs"]:
        if row["kind"] == "tensor":
            values[row["argument"]] = tensors[row["name"]]
    try:
        wanted = flatten(target(**call))
    except Exception as problem:
        raise Unsuitable(f"the original does not run: {type(problem).__name__}: {problem}") from problem
    try:
        got = flatten(load_reference(answer)(**values))
    except Exception as problem:
        raise Misread(f"the graph does not run: {type(problem).__name__}: {problem}") from problem
    if module is not None:
        state = module.state_dict()
        wanted = [*wanted, *(state[row["updates"]] for row in answer["outputs"] if row["updates"])]
    difference = compare([tensor.detach() for tensor in got], [tensor.detach() for tensor in wanted])
    if difference:
        raise Misread(f"{difference} ({dtype}, sizes {sizes})")


def optional_tensors(item, answer):
    """Arguments that are absent by default and may be tensors."""
    functions = [node for node in ast.walk(item.tree) if isinstance(node, ast.FunctionDef) and node.name == "forward"]
    function = item.tree if isinstance(item.tree, ast.FunctionDef) else functions[0] if functions else None
    if function is None:
        return []
    annotations = {arg.arg: ast.unparse(arg.annotation) if arg.annotation else "" for arg in function.args.args}
    absent = [name for name, text in answer["call"] if text == "None"]
    return [name for name in absent if not annotations.get(name) or "Tensor" in annotations[name]]


def read_and_check(reader, item, package):
    """What was refused, and what was misread, of one item; and why it could not be compared."""
    for label, dtype in DTYPES.items():
        arguments = [f"{item.path}:{item.name}", "--dtype", f"T={label}", "--dtype", f"W={label}"]
        answer = reader.read(*arguments)
        if "error" in answer:
            return answer["error"], None, None
        variants = [[]]
        optional = optional_tensors(item, answer)
        if optional:
            variants.append([part for name in optional for part in ("--present", name)])
        for variant in variants:
            if variant:
                answer = reader.read(*arguments, *variant)
                if "error" in answer:
                    continue  # what was passed is not meant to be a tensor, or is not read with it
            training = not draws_random_numbers(answer)
            if not training:
                answer = reader.read(*arguments, *variant, "--eval")
            problem = None
            for seed in range(TRIES):
                try:
                    check(item, package, answer, dtype, seed, training)
                    problem = None
                    break
                except Unsuitable as reason:
                    problem = str(reason)
                except Misread as reason:
                    return None, str(reason), None
            if problem:
                return None, None, problem
    return None, None, None


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
    items = [item for item in find_items(package) if options.only in str(item)]
    reader = Reader()
    read, refused, misread, unchecked = 0, [], [], []
    bodies = {}
    for item in items:
        definitions = {node.name: node for node in item.source.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        body = body_of(item, definitions)
        refusal, mistake, problem = read_and_check(reader, item, package)
        bodies.setdefault(body, []).append(refusal is None and mistake is None)
        if options.list:
            print(item, refusal or mistake or problem or "ok", flush=True)
        if refusal is not None:
            refused.append((str(item), refusal))
        else:
            read += 1
        if mistake:
            misread.append((str(item), mistake))
        if problem:
            unchecked.append((str(item), problem))
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    for kind in ("activation", "norm", "rotary"):
        print(f"  {kind}: {sum(item.kind == kind for item in items)} items")
    summarise("transformers", len(items), read, refused, misread)
    whole = sum(all(results) for results in bodies.values())
    print(f"distinct bodies: {whole} of {len(bodies)} read")
    for name, text in unchecked:
        print(f"  not compared {name}: {text}")
    sys.exit(1 if misread or read < 0.98 * len(items) else 0)


if __name__ == "__main__":
    main()
