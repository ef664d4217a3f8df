"""What a filter may say, and what makes two of them the same scope."""

from typing import Any

import pytest

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.filters import JobFilter, parse_filter
from guildqueue.domain.ids import BIGINT_MAX, GuildId, SessionId

WHOLE = JobFilter(
    guilds=frozenset({GuildId(118000000000000001), GuildId(2)}),
    kinds=frozenset({"transcribe"}),
    labels=frozenset({"b", "a"}),
    any_labels=frozenset({"c"}),
    assignee_kind="agent",
    min_priority=-3,
    max_priority=7,
    session=SessionId(512),
    states=frozenset({"pending"}),
    held=False,
)


def test_a_filter_is_what_its_json_says() -> None:
    assert WHOLE.to_json() == {
        "guilds": ["2", "118000000000000001"],
        "kinds": ["transcribe"],
        "labels": ["a", "b"],
        "any_labels": ["c"],
        "assignee_kind": "agent",
        "min_priority": -3,
        "max_priority": 7,
        "session": "512",
        "states": ["pending"],
        "held": False,
    }
    assert parse_filter(WHOLE.to_json()) == WHOLE


def test_an_empty_object_and_nulls_restrict_nothing() -> None:
    nulls = dict.fromkeys(JobFilter().to_json())

    assert parse_filter({}) == parse_filter(nulls) == JobFilter()


def test_ids_may_be_numbers() -> None:
    found = parse_filter({"guilds": [5, "7"], "session": 9})

    assert sorted(found.guilds) == [5, 7]
    assert found.session == 9


def test_order_and_repeats_of_a_list_do_not_change_the_scope() -> None:
    once = parse_filter({"guilds": ["1", "2"], "kinds": ["document", "transcribe"]})
    again = parse_filter({"kinds": ["transcribe", "document", "transcribe"], "guilds": [2, 1, 2]})

    assert once.scope_hash() == again.scope_hash()


def test_the_default_spelled_out_is_the_same_scope() -> None:
    assert JobFilter().scope_hash() == JobFilter(assignee_kind="worker").scope_hash()


def test_what_is_only_for_lists_is_no_scope() -> None:
    listed = JobFilter(states=frozenset({"done"}), held=True)

    assert listed.scope_hash() == JobFilter().scope_hash()


@pytest.mark.parametrize(
    "given",
    [
        {"guilds": ["1"]},
        {"kinds": ["a"]},
        {"labels": ["a"]},
        {"any_labels": ["a"]},
        {"assignee_kind": "human"},
        {"min_priority": 0},
        {"max_priority": 0},
        {"session": "1"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_every_other_field_makes_a_scope_of_its_own(given: dict[str, Any]) -> None:
    assert parse_filter(given).scope_hash() != JobFilter().scope_hash()


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("filter", {"project": "a"}),
        ("filter.guilds", {"guilds": "1"}),
        ("filter.guilds", {"guilds": ["0"]}),
        ("filter.guilds", {"guilds": ["x"]}),
        ("filter.guilds", {"guilds": [True]}),
        ("filter.guilds", {"guilds": [1.5]}),
        ("filter.guilds", {"guilds": [BIGINT_MAX + 1]}),
        ("filter.guilds", {"guilds": ["9" * 5000]}),
        ("filter.guilds", {"guilds": [1] * 1001}),
        ("filter.session", {"session": "-1"}),
        ("filter.session", {"session": ["1"]}),
        ("filter.labels", {"labels": [""]}),
        ("filter.labels", {"labels": ["a\0"]}),
        ("filter.labels", {"labels": ["\ud800"]}),
        ("filter.labels", {"labels": ["a" * 201]}),
        ("filter.any_labels", {"any_labels": [3]}),
        ("filter.kinds", {"kinds": {"a": 1}}),
        ("filter.states", {"states": [None]}),
        ("filter.assignee_kind", {"assignee_kind": "robot"}),
        ("filter.assignee_kind", {"assignee_kind": ["worker"]}),
        ("filter.min_priority", {"min_priority": "1"}),
        ("filter.min_priority", {"min_priority": True}),
        ("filter.max_priority", {"max_priority": BIGINT_MAX + 1}),
        ("filter.held", {"held": "yes"}),
    ],
)
def test_what_no_filter_can_say_is_refused_by_its_field(field: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_filter(given)

    assert refused.value.field == field


def test_an_unknown_field_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidInput, match=r"'project' is not allowed; allowed: guilds, kinds"):
        parse_filter({"project": "a"})


@pytest.mark.parametrize(
    ("name", "given"), [("states", {"states": ["pending"]}), ("held", {"held": False})]
)
def test_a_claim_refuses_what_is_only_for_lists(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=f"filter.{name}: .* only in a list"):
        parse_filter(given).for_claim()


def test_a_claim_takes_every_other_filter() -> None:
    scope = JobFilter(guilds=WHOLE.guilds, labels=WHOLE.labels)

    assert scope.for_claim() is scope
