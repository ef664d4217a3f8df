"""The ledger: append-only, chained, redacted, and in the transaction of what it records."""

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from guildqueue.domain.errors import QueueError
from guildqueue.domain.ids import GuildId
from guildqueue.domain.ledger import EventType
from guildqueue.domain.moves import Place
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.services.browse import events_page
from guildqueue.services.cancel import cancel_session
from guildqueue.services.hold import hold_guild, hold_session, release_session
from guildqueue.services.move import move_session
from guildqueue.services.requeue import requeue_session
from guildqueue.store import ledger
from tests.builders import MAGPIE, caller, stored_guild, stored_session
from tests.db.races import half_done, query, together
from tests.db.stored import write

pytestmark = pytest.mark.usefixtures("committed_db")

COLUMNS = (
    "event_id",
    "guild_id",
    "at",
    "type",
    "by",
    "on_behalf_of",
    "reason",
    "changed",
    "correlation_id",
    "untrusted",
    "prev_digest",
)


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def canonical(value: Any) -> str:
    """RFC 8785 for what a record holds, written here from the standard and not by its library.

    Names sort by UTF-16 code units; text escapes as little as JSON allows; numbers are whole.
    """
    match value:
        case None | bool():
            return json.dumps(value)
        case int() | float():
            assert value == int(value)
            # Beyond what JavaScript counts exactly, a record's numbers are covered as text.
            return str(int(value)) if abs(value) < 2**53 else f'"{int(value)}"'
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return "[" + ",".join(canonical(item) for item in value) + "]"
        case dict():
            names = sorted(value, key=lambda name: name.encode("utf-16-be"))
            return "{" + ",".join(f"{canonical(n)}:{canonical(value[n])}" for n in names) + "}"
    raise TypeError(type(value))


def recomputed(row: tuple[Any, ...]) -> str:
    """The digest of a row of the table."""
    covered = dict(zip(COLUMNS, row, strict=True))
    moment: datetime = covered["at"]
    covered |= {
        "event_id": str(covered["event_id"]),
        "guild_id": str(covered["guild_id"]),
        "at": moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "changed": json.loads(covered["changed"]),
    }
    return hashlib.sha256(canonical(covered).encode()).hexdigest()


def assert_chain_holds(guild_id: GuildId, *, n_records: int) -> None:
    found = query(
        f"SELECT {', '.join(COLUMNS)}, digest FROM guildqueue_queue_event"  # noqa: S608
        " WHERE guild_id = %s ORDER BY event_id",
        [guild_id],
    )
    assert len(found) == n_records
    before = ""
    for *row, digest in found:
        assert row[-1] == before
        assert digest == recomputed(tuple(row))
        before = digest
    moments = [row[2] for row in found]
    assert moments == sorted(moments)


def append(guild_id: GuildId, **given: Any) -> None:
    with transaction.atomic():
        ledger.append(
            guild_id, EventType.HELD, **{"caller": caller(), "changed": {"a": "b"}, **given}
        )


def test_each_record_seals_the_one_before(guild: GuildId) -> None:
    a, b = stored_session(guild, title='über "quotes" \\ 🎙 \u2028'), stored_session(guild)
    move_session(b, guild_id=guild, place=Place.BEFORE, neighbour=a, caller=caller("ada"))
    hold_session(a, guild_id=guild, reason="tea\tand\ncake", caller=caller("björk"))
    release_session(a, guild_id=guild, caller=caller("ivo"))
    cancel_session(a, guild_id=guild, caller=caller("ivo"))
    requeue_session(a, guild_id=guild, caller=caller("ivo"))

    assert_chain_holds(guild, n_records=5)


def test_the_digest_covers_every_field_as_it_is_stored(guild: GuildId) -> None:
    strange = {
        "z": [1, 2.0, None, True],
        "\U0001f399": "x",
        "\uffff": "y",
        "big": 2**60,
        "nested": {"b": {"a": "\x7f\x1f"}},
    }
    asked = Caller(
        principal=Principal(PrincipalKind.TOKEN, "ci"),
        correlation_id="7f0c",
        on_behalf_of="user:ada",
    )

    append(guild, caller=asked, changed=strange, reason="why", untrusted=True)

    assert_chain_holds(guild, n_records=1)
    (record,) = events_page(guild)
    assert (record.by, record.on_behalf_of, record.correlation_id) == (
        "token:ci",
        "user:ada",
        "7f0c",
    )
    assert ledger.digest_of(record) == record.digest


