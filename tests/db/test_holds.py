"""Holds of sessions and guilds: independent of each other, gates and never an order."""

import pytest

from guildqueue.domain.errors import GuildNotFound, NothingOutstanding, SessionNotFound
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.new_session import NewTrack
from guildqueue.domain.snapshot import SessionState, WaitsFor
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.browse import events_page, session_detail
from guildqueue.services.claim import claim_jobs
from guildqueue.services.fail import fail_job
from guildqueue.services.hold import hold_guild, hold_session, release_guild, release_session
from guildqueue.services.move import move_session
from guildqueue.services.snapshot import queue_snapshot
from tests.builders import (
    MAGPIE,
    WORKER,
    caller,
    complete,
    done_session,
    make_due,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.stored import line, row_versions

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def hold(session_id: SessionId, *, guild_id: GuildId, reason: str = "wait") -> bool:
    return hold_session(session_id, guild_id=guild_id, reason=reason, caller=caller())


def claimed_sessions(n: int = 99) -> list[SessionId]:
    return [lease.job.session_id for lease in claim_jobs(WORKER, count=n, ttl_s=60)]


def test_a_held_session_is_passed_over_and_keeps_its_place(guild: GuildId) -> None:
    held, behind = stored_session(guild), stored_session(guild)

    assert hold(held, guild_id=guild)

    assert claimed_sessions() == [behind]
    assert line(guild) == [held, behind]
    entry = session_detail(held).entry
    assert (entry.state, entry.waits_for, entry.position) == (
        SessionState.HELD,
        WaitsFor.HOLD,
        1,
    )


def test_a_released_session_runs_next_again(guild: GuildId) -> None:
    held, behind = stored_session(guild), stored_session(guild)
    hold(held, guild_id=guild)

    assert release_session(held, guild_id=guild, caller=caller())

    assert claimed_sessions() == [held, behind]


def test_running_jobs_of_a_held_session_finish(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    running, *_ = running_jobs(session, n=1)
    hold(session, guild_id=guild)

    complete(running)

    assert [job.state for job in session_jobs(session)] == ["done", "pending", "pending"]
    assert claimed_sessions() == []


def test_a_retry_in_a_held_session_stays_held(guild: GuildId) -> None:
    session = stored_session(guild)
    (running,) = running_jobs(session)
    hold(session, guild_id=guild)

    fail_job(running.job.id, token=running.token, principal=WORKER, error="no", jitter=0.0)
    make_due(running.job.id)

    assert claimed_sessions() == []


def test_a_late_track_of_a_held_session_is_held(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=0, recording=True)
    hold(session, guild_id=guild)

    add_tracks(session, guild_id=guild, tracks=[NewTrack(name="late")], recording=False)

    assert claimed_sessions() == []
    release_session(session, guild_id=guild, caller=caller())
    assert claimed_sessions() == [session]


def test_session_and_guild_holds_are_independent(guild: GuildId) -> None:
    held, free = stored_session(guild), stored_session(guild)
    hold(held, guild_id=guild)
    hold_guild(guild, reason="maintenance", caller=caller())

    assert claimed_sessions() == []
    release_session(held, guild_id=guild, caller=caller())
    assert claimed_sessions() == []
    hold(held, guild_id=guild)
    release_guild(guild, caller=caller())

    assert claimed_sessions() == [free]


def test_a_held_guild_does_not_stop_the_others(guild: GuildId) -> None:
    stored_session(guild)
    other = stored_session(stored_guild(MAGPIE))

    hold_guild(guild, reason="", caller=caller())

    assert claimed_sessions() == [other]


def test_counts_say_how_many_jobs_a_hold_keeps_back(guild: GuildId) -> None:
    held = stored_session(guild, n_tracks=2)
    stored_session(guild, n_tracks=1)

    hold(held, guild_id=guild)
    by_session = queue_snapshot(guild).counts.held
    hold_guild(guild, reason="", caller=caller())

    assert by_session == 3
    assert queue_snapshot(guild).counts.held == 5


def test_a_repeated_hold_or_release_writes_nothing(guild: GuildId) -> None:
    session = stored_session(guild)
    assert release_session(session, guild_id=guild, caller=caller()) is False
    assert release_guild(guild, caller=caller()) is False
    hold(session, guild_id=guild, reason="first")
    hold_guild(guild, reason="first", caller=caller())
    versions, records = row_versions(), events_page(guild)

    assert hold(session, guild_id=guild, reason="second") is False
    assert hold_guild(guild, reason="second", caller=caller("björk")) is False

    assert row_versions() == versions
    assert events_page(guild) == records
    hold_note = session_detail(session).entry.hold
    assert hold_note is not None
    assert hold_note.reason == "first"


def test_a_finished_session_cannot_be_held(guild: GuildId) -> None:
    session = done_session(guild)
    versions = row_versions()

    with pytest.raises(NothingOutstanding):
        hold(session, guild_id=guild)

    assert row_versions() == versions


def test_another_guilds_session_is_not_found(guild: GuildId) -> None:
    foreign = stored_session(stored_guild(MAGPIE))
    versions = row_versions()

    with pytest.raises(SessionNotFound):
        hold(foreign, guild_id=guild)
    with pytest.raises(SessionNotFound):
        release_session(foreign, guild_id=guild, caller=caller())
    with pytest.raises(GuildNotFound):
        hold_guild(GuildId(5), reason="", caller=caller())
    with pytest.raises(GuildNotFound):
        release_guild(GuildId(5), caller=caller())

    assert row_versions() == versions


def test_a_held_session_can_be_moved(guild: GuildId) -> None:
    other, held = stored_session(guild), stored_session(guild)
    hold(held, guild_id=guild)

    move_session(held, guild_id=guild, place=Place.FIRST, caller=caller())

    assert line(guild) == [held, other]
    assert claimed_sessions() == [other]


def test_holds_and_releases_are_recorded_with_their_reason(guild: GuildId) -> None:
    session = stored_session(guild, title="planning")

    hold(session, guild_id=guild, reason="password=hunter2 leaked")
    release_session(session, guild_id=guild, caller=caller())
    hold_guild(guild, reason="upgrade", caller=caller())
    release_guild(guild, caller=caller())

    by_session = {"session_id": str(session), "title": "planning"}
    by_guild = {"guild_id": str(guild)}
    assert [(r.type, r.reason, dict(r.changed)) for r in reversed(events_page(guild))] == [
        ("Held", "password=[redacted] leaked", by_session),
        ("Released", "", by_session),
        ("Held", "upgrade", by_guild),
        ("Released", "", by_guild),
    ]


def test_the_first_of_a_held_sessions_tracks_is_where_it_left_off(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=3)
    first, *_ = running_jobs(session, n=1)
    complete(first)
    hold(session, guild_id=guild)
    release_session(session, guild_id=guild, caller=caller())

    (lease,) = claim_jobs(WORKER, ttl_s=60)

    assert lease.job.id == track_ids(session)[1]
