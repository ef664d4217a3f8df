"""Every record of the ledger as one sentence, which says nothing that nobody vouches for."""

import re
from typing import Any

import pytest
from django.utils import translation
from django.utils.html import strip_tags

from console.templatetags.queue_words import in_quotes
from console.told import SENTENCES, told
from console.told_lane import WHY
from guildqueue.domain.ids import EventId, GuildId
from guildqueue.domain.lane_refusals import LaneRefusal
from guildqueue.domain.ledger import EventType, LedgerRecord
from tests.web.entries import AT

MEETING = {"session_id": "512", "title": "Retrospective"}
JOB = {**MEETING, "job_id": "7"}
MOVED = {**MEETING, "place": "before", "neighbour_title": "Stand-up", "from": 7, "to": 2, "of": 9}
BUMPED = {**MEETING, "verb": "bump", "job_id": None, "moved": ["1", "2"], "named": ["2"]}
UNBUMPED = {**MEETING, "verb": "unbump", "job_id": None, "removed": ["1", "2"]}
REFUSED = {"verb": "bump", "session_id": "512", "job_id": None, "refusal": "dependency-failed"}
HOSTILE = '<img src=x onerror="alert(1)">'


def record(type_: str, changed: dict[str, Any], **given: Any) -> LedgerRecord:
    facts: dict[str, Any] = {
        "event_id": EventId(3),
        "guild_id": GuildId(1),
        "at": AT,
        "by": "user:ada",
        "on_behalf_of": None,
        "reason": "",
        "correlation_id": "",
        "untrusted": False,
        "prev_digest": "",
    }
    return LedgerRecord(type=type_, changed=changed, **facts | given)


def sentence(type_: str, changed: dict[str, Any], **given: Any) -> str:
    return strip_tags(told(record(type_, changed, **given)).sentence)


SAID: tuple[tuple[EventType, dict[str, Any], str], ...] = (
    (EventType.SESSION_MOVED, MOVED, "ada moved Retrospective before Stand-up"),
    (EventType.SESSION_MOVED, MOVED | {"place": "after"}, "ada moved Retrospective after Stand-up"),
    (EventType.SESSION_MOVED, MEETING | {"place": "first"}, "ada moved Retrospective first"),
    (EventType.SESSION_MOVED, MEETING | {"place": "last"}, "ada moved Retrospective last"),
    (EventType.SESSION_MOVED, MEETING | {"place": "middle"}, "ada moved Retrospective"),
    (
        EventType.RULE_APPLIED,
        {"rule": "short-recordings-first", "sessions": ["1", "2", "3"]},
        "ada applied Short recordings first to 3 sessions",
    ),
    (EventType.HELD, MEETING, "ada held Retrospective"),
    (EventType.HELD, {"guild_id": "1"}, "ada held the whole guild"),
    (EventType.RELEASED, MEETING, "ada released Retrospective"),
    (EventType.RELEASED, {"guild_id": "1"}, "ada released the whole guild"),
    (EventType.REQUEUED, MEETING | {"jobs": ["7"]}, "ada requeued Retrospective"),
    (EventType.CANCELLED, MEETING | {"jobs": ["7"]}, "ada cancelled Retrospective"),
    (
        EventType.TRACK_DROPPED,
        JOB | {"track": "björk"},
        "ada left the track of björk out of Retrospective",
    ),
    (EventType.PRIORITY_BUMPED, BUMPED, "ada let Retrospective run next"),
    (
        EventType.PRIORITY_BUMPED,
        BUMPED | {"job_id": "7"},
        "ada let a job of Retrospective run next",
    ),
    (EventType.PRIORITY_BUMPED, BUMPED | {"verb": "requeue"}, "ada let Retrospective run next"),
    (
        EventType.PRIORITY_BUMPED,
        BUMPED | {"verb": "add", "job_id": "7"},
        "ada added a job of Retrospective that runs next",
    ),
    (
        EventType.PRIORITY_BUMPED,
        BUMPED | {"moved": [], "named": []},
        "ada asked that Retrospective runs next, which changed nothing",
    ),
    (
        EventType.PRIORITY_BUMPED,
        {"verb": "repair", "moved": ["1"], "job_id": None},
        "ada put the record of what runs next right",
    ),
    (EventType.PRIORITY_UNBUMPED, UNBUMPED, "ada took Retrospective back from what runs next"),
    (
        EventType.PRIORITY_UNBUMPED,
        UNBUMPED | {"job_id": "7"},
        "ada took a job of Retrospective back from what runs next",
    ),
    (
        EventType.PRIORITY_UNBUMPED,
        UNBUMPED | {"removed": []},
        "ada asked that Retrospective no longer runs next, which changed nothing",
    ),
    (
        EventType.PRIORITY_UNBUMPED,
        {"verb": "repair", "removed": ["1"]},
        "ada put the record of what runs next right",
    ),
    (EventType.PRIORITY_REFUSED, REFUSED, "ada asked that meeting 512 runs next"),
    (
        EventType.PRIORITY_REFUSED,
        REFUSED | {"verb": "unbump"},
        "ada asked that meeting 512 no longer runs next",
    ),
    (
        EventType.PRIORITY_REFUSED,
        {"verb": "add", "external_id": "recording-7", "refusal": "busy"},
        "ada asked that recording-7 runs next",
    ),
)


