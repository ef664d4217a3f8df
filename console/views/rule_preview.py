"""What a quick action would move, from which place to which, before anybody applies it."""

from collections.abc import Iterable
from dataclasses import dataclass

from guildqueue.domain.snapshot import SessionEntry
from guildqueue.services.move import MoveOutcome

SHOW_UP_TO = 50


@dataclass(frozen=True, slots=True)
class PlaceChange:
    """A session that would stand elsewhere; places count from 1."""

    entry: SessionEntry
    place_before: int
    place_after: int


@dataclass(frozen=True, slots=True)
class RulePreview:
    """The first changes in the new order, how many there are in all, and who stays behind."""

    changes: tuple[PlaceChange, ...]
    n_changes: int
    n_unmeasured: int
    n_movable: int
    writes_nothing: bool

    @property
    def n_more(self) -> int:
        return self.n_changes - len(self.changes)


def rule_preview(line: Iterable[SessionEntry], outcome: MoveOutcome) -> RulePreview:
    """``outcome`` (of the rule's preview) against the whole ``line`` as it is now."""
    waiting = [entry for entry in line if entry.is_movable]
    entries = {entry.session_id: entry for entry in waiting}
    places = [entry.position for entry in waiting if entry.position is not None]
    wanted = [entries[session_id] for session_id, _ in outcome.order if session_id in entries]
    changes = [
        PlaceChange(entry, entry.position, place)
        for entry, place in zip(wanted, places, strict=False)
        if entry.position is not None and entry.position != place
    ]
    return RulePreview(
        changes=tuple(changes[:SHOW_UP_TO]),
        n_changes=len(changes),
        n_unmeasured=sum(entry.audio_seconds is None for entry in waiting),
        n_movable=len(waiting),
        writes_nothing=not outcome.changed,
    )
