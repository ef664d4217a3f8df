"""A short run of processes that are killed, stopped and cut off from a server that is, too.

``python -m benchmarks chaos`` is the same at full size.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.plan import SMALL, Harm

PROJECT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("chaos") / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.chaos", str(folder)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, complained = process.communicate(timeout=SMALL.limit_s + 60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)  # and with it the crew
            process.communicate()
    assert said, complained
    found: dict[str, Any] = json.loads(said)
    return found


def test_work_is_done_once_whatever_happens_to_workers_and_server(seen: dict[str, Any]) -> None:
    assert seen["violations"] == {}


def test_the_run_was_a_storm(seen: dict[str, Any]) -> None:
    happened = seen["happened"]

    assert happened[Harm.KILL] == SMALL.n_kills
    assert happened[Harm.STOP] == SMALL.n_stops
    assert happened[Harm.POSTMASTER] == SMALL.n_restarts
    assert happened[Harm.CANCEL] == SMALL.n_cancels
    assert seen["late_refused"] > 0
    assert seen["refused"]["StaleLease"] >= seen["late_refused"]
    assert seen["retries"] > 0
    # A cap that is never reached is kept by anybody.
    assert seen["caps"]
    assert all(most == cap for cap, most in seen["caps"].values())
