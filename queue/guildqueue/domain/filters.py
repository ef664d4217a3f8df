"""Which jobs are meant, as one value for claims, ready and list, in every front end."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import BIGINT_MAX, BIGINT_MIN, GuildId, SessionId
from guildqueue.domain.job import AssigneeKind

ITEMS_MOST = 1000  # of one list; a filter is a parameter of every claim
TEXT_MOST = 200  # characters of one item


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Restrictions that all hold at once; an empty set and None restrict nothing.

    A job fits sets of which it matches any, but has to carry all ``labels``. Priorities are
    inclusive. ``assignee_kind`` None means any in a list and ``worker`` in a claim. ``states``
    and ``held`` (pending under a hold, or not) are for lists alone.
    """

    guilds: frozenset[GuildId] = frozenset()
    kinds: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    any_labels: frozenset[str] = frozenset()
    assignee_kind: str | None = None
    min_priority: int | None = None
    max_priority: int | None = None
    session: SessionId | None = None
    states: frozenset[str] = frozenset()
    held: bool | None = None

    def for_claim(self) -> "JobFilter":
        """The filter itself. Raises InvalidInput where it says what no claim may."""
        if self.states:
            raise InvalidInput("filter.states", sorted(self.states), "only in a list of jobs")
        if self.held is not None:
            raise InvalidInput("filter.held", self.held, "only in a list of jobs")
        return self

    @property
    def claimed_by(self) -> str:
        """Whose jobs a claim by this filter takes."""
        return self.assignee_kind or AssigneeKind.WORKER

    def scope_hash(self) -> str:
        """What tells two rotations apart: the same for the same scope, however it was written."""
        scope = {**self.to_json(), "assignee_kind": self.claimed_by}
        del scope["states"], scope["held"]
        canonical = json.dumps(scope, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """All fields, lists in ascending order, ids as decimal strings."""
        return {
            "guilds": [str(guild_id) for guild_id in sorted(self.guilds)],
            "kinds": sorted(self.kinds),
            "labels": sorted(self.labels),
            "any_labels": sorted(self.any_labels),
            "assignee_kind": self.assignee_kind,
            "min_priority": self.min_priority,
            "max_priority": self.max_priority,
            "session": None if self.session is None else str(self.session),
            "states": sorted(self.states),
            "held": self.held,
        }


def parse_filter(given: Mapping[str, Any]) -> JobFilter:
    """The filter that a JSON object spells; what it leaves out, or is null, restricts nothing.

    Ids are decimal strings or whole numbers. Raises InvalidInput naming the field.
    """
    known = [field.name for field in fields(JobFilter)]
    for name in given:
        if name not in known:
            raise InvalidInput("filter", name, known)
    session = given.get("session")
    return JobFilter(
        guilds=frozenset(GuildId(_id("guilds", item)) for item in _list("guilds", given)),
        kinds=_texts("kinds", given),
        labels=_texts("labels", given),
        any_labels=_texts("any_labels", given),
        assignee_kind=_assignee_kind(given.get("assignee_kind")),
        min_priority=_priority("min_priority", given),
        max_priority=_priority("max_priority", given),
        session=None if session is None else SessionId(_id("session", session)),
        states=_texts("states", given),
        held=_held(given.get("held")),
    )


def _list(name: str, given: Mapping[str, Any]) -> list[Any]:
    value = given.get(name)
    if value is None:
        return []
    if not isinstance(value, list | tuple) or len(value) > ITEMS_MOST:
        raise InvalidInput(f"filter.{name}", value, f"a list of at most {ITEMS_MOST}")
    return list(value)


def _texts(name: str, given: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(checked_text(f"filter.{name}", item) for item in _list(name, given))


def checked_text(field: str, value: Any) -> str:
    """``value``, if it is text that the database can hold and compare. Raises InvalidInput."""
    fits = isinstance(value, str) and 1 <= len(value) <= TEXT_MOST and _is_storable(value)
    if not fits:
        raise InvalidInput(field, value, f"text of 1 to {TEXT_MOST} characters without NUL")
    return str(value)


def _is_storable(text: str) -> bool:
    return not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text)


def _id(name: str, value: Any) -> int:
    number = _whole_number(value)
    if number is None or not 1 <= number <= BIGINT_MAX:
        raise InvalidInput(f"filter.{name}", value, "an id")
    return number


def _whole_number(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 19:
        return int(value)
    return None


def _priority(name: str, given: Mapping[str, Any]) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # JSON knows one kind of number
    if type(value) is not int or not BIGINT_MIN <= value <= BIGINT_MAX:
        raise InvalidInput(f"filter.{name}", value, "a whole number that a bigint holds")
    return value


def _assignee_kind(value: Any) -> str | None:
    if value is not None and value not in list(AssigneeKind):
        raise InvalidInput("filter.assignee_kind", value, AssigneeKind)
    return None if value is None else str(value)


def _held(value: Any) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise InvalidInput("filter.held", value, "true, false or null")
    return value