@pytest.mark.parametrize(("type_", "changed", "said"), SAID)
def test_a_record_is_a_sentence(type_: EventType, changed: dict[str, Any], said: str) -> None:
    assert sentence(type_, changed) == said


def test_every_type_has_its_sentence_and_every_one_is_tried() -> None:
    assert set(SENTENCES) == set(EventType) == {type_ for type_, _, _ in SAID}


@pytest.mark.parametrize(("type_", "changed", "_said"), SAID)
def test_every_sentence_is_said_in_german(
    type_: EventType, changed: dict[str, Any], _said: str
) -> None:
    english = sentence(type_, changed)

    with translation.override("de"):
        german = sentence(type_, changed)

    assert german != english
    assert "ada" in german
    assert "{" not in german


@pytest.mark.parametrize("type_", [*EventType, "SomethingNewer"])
def test_a_record_with_nothing_in_it_is_a_sentence_all_the_same(type_: str) -> None:
    found = told(record(type_, {}))

    assert strip_tags(found.sentence).startswith("ada ")
    assert not found.reason


def test_a_type_of_a_newer_release_is_named() -> None:
    assert "SomethingNewer" in sentence("SomethingNewer", {})


@pytest.mark.parametrize(("type_", "changed", "_said"), SAID)
def test_whatever_people_wrote_is_text_and_no_markup(
    type_: EventType, changed: dict[str, Any], _said: str
) -> None:
    hostile = {name: HOSTILE if isinstance(v, str) else v for name, v in changed.items()}

    markup = told(record(type_, hostile, by=f"user:{HOSTILE}")).sentence

    assert "<img" not in markup
    assert set(re.findall(r"</?\w+", markup)) <= {"<b", "</b", "<bdi", "</bdi"}


def test_how_far_it_moved_and_how_many_jobs_it_was_about_stand_beside_it() -> None:
    far = told(record(EventType.SESSION_MOVED, MOVED))
    nowhere = told(record(EventType.SESSION_MOVED, MOVED | {"from": 2}))
    unplaced = told(record(EventType.SESSION_MOVED, MOVED | {"from": None}))
    many = told(record(EventType.CANCELLED, MEETING | {"jobs": ["1", "2"]}))

    assert far.details == ("from 7 to 2 of 9",)
    assert nowhere.details == ("still 2 of 9",)
    assert unplaced.details == ()
    assert many.details == ("2 jobs",)


@pytest.mark.parametrize(
    ("by", "on_behalf_of", "who", "details"),
    [
        ("user:ada", None, "ada", ()),
        ("source:console", "user:ada", "ada", ("from the console",)),
        (
            "source:nightly-import",
            "token:a script",
            "Token a script",
            ("by way of nightly-import",),
        ),
        ("source:nightly-import", None, "nightly-import", ()),
        ("operator:root", None, "The operator root", ()),
        ("account:root", None, "Account root", ()),
        ("something else", None, "Something else", ()),
    ],
)
def test_the_person_is_named_and_what_they_used_stands_beside_it(
    by: str, on_behalf_of: str | None, who: str, details: tuple[str, ...]
) -> None:
    found = told(record(EventType.PRIORITY_BUMPED, BUMPED, by=by, on_behalf_of=on_behalf_of))

    assert strip_tags(found.sentence) == f"{who} let Retrospective run next"
    assert found.details == details


@pytest.mark.parametrize("refusal", LaneRefusal)
def test_every_refusal_says_why(refusal: LaneRefusal) -> None:
    found = told(record(EventType.PRIORITY_REFUSED, REFUSED | {"refusal": refusal.value}))

    assert found.is_refused
    assert found.details == (str(WHY[refusal]),)


def test_a_refusal_that_a_newer_release_knows_is_shown_by_its_word() -> None:
    found = told(record(EventType.PRIORITY_REFUSED, REFUSED | {"refusal": "too-late"}))

    assert found.details == ("too-late",)


def test_what_a_stranger_sent_stands_apart_and_is_called_unchecked() -> None:
    sent = {"session_id": "512", "title": "Trust me", "verb": "unbump", "refusal": "not-granted"}
    stranger = record(
        EventType.PRIORITY_REFUSED, sent, by="account:mallory", reason="urgent!", untrusted=True
    )

    found = told(stranger)

    assert strip_tags(found.sentence) == "Account mallory asked to change what runs next"
    assert found.details == ("without the right to ask",)
    assert found.reason == ""
    assert found.unchecked == "Trust me · “urgent!”"


def test_a_stranger_who_sent_nothing_is_quoted_with_nothing() -> None:
    assert told(record(EventType.PRIORITY_REFUSED, {}, untrusted=True)).unchecked == "nothing"
    assert told(record(EventType.PRIORITY_REFUSED, REFUSED)).unchecked == ""


def test_no_mark_in_what_people_wrote_turns_what_stands_behind_it() -> None:
    turning = "x\u2069\u202e\u2066"
    found = sentence(EventType.HELD, MEETING | {"title": turning}, by=f"user:{turning}")

    assert found == "x held x"
    assert in_quotes(f"{turning}مجلس") == "“<bdi>xمجلس</bdi>”"
