"""A new session joins at the end of the line, whatever was moved before."""

import pytest

from guildqueue.domain.ids import GuildId
from guildqueue.domain.moves import Place
from guildqueue.services.move import move_session
from guildqueue.services.snapshot import queue_snapshot
from tests.builders import STARLING, caller, session_jobs, stored_guild, stored_session
from tests.db.stored import put_in_lane, write

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild(STARLING)


def line(guild: GuildId) -> list[tuple[int, int | None]]:
    """Sessions and their numbers, in claim order."""
    return [(entry.session_id, entry.priority) for entry in queue_snapshot(guild).sessions]


def test_untouched_work_carries_0(guild: GuildId) -> None:
    first, second = stored_session(guild), stored_session(guild)

    assert line(guild) == [(first, 0), (second, 0)]


def test_a_new_session_stands_behind_those_that_were_overtaken(guild: GuildId) -> None:
    first, second, third = (stored_session(guild) for _ in range(3))
    move_session(third, guild_id=guild, place=Place.FIRST, caller=caller())

    new = stored_session(guild)

    assert [session for session, _ in line(guild)] == [third, first, second, new]


def test_a_negative_number_of_the_operators_is_not_handed_on(guild: GuildId) -> None:
    first = stored_session(guild)
    write("UPDATE guildqueue_job SET priority = -5 WHERE session_id = %s", first)

    new = stored_session(guild)

    assert line(guild) == [(first, -5), (new, 0)]


def test_numbers_leave_with_the_work_and_with_the_lane(guild: GuildId) -> None:
    moved = stored_session(guild)
    write("UPDATE guildqueue_job SET priority = 7 WHERE session_id = %s", moved)
    put_in_lane([job.id for job in session_jobs(moved)])

    new = stored_session(guild)

    assert line(guild) == [(moved, 7), (new, 0)]
