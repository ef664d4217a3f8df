"""The record of a request that could change a guild's order, and what its digest covers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal
from enum import StrEnum
from math import inf
from typing import Any

from guildqueue.domain.ids import EventId, GuildId

# RFC 8785 writes numbers as JavaScript does, which is exact up to here only.
SAFE_INTEGER_MAX = 2**53 - 1


class EventType(StrEnum):
    """What was asked for; a newer release may write others."""

    SESSION_MOVED = "SessionMoved"
    RULE_APPLIED = "RuleApplied"
    HELD = "Held"
    RELEASED = "Released"
    REQUEUED = "Requeued"
    CANCELLED = "Cancelled"
    TRACK_DROPPED = "TrackDropped"
    PRIORITY_BUMPED = "PriorityBumped"
    PRIORITY_UNBUMPED = "PriorityUnbumped"
    PRIORITY_REFUSED = "PriorityRefused"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRecord:
    """One request and what became of it; everything is named by value.

    ``type`` is plain text, as a newer release may have written it. ``by`` and
    ``on_behalf_of`` are principals as they spell themselves, ``changed`` is a JSON object.
    ``untrusted`` marks what a refused caller sent. ``prev_digest`` is that of the guild's
    record before, "" for the first; ``digest`` is "" until the record is sealed.
    """

    event_id: EventId
    guild_id: GuildId
    at: datetime
    type: str
    by: str
    on_behalf_of: str | None
    reason: str
    changed: Mapping[str, Any]
    correlation_id: str
    untrusted: bool
    prev_digest: str
    digest: str = ""


def digest_input(record: LedgerRecord) -> dict[str, Any]:
    """The JSON object that the digest is over: every field but the digest itself.

    Ids are decimal strings, ``at`` is UTC to the microsecond, and a record read back from
    the database gives the object that it gave before it was written.

    Raises ValueError if ``at`` is naive.
    """
    if record.at.utcoffset() is None:
        raise ValueError(f"event {record.event_id}: at {record.at} has no time zone")
    covered = {f.name: getattr(record, f.name) for f in fields(record) if f.name != "digest"}
    covered["event_id"] = str(record.event_id)
    covered["guild_id"] = str(record.guild_id)
    moment = record.at.astimezone(UTC).isoformat(timespec="microseconds")
    covered["at"] = moment.replace("+00:00", "Z")
    covered["changed"] = canonical_value(record.changed)
    return covered


def canonical_value(value: Any) -> Any:
    """``value`` in the one spelling that survives JSON and jsonb."""
    match value:
        case str():
            return str(value)
        case Mapping():
            return {str(key): canonical_value(item) for key, item in value.items()}
        case Sequence():
            return [canonical_value(item) for item in value]
        case int() | float() if SAFE_INTEGER_MAX < abs(value) < inf:
            return decimal_string(value)
        case _:
            return value


def decimal_string(number: float) -> str:
    """The digits of an integral number, however large.

    RFC 8785 cannot write one beyond 2**53 - 1, and jsonb gives a large float back as an int.
    """
    # By way of a float's shortest decimal, which is what JSON text carries.
    return str(int(number if isinstance(number, int) else Decimal(repr(number))))
