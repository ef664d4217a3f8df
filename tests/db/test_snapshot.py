"""The snapshot: what every front end shows of a guild, and that its version can be trusted."""

from datetime import timedelta

import pytest

from guildqueue.domain.errors import GuildNotFound, InvalidInput, SessionNotFound
from guildqueue.domain.grant import Asker
from guildqueue.domain.ids import BIGINT_MAX, GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.snapshot import QueueSnapshot, SessionEntry, SessionState, WaitsFor
from guildqueue.services.browse import events_page, session_detail
from guildqueue.services.bump import bump_session
from guildqueue.services.cancel import cancel_job
from guildqueue.services.claim import claim_jobs
from guildqueue.services.fail import fail_job
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.hold import hold_guild, hold_session
from guildqueue.services.move import move_session
from guildqueue.services.snapshot import queue_snapshot
from tests.builders import (
    MAGPIE,
    WORKER,
    bury,
    caller,
    cancelled_session,
    complete,
    dead_session,
    done_session,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.races import half_done
from tests.db.stored import put_in_lane, write

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def entry(session_id: SessionId, guild_id: GuildId) -> SessionEntry:
    snapshot = queue_snapshot(guild_id)
    return next(e for e in (*snapshot.sessions, *snapshot.finished) if e.session_id == session_id)


def shown(snapshot: QueueSnapshot) -> list[SessionId]:
    return [e.session_id for e in snapshot.sessions]


def number(snapshot: QueueSnapshot) -> int:
    return int(snapshot.version.split(".")[0])


def test_sessions_come_in_the_order_in_which_workers_take_them(guild: GuildId) -> None:
    a, b, c, d = [stored_session(guild) for _ in range(4)]
    move_session(d, guild_id=guild, place=Place.FIRST, caller=caller())
    put_in_lane([job.id for job in session_jobs(b)])

    order = shown(queue_snapshot(guild))

    assert order == [b, d, a, c]
    assert [lease.job.session_id for lease in claim_jobs("w", count=9, ttl_s=60)] == order


def test_position_counts_waiting_sessions_lane_and_held_ones_included(guild: GuildId) -> None:
    running, held, lane, last = [stored_session(guild, recording=n == 0) for n in range(4)]
    running_jobs(running)
    hold_session(held, guild_id=guild, reason="", caller=caller())
    put_in_lane([job.id for job in session_jobs(lane)])

    positions = {e.session_id: e.position for e in queue_snapshot(guild).sessions}

    assert positions == {lane: 1, running: None, held: 2, last: 3}
    assert entry(running, guild).priority == 0
    assert queue_snapshot(guild).n_waiting_sessions == 3


def test_a_session_with_nothing_outstanding_has_neither_number_nor_place(guild: GuildId) -> None:
    done = done_session(guild)

    found = entry(done, guild)

    assert (found.priority, found.position, found.state) == (None, None, SessionState.DONE)
    assert found.ended_at is not None
    assert found.has_document
    assert found.progress == 1.0


def test_a_session_partly_in_the_lane_says_so_and_keeps_its_place(guild: GuildId) -> None:
    first, partly = stored_session(guild), stored_session(guild, n_tracks=3)
    put_in_lane(track_ids(partly)[:2])
    write("UPDATE guildqueue_job SET bump_named = true WHERE bump_seq = 1")

    found = entry(partly, guild)

    assert (found.lane_jobs, found.in_lane, found.named, found.position) == (2, False, True, 2)
    assert shown(queue_snapshot(guild)) == [first, partly]


def reasons(guild_id: GuildId) -> dict[str, SessionId]:
    """A session for each reason that the first pending job of a session may wait."""
    made = {
        "claimable": stored_session(guild_id),
        "held": stored_session(guild_id),
        "blocked": stored_session(guild_id),
        "deferred": stored_session(guild_id),
    }
    hold_session(made["held"], guild_id=guild_id, reason="", caller=caller())
    running_jobs(made["blocked"])
    (lease,) = running_jobs(made["deferred"])
    fail_job(lease.job.id, token=lease.token, principal=WORKER, error="no", jitter=0.9)
    made["failed"] = dead_session(guild_id, n_tracks=2)
    return made


def test_a_session_says_what_its_first_pending_job_waits_for(guild: GuildId) -> None:
    made = reasons(guild)

    waits = {name: entry(session, guild).waits_for for name, session in made.items()}

    assert waits == {
        "claimable": None,
        "held": WaitsFor.HOLD,
        "blocked": WaitsFor.DEPENDENCY,
        "deferred": WaitsFor.NOT_BEFORE,
        "failed": WaitsFor.DEPENDENCY_FAILED,
    }
    deferred = entry(made["deferred"], guild)
    assert deferred.not_before is not None
    assert deferred.not_before > queue_snapshot(guild).at


def test_one_claimable_job_is_enough_for_a_session_to_wait_for_nothing(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    (lease, _) = running_jobs(session, n=2)
    fail_job(lease.job.id, token=lease.token, principal=WORKER, error="no", jitter=0.9)
    running = entry(session, guild)
    write("UPDATE guildqueue_job SET state = 'pending', lease_by = NULL, lease_expires_at = NULL")

    assert running.waits_for is WaitsFor.NOT_BEFORE
    assert entry(session, guild).waits_for is None


def test_a_held_guild_makes_all_of_its_sessions_wait(guild: GuildId) -> None:
    session = stored_session(guild)

    hold_guild(guild, reason="upgrade", caller=caller("ada"))

    snapshot = queue_snapshot(guild)
    assert snapshot.held
    assert (note := snapshot.hold) is not None
    assert note.by == "user:ada"
    assert entry(session, guild).waits_for is WaitsFor.HOLD
    assert entry(session, guild).state is SessionState.QUEUED


@pytest.mark.parametrize("state", list(SessionState))
def test_a_session_has_the_first_state_that_fits(guild: GuildId, state: SessionState) -> None:
    make = {
        SessionState.RECORDING: lambda: stored_session(guild, recording=True),
        SessionState.RUNNING: lambda: stored_session(guild),
        SessionState.HELD: lambda: stored_session(guild),
        SessionState.QUEUED: lambda: stored_session(guild),
        SessionState.DEAD: lambda: dead_session(guild, n_tracks=2),
        SessionState.CANCELLED: lambda: cancelled_session(guild),
        SessionState.DONE: lambda: done_session(guild),
    }
    session = make[state]()
    if state in (SessionState.RECORDING, SessionState.RUNNING):
        running_jobs(session)
        hold_session(session, guild_id=guild, reason="", caller=caller())
    if state is SessionState.HELD:
        hold_session(session, guild_id=guild, reason="", caller=caller())

    assert entry(session, guild).state is state


def test_one_live_track_beside_a_dead_one_keeps_a_session_queued(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    bury(running_jobs(session, n=1)[0])

    assert entry(session, guild).state is SessionState.QUEUED


def test_a_dead_track_beside_a_cancelled_rest_is_dead(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    bury(running_jobs(session, n=1)[0])
    for job in session_jobs(session)[1:]:
        cancel_job(job.id, guild_id=guild, caller=caller())

    assert entry(session, guild).state is SessionState.DEAD


def test_a_recording_without_any_track_is_shown(guild: GuildId) -> None:
    empty = stored_session(guild, n_tracks=0, recording=True)

    found = entry(empty, guild)

    assert (found.state, found.jobs.total) == (SessionState.RECORDING, 0)
    assert session_detail(empty).entry == found


def test_counts_are_jobs_of_every_state(guild: GuildId) -> None:
    done_session(guild, n_tracks=2)
    dead_session(guild, n_tracks=2)
    cancelled_session(guild)
    stored_session(guild, n_tracks=3)
    running_jobs(stored_session(guild, n_tracks=2))
    write(
        "UPDATE guildqueue_job SET state = 'paused' WHERE id = (SELECT min(id)"
        " FROM guildqueue_job WHERE state = 'done')"
    )

    counts = queue_snapshot(guild).counts

    assert (counts.pending, counts.running) == (6, 2)
    assert (counts.done, counts.dead, counts.cancelled, counts.other) == (3, 1, 2, 1)


def test_what_waits_is_measured_in_tracks_and_seconds(guild: GuildId) -> None:
    stored_session(guild, n_tracks=2, audio_seconds=[30.0, None])
    running_jobs(stored_session(guild, audio_seconds=500.0))
    stored_session(guild, audio_seconds=12.5)

    snapshot = queue_snapshot(guild)

    assert (snapshot.waiting_tracks, snapshot.unmeasured_tracks) == (3, 1)
    assert snapshot.waiting_audio_seconds == 42.5


def test_progress_is_the_share_of_the_session_that_is_done(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=3)
    first, second = running_jobs(session, n=2)
    complete(first)
    extend_lease(second.job.id, token=second.token, principal=WORKER, ttl_s=60, progress=0.5)
    cancel_job(track_ids(session)[2], guild_id=guild, caller=caller())

    found = entry(session, guild)

    assert found.progress == pytest.approx(1.5 / 3)
    assert [bar.progress for bar in found.tracks[:2]] == [1.0, 0.5]
    assert found.running_since is not None


def test_pages_follow_each_other_without_gap_or_repeat(
    guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guildqueue.services.snapshot.SESSIONS_A_PAGE", 2)
    sessions = [stored_session(guild) for _ in range(5)]
    done = done_session(guild)

    pages = [queue_snapshot(guild)]
    while pages[-1].more:
        pages.append(queue_snapshot(guild, after=shown(pages[-1])[-1]))

    assert [shown(page) for page in pages] == [sessions[:2], sessions[2:4], sessions[4:]]
    assert [page.more for page in pages] == [3, 1, 0]
    assert [[e.session_id for e in page.finished] for page in pages] == [[done], [], []]
    assert {page.counts.pending for page in pages} == {10}
    assert pages[-1].sessions[0].position == 5


def test_a_page_after_what_is_not_in_the_queue_is_refused(guild: GuildId) -> None:
    foreign, done = stored_session(stored_guild(MAGPIE)), done_session(guild)

    for after in (foreign, done, SessionId(BIGINT_MAX)):
        with pytest.raises(InvalidInput, match="after"):
            queue_snapshot(guild, after=after)


def test_finished_sessions_come_newest_first_and_only_the_newest(
    guild: GuildId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("guildqueue.services.snapshot.FINISHED_SHOWN", 3)
    sessions = [done_session(guild) for _ in range(5)]

    found = [e.session_id for e in queue_snapshot(guild).finished]

    assert found == sessions[:1:-1]


def test_another_guilds_sessions_are_in_no_number(guild: GuildId) -> None:
    before = queue_snapshot(guild)
    other = stored_guild(MAGPIE)
    stored_session(other)
    done_session(other)

    after = queue_snapshot(guild)

    assert after.counts == before.counts
    assert (after.sessions, after.finished, after.more) == ((), (), 0)


def test_an_unknown_guild_or_session_is_not_found() -> None:
    with pytest.raises(GuildNotFound):
        queue_snapshot(GuildId(5))
    with pytest.raises(SessionNotFound):
        session_detail(SessionId(5))


def test_two_looks_at_the_same_queue_have_one_digest(guild: GuildId) -> None:
    stored_session(guild)

    first, second = queue_snapshot(guild), queue_snapshot(guild)

    assert first.version.split(".")[1] == second.version.split(".")[1]
    assert first.at < second.at + timedelta(seconds=1)


def test_every_change_gives_a_higher_number_and_another_digest(guild: GuildId) -> None:
    a, b = stored_session(guild), stored_session(guild)
    seen = [queue_snapshot(guild)]

    for change in (
        lambda: move_session(b, guild_id=guild, place=Place.FIRST, caller=caller()),
        lambda: hold_session(a, guild_id=guild, reason="", caller=caller()),
        lambda: running_jobs(b),
        lambda: hold_guild(guild, reason="", caller=caller()),
    ):
        change()
        seen.append(queue_snapshot(guild))

    numbers = [number(snapshot) for snapshot in seen]
    assert numbers == sorted(set(numbers))
    assert len({snapshot.version.split(".")[1] for snapshot in seen}) == 5


def test_a_change_that_commits_out_of_turn_still_gives_a_higher_number(guild: GuildId) -> None:
    a, b = stored_session(guild), stored_session(guild)

    with half_done(
        lambda: hold_session(a, guild_id=guild, reason="slow", caller=caller()), commit=True
    ) as slow:
        write("UPDATE guildqueue_session SET title = 'quick' WHERE id = %s", b)
        before = queue_snapshot(guild)
        slow.end()

    after = queue_snapshot(guild)
    assert number(after) > number(before)
    assert (entry(a, guild).held, before.sessions[0].held) == (True, False)


def test_a_queue_comes_with_the_newest_records_of_its_own_ledger(guild: GuildId) -> None:
    session_ids = [stored_session(guild) for _ in range(8)]
    other = stored_session(stored_guild(MAGPIE, name="Magpie"))
    for session_id in session_ids:
        hold_session(session_id, guild_id=guild, reason="", caller=caller())
    hold_session(other, guild_id=MAGPIE, reason="", caller=caller())

    shown = queue_snapshot(guild)

    assert list(shown.events) == events_page(guild)[:6]
    assert queue_snapshot(guild, after=session_ids[0]).events == shown.events
    assert queue_snapshot(stored_guild(3, name="Crow")).events == ()


def test_a_record_alone_makes_another_version(guild: GuildId) -> None:
    session_id = stored_session(guild)
    before = queue_snapshot(guild).version

    stranger = Asker(uid=0, principal=caller().principal, may_be_operator=False)
    bump_session(session_id, guild_id=guild, asker=stranger)

    assert queue_snapshot(guild).version.partition(".")[2] != before.partition(".")[2]
