"""What open pages are sent as HTML: the page's own fragments, and nobody else's language."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone, translation

from console.lane import queue_board
from console.live import render
from console.live.door import form_of
from console.live.frames import HEADERS
from console.live.kinds import KINDS
from guildqueue.domain.ids import UserId
from guildqueue.services.browse import GuildList, guild_lists
from guildqueue.services.snapshot import queue_snapshot
from tests import builders

JSON, PAGE, *_ = KINDS
LOCALE = "django.middleware.locale.LocaleMiddleware"


@pytest.fixture
def says_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Renders no template but the language and the zone that it would be rendered in."""

    def template(name: str, context: Mapping[str, Any]) -> str:
        return f"{translation.get_language()} {timezone.get_current_timezone_name()}"

    monkeypatch.setattr(render, "render_to_string", template)


@pytest.mark.usefixtures("says_where_it_is")
def test_no_viewers_language_or_zone_reaches_the_next() -> None:
    nothing = GuildList(guilds=[], version="")
    together = threading.Barrier(2)

    def serve(language: str, zone: str) -> list[str]:
        with timezone.override(ZoneInfo(zone)), translation.override("en"):
            together.wait(10)
            return [render.render_guild_list(nothing, language) for _ in range(200)]

    with ThreadPoolExecutor(2) as pool:
        tokyo = pool.submit(serve, "de", "Asia/Tokyo")
        lima = pool.submit(serve, "fr", "America/Lima")

    assert set(tokyo.result()) == {"de UTC"}
    assert set(lima.result()) == {"fr UTC"}


@pytest.mark.django_db
def test_the_list_is_the_same_for_every_viewer_and_says_its_times_in_utc() -> None:
    guild = builders.stored_guild()
    builders.stored_session(guild, title="Retro")
    board = queue_board(queue_snapshot(guild))

    with timezone.override(ZoneInfo("Asia/Tokyo")):
        here = render.render_queue(board, "en")
    with timezone.override(UTC):
        there = render.render_queue(board, "en")

    assert here == there
    assert "Retro" in here


@pytest.mark.django_db
def test_a_guild_list_without_guilds_says_so() -> None:
    ada = builders.stored_user("ada")
    [(_, nothing)] = guild_lists([UserId(ada.pk)]).items()

    assert "You administer no guild" in render.render_guild_list(nothing, "en")
    assert nothing.version.partition(".")[0].isdigit()


def test_the_language_is_the_pages_own(rf: RequestFactory, settings: Any) -> None:
    request = rf.get("/", headers={"accept-language": "de"})
    settings.LANGUAGES = [("en", "English"), ("de", "Deutsch")]
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if name != LOCALE]

    without = form_of(request, PAGE)
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, LOCALE]

    assert without == settings.LANGUAGE_CODE
    assert form_of(request, PAGE) == "de"
    assert form_of(rf.get("/", headers={"accept-language": "tlh"}), PAGE) == "en"
    assert form_of(request, JSON) == "json"


@pytest.mark.django_db
def test_without_an_asgi_server_a_stream_is_one_event_and_a_time_to_come_back() -> None:
    guild = builders.stored_guild()
    session_id = builders.stored_session(guild)
    client = Client()
    client.force_login(builders.stored_user("ada", guilds=[guild]))
    addresses = [
        reverse("api-queue-stream", args=[guild]),
        reverse("guild-queue-stream", args=[guild]),
        reverse("guild-history-stream", args=[guild]),
        reverse("guild-list-stream"),
        reverse("session-stream", args=[session_id]),
    ]

    for address in addresses:
        response = client.get(address)
        text = response.content.decode()
        assert response.status_code == 200
        assert text.startswith("retry: 1000\n")
        assert text.endswith("\n\n")
        assert text.count("\n\n") == 1
        for name, value in HEADERS:
            assert response[name.decode()] == value.decode()
        assert client.post(address).status_code == 405
        assert Client().get(address).status_code == 401


@pytest.mark.django_db
def test_many_users_lists_are_one_read(django_assert_num_queries: Callable[..., Any]) -> None:
    guilds = [builders.stored_guild(), builders.stored_guild(builders.MAGPIE, name="Magpie")]
    both = builders.stored_user("both", guilds=guilds)
    one = builders.stored_user("one", guilds=guilds[:1])
    none = builders.stored_user("none")

    with django_assert_num_queries(1):
        lists = guild_lists([UserId(user.pk) for user in (both, one, none)])

    names = {user: [guild.name for guild in found.guilds] for user, found in lists.items()}
    assert names == {
        both.pk: ["Magpie", "Starling Guild"],
        one.pk: ["Starling Guild"],
        none.pk: [],
    }
