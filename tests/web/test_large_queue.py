"""A queue of 10,000 meetings: a page of it is a page, and every place of it can be reached."""

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client

from benchmarks.fill import fill_guild
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.snapshot import QueueSnapshot
from guildqueue.services.read_order import waiting_line
from guildqueue.services.snapshot import queue_snapshot
from tests import builders

GUILD = GuildId(builders.STARLING)
N_SESSIONS = 10_000


@pytest.fixture
def ids(committed_db: None) -> list[SessionId]:
    return [SessionId(n) for n in fill_guild(GUILD, n_sessions=N_SESSIONS, n_jobs=1)]


@pytest.fixture
def ada(ids: list[SessionId]) -> Client:
    return builders.signed_in(builders.stored_user("ada", guilds=[GUILD]))


def n_queries(work: Callable[[], object]) -> int:
    """How many statements ``work`` sends."""
    sent = []

    def note(execute, sql, params, many, context):  # type: ignore[no-untyped-def]
        sent.append(sql)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        work()
    return len(sent)


def front() -> QueueSnapshot:
    return queue_snapshot(GUILD)


def test_a_page_has_200_rows_and_says_how_many_more_there_are(
    ada: Client, ids: list[SessionId]
) -> None:
    html = ada.get(f"/guilds/{GUILD}/").content.decode()

    assert len(re.findall(r'<li class="row"', html)) == 200
    assert "10000 sessions in line" in html
    assert "9800 more sessions" in html
    assert f'href="/guilds/{GUILD}/?after={ids[199]}"' in html


def test_the_last_of_10000_is_moved_to_a_number_and_says_both_places(
    ada: Client, ids: list[SessionId]
) -> None:
    moved = ada.post(f"/sessions/{ids[-1]}/move", {"number": "150"}, follow=True)

    assert "from 10000 to 151 of 10000." in moved.content.decode()
    assert front().sessions[150].session_id == ids[-1]


@pytest.mark.parametrize("number", [1, 300, N_SESSIONS])
def test_a_meeting_put_behind_its_own_number_stays_there(
    ada: Client, ids: list[SessionId], number: int
) -> None:
    sent = {"number": str(number)}

    asked = ada.post(f"/sessions/{ids[number - 1]}/move", sent, follow=True)

    assert "Nothing to do:" in asked.content.decode()
    assert waiting_line(GUILD) == tuple(ids)


def test_a_number_costs_no_more_to_find_at_the_end_than_at_the_front(
    ada: Client, ids: list[SessionId]
) -> None:
    def send(number: int) -> int:
        sent = {"number": str(number)}
        return n_queries(lambda: ada.post(f"/sessions/{ids[5000]}/move", sent))

    assert send(9_999) == send(10)


def test_a_preview_reads_the_whole_line_at_once(ada: Client, ids: list[SessionId]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO guildqueue_participant (guild_id, session_id, name) VALUES (%s, %s, 'x')",
            [GUILD, ids[-1]],
        )
    path = f"/guilds/{GUILD}/rules/many-participants-first"
    html = ""

    def read() -> None:
        nonlocal html
        html = ada.get(path).content.decode()

    assert n_queries(read) < 15
    assert "10000 of 10000 sessions get another place in line." in html
    assert "and 9950 more" in html
