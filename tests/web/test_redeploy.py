"""A server that is replaced while people look: all are right again soon, and not all at once."""

import time
from pathlib import Path

from guildqueue.domain.ids import GuildId
from guildqueue.domain.moves import Place
from guildqueue.services.move import move_session
from tests import builders
from tests.web.streams import cookie, free_port, serving_at, wait_for
from tests.web.viewers import Page, watching

N_PAGES = 50
GUILD = GuildId(builders.STARLING)
# The `retry:` of a stream is 1 to 12 s: about 5 pages a second, and those that met a closed port.
MOST_IN_A_SECOND = 20


def busiest_second(moments: list[float]) -> int:
    """The most moments that lie within one second."""
    return max(sum(at <= other < at + 1 for other in moments) for at in moments)


def order(page: Page) -> list[str]:
    return [session["title"] for session in page.shown["sessions"]] if page.shown else []


def test_fifty_pages_come_back_spread_and_show_what_happened_meanwhile(
    committed_db: None, tmp_path: Path, database_url: str
) -> None:
    guild = builders.stored_guild(GUILD)
    _, second = (builders.stored_session(guild, title=title) for title in "ab")
    ada = cookie(builders.stored_user("ada", guilds=[guild]))
    path, port = f"/api/guilds/{guild}/queue/stream", free_port()

    with watching(port, path, ada, n_pages=N_PAGES) as pages:
        with serving_at(port, "daphne", tmp_path, database_url) as server:
            wait_for(lambda: all(order(page) == ["a", "b"] for page in pages), timeout_s=40)
            n_before = sum(len(page.connected_at) for page in pages)
            server.stop()
        ended_at = time.monotonic()
        move_session(second, guild_id=guild, place=Place.FIRST, caller=builders.caller())
        with serving_at(port, "daphne", tmp_path, database_url):
            wait_for(lambda: all(order(page) == ["b", "a"] for page in pages), timeout_s=60)
            took_s = time.monotonic() - ended_at
            versions = {page.version.partition(".")[2] for page in pages}

    moments = sorted(at for page in pages for at in page.connected_at if at > ended_at)
    assert n_before >= N_PAGES
    assert len(moments) == N_PAGES
    assert took_s < 60
    assert len(versions) == 1
    assert busiest_second(moments) <= MOST_IN_A_SECOND
    assert moments[-1] - moments[0] > 3
