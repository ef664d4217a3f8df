"""What a request came to, in one sentence: done, nothing to do, or refused and why."""

from collections.abc import Sequence

from console.words import counted
from guildqueue.domain.errors import (
    InLane,
    NeighbourLeftQueue,
    NothingOutstanding,
    NothingToRequeue,
    PriorityExhausted,
    QueueBusy,
    RequestRefused,
    SessionLeftQueue,
)
from guildqueue.services.move import MoveOutcome

TITLE_UP_TO = 80
FRESH = "The list is up to date."
REASONS: dict[type[RequestRefused], str] = {
    SessionLeftQueue: "{title} has left the queue.",
    NeighbourLeftQueue: "the session to move it next to has left the queue.",
    InLane: "{title} runs next, ahead of the order that moves change.",
    NothingOutstanding: "nothing of {title} is waiting or running any more.",
    NothingToRequeue: "everything of {title} is still waiting or running.",
    PriorityExhausted: "the numbers behind the order are used up there.",
    QueueBusy: "others changed the queue at the same moment. Try again.",
}


def moved(title: str, outcome: MoveOutcome) -> str:
    """A move's outcome, with both places in line where the session has one."""
    title = short(title)
    if not outcome.changed:
        return f"Nothing to do: {title} is there already."
    if outcome.place_before is None or outcome.place_after is None:
        return f"{title} moved."
    line = f"to {outcome.place_after} of {outcome.n_waiting}"
    if outcome.place_before == outcome.place_after:
        return f"{title} moved; it is still {outcome.place_after} of {outcome.n_waiting}."
    return f"{title} moved from {outcome.place_before} {line}."


def undone(title: str, outcome: MoveOutcome) -> str:
    """A move back to where the session stood before."""
    return f"Move undone: {moved(title, outcome)}"


def held(title: str, changed: bool) -> str:
    title = short(title)
    return f"{title} is held." if changed else f"Nothing to do: {title} is held already."


def released(title: str, changed: bool) -> str:
    title = short(title)
    return f"{title} is released." if changed else f"Nothing to do: {title} is not held."


def cancelled(title: str, jobs: Sequence[object]) -> str:
    return f"{short(title)} is cancelled: {counted(len(jobs), 'job')} stopped."


def requeued(title: str, jobs: Sequence[object]) -> str:
    return f"{short(title)} is back in the queue with {counted(len(jobs), 'job')}."


def dropped(name: str, changed: bool) -> str:
    if changed:
        return f"The document no longer waits for the track of {short(name)}."
    return f"Nothing to do: no document waits for the track of {short(name)}."


def ruled(title: str, changed: Sequence[object]) -> str:
    """A quick action's outcome; ``changed`` are the sessions whose number was written."""
    if not changed:
        return f"Nothing to do: the queue already stands as “{title}” would put it."
    return f"“{title}” is applied."


def short(title: str) -> str:
    """As much of a title as a sentence can carry."""
    return title if len(title) <= TITLE_UP_TO else f"{title[:TITLE_UP_TO]}…"


def refused(verb: str, error: RequestRefused, title: str, *, moved_id: int = 0) -> str:
    """Why nothing was done. ``title`` is the asked session's, ``moved_id`` its id."""
    return f"Not {verb}: {_reason(error, title, moved_id)} {FRESH}"


def _reason(error: RequestRefused, title: str, moved_id: int) -> str:
    if isinstance(error, InLane) and error.session_id != moved_id:
        return "the session to move it next to runs next, ahead of the order."
    words = REASONS.get(type(error))
    return words.format(title=short(title)) if words else f"{error}."
