"""What a ledger record's digest is over."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import pytest
import rfc8785

from guildqueue.domain.ids import BIGINT_MAX, EventId, GuildId
from guildqueue.domain.ledger import EventType, LedgerRecord, digest_input

AT = datetime(2026, 3, 4, 5, 6, 7, 89, tzinfo=UTC)


def record(**given: Any) -> LedgerRecord:
    values: dict[str, Any] = {
        "event_id": EventId(7),
        "guild_id": GuildId(118000000000000001),
        "at": AT,
        "type": EventType.SESSION_MOVED,
        "by": "user:ada",
        "on_behalf_of": None,
        "reason": "",
        "changed": {"moved": "512"},
        "correlation_id": "c-1",
        "untrusted": False,
        "prev_digest": "",
        "digest": "sealed",
    }
    return LedgerRecord(**{**values, **given})


def test_the_digest_is_over_everything_but_itself() -> None:
    assert digest_input(record()) == {
        "event_id": "7",
        "guild_id": "118000000000000001",
        "at": "2026-03-04T05:06:07.000089Z",
        "type": "SessionMoved",
        "by": "user:ada",
        "on_behalf_of": None,
        "reason": "",
        "changed": {"moved": "512"},
        "correlation_id": "c-1",
        "untrusted": False,
        "prev_digest": "",
    }


@pytest.mark.parametrize(
    "other",
    [
        {"event_id": EventId(8)},
        {"guild_id": GuildId(2)},
        {"at": AT + timedelta(microseconds=1)},
        {"type": EventType.HELD},
        {"by": "user:ivo"},
        {"on_behalf_of": ""},
        {"reason": "late"},
        {"changed": {}},
        {"correlation_id": ""},
        {"untrusted": True},
        {"prev_digest": "0"},
    ],
)
def test_no_field_can_be_changed_unseen(other: dict[str, Any]) -> None:
    assert digest_input(record(**other)) != digest_input(record())


def test_sealing_a_record_does_not_change_what_is_sealed() -> None:
    assert digest_input(replace(record(), digest="")) == digest_input(record())


def test_a_moment_is_spelled_the_same_in_every_zone_and_to_the_microsecond() -> None:
    tokyo = AT.replace(microsecond=0).astimezone(timezone(timedelta(hours=9)))

    assert digest_input(record(at=tokyo))["at"] == "2026-03-04T05:06:07.000000Z"


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        digest_input(record(at=AT.replace(tzinfo=None)))


def test_a_type_that_a_newer_release_wrote_is_covered_as_it_is() -> None:
    assert digest_input(record(type="SomethingNew"))["type"] == "SomethingNew"


@pytest.mark.parametrize(
    ("number", "spelled"),
    [
        (2**53 - 1, 2**53 - 1),
        (-(2**53) + 1, -(2**53) + 1),
        (2**53, "9007199254740992"),
        (BIGINT_MAX, "9223372036854775807"),
        (-BIGINT_MAX - 1, "-9223372036854775808"),
        (1e16, "10000000000000000"),
        (1e23, "100000000000000000000000"),
        (9007199254740994.0, "9007199254740994"),
        (0.5, 0.5),
        (True, True),
    ],
)
def test_numbers_that_canonical_json_cannot_write_become_decimal_strings(
    number: float, spelled: object
) -> None:
    (covered,) = digest_input(record(changed={"n": [number]}))["changed"]["n"]

    assert covered == spelled
    assert type(covered) is type(spelled)


def test_any_kind_of_object_and_array_is_covered_as_json_has_it() -> None:
    changed = MappingProxyType({"pairs": (("512", 1), ["513", None]), 5: {}})

    assert digest_input(record(changed=changed))["changed"] == {
        "pairs": [["512", 1], ["513", None]],
        "5": {},
    }


def test_what_is_covered_has_a_canonical_spelling() -> None:
    text = rfc8785.dumps(digest_input(record(changed={"ö": BIGINT_MAX, "a": 1.0})))

    assert text.startswith(
        '{"at":"2026-03-04T05:06:07.000089Z","by":"user:ada","changed":'
        '{"a":1,"ö":"9223372036854775807"},"correlation_id":"c-1","event_id":"7"'.encode()
    )


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_a_number_that_json_does_not_have_gets_no_canonical_spelling(number: float) -> None:
    with pytest.raises(rfc8785.FloatDomainError):
        rfc8785.dumps(digest_input(record(changed={"n": number})))


def test_event_types_are_spelled_as_they_are_named() -> None:
    assert {event.value for event in EventType} == {
        "SessionMoved", "RuleApplied", "Held", "Released", "Requeued", "Cancelled",
        "TrackDropped", "PriorityBumped", "PriorityUnbumped", "PriorityRefused",
    }  # fmt: skip
