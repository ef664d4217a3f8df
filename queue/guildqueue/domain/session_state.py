"""What a session's jobs say of the session: its state, why it waits, how far it is."""

from collections.abc import Sequence
from dataclasses import dataclass

from guildqueue.domain.ids import JobId
from guildqueue.domain.job import JobState, Kind
from guildqueue.domain.snapshot import JobCounts, SessionState, WaitsFor

_COUNTED = {state.value: state.value for state in JobState}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobGlance:
    """As much of a job as its session's row needs.

    ``waits_for`` is None for a pending job that is claimable, and for all that do not wait.
    """

    job_id: JobId
    kind: str
    state: str
    name: str
    progress: float
    bump_seq: int | None
    audio_seconds: float | None
    waits_for: WaitsFor | None


def count_jobs(jobs: Sequence[JobGlance]) -> JobCounts:
    """The jobs by state; what this release does not know counts as ``other``."""
    counts: dict[str, int] = {}
    for job in jobs:
        name = _COUNTED.get(job.state, "other")
        counts[name] = counts.get(name, 0) + 1
    return JobCounts(**counts)


def session_state(jobs: Sequence[JobGlance], *, recording: bool, held: bool) -> SessionState:
    """The first word that fits, in the order that SessionState lists them.

    ``queued`` needs a pending job that can still be reached: what waits for a dead or cancelled
    one for good does not count.
    """
    states = {job.state for job in jobs}
    outstanding = JobState.PENDING in states or JobState.RUNNING in states
    waits = any(
        job.state == JobState.PENDING and job.waits_for is not WaitsFor.DEPENDENCY_FAILED
        for job in jobs
    )
    fitting = (
        (SessionState.RECORDING, recording),
        (SessionState.RUNNING, JobState.RUNNING in states),
        (SessionState.HELD, held and outstanding),
        (SessionState.QUEUED, waits),
        (SessionState.DEAD, JobState.DEAD in states),
        (SessionState.CANCELLED, JobState.CANCELLED in states),
        (SessionState.DONE, True),
    )
    return next(state for state, fits in fitting if fits)


def waits_for(jobs: Sequence[JobGlance]) -> WaitsFor | None:
    """None if any pending job is claimable, else the reason of the first in line.

    ``jobs`` are of one session, so that their priority is one and the lane and the id decide.
    """
    pending = [job for job in jobs if job.state == JobState.PENDING]
    if not pending or any(job.waits_for is None for job in pending):
        return None
    first = min(pending, key=lambda job: (job.bump_seq is None, job.bump_seq or 0, job.job_id))
    return first.waits_for


def session_progress(jobs: Sequence[JobGlance]) -> float:
    """How much of the session is done, 0.0 to 1.0; cancelled jobs do not count."""
    counted = [job for job in jobs if job.state != JobState.CANCELLED]
    if not counted:
        return 0.0
    done = sum(1.0 if job.state == JobState.DONE else _running_share(job) for job in counted)
    return done / len(counted)


def _running_share(job: JobGlance) -> float:
    return job.progress if job.state == JobState.RUNNING else 0.0


def session_audio_seconds(jobs: Sequence[JobGlance]) -> float | None:
    """The tracks' lengths together; None as soon as one is unmeasured, or without a track."""
    lengths = [job.audio_seconds for job in jobs if job.kind == Kind.TRANSCRIBE]
    measured = [length for length in lengths if length is not None]
    return sum(measured) if lengths and len(measured) == len(lengths) else None
