"""The tables of the contract in docs/: every test that they name is there, and has tests."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
HERE = PROJECT / "tests" / "conformance"
DOCS = pytest.mark.parametrize("name", ["queue.md", "lane.md"])
ROW = re.compile(r"^\| (\d|all) \| (.+?) \| (.+) \|$", re.MULTILINE)


def rows(name: str) -> dict[str, str]:
    """The last columns of the table, by item."""
    text = (PROJECT / "docs" / name).read_text("utf-8")
    return {item: tests for item, _promise, tests in ROW.findall(text)}


def functions_in(path: Path) -> list[str]:
    return re.findall(r"^def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)


@DOCS
def test_every_item_of_the_contract_has_its_row(name: str) -> None:
    assert list(rows(name)) == [*"1234567", "all"]


@DOCS
def test_every_file_that_a_row_names_is_there_and_tests_something(name: str) -> None:
    for item, told in rows(name).items():
        named = re.findall(r"`([\w/]+\.py)`", told)
        assert named, item
        for path in named:
            candidates = [PROJECT / path, HERE / path, PROJECT / "tests" / "db" / path]
            found = [path for path in candidates if path.is_file()]
            assert found, (item, path)
            text = found[0].read_text("utf-8")
            assert functions_in(found[0]) or "Machine" in text, (item, path)


@DOCS
def test_every_item_has_tests_of_its_own_in_the_file_that_its_row_names(name: str) -> None:
    for item, told in rows(name).items():
        if item == "all":
            continue
        files = re.findall(r"`(test_\w+\.py)`, `test_item_(\d)_…`", told)
        assert [number for _, number in files] == [item]
        own = [t for t in functions_in(HERE / files[0][0]) if t.startswith(f"test_item_{item}_")]
        assert len(own) >= 2, (item, own)


@DOCS
def test_every_test_of_an_item_is_in_a_file_of_the_table(name: str) -> None:
    named = {
        (item, path)
        for item, told in rows(name).items()
        for path in re.findall(r"test_\w+\.py", told)
    }
    for path in HERE.glob("test_*.py"):
        for test in functions_in(path):
            if found := re.match(r"test_item_(\d)_", test):
                assert (found[1], path.name) in named, test
