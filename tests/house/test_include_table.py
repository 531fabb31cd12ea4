from pathlib import Path

import pytest
from include_table import read_table, violations

ROOT = Path(__file__).resolve().parents[2]
TABLE = read_table(ROOT / "cmake" / "include_table.txt")


def test_no_source_file_includes_past_the_table():
    assert violations(ROOT / "src", TABLE) == []


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [("ir", "profile"), ("verify", "schedule"), ("verify", "act"), ("device", "ir"), ("base", "ir"), ("act", "cli")],
)
@pytest.mark.parametrize("spelling", ['#include "{}/x.h"', "#include <{}/x.h>", '  #  include "{}/deep/x.h"'])
def test_a_planted_violation_is_found(tmp_path, folder, forbidden, spelling):
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "planted.cpp").write_text("// fine\n" + spelling.format(forbidden) + "\n")
    assert len(violations(tmp_path, TABLE)) == 1


def test_a_folder_without_a_row_is_found(tmp_path):
    (tmp_path / "stray").mkdir()
    assert violations(tmp_path, TABLE) == ["src/stray has no row in the include table"]


def test_what_the_table_permits_is_silent(tmp_path):
    for folder, seen in TABLE.items():
        (tmp_path / folder).mkdir()
        lines = [f'#include "{name}/x.h"' for name in sorted(seen | {folder})]
        (tmp_path / folder / "x.h").write_text("\n".join(lines))
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "x.cpp").write_text("\n".join(f'#include "{name}/x.h"' for name in TABLE))
    assert violations(tmp_path, TABLE) == []


def test_the_table_has_no_cycle_and_lists_folders_in_the_order_of_the_data():
    before = set()
    for folder, seen in TABLE.items():
        assert seen <= before, f"{folder} sees a folder that comes after it"
        before.add(folder)


def test_the_judge_never_sees_the_generator():
    reached, todo = set(), ["verify"]
    while todo:
        for name in TABLE[todo.pop()] - reached:
            reached.add(name)
            todo.append(name)
    assert not reached & {"schedule", "act"}
