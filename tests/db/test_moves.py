"""Moves on the stored queue: what is written, what is refused, and what is left alone."""

from collections.abc import Callable

import pytest
from django.db import transaction

from guildqueue.domain.errors import (
    InLane,
    InvalidInput,
    MoveRefused,
    NeighbourLeftQueue,
    PriorityExhausted,
    QueueError,
    SessionLeftQueue,
)
from guildqueue.domain.ids import BIGINT_MAX, GuildId, SessionId
from guildqueue.domain.job import Lease
from guildqueue.domain.moves import Place
from guildqueue.domain.new_session import NewTrack
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.browse import events_page
from guildqueue.services.claim import claim_jobs
from guildqueue.services.move import MoveOutcome, move_session
from guildqueue.services.snapshot import queue_snapshot
from tests.builders import (
    MAGPIE,
    WORKER,
    caller,
    complete,
    done_session,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.db.races import begun, half_done
from tests.db.stored import (
    line,
    numbers,
    put_in_lane,
    row_versions,
    set_number,
    wrote_anything,
)

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def sessions_of(guild_id: GuildId, n: int, *, n_tracks: int = 2) -> list[SessionId]:
    return [stored_session(guild_id, n_tracks=n_tracks) for _ in range(n)]


def move(
    session_id: SessionId,
    place: Place,
    neighbour: SessionId | None = None,
    *,
    guild_id: GuildId,
    by: str = "ada",
) -> MoveOutcome:
    return move_session(
        session_id, guild_id=guild_id, place=place, neighbour=neighbour, caller=caller(by)
    )


def test_a_session_moved_first_is_claimed_first(guild: GuildId) -> None:
    first, _, last = sessions_of(guild, 3)

    outcome = move(last, Place.FIRST, guild_id=guild)

    assert line(guild)[0] == last
    assert outcome.order == tuple(numbers(guild).items())
    (lease,) = claim_jobs(WORKER, ttl_s=60)
    assert lease.job.session_id == last
    assert first in outcome.changed


def test_every_place_gives_the_order_it_names(guild: GuildId) -> None:
    a, b, c, d = sessions_of(guild, 4)

    orders = []
    for moved, place, neighbour in (
        (a, Place.LAST, None),
        (d, Place.FIRST, None),
        (a, Place.BEFORE, c),
        (d, Place.AFTER, a),
    ):
        move(moved, place, neighbour, guild_id=guild)
        orders.append(line(guild))

    assert orders == [[b, c, d, a], [d, b, c, a], [d, b, a, c], [b, a, d, c]]


def test_jobs_are_claimed_in_the_order_that_moves_left(guild: GuildId) -> None:
    a, b, c = sessions_of(guild, 3)
    move(c, Place.FIRST, guild_id=guild)
    move(a, Place.LAST, guild_id=guild)

    leases = claim_jobs(WORKER, count=6, ttl_s=60)

    expected = [job_id for session in (c, b, a) for job_id in track_ids(session)]
    assert [lease.job.id for lease in leases] == expected


@pytest.mark.parametrize("place", [Place.FIRST, Place.AFTER])
def test_a_move_that_changes_nothing_writes_nothing(guild: GuildId, place: Place) -> None:
    a, b, c = sessions_of(guild, 3)
    move(c, Place.FIRST, guild_id=guild)
    versions, records = row_versions(), events_page(guild)
    moved, neighbour = (c, None) if place is Place.FIRST else (b, a)

    with transaction.atomic():
        outcome = move(moved, place, neighbour, guild_id=guild)
        wrote = wrote_anything()

    assert outcome.changed == ()
    assert not wrote
    assert row_versions() == versions
    assert events_page(guild) == records


def test_a_move_writes_only_the_sessions_it_lists(guild: GuildId) -> None:
    a, b, c, d = sessions_of(guild, 4)
    versions = row_versions()["guildqueue_job"]

    outcome = move(c, Place.BEFORE, b, guild_id=guild)

    assert set(outcome.changed) == {b, d}
    written = versions - row_versions()["guildqueue_job"]
    assert len(written) == len(session_jobs(b)) + len(session_jobs(d))
    assert numbers(guild) == {a: 0, c: 0, b: 1, d: 1}


def refusals(guild_id: GuildId) -> dict[str, tuple[Callable[[], MoveOutcome], type[QueueError]]]:
    """Requests against a queue of two sessions, by what is wrong with each."""
    a, b = sessions_of(guild_id, 2)
    foreign = stored_session(stored_guild(MAGPIE))
    gone = done_session(guild_id)
    bumped = stored_session(guild_id)
    put_in_lane([job.id for job in session_jobs(bumped)])
    nobody = SessionId(BIGINT_MAX)

    def to(
        moved: SessionId, place: Place, neighbour: SessionId | None = None
    ) -> Callable[[], MoveOutcome]:
        return lambda: move(moved, place, neighbour, guild_id=guild_id)

    return {
        "moved finished": (to(gone, Place.FIRST), SessionLeftQueue),
        "moved unknown": (to(nobody, Place.LAST), SessionLeftQueue),
        "moved another guild's": (to(foreign, Place.FIRST), SessionLeftQueue),
        "moved in the lane": (to(bumped, Place.FIRST), InLane),
        "neighbour finished": (to(a, Place.AFTER, gone), NeighbourLeftQueue),
        "neighbour unknown": (to(a, Place.BEFORE, nobody), NeighbourLeftQueue),
        "neighbour another guild's": (to(a, Place.AFTER, foreign), NeighbourLeftQueue),
        "neighbour in the lane": (to(a, Place.BEFORE, bumped), InLane),
        "neighbour missing": (to(a, Place.BEFORE), InvalidInput),
        "neighbour not wanted": (to(a, Place.FIRST, b), InvalidInput),
        "neighbour itself": (to(a, Place.AFTER, a), InvalidInput),
    }


def test_a_refused_move_leaves_nothing_behind(guild: GuildId) -> None:
    requests = refusals(guild)
    order = tuple(numbers(guild).items())
    versions = row_versions()

    for what, (request, error) in requests.items():
        with pytest.raises(error) as refused:
            request()

        assert row_versions() == versions, what
        if isinstance(refused.value, MoveRefused):
            in_queue = {session for session, _ in refused.value.order}
            assert in_queue < {session for session, _ in order}, what


def test_a_number_beyond_bigint_is_refused_and_nothing_is_raised(guild: GuildId) -> None:
    a, b, c = sessions_of(guild, 3)
    for session in (a, b, c):
        set_number(session, BIGINT_MAX)
    versions = row_versions()

    with pytest.raises(PriorityExhausted):
        move(a, Place.LAST, guild_id=guild)

    assert row_versions() == versions


def test_a_negative_number_stays_until_it_is_overtaken(guild: GuildId) -> None:
    a, b, c = sessions_of(guild, 3)
    set_number(b, -5)

    move(c, Place.AFTER, b, guild_id=guild)
    kept = numbers(guild)
    move(c, Place.FIRST, guild_id=guild)

    assert kept == {b: -5, c: 0, a: 1}
    assert line(guild) == [c, b, a]
    assert numbers(guild)[b] == 1


def test_a_session_that_only_runs_can_be_moved_and_has_no_place(guild: GuildId) -> None:
    running = stored_session(guild, recording=True)
    waiting = stored_session(guild)
    running_jobs(running)

    outcome = move(running, Place.LAST, guild_id=guild)

    assert line(guild) == [waiting, running]
    assert (outcome.place_before, outcome.place_after, outcome.n_waiting) == (None, None, 1)


def test_a_session_partly_in_the_lane_moves_by_its_other_jobs(guild: GuildId) -> None:
    a, b = sessions_of(guild, 2)
    bumped = track_ids(b)[0]
    put_in_lane([bumped])

    move(a, Place.LAST, guild_id=guild)

    assert numbers(guild) == {b: 0, a: 1}
    leases = claim_jobs(WORKER, count=4, ttl_s=60)
    assert [lease.job.id for lease in leases] == [bumped, track_ids(b)[1], *track_ids(a)]


def test_sessions_whose_ids_interleave_move_as_wholes(guild: GuildId) -> None:
    a, b, c = [stored_session(guild, n_tracks=0, recording=True) for _ in range(3)]
    for session in (c, a, b, a, c, b):
        add_tracks(session, guild_id=guild, tracks=[NewTrack(name="speaker")])

    move(b, Place.FIRST, guild_id=guild)
    move(c, Place.LAST, guild_id=guild)

    assert line(guild) == [b, a, c]
    leases = claim_jobs(WORKER, count=99, ttl_s=60)
    assert [lease.job.session_id for lease in leases] == [b, b, a, a, c, c]


def test_a_move_in_one_guild_leaves_the_other_alone(guild: GuildId) -> None:
    other = stored_guild(MAGPIE)
    a, b = sessions_of(guild, 2)
    sessions_of(other, 2)
    before = numbers(other)

    move(b, Place.FIRST, guild_id=guild)

    assert numbers(other) == before
    assert line(guild) == [b, a]


def test_the_row_and_the_ledger_say_who_moved_it(guild: GuildId) -> None:
    a = stored_session(guild, title="planning")
    b = stored_session(guild, title="retrospective")

    move(b, Place.BEFORE, a, guild_id=guild, by="björk")

    entry = next(e for e in queue_snapshot(guild).sessions if e.session_id == b)
    assert entry.last_move is not None
    assert (entry.last_move.by, entry.last_move.place) == ("user:björk", "before")
    (record,) = events_page(guild)
    assert (record.type, record.by) == ("SessionMoved", "user:björk")
    assert record.changed == {
        "session_id": str(b),
        "title": "retrospective",
        "place": "before",
        "neighbour_id": str(a),
        "neighbour_title": "planning",
        "from": 2,
        "to": 1,
        "of": 2,
        "sessions": [str(a)],
    }


def only_its_document_runs(session_id: SessionId) -> Lease:
    """The session's single track is done, its document leased."""
    (track,) = running_jobs(session_id)
    complete(track)
    (document,) = running_jobs(session_id)
    return document


@pytest.mark.parametrize("leaving", ["moved", "neighbour"])
def test_a_session_that_ends_while_it_is_moved_refuses_the_move(
    guild: GuildId, leaving: str
) -> None:
    a, b, c = sessions_of(guild, 3, n_tracks=1)
    document = only_its_document_runs(c if leaving == "moved" else b)
    error = SessionLeftQueue if leaving == "moved" else NeighbourLeftQueue

    def end_it_and_hold_a_row_that_the_move_writes() -> None:
        complete(document)
        claim_jobs("somebody", count=2, ttl_s=60)

    with (
        half_done(end_it_and_hold_a_row_that_the_move_writes, commit=True) as ending,
        begun(lambda: move(c, Place.BEFORE, b, guild_id=guild)) as moving,
    ):
        moving.wait_until_blocked()
        ending.end()

        with pytest.raises(error) as refused:
            moving.result()

    stays = b if leaving == "moved" else c
    assert refused.value.order == ((a, 0), (stays, 0))
    assert numbers(guild) == {a: 0, stays: 0}
    assert events_page(guild) == []


def test_only_what_was_written_is_listed_as_changed(guild: GuildId) -> None:
    ending, still_here, moved = sessions_of(guild, 3, n_tracks=1)
    document = only_its_document_runs(ending)

    with (
        half_done(lambda: complete(document), commit=True) as completing,
        begun(lambda: move(moved, Place.FIRST, guild_id=guild)) as moving,
    ):
        moving.wait_until_blocked()
        completing.end()

        assert moving.result().changed == (still_here,)

    assert line(guild) == [moved, still_here]


def test_a_move_that_finds_nothing_left_to_write_is_not_recorded(guild: GuildId) -> None:
    ending, moved = sessions_of(guild, 2, n_tracks=1)
    document = only_its_document_runs(ending)

    with (
        half_done(lambda: complete(document), commit=True) as completing,
        begun(lambda: move(moved, Place.FIRST, guild_id=guild)) as moving,
    ):
        moving.wait_until_blocked()
        completing.end()

        assert moving.result().changed == ()

    assert events_page(guild) == []
