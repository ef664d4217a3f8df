"""What a change would do, said before it is done: the sentence of each confirmation page."""

from collections import Counter

from console.words import counted, job_state_words
from guildqueue.domain.job import OUTSTANDING, JobState, Kind
from guildqueue.domain.snapshot import SessionEntry, SessionState


def cancelling(entry: SessionEntry) -> str:
    """What a cancel would stop; "" where nothing is left to stop."""
    if not entry.is_outstanding:
        return ""
    n_tracks = sum(_tracks(entry)[state] for state in OUTSTANDING)
    lost = (
        f"{counted(n_tracks, 'track')} will not be transcribed"
        if n_tracks
        else "Its document will not be made"
    )
    kept = " What is done stays readable." if entry.jobs.done else ""
    return f"{lost}{_stopping(entry.jobs.running, of=entry.jobs.outstanding)}.{kept}"


def requeueing(entry: SessionEntry) -> str:
    """What a requeue would do again; "" where nothing has ended.

    What failed comes first, and only a session in which nothing failed is done all over.
    """
    tracks = _tracks(entry)
    failed = {state: tracks[state] for state in (JobState.DEAD, JobState.CANCELLED)}
    if sum(failed.values()):
        words = ", ".join(f"{n} {job_state_words(state)}" for state, n in failed.items() if n)
        n_failed = sum(failed.values())
        return f"{counted(n_failed, 'track')} will be transcribed again ({words}), {_then(entry)}"
    if entry.jobs.dead or entry.jobs.cancelled:
        return "Its document will be made again; the tracks stay as they are."
    if entry.is_outstanding or not entry.jobs.total:
        return ""
    n_done = tracks[JobState.DONE]
    return f"Nothing failed: all of it, {counted(n_done, 'track')}, will be transcribed again."


def holding(entry: SessionEntry) -> str:
    """What a hold would keep from starting, and what not; "" where nothing will start."""
    if not entry.is_outstanding and entry.state is not SessionState.RECORDING:
        return ""
    if not entry.jobs.running:
        return "Nothing of it starts until somebody releases it. It keeps its place in line."
    finishes = "finishes" if entry.jobs.running == 1 else "finish"
    return (
        f"{counted(entry.jobs.running, 'job')} of it running now {finishes}; nothing else of it "
        "starts until somebody releases it. It keeps its place in line."
    )


def _stopping(n_running: int, *, of: int) -> str:
    if not n_running:
        return ""
    if n_running == of == 1:
        return "; it is running and stops at once"
    verbs = "is running and stops" if n_running == 1 else "are running and stop"
    return f"; {n_running} {verbs} at once"


def _then(entry: SessionEntry) -> str:
    again = "anew" if entry.has_document else "from all of them"
    return f"then the document is made {again}."


def _tracks(entry: SessionEntry) -> Counter[str]:
    return Counter(bar.state for bar in entry.tracks if bar.kind == Kind.TRANSCRIBE)
