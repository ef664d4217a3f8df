"""Two releases at one database: an older one's statements, and what a newer one added and wrote."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
from django.db import DatabaseError, connection, transaction

from guildqueue.domain.errors import StaleLease
from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.services import browse
from guildqueue.services.cancel import cancel_session
from guildqueue.services.claim import claim_jobs
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.hold import hold_session, release_session
from guildqueue.services.list_jobs import list_jobs
from guildqueue.services.move import move_session
from guildqueue.services.register_guild import register_guild
from guildqueue.services.requeue import requeue_session
from guildqueue.services.snapshot import queue_snapshot
from guildqueue.services.verify import verify_ledger
from guildqueue.store.statements import load_statements
from tests.builders import (
    bury,
    caller,
    complete,
    document_id,
    session_jobs,
    stored_guild,
    stored_session,
    stored_user,
    track_ids,
    user_id,
)
from tests.db.lane_requests import bumped, lane, rooted_guild, unbumped
from tests.db.old_release import OldWorker, old_cancel, old_session
from tests.db.races import elsewhere, query, together
from tests.db.stored import TABLES, is_preparable, prepared_text, write

pytestmark = pytest.mark.usefixtures("committed_db")

# What a newer release may add without a decision record: see tests/unit/test_migration_drops.py.
NEWER_COLUMNS = (
    "newer_note text",
    "newer_facts jsonb NOT NULL DEFAULT '{}'",
    "newer_at timestamptz NOT NULL DEFAULT now()",
)


def add_newer_columns() -> None:
    for table in TABLES:
        write(f"ALTER TABLE {table} " + ", ".join(f"ADD {column}" for column in NEWER_COLUMNS))


def drop_newer_columns() -> None:
    names = [column.split()[0] for column in NEWER_COLUMNS]
    for table in TABLES:
        write(f"ALTER TABLE {table} " + ", ".join(f"DROP IF EXISTS {name}" for name in names))


@pytest.fixture
def newer_schema(committed_db: None) -> Iterator[Callable[[], None]]:
    """Migrates to the newer schema when it is called, in a connection of its own."""
    yield lambda: elsewhere(add_newer_columns)
    connection.close()  # what a failed test left open would keep the tables locked
    elsewhere(drop_newer_columns)


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def drain_with(worker: OldWorker) -> list[JobId]:
    """What the old worker did, in its order, until nothing was left."""
    did = []
    while jobs := worker.claim():
        assert worker.complete(jobs[0])
        did.append(JobId(jobs[0]["id"]))
    return did


def states(guild_id: GuildId) -> set[str]:
    found = query("SELECT DISTINCT state FROM guildqueue_job WHERE guild_id = %s", [guild_id])
    return {state for (state,) in found}


def test_old_workers_and_new_ones_do_a_hundred_jobs_once(guild: GuildId) -> None:
    for n_tracks in (24, 24):
        stored_session(guild, n_tracks=n_tracks)
        old_session(guild, n_tracks=n_tracks)

    def old(name: str) -> list[JobId]:
        return drain_with(OldWorker(name))

    def new(name: str) -> list[JobId]:
        did: list[JobId] = []
        while leases := claim_jobs(name, ttl_s=60, request_id=f"request {len(did)}"):
            complete(leases[0], principal=name)
            did.append(leases[0].job.id)
        return did

    done = together(lambda: old("o1"), lambda: new("n1"), lambda: old("o2"), lambda: new("n2"))

    by_old, by_new = ([j for part in done[n::2] for j in cast(list[JobId], part)] for n in (0, 1))
    every = [job_id for (job_id,) in query("SELECT id FROM guildqueue_job ORDER BY id")]
    assert by_old
    assert by_new
    assert sorted(by_old + by_new) == every
    assert states(guild) == {"done"}
    assert queue_snapshot(guild).counts.done == len(every) == 100


def test_an_old_worker_claims_what_a_new_one_would_with_the_lane_ahead(tmp_path: Path) -> None:
    guild = rooted_guild(tmp_path)
    jobs = [track_ids(stored_session(guild))[0] for _ in range(4)]
    bumped(jobs[2])
    move_session(
        browse.job_detail(jobs[3]).job.session_id,
        guild_id=guild,
        place=Place.FIRST,
        caller=caller(),
    )
    expected = [jobs[2], jobs[3], jobs[0], jobs[1]]

    assert [job["id"] for job in OldWorker("o").claim(count=1)] == expected[:1]
    assert [OldWorker("o").claim(guild_id=guild)[0]["id"] for _ in range(3)] == expected[1:]


def test_an_old_worker_takes_a_job_out_of_the_lane_and_the_ledger_stays_sound(
    tmp_path: Path,
) -> None:
    guild = rooted_guild(tmp_path)
    session = stored_session(guild, n_tracks=2)
    bumped(document_id(session))
    old = OldWorker("o")

    for _ in range(2):
        assert old.complete(old.claim()[0])

    assert lane() == [document_id(session)]
    assert verify_ledger(guild).is_sound
    assert old_cancel(guild, document_id(session))
    assert lane() == []
    assert verify_ledger(guild).is_sound


def test_neither_release_writes_under_the_others_lease(guild: GuildId) -> None:
    stored_session(guild, n_tracks=2)
    old = OldWorker("o")
    [theirs], [ours] = old.claim(), claim_jobs("n", ttl_s=60)

    stolen = {"id": ours.job.id, "guild_id": guild, "token": ours.token}
    assert not old.extend(stolen)
    assert not old.complete(stolen)
    assert not old.release(stolen)
    with pytest.raises(StaleLease):
        extend_lease(JobId(theirs["id"]), token=theirs["token"], principal="n", ttl_s=60)

    assert old.extend(theirs)
    assert old.complete(theirs)
    complete(ours, principal="n")


def test_what_an_old_worker_lost_failed_or_gave_back_a_new_one_takes(guild: GuildId) -> None:
    tracks = track_ids(stored_session(guild, n_tracks=4))
    old = OldWorker("o")
    lost, failed, given_back, dead = old.claim(count=4)
    old.retry(failed)
    old.release(given_back)
    old.bury(dead)
    write(
        "UPDATE guildqueue_job SET lease_expires_at = now() - interval '1 s' WHERE id = %s",
        lost["id"],
    )

    taken = claim_jobs("n", count=9, ttl_s=60)

    assert [lease.job.id for lease in taken] == tracks[:3]
    assert [lease.job.attempt for lease in taken] == [2, 2, 1]
    assert [lease.token for lease in taken] == [2, 2, 2]
    assert not old.complete(lost)


def test_what_an_old_console_enqueued_is_read_and_changed(guild: GuildId) -> None:
    session = old_session(guild, n_tracks=2)

    assert [job.state for job in session_jobs(session)] == ["pending"] * 3
    assert queue_snapshot(guild).counts.pending == 3
    hold_session(session, guild_id=guild, reason="", caller=caller())
    assert OldWorker("o").claim() == []
    release_session(session, guild_id=guild, caller=caller())
    assert cancel_session(session, guild_id=guild, caller=caller())
    requeue_session(session, guild_id=guild, caller=caller())
    assert drain_with(OldWorker("o")) == [job.id for job in session_jobs(session)]


def used(guild_id: GuildId, session_id: SessionId) -> None:
    """What consoles and workers ask and write, over and over."""
    ada = caller()
    [(n_users,)] = query("SELECT count(*) FROM auth_user")
    asked = user_id(stored_user(f"user {n_users}"))
    register_guild(guild_id, name="Starling Guild")
    browse.guild_list(asked)
    browse.guild_record(guild_id)
    browse.session_detail(session_id)
    browse.events_page(guild_id)
    list_jobs(JobFilter())
    queue_snapshot(guild_id)
    other = stored_session(guild_id, n_tracks=2)
    move_session(other, guild_id=guild_id, place=Place.FIRST, caller=ada)
    first, second = claim_jobs("w", count=2, ttl_s=60, request_id="r")
    extend_lease(first.job.id, token=first.token, principal="w", ttl_s=60, progress=0.5)
    assert claim_jobs("w", count=2, ttl_s=60, request_id="r")
    complete(first, principal="w")
    bury(second, principal="w")
    requeue_session(other, guild_id=guild_id, caller=ada)
    cancel_session(other, guild_id=guild_id, caller=ada)
    assert verify_ledger(guild_id).is_sound


def test_a_process_at_work_does_not_notice_that_a_newer_release_added_columns(
    guild: GuildId, newer_schema: Callable[[], None]
) -> None:
    session = stored_session(guild)
    for _ in range(7):  # from the fifth time on a statement is sent prepared
        used(guild, session)

    newer_schema()

    for _ in range(2):
        used(guild, session)


def test_no_statement_minds_columns_of_a_newer_release(newer_schema: Callable[[], None]) -> None:
    prepared = {}
    for name in load_statements():
        text, params = prepared_text(name)
        if not is_preparable(text):
            continue
        query(f"PREPARE {name} AS {text}", None)
        values = f"({', '.join(['NULL'] * len(params))})" if params else ""
        prepared[name] = f"EXPLAIN EXECUTE {name}{values}"
    assert refused(prepared) == {}

    newer_schema()

    assert refused(prepared) == {}


def refused(statements: dict[str, str]) -> dict[str, str]:
    """Why those fail that do, by name."""
    reasons = {}
    for name, statement in statements.items():
        try:
            with transaction.atomic():
                query(statement, None)
        except DatabaseError as error:
            reasons[name] = str(error)
    return reasons


def test_rows_of_a_newer_release_are_shown_left_alone_and_in_nobodys_way(
    tmp_path: Path, newer_schema: Callable[[], None]
) -> None:
    newer_schema()
    guild = rooted_guild(tmp_path)
    session = stored_session(guild, n_tracks=3)
    paused, translated, ours = track_ids(session)
    archived = stored_session(guild)
    write("UPDATE guildqueue_job SET state = 'paused', newer_note = 'x' WHERE id = %s", paused)
    write("UPDATE guildqueue_job SET kind = 'translate' WHERE id = %s", translated)
    write("UPDATE guildqueue_job SET state = 'archived' WHERE session_id = %s", archived)

    seen = {job.id: (job.kind, job.state) for job in list_jobs(JobFilter()).jobs}
    assert seen[paused] == ("transcribe", "paused")
    assert seen[translated] == ("translate", "pending")
    assert queue_snapshot(guild).counts.other == 3
    assert [lease.job.id for lease in claim_jobs("n", count=9, ttl_s=60)] == [ours]
    cancel_session(session, guild_id=guild, caller=caller())
    requeue_session(session, guild_id=guild, caller=caller())

    assert query("SELECT state, newer_note FROM guildqueue_job WHERE id = %s", [paused]) == [
        ("paused", "x")
    ]


def test_a_lane_member_that_a_newer_release_took_over_is_skipped_not_written(
    tmp_path: Path, newer_schema: Callable[[], None]
) -> None:
    newer_schema()
    guild = rooted_guild(tmp_path)
    session = stored_session(guild, n_tracks=2)
    bumped(document_id(session))
    theirs = track_ids(session)[0]
    write("UPDATE guildqueue_job SET state = 'paused' WHERE id = %s", theirs)

    outcome = unbumped(document_id(session))

    assert outcome.skipped == (str(theirs),)
    assert lane() == [theirs]
