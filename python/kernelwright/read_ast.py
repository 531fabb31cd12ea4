"""The grammar of a Python file, as JSON, from CPython's own parser. Nothing of the file is run.

The engine starts this once (`python3 -I -S -c ...`) and asks, one line per request:

    parse KEY "text"    the file's statements; a top-level class or function comes as a stub
    define KEY INDEX    the whole of top-level statement INDEX

Each answer is one line: {"ok": ...} or {"error": [kind, message, line, column]}. A node is a list

    [kind, line, column, end line, end column, field, ...]

with lines from 1 and columns in UTF-8 bytes from 0, as CPython counts them, and the fields of FIELDS in that order.
What is not in the table comes as ["Unsupported", ..., CPython's name for it]. Only built-in modules are imported: this
starts fast.
"""

import sys
from _ast import AST, ClassDef, FunctionDef, PyCF_ONLY_AST
from _json import encode_basestring_ascii as quote
from _json import scanstring

DEEPEST = 400  # nested nodes; the engine's reader recurses too

FIELDS = {
    "FunctionDef": ("name", "args", "body", "decorator_list", "returns"),
    "ClassDef": ("name", "bases", "keywords", "body", "decorator_list"),
    "Return": ("value",),
    "Delete": ("targets",),
    "Assign": ("targets", "value"),
    "AugAssign": ("target", "op", "value"),
    "AnnAssign": ("target", "annotation", "value"),
    "For": ("target", "iter", "body", "orelse"),
    "While": ("test", "body", "orelse"),
    "If": ("test", "body", "orelse"),
    "With": ("items", "body"),
    "Raise": ("exc",),
    "Try": ("body", "handlers", "orelse", "finalbody"),
    "Assert": ("test", "msg"),
    "Import": ("names",),
    "ImportFrom": ("module", "names", "level"),
    "Global": ("names",),
    "Nonlocal": ("names",),
    "Expr": ("value",),
    "Pass": (),
    "Break": (),
    "Continue": (),
    "BoolOp": ("op", "values"),
    "NamedExpr": ("target", "value"),
    "BinOp": ("left", "op", "right"),
    "UnaryOp": ("op", "operand"),
    "Lambda": ("args", "body"),
    "IfExp": ("test", "body", "orelse"),
    "Dict": ("keys", "values"),
    "Set": ("elts",),
    "ListComp": ("elt", "generators"),
    "SetComp": ("elt", "generators"),
    "DictComp": ("key", "value", "generators"),
    "GeneratorExp": ("elt", "generators"),
    "Compare": ("left", "ops", "comparators"),
    "Call": ("func", "args", "keywords"),
    "FormattedValue": ("value", "conversion", "format_spec"),
    "JoinedStr": ("values",),
    "Constant": ("value",),
    "Attribute": ("value", "attr"),
    "Subscript": ("value", "slice"),
    "Starred": ("value",),
    "Name": ("id",),
    "List": ("elts",),
    "Tuple": ("elts",),
    "Slice": ("lower", "upper", "step"),
    "arguments": ("posonlyargs", "args", "vararg", "kwonlyargs", "kw_defaults", "kwarg", "defaults"),
    "arg": ("arg", "annotation"),
    "keyword": ("arg", "value"),
    "alias": ("name", "asname"),
    "withitem": ("context_expr", "optional_vars"),
    "comprehension": ("target", "iter", "ifs", "is_async"),
    "ExceptHandler": ("type", "name", "body"),
}
# Nodes without fields whose name alone says all: operators.
OPERATORS = frozenset(
    "And Or Add Sub Mult MatMult Div Mod Pow LShift RShift BitOr BitXor BitAnd FloorDiv Invert Not UAdd USub "
    "Eq NotEq Lt LtE Gt GtE Is IsNot In NotIn".split()
)


def text(value):
    """A string as JSON; one that is no Unicode text (a lone surrogate) as something that is not read."""
    quoted = quote(value)
    if "\\ud" in quoted:
        try:
            value.encode()
        except UnicodeEncodeError:
            return '{"other":"a string with a lone surrogate"}'
    return quoted


def constant(value):
    kind = type(value)
    if value is None or kind is bool:
        return {None: "null", True: "true", False: "false"}[value]
    if kind is str:
        return text(value)
    if kind is int:
        return str(value) if -(2**63) <= value < 2**63 else '{"other":"an integer of more than 64 bits"}'
    if kind is float:
        return repr(value) if value - value == 0 else '{"float":"inf"}'
    if value is ...:
        return '{"ellipsis":true}'
    return '{"other":%s}' % quote(kind.__name__)


def write(value, depth):
    """A field: a node, a list of nodes, a name or nothing."""
    if isinstance(value, AST):
        return node(value, depth + 1)
    if isinstance(value, list):
        return "[" + ",".join([write(item, depth) for item in value]) + "]"
    return constant(value)


def place(tree):
    line = getattr(tree, "lineno", 0)
    column = getattr(tree, "col_offset", 0)
    return f"{line},{column},{getattr(tree, 'end_lineno', line)},{getattr(tree, 'end_col_offset', column)}"


def node(tree, depth):
    if depth > DEEPEST:
        raise RecursionError
    kind = type(tree).__name__
    if kind in OPERATORS:
        return '"' + kind + '"'
    fields = FIELDS.get(kind)
    if fields is None:
        return f'["Unsupported",{place(tree)},"{kind}"]'
    parts = [f'"{kind}",{place(tree)}']
    parts += [write(getattr(tree, field), depth) for field in fields]
    return "[" + ",".join(parts) + "]"


def stub(index, tree):
    kind = "class" if isinstance(tree, ClassDef) else "function"
    bases = ",".join([node(base, 1) for base in tree.bases]) if kind == "class" else ""
    return f'["Stub",{place(tree)},"{kind}",{quote(tree.name)},{index},[{bases}]]'


def error(kind, message, line=0, column=0):
    return '{"error":[%s,%s,%d,%d]}' % (quote(kind), quote(message), line or 0, column or 0)


def answer(request, trees):
    command, key, rest = request.split(" ", 2)
    if command == "define":
        return '{"ok":%s}' % node(trees[key][int(rest)], 0)
    source = scanstring(rest, 1)[0]
    body = trees[key] = compile(source, "<source>", "exec", PyCF_ONLY_AST, True).body
    parts = [
        stub(index, tree) if isinstance(tree, (ClassDef, FunctionDef)) else node(tree, 0)
        for index, tree in enumerate(body)
    ]
    return '{"ok":[' + ",".join(parts) + "]}"


def main():
    trees = {}
    sys.setrecursionlimit(10 * DEEPEST)
    # A warning of the parser (an invalid escape, `is` with a literal) is the file's own business.
    sys.warnoptions[:] = ["ignore"]
    for request in sys.stdin:
        try:
            line = answer(request.rstrip("\n"), trees)
        except SyntaxError as problem:
            line = error("syntax", problem.msg, problem.lineno, problem.offset)
        except RecursionError:
            line = error("deep", "the source is nested too deeply")
        except (MemoryError, ValueError, OverflowError) as problem:
            line = error("source", str(problem) or type(problem).__name__)
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


main()
