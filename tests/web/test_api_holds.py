"""Hold, release, requeue and cancel over HTTP."""

from typing import Any

import pytest

from console.api.schemas import Holding, Jobs
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.services.browse import events_page, guild_record, session_detail
from tests import builders
from tests.fingerprint import fingerprint
from tests.web.api import Caller, problem_of, token_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def ada(guild: GuildId) -> Caller:
    builders.stored_user("ada", guilds=[guild])
    return token_of("ada")


@pytest.fixture(params=["session", "guild"])
def path(request: pytest.FixtureRequest, guild: GuildId) -> str:
    """The hold of a session, and that of its guild."""
    if request.param == "guild":
        return f"/api/guilds/{guild}/hold"
    return f"/api/sessions/{builders.stored_session(guild)}/hold"


def answer_of(response: Any) -> dict[str, Any]:
    assert response.status_code == 200, response.content
    Holding.model_validate_json(response.content, strict=True, extra="forbid")
    found: dict[str, Any] = response.json()
    return found


def test_a_hold_lasts_until_it_is_released_and_both_may_be_repeated(ada: Caller, path: str) -> None:
    answers = [
        answer_of(ada.post(path, {"reason": "no consent yet"})),
        answer_of(ada.post(path)),
        answer_of(ada.delete(path)),
        answer_of(ada.delete(path)),
    ]

    assert answers == [
        {"held": True, "changed": True},
        {"held": True, "changed": False},
        {"held": False, "changed": True},
        {"held": False, "changed": False},
    ]


def test_the_reasons_of_a_hold_and_of_its_release_are_on_record(
    guild: GuildId, ada: Caller, path: str
) -> None:
    ada.post(path, {"reason": "no consent <b>yet</b> 🐦"})
    ada.delete(path, {"reason": "all agreed"})

    said = [(record.type, record.reason, record.by) for record in events_page(guild)]
    assert said == [
        ("Released", "all agreed", "user:ada"),
        ("Held", "no consent <b>yet</b> 🐦", "user:ada"),
    ]


def test_a_hold_says_why_to_everybody_who_looks(guild: GuildId, ada: Caller) -> None:
    asked = builders.stored_session(guild)

    ada.post(f"/api/sessions/{asked}/hold", {"reason": "wait"})
    ada.post(f"/api/guilds/{guild}/hold", {})

    of_session, of_guild = session_detail(asked).entry.hold, guild_record(guild).hold
    assert of_session is not None
    assert (of_session.reason, of_session.by) == ("wait", "user:ada")
    assert of_guild is not None
    assert of_guild.reason == ""


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"reason": "x" * 501}, "reason", "at most 500 characters"),
        ({"reason": None}, "reason", "string"),
        ({"reason": 5}, "reason", "string"),
        ({"reason": ["x"]}, "reason", "string"),
        ({"reson": "x"}, "reson", "known: reason"),
        ("x", "the body", "JSON object"),
        (None, "the body", "JSON object"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_hold_with_a_body_that_is_not_right_is_a_400(
    ada: Caller, path: str, method: str, body: object, field: str, words: str
) -> None:
    before = fingerprint()

    problem = problem_of(ada.call(method, path, body))

    assert (problem["status"], problem["field"]) == (400, field)
    assert words in problem["detail"]
    assert fingerprint() == before


def test_a_finished_session_cannot_be_held_and_needs_no_release(
    guild: GuildId, ada: Caller
) -> None:
    finished = builders.done_session(guild)

    problem = problem_of(ada.post(f"/api/sessions/{finished}/hold"))
    released = answer_of(ada.delete(f"/api/sessions/{finished}/hold"))

    assert (problem["status"], problem["refusal"]) == (409, "nothing-outstanding")
    assert released == {"held": False, "changed": False}


def ended_and_again(ada: Caller, asked: SessionId) -> list[Any]:
    return [ada.post(f"/api/sessions/{asked}/{verb}") for verb in ("cancel", "requeue")]


def test_cancel_and_requeue_answer_with_the_jobs_they_changed(guild: GuildId, ada: Caller) -> None:
    asked = builders.stored_session(guild, n_tracks=2)
    jobs = [str(job.id) for job in builders.session_jobs(asked)]

    for response in ended_and_again(ada, asked):
        assert response.status_code == 200
        assert response.json() == {"jobs": jobs}
        Jobs.model_validate_json(response.content, strict=True, extra="forbid")
    assert [record.type for record in events_page(guild)] == ["Requeued", "Cancelled"]


def test_what_cannot_be_cancelled_or_requeued_is_a_409_with_the_word(
    guild: GuildId, ada: Caller
) -> None:
    waiting, finished = builders.stored_session(guild), builders.cancelled_session(guild)
    before = fingerprint()

    cancelled = problem_of(ada.post(f"/api/sessions/{finished}/cancel"))
    requeued = problem_of(ada.post(f"/api/sessions/{waiting}/requeue"))

    assert (cancelled["status"], cancelled["refusal"]) == (409, "nothing-outstanding")
    assert cancelled["type"] == "urn:problem-type:guildqueue:nothing-outstanding"
    assert (requeued["status"], requeued["refusal"]) == (409, "nothing-to-requeue")
    assert fingerprint() == before


@pytest.mark.parametrize("verb", ["cancel", "requeue"])
def test_a_call_without_fields_takes_an_empty_object_and_nothing_else(
    guild: GuildId, ada: Caller, verb: str
) -> None:
    session = builders.stored_session if verb == "cancel" else builders.cancelled_session
    path = f"/api/sessions/{session(guild)}/{verb}"

    refused = problem_of(ada.post(path, {"force": True}))
    taken = ada.post(path, {})

    assert (refused["status"], refused["field"]) == (400, "force")
    assert taken.status_code == 200
