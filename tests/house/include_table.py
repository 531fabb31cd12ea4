"""Reads cmake/include_table.txt and finds the includes of a source tree that go past it."""

import re
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([a-z_]+)/[^">]+[">]', re.MULTILINE)


def read_table(path: Path) -> dict[str, set[str]]:
    table = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            folder, seen = line.split(":")
            table[folder] = set(seen.split())
    return table


def violations(source: Path, table: dict[str, set[str]]) -> list[str]:
    """One sentence per include that the table forbids, and per folder that it does not know."""
    folders = set(table) | {"cli"}
    found = []
    for folder in sorted(path.name for path in source.iterdir() if path.is_dir()):
        if folder not in folders:
            found.append(f"src/{folder} has no row in the include table")
    for path in sorted(source.rglob("*")):
        if path.suffix not in {".h", ".cpp", ".cc"}:
            continue
        folder = path.relative_to(source).parts[0]
        seen = folders if folder == "cli" else table.get(folder, set()) | {folder}
        for target in INCLUDE.findall(path.read_text()):
            if target in folders and target not in seen:
                found.append(f"src/{path.relative_to(source)} includes {target}/, which {folder} may not see")
    return found
