"""Broken lock cycles and failed serialisations: decided once more, then refused."""

from collections.abc import Callable
from threading import Event

import pytest
from django.db import OperationalError, transaction

from guildqueue.domain.errors import QueueBusy
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.move import move_session
from guildqueue.services.transaction import decided_in_transaction
from tests.builders import caller, stored_guild, stored_session
from tests.conftest import ServerLog
from tests.db.races import PATIENCE_S, Begun, begun, elsewhere, half_done, query
from tests.db.stored import line, numbers, write

pytestmark = pytest.mark.usefixtures("committed_db")

RETITLE = "UPDATE guildqueue_session SET title = title || %s WHERE id = %s"


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def overtaken(session_id: SessionId, n_times: int) -> Callable[[], int]:
    """A service whose serialisation fails at its first ``n_times`` tries; it gives the try."""
    tries: list[int] = []

    @decided_in_transaction
    def service() -> int:
        tries.append(1)
        query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        query("SELECT title FROM guildqueue_session")
        if len(tries) <= n_times:
            elsewhere(lambda: write(RETITLE, "!", session_id))
        write(RETITLE, "?", session_id)
        return len(tries)

    return service


def title(session_id: SessionId) -> str:
    return str(query("SELECT title FROM guildqueue_session WHERE id = %s", [session_id])[0][0])


def test_a_failed_serialisation_is_decided_once_more(guild: GuildId) -> None:
    session = stored_session(guild, title="retro")

    assert overtaken(session, 1)() == 2

    assert title(session) == "retro!?"


def test_a_serialisation_that_fails_twice_is_refused_as_busy(guild: GuildId) -> None:
    session = stored_session(guild, title="retro")

    with pytest.raises(QueueBusy, match="a retry is safe"):
        overtaken(session, 2)()

    assert title(session) == "retro!!"


def test_in_a_callers_transaction_the_conflict_is_the_callers(guild: GuildId) -> None:
    session = stored_session(guild, title="retro")

    @decided_in_transaction
    def service() -> None:
        elsewhere(lambda: write(RETITLE, "!", session))
        write(RETITLE, "?", session)

    def ask() -> None:
        with transaction.atomic():
            query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            query("SELECT title FROM guildqueue_session")
            service()

    with pytest.raises(OperationalError, match="could not serialize"):
        ask()

    assert title(session) == "retro!"


def test_another_database_error_is_not_tried_again(guild: GuildId) -> None:
    tries = []

    @decided_in_transaction
    def service() -> None:
        tries.append(1)
        query("SET LOCAL statement_timeout = '1ms'")
        query("SELECT pg_sleep(1)")

    with pytest.raises(OperationalError, match="statement timeout"):
        service()

    assert len(tries) == 1


def test_a_broken_lock_cycle_is_decided_once_more(guild: GuildId, server_log: ServerLog) -> None:
    a, b = stored_session(guild, title="a"), stored_session(guild, title="b")
    service_has_a = Event()
    tries = []

    def the_other_way_round() -> None:
        with transaction.atomic():
            query("SET LOCAL deadlock_timeout = '1min'")
            write(RETITLE, "!", b)
            assert service_has_a.wait(PATIENCE_S)
            write(RETITLE, "!", a)

    @decided_in_transaction
    def service(other: Begun[None]) -> int:
        tries.append(1)
        # Who waits this long looks for the cycle, and is the one that gives way.
        query("SET LOCAL deadlock_timeout = '10ms'")
        write(RETITLE, "?", a)
        if len(tries) == 1:
            service_has_a.set()
            other.wait_until_blocked()
        write(RETITLE, "?", b)
        return len(tries)

    with begun(the_other_way_round) as other:
        assert service(other) == 2

    assert server_log.has_deadlock()
    assert (title(a), title(b)) == ("a!?", "b!?")


def test_a_move_under_a_stricter_isolation_is_decided_once_more(guild: GuildId) -> None:
    a, b, c = [stored_session(guild) for _ in range(3)]

    def first(session_id: SessionId) -> None:
        move_session(session_id, guild_id=guild, place=Place.FIRST, caller=caller())

    def first_in_repeatable_read() -> None:
        query("SET default_transaction_isolation = 'repeatable read'")
        first(b)

    with (
        half_done(lambda: first(c), commit=True) as moving,
        begun(first_in_repeatable_read) as behind,
    ):
        behind.wait_until_blocked()
        moving.end()

    assert line(guild) == [b, c, a]
    assert numbers(guild) == {b: 1, c: 1, a: 2}
