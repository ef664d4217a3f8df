"""What a request came to, in one sentence: done, nothing to do, or refused and why."""

from collections.abc import Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from console.words import short
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
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_refusals import LaneRefusal
from guildqueue.domain.snapshot import SessionEntry
from guildqueue.services.move import MoveOutcome

REASONS: dict[type[RequestRefused], str | Promise] = {
    SessionLeftQueue: gettext_lazy("%(title)s has left the queue."),
    NeighbourLeftQueue: gettext_lazy("the session to move it next to has left the queue."),
    InLane: gettext_lazy("%(title)s runs next, ahead of the order that moves change."),
    NothingOutstanding: gettext_lazy("nothing of %(title)s is waiting or running any more."),
    NothingToRequeue: gettext_lazy("everything of %(title)s is still waiting or running."),
    PriorityExhausted: gettext_lazy("the numbers behind the order are used up there."),
    QueueBusy: gettext_lazy("others changed the queue at the same moment. Try again."),
}
LANE_REASONS: dict[LaneRefusal, str | Promise] = {
    **{word: gettext_lazy("the queue cannot do that as it stands.") for word in LaneRefusal},
    LaneRefusal.NOT_GRANTED: gettext_lazy(
        "this guild does not let the console say what runs next."
    ),
    LaneRefusal.FINISHED: gettext_lazy("nothing of %(title)s is waiting or running any more."),
    LaneRefusal.DEPENDENCY_FAILED: gettext_lazy(
        "%(title)s needs a track that failed or was cancelled. Requeue that track, or leave it out "
        "of the document."
    ),
    LaneRefusal.DEPENDENCY_RING: gettext_lazy("jobs of %(title)s wait for each other."),
    LaneRefusal.NEWER_RELEASE: gettext_lazy("a newer release wrote jobs that %(title)s needs."),
    LaneRefusal.STILL_NEEDED: gettext_lazy("something else that runs next needs %(title)s."),
    LaneRefusal.BUSY: gettext_lazy("others changed the queue at the same moment. Try again."),
}
REFUSALS: dict[str, str | Promise] = {
    "moved": gettext_lazy("Not moved: %(why)s"),
    "held": gettext_lazy("Not held: %(why)s"),
    "released": gettext_lazy("Not released: %(why)s"),
    "cancelled": gettext_lazy("Not cancelled: %(why)s"),
    "requeued": gettext_lazy("Not requeued: %(why)s"),
    "left out": gettext_lazy("Not left out: %(why)s"),
    "applied": gettext_lazy("Not applied: %(why)s"),
}


def moved(title: str, outcome: MoveOutcome) -> str:
    """A move's outcome, with both places in line where the session has one."""
    said: dict[str, object] = {"title": short(title), "of": outcome.n_waiting}
    if not outcome.changed:
        return _("Nothing to do: %(title)s is there already.") % said
    if outcome.place_before is None or outcome.place_after is None:
        return _("%(title)s moved.") % said
    said |= {"before": outcome.place_before, "after": outcome.place_after}
    if outcome.place_before == outcome.place_after:
        return _("%(title)s moved; it is still %(after)s of %(of)s.") % said
    return _("%(title)s moved from %(before)s to %(after)s of %(of)s.") % said


def undone(title: str, outcome: MoveOutcome) -> str:
    """A move back to where the session stood before."""
    return _("Move undone: %(outcome)s") % {"outcome": moved(title, outcome)}


def held(title: str, changed: bool) -> str:
    said = {"title": short(title)}
    if changed:
        return _("%(title)s is held.") % said
    return _("Nothing to do: %(title)s is held already.") % said


def released(title: str, changed: bool) -> str:
    said = {"title": short(title)}
    if changed:
        return _("%(title)s is released.") % said
    return _("Nothing to do: %(title)s is not held.") % said


def cancelled(title: str, jobs: Sequence[object]) -> str:
    return ngettext(
        "%(title)s is cancelled: %(n)s job stopped.",
        "%(title)s is cancelled: %(n)s jobs stopped.",
        len(jobs),
    ) % {"title": short(title), "n": len(jobs)}


def requeued(title: str, jobs: Sequence[object]) -> str:
    return ngettext(
        "%(title)s is back in the queue with %(n)s job.",
        "%(title)s is back in the queue with %(n)s jobs.",
        len(jobs),
    ) % {"title": short(title), "n": len(jobs)}


def dropped(name: str, changed: bool) -> str:
    said = {"name": short(name)}
    if changed:
        return _("The document no longer waits for the track of %(name)s.") % said
    return _("Nothing to do: no document waits for the track of %(name)s.") % said


def bumped(entry: SessionEntry, outcome: LaneOutcome) -> str:
    """A bump's outcome; ``entry`` is the session as it was before."""
    said = {"title": short(entry.title)}
    if outcome.moved:
        return _("%(title)s runs next.") % said
    if outcome.already:
        return _("Nothing to do: %(title)s runs next already.") % said
    return _("Nothing to do: nothing of %(title)s is waiting or running any more.") % said


def unbumped(entry: SessionEntry, outcome: LaneOutcome) -> str:
    said = {"title": short(entry.title)}
    if outcome.removed:
        return _("%(title)s no longer runs next.") % said
    return _("Nothing to do: nobody had said that %(title)s runs next.") % said


def lane_refused(verb: str, refusal: LaneRefusal, title: str) -> str:
    """Why the console's bump or un-bump was refused."""
    why = str(LANE_REASONS[refusal]) % {"title": short(title)}
    sentence = _("Not taken back: %(why)s") if verb == "unbump" else _("Not run next: %(why)s")
    return f"{sentence % {'why': why}} {_('The list is up to date.')}"


def ruled(title: str, changed: Sequence[object]) -> str:
    """A quick action's outcome; ``changed`` are the sessions whose number was written."""
    if not changed:
        said = _("Nothing to do: the queue already stands as “%(rule)s” would put it.")
    else:
        said = _("“%(rule)s” is applied.")
    return said % {"rule": title}


def refused(verb: str, error: RequestRefused, title: str, *, moved_id: int = 0) -> str:
    """Why nothing was done. ``title`` is the asked session's, ``moved_id`` its id."""
    sentence = str(REFUSALS[verb]) % {"why": _reason(error, title, moved_id)}
    return f"{sentence} {_('The list is up to date.')}"


def _reason(error: RequestRefused, title: str, moved_id: int) -> str:
    if isinstance(error, InLane) and error.session_id != moved_id:
        return _("the session to move it next to runs next, ahead of the order.")
    words = REASONS.get(type(error))
    return str(words) % {"title": short(title)} if words else f"{error}."
