"""Ready, claims and lists over HTTP: one filter, and never more than the token's scope."""

from typing import Any

import pytest

from guildqueue.domain.ids import BIGINT_MAX, GuildId
from guildqueue.domain.token import Verb
from guildqueue.services.hold import hold_guild
from guildqueue.services.tokens import list_tokens, revoke_token
from tests import builders
from tests.fingerprint import fingerprint
from tests.web.api import Caller, browser_of, problem_of, token_of
from tests.web.scoped import body_of, claimed, machine

pytestmark = pytest.mark.django_db
READING = ("/api/ready", "/api/claims", "/api/jobs/list")


@pytest.fixture
def starling() -> GuildId:
    return builders.stored_guild(builders.STARLING)


@pytest.fixture
def magpie() -> GuildId:
    return builders.stored_guild(builders.MAGPIE)


@pytest.fixture
def worker(starling: GuildId, magpie: GuildId) -> Caller:
    builders.stored_session(starling, n_tracks=2)
    builders.stored_session(magpie, n_tracks=2)
    return machine(starling)


def guilds_in(jobs: list[dict[str, Any]]) -> set[str]:
    return {job["guild_id"] for job in jobs}


def test_ready_lists_the_jobs_in_the_order_of_claims_and_takes_none(worker: Caller) -> None:
    before = fingerprint()
    ready = body_of(worker.post("/api/ready"))
    assert fingerprint() == before

    taken = [lease["job"]["job_id"] for lease in claimed(worker, count=10)]

    assert [job["job_id"] for job in ready["jobs"]] == taken
    assert len(taken) == 2
    assert ready["held_count"] == 0


def test_an_empty_filter_means_the_guilds_of_the_token_and_no_more(
    worker: Caller, starling: GuildId
) -> None:
    ready = body_of(worker.post("/api/ready", {"filter": {"guilds": []}}))["jobs"]
    listed = body_of(worker.post("/api/jobs/list"))["jobs"]
    taken = claimed(worker, count=100)

    for jobs in (ready, listed, [lease["job"] for lease in taken]):
        assert guilds_in(jobs) == {str(starling)}
    assert len(listed) == 3


def test_two_guilds_of_a_token_take_turns(
    worker: Caller, starling: GuildId, magpie: GuildId
) -> None:
    both = machine(starling, magpie)

    taken = [claimed(both)[0]["job"]["guild_id"] for _ in range(4)]

    assert taken == [str(starling), str(magpie)] * 2


