"""Quick actions: named sort keys over a guild's whole order, and nothing else."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import SessionId
from guildqueue.domain.moves import MovePlan, plan_order
from guildqueue.domain.order import SortKey


@dataclass(frozen=True, slots=True)
class MeasuredSession:
    """A session outside the lane with what rules may look at.

    ``n_participants`` counts people, not tracks. ``audio_seconds`` is the sum over the
    session's tracks, None as soon as one of them is unmeasured.
    """

    session_id: SessionId
    key: SortKey
    n_participants: int
    audio_seconds: float | None


RuleKey = Callable[[MeasuredSession], tuple[float, ...]]


def many_participants_first(session: MeasuredSession) -> tuple[float, ...]:
    """More participants rank earlier."""
    return (-session.n_participants,)


def short_recordings_first(session: MeasuredSession) -> tuple[float, ...]:
    """Less audio ranks earlier; sessions of unknown length rank equal, after all others."""
    seconds = session.audio_seconds
    # NaN compares with nothing, so a single one would scramble the sort.
    if seconds is None or math.isnan(seconds):
        return (1, 0.0)
    return (0, seconds)


KNOWN_RULES: Mapping[str, RuleKey] = MappingProxyType(
    {
        "many-participants-first": many_participants_first,
        "short-recordings-first": short_recordings_first,
    }
)


def check_rule(name: str) -> RuleKey:
    """The key of the rule called ``name``; raises InvalidInput listing the known ones."""
    if name not in KNOWN_RULES:
        raise InvalidInput("rule", name, tuple(KNOWN_RULES))
    return KNOWN_RULES[name]


def plan_rule(name: str, queue: Sequence[MeasuredSession]) -> MovePlan:
    """What to write so that the queue stands as the rule ranks it; O(n log n).

    ``queue`` has the guild's sessions outside the lane, each once, in claim order; those
    that rank equal keep that order.

    Raises InvalidInput for an unknown rule and PriorityExhausted.
    """
    wanted = sorted(queue, key=check_rule(name))
    return plan_order(wanted)
