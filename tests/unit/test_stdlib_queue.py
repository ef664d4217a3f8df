"""``import queue`` is the standard library's, although there is a folder of that name."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent
PROGRAM = "import queue; print(queue.__file__, queue.Queue.__module__)"
STANDARD = f"{Path(sysconfig.get_path('stdlib')) / 'queue.py'} queue\n"


@pytest.mark.parametrize(
    "options",
    [
        pytest.param([], id="with the installation"),
        pytest.param(["-S"], id="without the installation"),
        pytest.param(["-I"], id="isolated"),
    ],
)
def test_a_fresh_process_in_the_projects_root_gets_the_standard_librarys_queue(
    options: list[str],
) -> None:
    # With -c the working directory is first on the path, as it is for manage.py and -m.
    words = [sys.executable, *options, "-c", PROGRAM]

    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=True)

    assert done.stdout == STANDARD


def test_our_packages_are_imported_by_their_own_names() -> None:
    program = "import guildqueue, recordings; print(guildqueue.__file__, recordings.__file__)"

    done = subprocess.run(
        [sys.executable, "-c", program], cwd="/", capture_output=True, text=True, check=True
    )

    assert done.stdout.split() == [
        str(PROJECT / "queue" / name / "__init__.py") for name in ("guildqueue", "recordings")
    ]
