"""Ready: the very order of claims, read without a trace."""

import random
from collections import Counter
from typing import Any

import pytest
from django.conf import settings
from django.db import transaction

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.filters import JobFilter, parse_filter
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import Kind
from guildqueue.services.claim import claim_jobs
from guildqueue.services.depth import queue_depth
from guildqueue.services.hold import hold_guild, hold_session
from guildqueue.services.ready import ready_jobs
from tests.builders import (
    MAGPIE,
    STARLING,
    caller,
    expire_lease,
    running_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.races import half_done, query
from tests.db.states import SCOPES, fill_at_random
from tests.db.stored import row_versions, write, wrote_anything

pytestmark = pytest.mark.usefixtures("committed_db")
ANYTHING = JobFilter()


def ready(
    by: str = "loop", *, scope: JobFilter = ANYTHING, limit: int = 50
) -> list[tuple[GuildId, JobId]]:
    return [(job.guild_id, job.id) for job in ready_jobs(by, filter=scope, limit=limit).jobs]


def claimed(by: str = "loop", *, scope: JobFilter = ANYTHING) -> list[tuple[GuildId, JobId]]:
    """What single claims take, one after the other, to the end."""
    taken = []
    while leases := claim_jobs(by, filter=scope, ttl_s=3600):
        taken += [(lease.job.guild_id, lease.job.id) for lease in leases]
    return taken


def test_ready_lists_guilds_in_turns_and_claims_follow() -> None:
    for guild_id in (STARLING, MAGPIE):
        stored_session(stored_guild(guild_id), n_tracks=2)

    listed = ready()

    assert [guild_id for guild_id, _ in listed] == [STARLING, MAGPIE, STARLING, MAGPIE]
    assert claimed() == listed


def test_ready_begins_where_the_principals_last_claim_ended() -> None:
    for guild_id in (STARLING, MAGPIE):
        stored_session(stored_guild(guild_id), n_tracks=2)
    claim_jobs("loop", ttl_s=60)

    assert [guild_id for guild_id, _ in ready()] == [MAGPIE, STARLING, MAGPIE]
    assert [guild_id for guild_id, _ in ready("other")] == [STARLING, MAGPIE, MAGPIE]


def test_ready_writes_and_locks_nothing() -> None:
    session = stored_session(stored_guild(running_cap=1), n_tracks=3)
    write("UPDATE guildqueue_job SET max_attempts = 1 WHERE session_id = %s", session)
    (lost, *_) = running_jobs(session)
    expire_lease(lost.job.id)
    versions = row_versions()

    with transaction.atomic():
        assert ready()
        assert not wrote_anything()

    assert row_versions() == versions


def test_ready_waits_for_nobody() -> None:
    session = stored_session(stored_guild(running_cap=1))

    def lock_all() -> None:
        query("SELECT id FROM guildqueue_guild FOR UPDATE")
        query("SELECT id FROM guildqueue_job FOR UPDATE")

    with half_done(lock_all, commit=False):
        assert ready() == [(STARLING, track_ids(session)[0])]


def test_ready_goes_only_as_far_as_free_slots_do() -> None:
    stored_session(stored_guild(running_cap=3), n_tracks=5)
    claim_jobs("w", ttl_s=60)

    assert len(ready()) == 2


def test_an_empty_page_says_how_many_a_hold_keeps_back() -> None:
    guild, other = stored_guild(), stored_guild(MAGPIE, running_cap=2)
    held = stored_session(guild, n_tracks=3)
    stored_session(other, n_tracks=4)
    hold_session(held, guild_id=guild, reason="", caller=caller())

    assert ready_jobs("w").held_count == 0
    hold_guild(other, reason="", caller=caller())

    assert ready_jobs("w") == ((), 5)
    of_guild = parse_filter({"guilds": [str(guild)]})
    assert ready_jobs("w", filter=of_guild) == ((), 3)
    assert ready_jobs("w", filter=parse_filter({"labels": ["gpu"]})) == ((), 0)


def test_a_lost_lease_under_a_hold_counts_as_held() -> None:
    guild = stored_guild(running_cap=1)
    session = stored_session(guild)
    (lease,) = running_jobs(session)
    hold_session(session, guild_id=guild, reason="", caller=caller())
    assert ready_jobs("w") == ((), 0)

    expire_lease(lease.job.id)

    assert ready_jobs("w") == ((), 1)


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        ("limit", {"limit": 0}),
        ("limit", {"limit": 1001}),
        ("filter.states", {"filter": parse_filter({"states": ["done"]})}),
        ("filter.held", {"filter": parse_filter({"held": False})}),
    ],
)
def test_what_cannot_be_asked_is_refused(field: str, asked: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as refused:
        ready_jobs("w", **asked)

    assert refused.value.field == field


@pytest.mark.parametrize("order", ["turns", "global"])
@pytest.mark.parametrize("seed", range(20))
def test_ready_is_the_order_in_which_claims_take_to_the_end(
    seed: int, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "QUEUE_CLAIM_ORDER", order)
    chance = random.Random(seed)
    fill_at_random(chance)
    scope = parse_filter(chance.choice(SCOPES))
    for _ in range(chance.randrange(3)):
        claim_jobs("loop", filter=scope, ttl_s=3600)

    everything = ready(scope=scope, limit=1000)
    first = ready(scope=scope, limit=3)

    assert first == everything[:3]
    kinds = Counter(job.kind for job in ready_jobs("loop", filter=scope, limit=1000).jobs)
    assert queue_depth(scope) == {kind.value: kinds[kind] for kind in Kind}
    assert claimed(scope=scope) == everything
    assert ready(scope=scope) == []


@pytest.mark.parametrize("seed", range(6))
def test_one_claim_of_many_takes_the_first_of_ready(seed: int) -> None:
    chance = random.Random(100 + seed)
    fill_at_random(chance)

    listed = ready(limit=4)
    leases = claim_jobs("loop", count=4, ttl_s=3600)

    assert sorted(lease.job.id for lease in leases) == sorted(job_id for _, job_id in listed)
