"""Read rates of the static reader on KernelBench levels 1 and 2, and agreement with PyTorch at shrunken shapes.

    python bench/read_kernelbench.py CHECKOUT [--level 1] [--only NAME]

CHECKOUT is a checkout of KernelBench; nothing of it is kept here. A problem is read at its own shapes; then its
module-level ints that are sizes of the graph are made small, and the problem and the graph run on the same tensors.
"""

import argparse
import ast
import contextlib
import io
import sys
from pathlib import Path

import torch
from agreement import (
    Misread,
    Reader,
    Unsuitable,
    choose_sizes,
    differs_in_double,
    draws_random_numbers,
    flatten,
    load_reference,
    randomise,
    size,
    summarise,
)

TRIES = 40


class Shrink(ast.NodeTransformer):
    """Gives the sizes of a problem small numbers where the file binds them."""

    def __init__(self, sizes):
        self.sizes = sizes

    def visit_FunctionDef(self, node):
        return node

    visit_ClassDef = visit_FunctionDef

    def visit_Assign(self, node):
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(target, ast.Tuple) else [node.value]
            for position, (name, value) in enumerate(zip(names, values)):
                if not isinstance(name, ast.Name) or name.id not in self.sizes:
                    continue
                if any(isinstance(part, ast.Name) for part in ast.walk(value)):
                    continue  # computed from other sizes: it follows them
                number = ast.copy_location(ast.Constant(self.sizes[name.id]), value)
                if isinstance(target, ast.Tuple):
                    node.value.elts[position] = number
                elif len(node.targets) == 1:
                    node.value = number
        if len(node.targets) > 1 and all(isinstance(t, ast.Name) and t.id in self.sizes for t in node.targets):
            pairs = [(t.id, self.sizes[t.id]) for t in node.targets]
            return [ast.copy_location(ast.parse(f"{name} = {value}").body[0], node) for name, value in pairs]
        return node


def double(value):
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def run_original(tree, path, seed, training):
    """In float64: small groups and variances near 0 magnify what float32 rounds."""
    namespace = {"__name__": "problem"}
    exec(compile(tree, str(path), "exec"), namespace)
    torch.manual_seed(seed)
    model = namespace["Model"](*namespace["get_init_inputs"]()).double().train(training)
    torch.manual_seed(seed + 1)
    inputs = [double(value) for value in namespace["get_inputs"]()]
    randomise(model, seed)
    before = {name: tensor.clone() for name, tensor in model.state_dict(keep_vars=False).items()}
    arguments = [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]
    outputs = flatten(model(*inputs))
    return model, arguments, before, outputs


def run_on_own_inputs(answer, path, seed):
    """For a problem whose own sizes do not shrink together: the graph's inputs, given to the problem's model."""
    if any(row["kind"] != "tensor" for row in answer["inputs"]):
        raise Unsuitable("it has parameters")
    sizes = choose_sizes(answer, seed)
    namespace = {"__name__": "problem"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    model = namespace["Model"](*namespace["get_init_inputs"]())
    torch.manual_seed(seed)
    shapes = [[size(dim, sizes) for dim in row["dims"]] for row in answer["inputs"]]
    inputs = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    got = flatten(load_reference(answer)(*inputs))
    difference = differs_in_double(got, flatten(model(*inputs)))
    if difference:
        raise Misread(difference)


def check(answer, path, seed, training):
    # Sizes that have no name in the file keep their number.
    sizes = choose_sizes(answer, seed, largest=12 + 2 * seed)
    tree = ast.parse(path.read_text())
    bound = {
        name.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    }
    sizes = {name: value if name in bound else answer["sizes"][name] for name, value in sizes.items()}
    if not all(eval(text, {"__builtins__": {}}, dict(sizes)) for text in answer["constraints"]):
        raise Unsuitable("a size without a name does not fit")
    tree = ast.fix_missing_locations(Shrink(sizes).visit(tree))
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            model, inputs, state, wanted = run_original(tree, path, seed, training)
        except Exception as problem:
            raise Unsuitable(f"the original does not run: {problem}") from problem
    reference = load_reference(answer)
    tensors = iter(inputs)
    values = {}
    for row in answer["inputs"]:
        if row["kind"] == "tensor":
            values[row["argument"]] = next(tensor for tensor in tensors if isinstance(tensor, torch.Tensor))
        elif row["kind"] in ("parameter", "buffer"):
            values[row["argument"]] = state[row["name"]]
    try:
        got = flatten(reference(**values))
    except Exception as problem:
        raise Misread(f"the graph does not run: {type(problem).__name__}: {problem}") from problem
    updates = [row["updates"] for row in answer["outputs"]]
    wanted = [*wanted, *(model.state_dict()[name] for name in updates if name)]
    difference = differs_in_double(got, wanted)
    if difference:
        raise Misread(difference + f" (sizes {sizes})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--level", type=int, action="append")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    torch.set_num_threads(1)
    reader = Reader()
    failed = False
    for level in options.level or [1, 2]:
        folder = options.checkout / "KernelBench" / f"level{level}"
        paths = sorted(folder.glob("*.py"), key=lambda path: int(path.name.split("_")[0]))
        paths = [path for path in paths if options.only in path.name]
        if not paths:
            raise SystemExit(f"no problems in {folder}")
        read, compared, refused, misread, unchecked = 0, 0, [], [], []
        for path in paths:
            answer = reader.read(path)
            if "error" in answer:
                refused.append((path.stem, answer["error"]))
                continue
            read += 1
            training = not draws_random_numbers(answer)
            if not training:
                # PyTorch's own generator draws another mask: the values are compared in evaluation mode.
                answer = reader.read(path, "--eval")
            problem = None
            for seed in range(TRIES):
                try:
                    check(answer, path, seed, training)
                    compared += 1
                    problem = None
                    break
                except Unsuitable as reason:
                    problem = reason
                except Misread as reason:
                    misread.append((path.stem, str(reason)))
                    problem = None
                    break
            if problem and all(row["type"] == "T" for row in answer["inputs"]):
                try:
                    run_on_own_inputs(answer, path, 0)
                    compared += 1
                    problem = None
                except Unsuitable as reason:
                    problem = reason
                except Misread as reason:
                    misread.append((path.stem, str(reason)))
            if problem:
                unchecked.append((path.stem, str(problem)))
        summarise(f"KernelBench level {level}", len(paths), read, refused, misread)
        print(f"  {compared} agree with PyTorch at shrunken shapes")
        for name, text in unchecked:
            print(f"  not compared {name}: {text}")
        failed = failed or misread or compared < 0.98 * len(paths)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
