"""What each process says it did: files that are only added to, and outlive any kill.

Written before and after every write to the queue, so that a process which dies in between leaves
a write without an answer. Times are seconds of the host's clock, which the server shares.
"""

import json
import os
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple


class Write(StrEnum):
    """What a worker may write under its lease."""

    BEAT = "heartbeat"
    COMPLETE = "complete"
    FAIL = "fail"
    RELEASE = "release"


class Answer(StrEnum):
    """What became of a write; UNKNOWN where the server went away before it answered."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Claimed(NamedTuple):
    """A lease that ``who`` was given. A handler is not told its times."""

    who: str
    job: int
    token: int
    at: float | None
    until: float | None


class Written(NamedTuple):
    """A write and its answer, None where its process was killed first.

    ``until`` is how long a heartbeat made the lease. The worker command's log says neither
    token nor when it tried.
    """

    who: str
    write: Write
    job: int
    token: int | None
    tried_at: float | None
    answer: Answer | None
    answered_at: float | None = None
    reason: str = ""
    until: float | None = None


class Diary:
    """The file of one process."""

    def __init__(self, folder: Path, who: str) -> None:
        # Each line is on the disk before what it announces is done.
        how = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_DSYNC
        self._file = os.open(folder / f"{who}.jsonl", how, 0o644)

    def claimed(
        self, job: int, token: int, *, at: float | None = None, until: float | None = None
    ) -> None:
        self._add(job=job, token=token, at=at, until=until)

    def tries(self, write: Write, job: int, token: int) -> None:
        self._add(write=write, job=job, token=token, at=time.time())

    def answered(self, answer: Answer, *, reason: str = "", until: float | None = None) -> None:
        """What came of what was tried last."""
        self._add(answer=answer, reason=reason, until=until, at=time.time())

    def _add(self, **said: Any) -> None:
        os.write(self._file, json.dumps(said).encode() + b"\n")


class Told(NamedTuple):
    """All that the processes of a run said."""

    claims: list[Claimed]
    writes: list[Written]


def read_diaries(folder: Path) -> Told:
    """Of every process, each in its own order."""
    told = Told([], [])
    for path in sorted(folder.glob("*.jsonl")):
        _read(path.stem, list(read_lines(path)), told)
    return told


def _read(who: str, lines: list[dict[str, Any]], told: Told) -> None:
    for line, following in zip(lines, [*lines[1:], {}], strict=True):
        if "write" in line:
            answer = following if "answer" in following else {}
            told.writes.append(
                Written(
                    who,
                    Write(line["write"]),
                    line["job"],
                    line["token"],
                    line["at"],
                    Answer(answer["answer"]) if answer else None,
                    answer.get("at"),
                    answer.get("reason", ""),
                    answer.get("until"),
                )
            )
        elif "answer" not in line:
            told.claims.append(Claimed(who, **line))


def read_worker_log(path: Path) -> Iterator[Written]:
    """What the worker command's own log says of its endings."""
    endings = {
        "job done": (Write.COMPLETE, Answer.ACCEPTED),
        "job failed": (Write.FAIL, Answer.ACCEPTED),
        "job handed back": (Write.RELEASE, Answer.ACCEPTED),
        # A worker does not say which of its writes was refused.
        "job lost": (Write.BEAT, Answer.REFUSED),
    }
    for line in read_lines(path):
        if line.get("event") in endings:
            write, answer = endings[line["event"]]
            reason = _refusal(line["reason"]) if answer is Answer.REFUSED else ""
            yield Written(path.stem, write, line["job_id"], None, None, answer, reason=reason)


def _refusal(text: str) -> str:
    """The refusal that the worker's sentence tells of."""
    if "no longer holds the lease" in text:
        return "StaleLease"
    return "LeaseCancelled" if "cancelled" in text else "JobNotFound"


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The file's objects; a last line that a kill cut short, and what is no object, is left."""
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if isinstance(said, dict):
            yield said