@pytest.mark.parametrize("path", READING)
def test_a_guild_outside_the_scope_is_a_404_like_one_that_is_not_there(
    worker: Caller, starling: GuildId, magpie: GuildId, path: str
) -> None:
    before = fingerprint()
    answers = [
        worker.post(path, {"filter": {"guilds": named}})
        for named in ([str(magpie)], [str(starling), str(magpie)], [str(BIGINT_MAX)])
    ]

    assert {problem_of(answer)["status"] for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert fingerprint() == before


@pytest.mark.parametrize(
    ("path", "verbs"),
    [
        ("/api/ready", {Verb.ENQUEUE, Verb.CLAIM}),
        ("/api/claims", {Verb.READ, Verb.ENQUEUE}),
        ("/api/jobs/list", {Verb.ENQUEUE, Verb.CLAIM}),
    ],
)
def test_a_guild_in_scope_without_the_verb_is_a_403_and_one_outside_still_a_404(
    worker: Caller, starling: GuildId, magpie: GuildId, path: str, verbs: set[str]
) -> None:
    other = machine(starling, verbs=verbs)

    assert problem_of(other.post(path))["status"] == 403
    assert problem_of(other.post(path, {"filter": {"guilds": [str(starling)]}}))["status"] == 403
    assert problem_of(other.post(path, {"filter": {"guilds": [str(magpie)]}}))["status"] == 404


@pytest.mark.parametrize("path", READING)
def test_a_token_without_any_guild_is_not_one_for_all_of_them(worker: Caller, path: str) -> None:
    nowhere = machine()

    answer = body_of(nowhere.post(path))

    assert not answer.get("jobs")
    assert not answer.get("leases")


def test_a_session_of_another_guild_in_the_filter_finds_nothing(
    worker: Caller, magpie: GuildId
) -> None:
    other = builders.stored_session(magpie)
    given = {"filter": {"session": str(other)}}

    assert body_of(worker.post("/api/jobs/list", given)) == {"jobs": [], "after": None}
    assert body_of(worker.post("/api/ready", given)) == {"jobs": [], "held_count": 0}
    assert claimed(worker, **given) == []


def test_the_held_count_counts_no_guild_outside_the_scope(
    worker: Caller, starling: GuildId, magpie: GuildId
) -> None:
    for guild in (starling, magpie):
        hold_guild(guild, reason="", caller=builders.caller())

    assert body_of(worker.post("/api/ready")) == {"jobs": [], "held_count": 2}


def test_states_and_held_are_refused_where_work_is_taken_and_allowed_in_a_list(
    worker: Caller,
) -> None:
    for given in ({"states": ["pending"]}, {"held": False}):
        for path in ("/api/ready", "/api/claims"):
            problem = problem_of(worker.post(path, {"filter": given}))
            assert problem["status"] == 400
            assert problem["field"] == f"filter.{next(iter(given))}"
        assert len(body_of(worker.post("/api/jobs/list", {"filter": given}))["jobs"]) == 3


def test_a_list_goes_on_after_its_last_job_until_there_is_none(worker: Caller) -> None:
    first = body_of(worker.post("/api/jobs/list", {"limit": 2}))
    second = body_of(worker.post("/api/jobs/list", {"limit": 2, "after": first["after"]}))

    assert first["after"] == first["jobs"][-1]["job_id"]
    assert [len(first["jobs"]), len(second["jobs"])] == [2, 1]
    assert second["after"] is None


def test_a_claim_gives_the_job_its_fencing_token_and_when_it_ends(worker: Caller) -> None:
    (lease,) = claimed(worker, ttl=30)

    assert set(lease) == {"job", "token", "expires_at"}
    assert lease["job"]["state"] == "running"
    assert lease["token"] == "1"
    assert lease["expires_at"].endswith("Z")


def test_a_claim_repeated_with_its_request_id_gets_the_same_leases(worker: Caller) -> None:
    first = claimed(worker, request_id="once")
    again = claimed(worker, request_id="once")

    assert [lease["job"]["job_id"] for lease in again] == [first[0]["job"]["job_id"]]
    assert claimed(worker, request_id="another")[0]["job"] != first[0]["job"]


def test_the_request_id_of_a_token_is_not_anothers_of_the_same_name(
    worker: Caller, starling: GuildId
) -> None:
    first = claimed(worker, request_id="once")
    for token in list_tokens():
        revoke_token(token.token_id)

    again = claimed(machine(starling), request_id="once")

    assert again[0]["job"]["job_id"] != first[0]["job"]["job_id"]


def test_an_administrator_claims_in_their_guilds_alone(
    worker: Caller, starling: GuildId, magpie: GuildId
) -> None:
    builders.stored_user("ada", guilds=[starling])

    for ada in (token_of("ada"), browser_of("ada")):
        assert guilds_in([lease["job"] for lease in claimed(ada)]) == {str(starling)}
        outside = ada.post("/api/claims", {"filter": {"guilds": [str(magpie)]}})
        assert problem_of(outside)["status"] == 404


BAD: list[tuple[dict[str, Any], str]] = [
    ({"count": 0}, "count"),
    ({"count": 10**30}, "count"),
    ({"count": 1.5}, "count"),
    ({"count": "1"}, "count"),
    ({"count": True}, "count"),
    ({"ttl": 0.5}, "ttl"),
    ({"ttl": 10**300}, "ttl"),
    ({"ttl": 10**400}, "ttl"),
    ({"wait": 61}, "wait"),
    ({"wait": -1}, "wait"),
    ({"request_id": ""}, "request_id"),
    ({"request_id": "x" * 201}, "request_id"),
    ({"filter": []}, "filter"),
    ({"filter": None}, "filter"),
    ({"filter": {"guild": ["1"]}}, "filter"),
    ({"filter": {"guilds": "1"}}, "filter.guilds"),
    ({"filter": {"guilds": ["x"]}}, "filter.guilds"),
    ({"filter": {"guilds": [10**30]}}, "filter.guilds"),
    ({"filter": {"kinds": [""]}}, "filter.kinds"),
    ({"filter": {"min_priority": 10**30}}, "filter.min_priority"),
    ({"filter": {"session": "9" * 19}}, "filter.session"),
    ({"filter": {"assignee_kind": "robot"}}, "filter.assignee_kind"),
    ({"filters": {}}, "filters"),
]


@pytest.mark.parametrize(("body", "field"), BAD, ids=[str(body)[:50] for body, _ in BAD])
def test_a_claim_that_is_not_right_is_told_which_field(
    worker: Caller, body: dict[str, Any], field: str
) -> None:
    before = fingerprint()

    problem = problem_of(worker.post("/api/claims", body))

    assert (problem["status"], problem["field"]) == (400, field)
    assert len(problem["detail"]) < 400
    assert fingerprint() == before
