"""The layers hold, and the contracts that say so would notice if they did not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent
PROGRAM = "from importlinter.cli import lint_imports; import sys; sys.exit(lint_imports())"
VIOLATIONS = [
    ("console/away.py", "guildqueue.store.guilds"),
    ("console/away.py", "guildqueue.models"),
    ("queue/guildqueue/services/move.py", "guildqueue.models"),
    ("queue/guildqueue/services/move.py", "console.away"),
    ("queue/guildqueue/store/guilds.py", "guildqueue.services.move"),
    ("queue/guildqueue/domain/order.py", "django.conf"),
    ("queue/guildqueue/domain/order.py", "guildqueue.store.guilds"),
    ("queue/guildqueue/services/move.py", "recordings.craig"),
    ("queue/recordings/craig.py", "guildqueue.store.guilds"),
    ("queue/recordings/craig.py", "console.away"),
]


def lint(project: Path) -> subprocess.CompletedProcess[str]:
    # Without the site's own .pth file: a copy must be judged, not the installation.
    path = os.pathsep.join([str(project), str(project / "queue")])
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=project,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_contract_is_kept() -> None:
    done = lint(PROJECT)

    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("module", "imported"), VIOLATIONS)
def test_an_import_against_the_layers_is_noticed(
    tmp_path: Path, module: str, imported: str
) -> None:
    for name in ("console", "queue"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / name, tmp_path / name, ignore=ignore)
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a", encoding="utf-8") as file:
        file.write(f"\nimport {imported}\n")

    done = lint(tmp_path)

    assert done.returncode == 1, done.stdout
    assert "BROKEN" in done.stdout
