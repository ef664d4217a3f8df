"""Real processes that use an embedded server, for tests that end them in every way."""

import os
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

PROJECT = Path(__file__).resolve().parent.parent.parent
PYTHON_PATH = os.pathsep.join([str(PROJECT), sysconfig.get_path("purelib")])
NOBODY: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": []}
PROGRAM = """
import sys
from pathlib import Path
from console.embedded import server
print(server.ensure_running(Path(sys.argv[1]), durable=False).pid, flush=True)
sys.stdin.read()
"""


class User:
    """A process that uses the server of ``data_dir`` until its input ends or it is killed."""

    def __init__(self, data_dir: Path, python: str = sys.executable, **options: Any) -> None:
        self.process = subprocess.Popen(
            [python, "-c", PROGRAM, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=PROJECT,
            env=os.environ | {"PYTHONPATH": PYTHON_PATH},
            **options,
        )

    def server_pid(self) -> int:
        """Blocks until the server takes connections."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.strip(), self.process.communicate()[1]
        return int(line)

    def end(self, number: int | None = None) -> None:
        """By signal ``number``, or by the end of its program."""
        if number is not None:
            self.process.send_signal(number)
        self.process.communicate(timeout=20)


def python_for_nobody() -> str | None:
    """An interpreter that an account without any rights can run with our packages."""
    for python in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        try:
            subprocess.run(
                [python, "-c", "import psutil, console"],
                cwd=PROJECT,
                env={"PYTHONPATH": PYTHON_PATH},
                check=True,
                capture_output=True,
                **NOBODY,
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    return None


def is_running(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def wait_until(fact: Callable[[], bool], *, timeout_s: float = 15) -> bool:
    give_up_at = time.monotonic() + timeout_s
    while not fact():
        if time.monotonic() > give_up_at:
            return False
        time.sleep(0.02)
    return True