def test_each_guild_has_a_chain_of_its_own(guild: GuildId) -> None:
    other = stored_guild(MAGPIE)
    for guild_id in (guild, other, guild, other, other):
        append(guild_id)

    assert_chain_holds(guild, n_records=2)
    assert_chain_holds(other, n_records=3)


def test_twenty_writers_at_once_keep_the_chain_whole(guild: GuildId) -> None:
    sessions = [stored_session(guild) for _ in range(20)]

    def hold(n: int) -> Callable[[], bool]:
        return lambda: hold_session(sessions[n], guild_id=guild, reason="", caller=caller(f"u{n}"))

    done = together(*[hold(n) for n in range(20)])

    assert done == [True] * 20
    assert_chain_holds(guild, n_records=20)


def test_writers_that_bypass_the_order_lock_keep_the_chain_whole(guild: GuildId) -> None:
    together(*[lambda: append(guild)] * 20)

    assert_chain_holds(guild, n_records=20)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE guildqueue_queue_event SET by = 'user:eve'",
        "DELETE FROM guildqueue_queue_event",
        "TRUNCATE guildqueue_queue_event",
    ],
)
def test_a_record_cannot_be_changed_or_removed(guild: GuildId, statement: str) -> None:
    append(guild)

    with pytest.raises(DatabaseError, match="append-only"):
        write(statement)

    assert_chain_holds(guild, n_records=1)


def test_a_change_that_is_rolled_back_leaves_no_record(guild: GuildId) -> None:
    session = stored_session(guild)

    with half_done(
        lambda: hold_session(session, guild_id=guild, reason="", caller=caller()), commit=False
    ):
        assert events_page(guild) == []

    assert events_page(guild) == []
    assert query("SELECT held_at FROM guildqueue_session") == [(None,)]


def test_a_record_that_cannot_be_written_takes_its_change_back(
    guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = stored_session(guild)

    def broken(*_: object, **__: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(ledger, "digest_of", broken)
    with pytest.raises(ZeroDivisionError):
        hold_session(session, guild_id=guild, reason="", caller=caller())

    assert query("SELECT held_at FROM guildqueue_session") == [(None,)]
    assert query("SELECT bool_or(held) FROM guildqueue_job") == [(False,)]


def test_secrets_never_reach_the_table(guild: GuildId) -> None:
    secret = "gq_abcdefghijklmnop"
    session = stored_session(guild, title=f"the token {secret}")

    hold_session(session, guild_id=guild, reason=f"Bearer {secret}\0", caller=caller(secret))
    append(guild, changed={"password": "hunter2", "url": "postgres://u:hunter2@db/x"})

    for column in ("changed::text", "reason", "by"):
        stored = str(query(f"SELECT {column} FROM guildqueue_queue_event"))  # noqa: S608
        assert secret not in stored
        assert "hunter2" not in stored
    assert secret not in str(query("SELECT hold_reason FROM guildqueue_session"))
    assert_chain_holds(guild, n_records=2)


def test_a_refused_change_is_not_recorded(guild: GuildId) -> None:
    session = stored_session(guild)
    cancel_session(session, guild_id=guild, caller=caller())

    for refused in (
        lambda: cancel_session(session, guild_id=guild, caller=caller()),
        lambda: move_session(session, guild_id=guild, place=Place.FIRST, caller=caller()),
        lambda: hold_guild(GuildId(5), reason="", caller=caller()),
    ):
        with pytest.raises(QueueError):
            refused()

    assert [record.type for record in events_page(guild)] == ["Cancelled"]


def test_records_are_paged_newest_first_without_gap_or_repeat(
    guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guildqueue.services.browse.EVENTS_A_PAGE", 3)
    for number in range(7):
        append(guild, reason=str(number))
    append(stored_guild(MAGPIE), reason="another guild's")

    seen, before = [], None
    while page := events_page(guild, before=before):
        seen.append([record.reason for record in page])
        before = page[-1].event_id

    assert seen == [["6", "5", "4"], ["3", "2", "1"], ["0"]]
