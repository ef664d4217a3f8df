"""A claim that is sent again, because its answer got lost, gets the leases that it was given."""

import pytest

from guildqueue.domain.filters import parse_filter
from guildqueue.domain.ids import GuildId
from guildqueue.domain.job import Lease
from guildqueue.services.claim import claim_jobs
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.release import release_job
from tests.builders import complete, expire_lease, stored_guild, stored_session, track_ids
from tests.db.races import begun, half_done, query, together
from tests.db.stored import row_versions

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    guild = stored_guild()
    stored_session(guild, n_tracks=6)
    return guild


def claim(request_id: str | None = "r1", *, by: str = "w", n: int = 1) -> list[Lease]:
    return claim_jobs(by, count=n, ttl_s=60, request_id=request_id)


def test_the_same_request_gets_the_same_leases_and_writes_nothing(guild: GuildId) -> None:
    first = claim(n=3)
    versions = row_versions()

    again = claim(n=3)

    assert again == first
    assert len(again) == 3
    assert row_versions() == versions


def test_a_claim_without_a_request_takes_another_job(guild: GuildId) -> None:
    taken = {lease.job.id for _ in range(3) for lease in claim(None)}

    assert len(taken) == 3


def test_another_request_or_another_principal_gets_another_job(guild: GuildId) -> None:
    leases = [*claim(), *claim("r2"), *claim(by="v")]

    assert len({lease.job.id for lease in leases}) == 3


def test_a_lease_that_was_extended_is_given_with_its_new_end(guild: GuildId) -> None:
    (lease,) = claim()
    expires_at = extend_lease(lease.job.id, token=lease.token, principal="w", ttl_s=600)

    (again,) = claim()

    assert (again.job.id, again.token, again.expires_at) == (lease.job.id, 1, expires_at)


def test_an_expired_lease_is_not_given_again(guild: GuildId) -> None:
    (lease,) = claim()
    expire_lease(lease.job.id)

    (again,) = claim()

    assert (again.job.id, again.token) == (lease.job.id, lease.token + 1)


def test_a_job_that_somebody_else_took_over_is_not_given_back(guild: GuildId) -> None:
    (lease,) = claim()
    expire_lease(lease.job.id)
    (taken_over,) = claim(None, by="v")

    (again,) = claim()

    assert taken_over.job.id == lease.job.id
    assert again.job.id != lease.job.id


def test_what_ended_or_was_handed_back_is_not_given_again(guild: GuildId) -> None:
    done, released, left = claim(n=3)
    complete(done, principal="w")
    release_job(released.job.id, token=released.token, principal="w")

    assert [lease.job.id for lease in claim(n=3)] == [left.job.id]
    complete(left, principal="w")

    assert [lease.job.id for lease in claim(n=1)] == [released.job.id]


def test_a_request_that_got_nothing_may_get_something_later(guild: GuildId) -> None:
    other = parse_filter({"labels": ["gpu"]})
    assert claim_jobs("w", filter=other, ttl_s=60, request_id="r1") == []

    assert len(claim()) == 1


def test_a_repeat_beside_its_first_waits_and_gets_the_same(guild: GuildId) -> None:
    with half_done(claim, commit=True) as first, begun(claim) as repeat:
        repeat.wait_until_blocked()
        first.end()
        (lease,) = repeat.result()

    assert [lease.job.id] == [
        job for (job,) in query("SELECT id FROM guildqueue_job WHERE state = 'running'")
    ]


def test_eight_repeats_at_once_share_one_lease(guild: GuildId) -> None:
    answers = together(*[claim] * 8)

    tokens = {(a[0].job.id, a[0].token) for a in answers if isinstance(a, list)}
    assert len(tokens) == 1
    assert len(answers) == 8


def test_a_request_is_kept_to_its_principal_whatever_the_two_are_called(guild: GuildId) -> None:
    (one,), (other,) = claim("b c", by="a"), claim("c", by="a b")

    assert one.job.id != other.job.id
    assert track_ids(one.job.session_id)[:2] == [one.job.id, other.job.id]
