"""The shape of the tree itself: names, sizes, and the page that describes it."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FORBIDDEN_NAME = re.compile(r"(^|_)(utils?|helpers?|common|misc)(_|$)")
CODE = {".h", ".cpp", ".cc", ".cu", ".py", ".sh", ".cmake"}


def tracked() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [Path(line) for line in listing.stdout.splitlines() if (ROOT / line).exists()]


def badly_named(paths: list[Path]) -> list[Path]:
    return [path for path in paths if any(FORBIDDEN_NAME.search(Path(part).stem) for part in path.parts)]


def test_no_file_or_folder_is_named_after_nothing():
    assert badly_named(tracked()) == []


def test_a_planted_bad_name_is_found():
    planted = [Path(name) for name in ("src/ir/utils.h", "src/helpers/x.cpp", "src/ir/common.cpp", "a/shape_utils.py")]
    assert badly_named(planted) == planted
    assert badly_named([Path("src/ir/commonality.h"), Path("src/ir/utility_curve.h")]) == []


def test_no_code_file_is_longer_than_800_lines():
    code = [path for path in tracked() if path.suffix in CODE]
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in code}
    assert {path: length for path, length in lengths.items() if length > 800} == {}


def folders() -> set[str]:
    """Every folder that holds a file, as deep as the layout page goes: src/NAME, tests/NAME, others whole."""
    names = set()
    for path in tracked():
        parts = path.parts[:-1]
        if parts:
            names.add("/".join(parts[:2]) if parts[0] in {"src", "tests"} and len(parts) > 1 else parts[0])
    return names


def missing_from(page: str, names: set[str]) -> set[str]:
    return {name for name in names if f"`{name}/`" not in page}


def test_the_layout_page_names_every_folder():
    assert missing_from((ROOT / "docs" / "layout.md").read_text(), folders()) == set()


def test_a_folder_that_the_layout_page_forgets_is_found():
    page = (ROOT / "docs" / "layout.md").read_text()
    assert missing_from(page, {"src/base", "src/forgotten"}) == {"src/forgotten"}


def test_the_layout_page_names_no_folder_of_src_that_the_include_table_lacks():
    page = (ROOT / "docs" / "layout.md").read_text()
    rows = (ROOT / "cmake" / "include_table.txt").read_text()
    known = set(re.findall(r"^([a-z]+):", rows, re.MULTILINE)) | {"cli"}
    assert set(re.findall(r"`src/([a-z]+)/`", page)) <= known


def test_every_header_opens_with_what_it_is_for():
    headers = [path for path in tracked() if path.suffix == ".h"]
    assert [str(path) for path in headers if not (ROOT / path).read_text().startswith("//")] == []


# What act's result may depend on is the profile, its schedules and the machine models: not on when and where it runs.
PURE = ("src/ir/", "src/schedule/", "src/kernel/", "src/act/")
SURROUNDINGS = re.compile(
    r"<ctime>|_clock\b|\btime\(|gettimeofday|now_utc|getenv|random_device|hardware_concurrency"
    r"|std::(?:thread|jthread|async)\b"
)
LOCALE = re.compile(r"<clocale>|<locale>|setlocale|std::locale")  # set anywhere, it would reach all that is written


def uses_of_surroundings(texts: dict[str, str]) -> list[str]:
    return [
        f"{path}: {line.strip()}"
        for path, text in texts.items()
        for line in text.splitlines()
        if path.startswith("src/") and (LOCALE.search(line) or (path.startswith(PURE) and SURROUNDINGS.search(line)))
    ]


def test_what_generates_asks_for_no_clock_no_locale_no_environment_and_no_chance():
    texts = {str(path): (ROOT / path).read_text() for path in tracked() if path.suffix in {".h", ".cpp"}}
    assert uses_of_surroundings(texts) == []


def test_a_planted_clock_is_found():
    clock, locale = "const auto now = std::chrono::system_clock::now();", 'setlocale(LC_ALL, "");'
    planted = {"src/act/x.cpp": clock, "src/cli/x.cpp": f"getenv()\n{locale}", "tests/x.cpp": locale}
    assert uses_of_surroundings(planted) == [f"src/act/x.cpp: {clock}", f"src/cli/x.cpp: {locale}"]
