"""Processes that change a queue, and that can be made to die at any byte of it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
# Whatever is written, byte by byte, until so many are; then the process is gone, as with kill -9.
PROGRAM = """
import os, signal, sys
from pathlib import Path
from guildqueue.domain.lane import Standing
from guildqueue.management.asker import command_asker
from guildqueue.services import push_item, request_item, settle_item
folder, n_bytes, verb, slug = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
left, write, pwrite = [n_bytes], os.write, os.pwrite
def dying(*arguments, call):
    if n_bytes < 0:
        return call(*arguments)
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left[0] -= 1
    return call(arguments[0], bytes(arguments[1])[:1], *arguments[2:])
os.write = lambda *arguments: dying(*arguments, call=write)
os.pwrite = lambda *arguments: dying(*arguments, call=pwrite)
match verb:
    case "bump":
        request_item.bump_item(folder, slug=slug, asker=command_asker())
    case "unbump":
        request_item.unbump_item(folder, slug=slug, asker=command_asker())
    case "push":
        push_item.push_item(folder, slug=slug, needs=["d"])
    case "push --bump":
        push_item.push_bumped(folder, slug=slug, needs=["d"], asker=command_asker())
    case "settle":
        settle_item.settle_item(
            folder, slug=slug, outcome=Standing.DONE, by=command_asker().principal)
"""


def started(
    folder: Path, verb: str, slug: str, *, dies_after_bytes: int = -1
) -> subprocess.Popen[bytes]:
    """A process at work on the queue."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), str(dies_after_bytes), verb, slug],
        env=os.environ | {"PYTHONPATH": str(PROJECT / "queue")},
        stderr=subprocess.PIPE,
    )


def run_and_die(folder: Path, verb: str, slug: str, *, after_bytes: int) -> bool:
    """Whether the process was killed while it wrote; False if it came to its end before."""
    process = started(folder, verb, slug, dies_after_bytes=after_bytes)
    error = process.communicate(timeout=30)[1]
    assert process.returncode in {0, -signal.SIGKILL}, error.decode()
    return process.returncode != 0
