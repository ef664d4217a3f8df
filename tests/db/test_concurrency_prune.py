"""Prune beside everything else: it stops nobody for long, and takes nothing that still matters."""

import os
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from guildqueue.domain.errors import QueueError, SessionNotFound
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.new_job import NewJob
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.prune import PrunedGuild, age_limit, prune_guild
from guildqueue.services.requeue import requeue_session
from tests.builders import (
    MAGPIE,
    STARLING,
    caller,
    complete,
    running_jobs,
    stored_guild,
    stored_session,
    track_ids,
)
from tests.conftest import ServerLog
from tests.db.old import old_cancelled, sessions
from tests.db.races import begun, elsewhere, half_done, query, together
from tests.db.stored import write
from tests.db.test_concurrency_mixed import GUILDS, Step, Storm, cancel, conflicts, requeue, watch

__all__ = ["conflicts"]  # a fixture

pytestmark = pytest.mark.usefixtures("committed_db")

SECONDS = float(os.environ.get("PRUNE_SECONDS", "8"))


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = str(tmp_path)


@pytest.fixture
def guarded() -> Iterator[None]:
    """The database refuses to lose a job that has not ended."""
    write(
        "CREATE FUNCTION refuse_loss() RETURNS trigger LANGUAGE plpgsql AS $$"
        " BEGIN RAISE EXCEPTION 'job %% was outstanding', OLD.id; END $$"
    )
    write(
        "CREATE TRIGGER refuse_loss BEFORE DELETE ON guildqueue_job FOR EACH ROW"
        " WHEN (OLD.finished_at IS NULL) EXECUTE FUNCTION refuse_loss()"
    )
    yield
    write("DROP TRIGGER refuse_loss ON guildqueue_job")
    write("DROP FUNCTION refuse_loss()")


def prune(guild_id: GuildId = STARLING, *, days: int = 30, batch: int = 50) -> PrunedGuild:
    return prune_guild(guild_id, ended_before=age_limit(days), batch=batch)


@pytest.mark.parametrize("commit", [True, False])
def test_a_session_that_is_being_requeued_stays_if_it_was(guild: GuildId, commit: bool) -> None:
    requeued, other = old_cancelled(guild), old_cancelled(guild)

    def again() -> None:
        requeue_session(requeued, guild_id=guild, caller=caller())

    with half_done(again, commit=commit) as requeueing, begun(prune) as pruning:
        pruning.wait_until_blocked()
        assert sessions() == [requeued, other]
        requeueing.end()

    assert sessions() == ([requeued] if commit else [])


@pytest.mark.parametrize("table", ["session", "job"])
def test_what_others_hold_locked_is_left_and_not_waited_for(guild: GuildId, table: str) -> None:
    locked = old_cancelled(guild)
    old_cancelled(guild)
    column = "id" if table == "session" else "session_id"

    def lock() -> None:
        query(
            f"SELECT id FROM guildqueue_{table}"  # noqa: S608
            f" WHERE {column} = %s ORDER BY id DESC LIMIT 1 FOR NO KEY UPDATE",
            [locked],
        )

    with half_done(lock, commit=True):
        assert elsewhere(prune).n_sessions == 1

    assert sessions() == [locked]
    assert prune().n_sessions == 1


def test_a_job_that_comes_to_be_needed_meanwhile_stays(guild: GuildId) -> None:
    needed, busy = old_cancelled(guild), stored_session(guild)
    job = NewJob(session_id=busy, kind="transcribe", needs=tuple(track_ids(needed)))

    with (
        half_done(lambda: enqueue_jobs(guild, jobs=[job]), commit=True) as enqueueing,
        begun(prune) as pruning,
    ):
        pruning.wait_until_blocked()
        enqueueing.end()

    assert sessions() == [needed, busy]


def test_claims_and_completions_go_on_while_a_batch_is_open(guild: GuildId) -> None:
    old_cancelled(guild)
    stored_session(guild)
    last = stored_session(guild)
    (lease,) = running_jobs(last)

    with half_done(prune, commit=True):
        elsewhere(lambda: complete(lease))
        assert len(elsewhere(lambda: claim_jobs("w", count=3, ttl_s=60))) == 2


def test_a_requeue_that_comes_too_late_finds_no_session(guild: GuildId) -> None:
    gone = old_cancelled(guild)

    def again() -> None:
        with pytest.raises(SessionNotFound):
            requeue_session(gone, guild_id=guild, caller=caller())

    with half_done(prune, commit=True) as pruning, begun(again) as requeueing:
        requeueing.wait_until_blocked()
        pruning.end()


def test_two_that_prune_together_remove_each_session_once(guild: GuildId) -> None:
    for _ in range(30):
        old_cancelled(guild)

    both = together(*[lambda: prune(batch=2)] * 2)

    counted = [gone.n_sessions for gone in both if isinstance(gone, PrunedGuild)]
    assert len(counted) == 2
    assert sum(counted) + prune().n_sessions == 30
    assert sessions() == []


def enqueue(chance: random.Random) -> None:
    """A new meeting while there are few, now and then one that is imported again."""
    guild_id = chance.choice(GUILDS)
    if len(sessions()) < 60:
        again = f"recording {chance.randrange(20)}" if chance.random() < 0.5 else None
        stored_session(guild_id, n_tracks=chance.randint(1, 3), external_id=again)


def need(chance: random.Random) -> None:
    """Now and then a job that needs an earlier meeting's; in a circle both would stay for good."""
    guild_id = chance.choice(GUILDS)
    found = query(
        "SELECT min(id), session_id FROM guildqueue_job WHERE guild_id = %s GROUP BY session_id",
        [guild_id],
    )
    (needed, earlier), (_, session_id) = chance.choice(found), chance.choice(found)
    if earlier < session_id and chance.random() < 0.01:
        job = NewJob(session_id=SessionId(session_id), kind="transcribe", needs=(needed,))
        enqueue_jobs(guild_id, jobs=[job])


def work(chance: random.Random) -> None:
    for lease in claim_jobs("w", count=chance.choice([1, 4]), ttl_s=60):
        with suppress(QueueError):  # somebody cancelled it
            complete_job(lease.job.id, token=lease.token, principal="w", result={})


def sweeping(gone: list[int]) -> Step:
    """Prune a guild of whatever ended, and note how many sessions went."""

    def sweep(chance: random.Random) -> None:
        done = prune(chance.choice(GUILDS), days=0, batch=chance.choice([1, 3, 50]))
        gone.append(done.n_sessions)

    return sweep


def where_there_is_any(step: Step) -> Step:
    """The step, which does nothing in a guild of which nothing is left just now."""

    def stepped(chance: random.Random) -> None:
        try:
            step(chance)
        except IndexError:
            return

    stepped.__name__ = step.__name__
    return stepped


def test_prune_among_everything_else_takes_only_what_ended(
    guarded: None, server_log: ServerLog, conflicts: list[str]
) -> None:
    for guild_id in (STARLING, MAGPIE):
        stored_guild(guild_id)
        stored_session(guild_id)
    gone: list[int] = []
    sweep = sweeping(gone)
    crowd = (enqueue, work, work, sweep, sweep, *map(where_there_is_any, (need, requeue, cancel)))
    storm = Storm()

    n_looks = storm.run(crowd, watch=watch, seconds=SECONDS)
    watch()

    assert not server_log.has_deadlock()
    assert conflicts == []
    assert "QueueBusy" not in storm.refused
    assert all(storm.done[step.__name__] > SECONDS for step in crowd)
    assert n_looks > SECONDS
    assert sum(gone) > 3 * SECONDS
