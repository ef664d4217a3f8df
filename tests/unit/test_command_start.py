"""A command starts without what only a server or a handler needs: scripts call it often."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
import django
django.setup()
from django.core.management import load_command_class
load_command_class("guildqueue", sys.argv[1]).create_parser("manage.py", sys.argv[1])
print(*sorted({"ninja", "pydantic", "mcp", "channels", "soundfile"} & set(sys.modules)))
"""


@pytest.mark.parametrize("name", ["queue", "lane", "worker"])
def test_a_command_imports_nothing_that_it_may_not_need(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, name],
        cwd=PROJECT,
        env=os.environ
        | {
            "DJANGO_SETTINGS_MODULE": "console.settings",
            "GUILDQUEUE_DATA_DIR": str(tmp_path),
            "PYTHONPATH": f"{PROJECT}{os.pathsep}{PROJECT / 'queue'}",
        },
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == []
