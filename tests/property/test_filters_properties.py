"""What holds for every filter, however it is written down."""

import json
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guildqueue.domain.filters import JobFilter, parse_filter
from guildqueue.domain.ids import BIGINT_MAX, BIGINT_MIN, GuildId, SessionId

IDS = st.integers(1, BIGINT_MAX)
STORABLE = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.frozensets(st.text(STORABLE, min_size=1, max_size=8), max_size=4)
PRIORITIES = st.none() | st.integers(BIGINT_MIN, BIGINT_MAX)
FILTERS = st.builds(
    JobFilter,
    guilds=st.frozensets(IDS.map(GuildId), max_size=4),
    kinds=TEXTS,
    labels=TEXTS,
    any_labels=TEXTS,
    assignee_kind=st.sampled_from([None, "worker", "human", "agent"]),
    min_priority=PRIORITIES,
    max_priority=PRIORITIES,
    session=st.none() | IDS.map(SessionId),
    states=TEXTS,
    held=st.none() | st.booleans(),
)


def written_otherwise(body: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The same filter: fields and items in another order, items twice, empty fields left out."""
    names = [name for name, value in body.items() if value not in (None, [])]
    chance.shuffle(names)
    return {
        name: chance.sample(body[name] * 2, 2 * len(body[name]))
        if isinstance(body[name], list)
        else body[name]
        for name in names
    }


@given(FILTERS, st.randoms(use_true_random=False))
def test_a_filter_comes_back_from_json_and_keeps_its_scope(
    scope: JobFilter, chance: random.Random
) -> None:
    body = json.loads(json.dumps(scope.to_json()))

    again = parse_filter(written_otherwise(body, chance))

    assert again == scope
    assert again.scope_hash() == scope.scope_hash()


@given(FILTERS, FILTERS)
def test_two_scopes_have_one_hash_only_if_a_claim_cannot_tell_them_apart(
    one: JobFilter, other: JobFilter
) -> None:
    def told_apart(scope: JobFilter) -> list[Any]:
        body = scope.to_json() | {"assignee_kind": scope.claimed_by}
        return [body[name] for name in sorted(body) if name not in {"states", "held"}]

    assert (one.scope_hash() == other.scope_hash()) == (told_apart(one) == told_apart(other))
