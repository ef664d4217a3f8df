"""Run next and Take back on the pages: where they are shown, and what the queue makes of them."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client

from guildqueue.domain.ids import GuildId
from guildqueue.domain.new_job import NewJob
from guildqueue.services.browse import events_page, guild_record
from guildqueue.services.cancel import cancel_job
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.hold import hold_session
from guildqueue.store.grant_files import read_guild_declaration
from tests import builders
from tests.builders import STARLING, document_id, stored_session, track_ids
from tests.db.lane_requests import bumped, lane, named, rooted_guild

pytestmark = pytest.mark.django_db
ENDED = "nothing of Retro is waiting or running any more."
HTMX = {"HX-Request": "true"}


@pytest.fixture
def guild(tmp_path: Path) -> GuildId:
    return rooted_guild(tmp_path, sources=("console",))


@pytest.fixture
def ada(guild: GuildId) -> Client:
    return builders.signed_in(builders.stored_user("ada", guilds=[guild]))


def buttons(client: Client, path: str) -> list[str]:
    """The ids of what leads to Run next and Take back."""
    return re.findall(r'id="((?:un)?bump[-\d]*)"', client.get(path).content.decode())


def queue() -> str:
    return f"/guilds/{STARLING}/"


def status_of(client: Client, path: str, body: dict[str, str] | None = None) -> tuple[int, str]:
    """The status of the last page, and what it says was done."""
    response = client.post(path, body or {}, follow=True)
    said = re.search(r'id="status"[^>]*>(?:<p[^>]*>(.*?)</p>)?', response.content.decode())
    assert said is not None
    return response.status_code, said[1]


def test_the_buttons_are_there_where_the_console_is_declared(ada: Client, guild: GuildId) -> None:
    first, second = (stored_session(guild) for _ in range(2))
    bumped(document_id(second))

    assert buttons(ada, queue()) == [f"unbump-{second}", f"bump-{first}"]
    assert buttons(ada, f"/sessions/{first}/") == ["bump"]
    assert buttons(ada, f"/sessions/{second}/") == ["unbump"]


def test_what_was_only_pulled_in_can_be_named_but_not_taken_back(
    ada: Client, guild: GuildId
) -> None:
    session = stored_session(guild, n_tracks=2)
    bumped(track_ids(session)[0])

    assert buttons(ada, queue()) == [f"bump-{session}", f"unbump-{session}"]


NOT_DECLARED: dict[str, Callable[[Path], Any]] = {
    "another source": lambda root: rooted_guild(root, sources=("nightly-import",)),
    "no declaration": lambda root: (root / "queue.toml").unlink(),
    "not TOML": lambda root: (root / "queue.toml").write_text("[["),
    "no root": lambda root: root.rename(root.with_name("elsewhere")),
}


@pytest.mark.parametrize("spoil", NOT_DECLARED.values(), ids=NOT_DECLARED)
def test_elsewhere_the_lane_is_shown_and_there_is_no_button(
    ada: Client, guild: GuildId, tmp_path: Path, spoil: Callable[[Path], Any]
) -> None:
    session = stored_session(guild, title="Retro")
    bumped(document_id(session))
    spoil(tmp_path)

    html = ada.get(queue()).content.decode()
    asked = ada.get(f"/sessions/{session}/unbump")

    assert 'id="lane"' in html
    assert buttons(ada, queue()) == buttons(ada, f"/sessions/{session}/") == []
    assert asked.status_code == 200
    assert "does not let the console say what runs next" in asked.content.decode()
    assert 'id="confirm"' not in asked.content.decode()


def test_a_server_of_another_account_shows_no_button(
    ada: Client, guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = stored_session(guild)
    monkeypatch.setattr("console.lane.os", SimpleNamespace(getuid=lambda: 54321))

    assert buttons(ada, queue()) == []
    status, said = status_of(ada, f"/sessions/{session}/bump")

    assert status == 403
    assert said.startswith("Not run next: this guild does not let the console")
    [record] = events_page(guild)
    assert (record.type, record.by, record.untrusted) == ("PriorityRefused", "user:ada", True)
    assert lane() == []


def test_a_page_looks_at_the_declaration_once_and_asks_nothing_more_a_row(
    ada: Client,
    guild: GuildId,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_num_queries: Callable[..., Any],
) -> None:
    looks: list[Path] = []
    read = read_guild_declaration

    def counted(root: Path) -> Any:
        looks.append(root)
        return read(root)

    monkeypatch.setattr("guildqueue.services.may_bump.read_guild_declaration", counted)
    for _ in range(5):
        stored_session(guild)

    with django_assert_num_queries(4):  # session, user, guild, queue
        assert len(buttons(ada, queue())) == 5
    assert len(looks) == 1


def test_a_whole_meeting_is_bumped_as_the_console_for_whoever_asked(
    ada: Client, guild: GuildId
) -> None:
    stored_session(guild)
    session = stored_session(guild, title="Retro", n_tracks=2)

    status, said = status_of(ada, f"/sessions/{session}/bump", {"reason": "the board meets"})

    assert (status, said) == (200, "Retro runs next.")
    assert lane() == [*track_ids(session), document_id(session)]
    assert named() == set(lane())
    [record] = events_page(guild)
    assert (record.type, record.by, record.on_behalf_of, record.reason) == (
        "PriorityBumped", "source:console", "user:ada", "the board meets",
    )  # fmt: skip
    assert record.correlation_id
    html = ada.get(queue()).content.decode()
    section = html.partition('id="lane"')[2].partition("</section>")[0]
    assert "placed by ada, from the console" in section
    assert "placed by <bdi>ada, from the console</bdi>: “<bdi>the board meets</bdi>”" in section


def test_it_is_taken_back(ada: Client, guild: GuildId) -> None:
    session = stored_session(guild, title="Retro")
    bumped(document_id(session))

    assert status_of(ada, f"/sessions/{session}/unbump")[1] == "Retro no longer runs next."
    assert lane() == []
    assert events_page(guild)[0].on_behalf_of == "user:ada"


def test_nothing_to_do_is_said_so_and_recorded(ada: Client, guild: GuildId) -> None:
    session = stored_session(guild, title="Retro")
    bump, unbump = (f"/sessions/{session}/{verb}" for verb in ("bump", "unbump"))

    said = [status_of(ada, path)[1] for path in (unbump, bump, bump)]

    assert said == [
        "Nothing to do: nobody had said that Retro runs next.",
        "Retro runs next.",
        "Nothing to do: Retro runs next already.",
    ]
    assert len(events_page(guild)) == 3


def test_a_grant_that_went_meanwhile_is_said_in_words(
    ada: Client, guild: GuildId, tmp_path: Path
) -> None:
    session = stored_session(guild, title="Retro")
    assert buttons(ada, queue()) == [f"bump-{session}"]
    rooted_guild(tmp_path)

    response = ada.post(f"/sessions/{session}/bump", headers=HTMX)

    assert response.status_code == 403
    assert "this guild does not let the console say what runs next" in response["HX-Trigger"]
    assert "Retro" in response.content.decode()
    assert str(tmp_path) not in response.content.decode()


def test_a_dependency_that_can_never_finish_is_said_in_words(ada: Client, guild: GuildId) -> None:
    session = stored_session(guild, title="Retro", n_tracks=2)
    cancel_job(track_ids(session)[0], guild_id=guild, caller=builders.caller())

    status, said = status_of(ada, f"/sessions/{session}/bump")

    assert status == 409
    assert said.startswith("Not run next: Retro needs a track that failed or was cancelled.")
    assert lane() == []


def test_what_finished_meanwhile_is_said_in_words(ada: Client, guild: GuildId) -> None:
    session = builders.done_session(guild, title="Retro")

    ends = [status_of(ada, f"/sessions/{session}/{verb}") for verb in ("bump", "unbump")]

    assert ends == [
        (200, f"Nothing to do: {ENDED}"),
        (409, f"Not taken back: {ENDED} The list is up to date."),
    ]


def test_what_another_meeting_needs_is_not_taken_back(ada: Client, guild: GuildId) -> None:
    session, other = stored_session(guild, title="Retro"), stored_session(guild)
    needy = NewJob(session_id=other, kind="document", needs=(document_id(session),))
    [added] = enqueue_jobs(guild, jobs=[needy])
    for job_id in (document_id(session), added.job_id):
        bumped(job_id)

    status, said = status_of(ada, f"/sessions/{session}/unbump")

    assert status == 409
    assert said.startswith("Not taken back: something else that runs next needs Retro.")
    assert document_id(session) in lane()


def test_asked_on_the_meetings_page_a_script_gets_that_page(ada: Client, guild: GuildId) -> None:
    session = stored_session(guild, title="Retro")

    done = ada.post(f"/sessions/{session}/bump", {"back": "session"}, headers=HTMX)
    rooted_guild(Path(guild_record(guild).root or ""))
    refused = ada.post(f"/sessions/{session}/unbump", {"back": "session"}, headers=HTMX)

    assert (done.status_code, refused.status_code) == (200, 403)
    for response in (done, refused):
        assert 'id="session-title"' in response.content.decode()


def test_a_hold_that_keeps_it_back_is_said_before(ada: Client, guild: GuildId) -> None:
    session = stored_session(guild)
    hold_session(session, guild_id=guild, reason="", caller=builders.caller())

    html = ada.get(f"/sessions/{session}/bump").content.decode()

    assert "It waits for a release, though" in html


def test_a_reason_without_end_is_a_422_and_changes_nothing(ada: Client, guild: GuildId) -> None:
    session = stored_session(guild)

    response = ada.post(f"/sessions/{session}/bump", {"reason": "x" * 501})

    assert response.status_code == 422
    assert events_page(guild) == []


def test_the_version_of_a_page_tells_whether_the_buttons_are_there(
    ada: Client, guild: GuildId, tmp_path: Path
) -> None:
    session = stored_session(guild)

    def digest(path: str) -> str:
        found = re.search(r'data-version="\d+\.([^"]+)"', ada.get(path).content.decode())
        assert found is not None
        return found[1]

    paths = (queue(), f"/sessions/{session}/")
    before = [digest(path) for path in paths]
    rooted_guild(tmp_path)

    assert [digest(path) for path in paths] == [text.removesuffix("-lane") for text in before]
    assert all(text.endswith("-lane") for text in before)
