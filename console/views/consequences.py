"""What a change would do, said before it is done: the sentence of each confirmation page."""

from collections import Counter
from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.views.queue_rows import may_run_next
from console.words import job_state_words, waits_for_words
from guildqueue.domain.job import OUTSTANDING, JobState, Kind
from guildqueue.domain.snapshot import QueueSnapshot, SessionEntry, SessionState, WaitsFor

# What keeps a job from running whatever its place is.
STAYS = (WaitsFor.HOLD, WaitsFor.NOT_BEFORE, WaitsFor.CAP)


def cancelling(entry: SessionEntry) -> str:
    """What a cancel would stop; "" where nothing is left to stop."""
    if not entry.is_outstanding:
        return ""
    n_tracks = sum(_tracks(entry)[state] for state in OUTSTANDING)
    lost = (
        ngettext(
            "%(n)s track will not be transcribed.",
            "%(n)s tracks will not be transcribed.",
            n_tracks,
        )
        % {"n": n_tracks}
        if n_tracks
        else _("Its document will not be made.")
    )
    kept = _("What is done stays readable.") if entry.jobs.done else ""
    stopped = _stopping(entry.jobs.running, of=entry.jobs.outstanding)
    return " ".join(sentence for sentence in (lost, stopped, kept) if sentence)


def requeueing(entry: SessionEntry) -> str:
    """What a requeue would do again; "" where nothing has ended.

    What failed comes first, and only a session in which nothing failed is done all over.
    """
    tracks = _tracks(entry)
    failed = {state: tracks[state] for state in (JobState.DEAD, JobState.CANCELLED)}
    if any(failed.values()):
        return _failed_again(failed)
    if entry.jobs.dead or entry.jobs.cancelled:
        return _("Its document will be made again; the tracks stay as they are.")
    if entry.is_outstanding or not entry.jobs.total:
        return ""
    n_done = tracks[JobState.DONE]
    return ngettext(
        "Nothing failed: all of it, %(n)s track, will be transcribed again.",
        "Nothing failed: all of it, %(n)s tracks, will be transcribed again.",
        n_done,
    ) % {"n": n_done}


def _failed_again(failed: Mapping[JobState, int]) -> str:
    words = ", ".join(f"{n} {job_state_words(state)}" for state, n in failed.items() if n)
    n_failed = sum(failed.values())
    return ngettext(
        "%(n)s track will be transcribed again (%(why)s), then the document is made from all.",
        "%(n)s tracks will be transcribed again (%(why)s), then the document is made from all.",
        n_failed,
    ) % {"n": n_failed, "why": words}


def holding(entry: SessionEntry) -> str:
    """What a hold would keep from starting, and what not; "" where nothing will start."""
    if not entry.is_outstanding and entry.state is not SessionState.RECORDING:
        return ""
    n_running = entry.jobs.running
    if not n_running:
        return _("Nothing of it starts until somebody releases it. It keeps its place in line.")
    return ngettext(
        "%(n)s job of it running now finishes; nothing else of it starts until somebody releases "
        "it. It keeps its place in line.",
        "%(n)s jobs of it running now finish; nothing else of it starts until somebody releases "
        "it. It keeps its place in line.",
        n_running,
    ) % {"n": n_running}


def bumping(entry: SessionEntry) -> str:
    """What it means that the session runs next; "" where it does by name, or nothing is left."""
    if not may_run_next(entry):
        return ""
    ahead = _(
        "It runs after what is running now and what was said to run next before it, and ahead of "
        "everything else."
    )
    kept = _("It %(why)s, though: that stays, and so does its place.")
    if entry.waits_for not in STAYS:
        return ahead
    return f"{ahead} {kept % {'why': waits_for_words(entry.waits_for)}}"


def unbumping(entry: SessionEntry) -> str:
    """What a take-back would do; "" where nobody said that the session runs next."""
    if not entry.named:
        return ""
    return _("It goes back to its place in the order, with what only it had pulled ahead.")


def releasing(entry: SessionEntry) -> str:
    """What a release would let start; "" where nothing is held."""
    if not entry.held:
        return ""
    n_pending = entry.jobs.pending
    return ngettext(
        "%(n)s waiting job of it may start again, from its place in line.",
        "%(n)s waiting jobs of it may start again, from their place in line.",
        n_pending,
    ) % {"n": n_pending}


def releasing_guild(snapshot: QueueSnapshot) -> str:
    """What a release of the whole guild would let start; "" where it is not held."""
    if not snapshot.held:
        return ""
    n_pending = snapshot.counts.pending
    return ngettext(
        "%(n)s waiting job may start again, in the order that the page shows. Sessions that are "
        "held themselves stay held.",
        "%(n)s waiting jobs may start again, in the order that the page shows. Sessions that are "
        "held themselves stay held.",
        n_pending,
    ) % {"n": n_pending}


def _stopping(n_running: int, *, of: int) -> str:
    if not n_running:
        return ""
    if n_running == of == 1:
        return _("It is running and stops at once.")
    return ngettext(
        "%(n)s of its jobs is running and stops at once.",
        "%(n)s of its jobs are running and stop at once.",
        n_running,
    ) % {"n": n_running}


def _tracks(entry: SessionEntry) -> Counter[str]:
    return Counter(bar.state for bar in entry.tracks if bar.kind == Kind.TRANSCRIBE)
