"""Every field of a filter, in a claim: what it lets through and what it keeps back."""

from typing import Any

import pytest
from django.conf import settings

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.filters import parse_filter
from guildqueue.domain.ids import JobId
from guildqueue.services.claim import claim_jobs
from tests.builders import (
    MAGPIE,
    STARLING,
    complete,
    document_id,
    expire_lease,
    make_due,
    running_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.stored import put_in_lane, row_versions, set_number, write

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture(params=["turns", "global"], autouse=True)
def order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test holds in both orders."""
    monkeypatch.setattr(settings, "QUEUE_CLAIM_ORDER", request.param)


@pytest.fixture
def jobs() -> dict[str, JobId]:
    """One claimable job a name, each of its own session; ``away`` in another guild."""
    stored_guild()
    names = ("plain", "red", "redblue", "early", "late", "human", "lane", "lost", "due")
    found = {name: track_ids(stored_session(STARLING))[0] for name in names}
    found["away"] = track_ids(stored_session(stored_guild(MAGPIE)))[0]
    running_jobs_of(found["lost"])
    labels = {"red": ["red"], "redblue": ["red", "blue"], "lane": ["red"], "lost": ["blue"]}
    for name, label in (labels | {"due": ["red", "green"]}).items():
        write("UPDATE guildqueue_job SET labels = %s WHERE id = %s", label, found[name])
    for name, number in (("early", -5), ("late", 9)):
        write("UPDATE guildqueue_job SET priority = %s WHERE id = %s", number, found[name])
    write("UPDATE guildqueue_job SET assignee_kind = 'human' WHERE id = %s", found["human"])
    put_in_lane([found["lane"]])
    make_due(found["due"])
    return found


def running_jobs_of(job_id: JobId) -> None:
    write(
        "UPDATE guildqueue_job SET state = 'running', lease_by = 'gone', attempt = 1,"
        " lease_expires_at = now() - interval '1 s' WHERE id = %s",
        job_id,
    )


FITTING: list[tuple[dict[str, Any], str]] = [
    ({}, "lane early plain red redblue lost due away late"),
    ({"guilds": [str(MAGPIE)]}, "away"),
    ({"guilds": [str(MAGPIE), str(STARLING)], "labels": ["red"]}, "lane red redblue due"),
    ({"guilds": ["5"]}, ""),
    ({"labels": ["red"]}, "lane red redblue due"),
    ({"labels": ["red", "blue"]}, "redblue"),
    ({"any_labels": ["blue", "green"]}, "redblue lost due"),
    ({"labels": ["red"], "any_labels": ["blue", "green"]}, "redblue due"),
    ({"any_labels": ["white"]}, ""),
    ({"assignee_kind": "human"}, "human"),
    ({"assignee_kind": "agent"}, ""),
    ({"assignee_kind": "worker", "max_priority": -5}, "early"),
    ({"max_priority": -6}, ""),
    ({"min_priority": 9}, "late"),
    ({"min_priority": 10}, ""),
    ({"min_priority": -5, "max_priority": 0, "labels": ["blue"]}, "redblue lost"),
    ({"kinds": ["document"]}, ""),
    ({"kinds": ["transcribe", "translate"], "min_priority": 1}, "late"),
]


@pytest.mark.parametrize(("given", "names"), FITTING, ids=[str(given) for given, _ in FITTING])
def test_a_claim_takes_what_fits_and_nothing_else(
    jobs: dict[str, JobId], given: dict[str, Any], names: str
) -> None:
    leases = claim_jobs("w", filter=parse_filter(given), count=99, ttl_s=60)

    taken = {lease.job.id for lease in leases}
    assert taken == {jobs[name] for name in names.split()}


def test_a_session_is_a_filter_too(jobs: dict[str, JobId]) -> None:
    session = stored_session(STARLING, n_tracks=2)
    set_number(session, 50)

    leases = claim_jobs("w", filter=parse_filter({"session": str(session)}), count=99, ttl_s=60)

    assert [lease.job.id for lease in leases] == track_ids(session)


def test_kinds_restrict_a_claim_where_both_are_claimable() -> None:
    first, second = stored_session(stored_guild()), stored_session(STARLING)
    (track,) = running_jobs(first)
    complete(track)

    (document,) = claim_jobs("w", filter=parse_filter({"kinds": ["document"]}), count=9, ttl_s=60)
    (other,) = claim_jobs("w", filter=parse_filter({"kinds": ["transcribe"]}), count=9, ttl_s=60)

    assert (document.job.id, other.job.id) == (document_id(first), track_ids(second)[0])


def test_a_lost_lease_is_taken_over_only_by_a_filter_that_fits() -> None:
    (job_id,) = track_ids(stored_session(stored_guild()))
    write("UPDATE guildqueue_job SET labels = '{gpu}' WHERE id = %s", job_id)
    claim_jobs("w", ttl_s=60)
    expire_lease(job_id)

    assert claim_jobs("w", filter=parse_filter({"labels": ["cpu"]}), ttl_s=60) == []
    (again,) = claim_jobs("w", filter=parse_filter({"labels": ["gpu"]}), ttl_s=60)
    assert again.job.id == job_id


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        ("filter.states", {"filter": parse_filter({"states": ["pending"]})}),
        ("filter.held", {"filter": parse_filter({"held": True})}),
        ("count", {"count": 0}),
        ("count", {"count": 10_001}),
        ("ttl", {"ttl_s": 0.0}),
        ("ttl", {"ttl_s": float("nan")}),
        ("ttl", {"ttl_s": 86_400.5}),
        ("request_id", {"request_id": ""}),
        ("request_id", {"request_id": "a\0"}),
    ],
)
def test_a_claim_that_cannot_be_is_refused_and_writes_nothing(
    field: str, asked: dict[str, Any]
) -> None:
    stored_session(stored_guild())
    versions = row_versions()

    with pytest.raises(InvalidInput) as refused:
        claim_jobs("w", **{"ttl_s": 60.0} | asked)

    assert refused.value.field == field
    assert row_versions() == versions
