"""What is said, and when, to every process that shows a guild."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psycopg
import pytest
from django.db import transaction

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.apply_rule import apply_rule, preview_rule
from guildqueue.services.browse import events_page
from guildqueue.services.cancel import cancel_job, cancel_session
from guildqueue.services.changes import parse_guild
from guildqueue.services.drop_track import drop_track
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.hold import hold_guild, hold_session, release_guild, release_session
from guildqueue.services.move import move_session
from guildqueue.services.requeue import requeue_job, requeue_session
from guildqueue.store.notify import CHANNEL
from tests import builders


class Stored(NamedTuple):
    guild_id: GuildId
    longer: SessionId
    shorter: SessionId


Change = Callable[[Stored], object]
ADA = builders.caller("ada")
pytestmark = pytest.mark.usefixtures("committed_db")


@contextmanager
def listener(database_url: str) -> Iterator[Callable[[], list[str]]]:
    """What was said since it was asked last; a barrier of its own proves that nothing is due."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(f"LISTEN {CHANNEL}")

        def said() -> list[str]:
            connection.execute("SELECT pg_notify(%s, 'barrier')", [CHANNEL])
            heard: list[str] = []
            for notice in connection.notifies(timeout=10):
                if notice.payload == "barrier":
                    return heard
                heard.append(notice.payload)
            raise AssertionError(f"the barrier was never heard, only {heard}")

        yield said


def first_job(session_id: SessionId) -> JobId:
    return builders.session_jobs(session_id)[0].id


CHANGES: dict[str, Change] = {
    "move": lambda of: move_session(
        of.shorter, guild_id=of.guild_id, place=Place.FIRST, caller=ADA
    ),
    "rule": lambda of: apply_rule(of.guild_id, rule="short-recordings-first", caller=ADA),
    "hold": lambda of: hold_session(of.longer, guild_id=of.guild_id, reason="later", caller=ADA),
    "hold the guild": lambda of: hold_guild(of.guild_id, reason="later", caller=ADA),
    "cancel": lambda of: cancel_session(of.longer, guild_id=of.guild_id, caller=ADA),
    "cancel a job": lambda of: cancel_job(first_job(of.longer), guild_id=of.guild_id, caller=ADA),
}
UNDOING: dict[str, tuple[Change, Change]] = {
    "release": (
        lambda of: hold_session(of.longer, guild_id=of.guild_id, reason="", caller=ADA),
        lambda of: release_session(of.longer, guild_id=of.guild_id, caller=ADA),
    ),
    "release the guild": (
        lambda of: hold_guild(of.guild_id, reason="", caller=ADA),
        lambda of: release_guild(of.guild_id, caller=ADA),
    ),
    "requeue": (
        lambda of: cancel_session(of.longer, guild_id=of.guild_id, caller=ADA),
        lambda of: requeue_session(of.longer, guild_id=of.guild_id, caller=ADA),
    ),
    "requeue a job": (
        lambda of: cancel_job(first_job(of.longer), guild_id=of.guild_id, caller=ADA),
        lambda of: requeue_job(first_job(of.longer), guild_id=of.guild_id, caller=ADA),
    ),
    "drop a track": (
        lambda of: cancel_job(first_job(of.longer), guild_id=of.guild_id, caller=ADA),
        lambda of: drop_track(first_job(of.longer), guild_id=of.guild_id, caller=ADA),
    ),
}


def two_sessions() -> Stored:
    guild_id = builders.stored_guild()
    longer = builders.stored_session(guild_id, n_tracks=2, audio_seconds=600)
    return Stored(guild_id, longer, builders.stored_session(guild_id, audio_seconds=60))


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_person_changes_is_said_once_with_the_guilds_id(
    name: str, database_url: str
) -> None:
    stored = two_sessions()

    with listener(database_url) as said:
        CHANGES[name](stored)

        assert said() == [str(stored.guild_id)]


@pytest.mark.parametrize("name", UNDOING)
def test_what_a_person_undoes_is_said_once_with_the_guilds_id(name: str, database_url: str) -> None:
    stored = two_sessions()
    before, change = UNDOING[name]
    before(stored)

    with listener(database_url) as said:
        change(stored)

        assert said() == [str(stored.guild_id)]


def test_a_change_that_changes_nothing_is_not_said(database_url: str) -> None:
    guild_id, first, _ = two_sessions()
    hold_guild(guild_id, reason="", caller=ADA)
    records = len(events_page(guild_id))

    with listener(database_url) as said:
        move_session(first, guild_id=guild_id, place=Place.FIRST, caller=ADA)
        preview_rule(guild_id, rule="short-recordings-first")
        hold_guild(guild_id, reason="again", caller=ADA)
        release_session(first, guild_id=guild_id, caller=ADA)

        assert said() == []
    assert len(events_page(guild_id)) == records


def test_a_change_that_is_rolled_back_is_not_said(database_url: str) -> None:
    guild_id, _, second = two_sessions()

    with listener(database_url) as said:
        with transaction.atomic():
            move_session(second, guild_id=guild_id, place=Place.FIRST, caller=ADA)
            transaction.set_rollback(True)

        assert said() == []


def test_nothing_is_said_before_the_change_can_be_seen(database_url: str) -> None:
    guild_id, _, second = two_sessions()

    with listener(database_url) as said:
        with transaction.atomic():
            move_session(second, guild_id=guild_id, place=Place.FIRST, caller=ADA)

            assert said() == []
        assert said() == [str(guild_id)]


def test_what_workers_and_imports_do_is_never_said(database_url: str) -> None:
    guild_id = builders.stored_guild()

    with listener(database_url) as said:
        session_id = builders.stored_session(guild_id, n_tracks=2, recording=True)
        add_tracks(session_id, guild_id=guild_id, tracks=(), recording=False)
        first, second = builders.running_jobs(session_id)
        extend_lease(first.job.id, token=first.token, principal=builders.WORKER, ttl_s=60)
        builders.complete(first)
        builders.bury(second)

        assert said() == []


@pytest.mark.parametrize(
    ("payload", "guild_id"),
    [
        ("118000000000000001", 118000000000000001),
        ("", None),
        ("9223372036854775808", None),
        ("٣", None),
        ("-1", None),
        ("test 12", None),
        ("1" * 5000, None),
    ],
)
def test_only_a_guilds_id_names_a_guild(payload: str, guild_id: int | None) -> None:
    assert parse_guild(payload) == guild_id
