"""A job, its states and a worker's lease on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from guildqueue.domain.ids import GuildId, JobId, SessionId


class JobState(StrEnum):
    """The states this release knows; a newer one may write others."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"
    CANCELLED = "cancelled"


OUTSTANDING = frozenset({JobState.PENDING, JobState.RUNNING})


class Kind(StrEnum):
    """What a job does; the closed set that this release claims."""

    TRANSCRIBE = "transcribe"
    DOCUMENT = "document"


KNOWN_KINDS = tuple(kind.value for kind in Kind)


class AssigneeKind(StrEnum):
    """Who may take a job."""

    WORKER = "worker"
    HUMAN = "human"
    AGENT = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work for one worker. Times are aware UTC.

    ``kind`` and ``state`` are plain text, as a newer release may have written them.
    ``attempt`` counts claims; ``progress`` runs from 0.0 to 1.0; ``unmet`` is the number
    of needed jobs that are not done.
    """

    id: JobId
    guild_id: GuildId
    session_id: SessionId
    kind: str
    assignee_kind: str
    state: str
    priority: int
    bump_seq: int | None
    bump_named: bool
    unmet: int
    held: bool
    attempt: int
    max_attempts: int
    progress: float
    labels: tuple[str, ...]
    payload: Mapping[str, Any]
    result: Mapping[str, Any] | None
    error: str | None
    audio_seconds: float | None
    run_after: datetime | None
    external_id: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    needs: tuple[JobId, ...] = ()

    @property
    def name(self) -> str:
        """The speaker of a track, or the kind of a job that has none."""
        return str(self.payload.get("name") or self.kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A worker's time-limited hold on a running job.

    ``token`` is the fencing token: it only grows, and every write of the worker names it.
    """

    job: Job
    token: int
    expires_at: datetime


class Completion(NamedTuple):
    """A job that a worker did under a lease of its own, the token's.

    ``audio_seconds`` is the measured length in seconds, None to leave what is known.
    """

    job_id: JobId
    token: int
    result: Mapping[str, Any]
    audio_seconds: float | None = None


class Beat(NamedTuple):
    """A worker's word that it still has the job; ``progress`` of None leaves what is known."""

    job_id: JobId
    token: int
    progress: float | None = None
