"""The tree keeps its own rules: sizes, names, documented settings, links that lead somewhere."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from console import env

PROJECT = Path(__file__).resolve().parent.parent.parent
IGNORED = {"node_modules", "vendor", "__pycache__", "build"}
DOC_ROW = re.compile(r"^\| `([A-Z_]+)` \| (.*?) ?\| (.*?) \| .+ \|$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def files(*patterns: str) -> list[Path]:
    """Ours alone: no folder that starts with a dot, nothing vendored."""
    found = {path for pattern in patterns for path in PROJECT.glob(pattern) if path.is_file()}
    return sorted(path for path in found if _is_ours(path.relative_to(PROJECT)))


def _is_ours(path: Path) -> bool:
    return not any(part.startswith(".") or part in IGNORED for part in path.parts)


def n_lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def too_long(paths: list[Path], ceiling: int) -> list[str]:
    return [f"{p.relative_to(PROJECT)}: {n_lines(p)}" for p in paths if n_lines(p) > ceiling]


def functions(path: Path) -> Iterator[tuple[str, int]]:
    """Name and length of each function, its decorators not counted."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


PRODUCT = files("*.py", "console/**/*.py", "queue/**/*.py")
SOURCES = PRODUCT + files("benchmarks/**/*.py")
TESTS = files("tests/**/*.py")
TEMPLATES = files("templates/**/*.html")


@pytest.mark.parametrize(
    ("paths", "ceiling"),
    [
        pytest.param([p for p in SOURCES if p.parent.name != "migrations"], 300, id="modules"),
        pytest.param(TESTS, 400, id="tests"),
        pytest.param(files("queue/**/*.sql"), 300, id="sql"),
        pytest.param([p for p in TEMPLATES if p.name[0] != "_"], 100, id="pages"),
        pytest.param([p for p in TEMPLATES if p.name[0] == "_"], 60, id="fragments"),
        pytest.param(files("static/**/*.css"), 250, id="css"),
        pytest.param(files("static/**/*.js"), 150, id="javascript"),
    ],
)
def test_no_file_is_above_its_ceiling(paths: list[Path], ceiling: int) -> None:
    assert too_long(paths, ceiling) == []


@pytest.mark.parametrize(
    ("paths", "ceiling"),
    [
        pytest.param(SOURCES + TESTS, 40, id="functions"),
        pytest.param(files("console/views/*.py"), 20, id="views"),
    ],
)
def test_no_function_is_above_its_ceiling(paths: list[Path], ceiling: int) -> None:
    found = [
        f"{path.relative_to(PROJECT)}: {name} has {length} lines"
        for path in paths
        for name, length in functions(path)
        if length > ceiling
    ]

    assert found == []


def test_the_rules_are_held_to_files_that_are_there() -> None:
    assert len(SOURCES) > 50
    assert len(TESTS) > 10
    assert len(TEMPLATES) > 5


def test_nothing_of_ours_shadows_the_standard_library() -> None:
    roots = (PROJECT, PROJECT / "queue")
    packages = {init.parent.name for root in roots for init in root.glob("*/__init__.py")}
    modules = {path.stem for root in roots for path in root.glob("*.py")}

    assert {"console", "guildqueue", "recordings"} <= packages
    assert not (packages | modules) & sys.stdlib_module_names


def test_every_setting_is_documented_as_the_code_has_it() -> None:
    assert settings.DATA_DIR.is_absolute()  # reading any setting reads them all
    documented = {
        name: (default, allowed) for name, default, allowed in DOC_ROW.findall(operations_table())
    }
    coded = {setting.name: (setting.default, setting.allowed) for setting in env.READ.values()}

    assert documented == coded


def operations_table() -> str:
    text = (PROJECT / "docs" / "operations.md").read_text("utf-8")
    return text.partition("\n## Settings\n")[2].partition("\n## ")[0]


def test_only_one_module_reads_the_consoles_settings_from_the_environment() -> None:
    names = "|".join(env.READ)
    reader = re.compile(rf"environ(?:\.get\(|\[)\s*[\"'](?:{names})[\"']|getenv\(")
    allowed = {"queue/recordings/media.py", "queue/recordings/whisper.py"}  # run in a child process

    found = {
        str(path.relative_to(PROJECT)) for path in PRODUCT if reader.search(path.read_text("utf-8"))
    }

    assert found <= allowed


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(path, id=str(path.relative_to(PROJECT)))
        for path in files("*.md", "docs/**/*.md")
    ],
)
def test_every_link_in_a_document_leads_somewhere(document: Path) -> None:
    dead = [link for link in links(document) if not leads_somewhere(document, link)]

    assert dead == []


def links(document: Path) -> list[str]:
    """Relative ones; what is out there can change without us."""
    text = FENCE.sub("", document.read_text("utf-8"))
    found = [plain or image for plain, image in LINK.findall(text)]
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def leads_somewhere(document: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (document.parent / name).resolve() if name else document
    if not target.exists() or not target.is_relative_to(PROJECT):
        return False
    return not anchor or anchor in anchors(target)


def anchors(document: Path) -> set[str]:
    headings = HEADING.findall(document.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def test_nothing_committed_names_a_path_of_one_machine() -> None:
    listed = subprocess.run(
        ["git", "grep", "-lE", r"(^|[^A-Za-z0-9_./-])/(work|root|home)/[a-z]"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode > 1:
        pytest.skip("not a git checkout")

    assert listed.stdout.split() == []
