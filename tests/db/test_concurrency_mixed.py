"""Everything at once for a minute: no deadlock, and every commit leaves the queue whole.

MIXED_SECONDS makes it longer or shorter.
"""

import os
import random
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from time import monotonic

import pytest
from django.conf import settings
from django.db import Error, connections, transaction

from guildqueue.domain.errors import QueueError
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import Lease
from guildqueue.domain.moves import Place
from guildqueue.domain.new_session import NewTrack
from guildqueue.domain.rules import KNOWN_RULES
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.apply_rule import apply_rule
from guildqueue.services.cancel import cancel_job, cancel_session
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.drop_track import drop_track
from guildqueue.services.fail import fail_job
from guildqueue.services.fold_counters import fold_counters
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.hold import hold_guild, hold_session, release_guild, release_session
from guildqueue.services.move import move_session
from guildqueue.services.release import release_job
from guildqueue.services.requeue import requeue_job, requeue_session
from guildqueue.store.conflicts import is_conflict
from tests.builders import MAGPIE, STARLING, caller, stored_guild, stored_session
from tests.conftest import ServerLog
from tests.db.races import PATIENCE_S, query
from tests.db.stored import write

pytestmark = pytest.mark.usefixtures("committed_db")

SECONDS = float(os.environ.get("MIXED_SECONDS", "60"))
GUILDS = (STARLING, MAGPIE)
MAX_SESSIONS = 40
MAX_TRACKS = 8
LEASE_S = 0.5

# What must hold in every snapshot of the database; each gives what breaks it.
INVARIANTS = {
    "outstanding jobs of a session carry one number": """
        SELECT session_id FROM guildqueue_job WHERE state IN ('pending', 'running')
         GROUP BY session_id HAVING min(priority) <> max(priority)""",
    "unmet is what a recount gives": """
        SELECT job.id FROM guildqueue_job AS job
         WHERE job.unmet <> (SELECT count(*) FROM guildqueue_job_dependency AS dependency
                               JOIN guildqueue_job AS needed ON needed.id = dependency.needs_id
                              WHERE dependency.job_id = job.id AND needed.state <> 'done')""",
    "no job runs or is done before what it needs": """
        SELECT id FROM guildqueue_job WHERE unmet > 0 AND state IN ('running', 'done')""",
    "counters are the counts": """
        SELECT guild_id, state FROM (
            SELECT guild_id, state, sum(delta) AS n FROM guildqueue_guild_count GROUP BY 1, 2
             UNION ALL
            SELECT guild_id, state, -count(*) FROM guildqueue_job
             WHERE state NOT IN ('pending', 'running') GROUP BY 1, 2) AS both_ways
         GROUP BY guild_id, state HAVING sum(n) <> 0""",
    "an outstanding job is held exactly with its session": """
        SELECT job.id FROM guildqueue_job AS job
          JOIN guildqueue_session AS session ON session.id = job.session_id
         WHERE job.state IN ('pending', 'running')
           AND job.held <> (session.held_at IS NOT NULL)""",
    "each record of the ledger follows the one before": """
        SELECT event_id FROM (
            SELECT event_id, prev_digest, lag(digest, 1, '') OVER (
                       PARTITION BY guild_id ORDER BY event_id) AS before
              FROM guildqueue_queue_event) AS chain
         WHERE prev_digest <> before""",
}


def any_session(
    chance: random.Random, *, guild_id: GuildId | None = None
) -> tuple[GuildId, SessionId]:
    guild_id = guild_id or chance.choice(GUILDS)
    found = query("SELECT id FROM guildqueue_session WHERE guild_id = %s", [guild_id])
    return guild_id, SessionId(chance.choice(found)[0])


def any_job(chance: random.Random) -> tuple[GuildId, JobId]:
    guild_id, session_id = any_session(chance)
    found = query("SELECT id FROM guildqueue_job WHERE session_id = %s", [session_id])
    return guild_id, JobId(chance.choice(found)[0])


def move(chance: random.Random) -> None:
    guild_id, moved = any_session(chance)
    place = chance.choice(list(Place))
    beside = any_session(chance, guild_id=guild_id)[1]
    neighbour = beside if place in (Place.BEFORE, Place.AFTER) else None
    move_session(moved, guild_id=guild_id, place=place, neighbour=neighbour, caller=caller())


def rule(chance: random.Random) -> None:
    apply_rule(chance.choice(GUILDS), rule=chance.choice(list(KNOWN_RULES)), caller=caller())


def enqueue(chance: random.Random) -> None:
    """A new meeting while there are few, a late track for one that has few."""
    guild_id, session_id = any_session(chance)
    if query("SELECT count(*) FROM guildqueue_session")[0][0] < MAX_SESSIONS:
        stored_session(guild_id, n_tracks=chance.randint(1, 4), recording=chance.random() < 0.2)
        return
    n_jobs = query("SELECT count(*) FROM guildqueue_job WHERE session_id = %s", [session_id])
    if n_jobs[0][0] < MAX_TRACKS:
        tracks = [NewTrack(name="late", audio_seconds=chance.choice([None, 5.0]))]
        recording = chance.choice([None, False])
        add_tracks(session_id, guild_id=guild_id, tracks=tracks, recording=recording)


def requeue(chance: random.Random) -> None:
    if chance.random() < 0.6:
        guild_id, session_id = any_session(chance)
        requeue_session(session_id, guild_id=guild_id, caller=caller())
    else:
        guild_id, job_id = any_job(chance)
        requeue_job(job_id, guild_id=guild_id, caller=caller())


def cancel(chance: random.Random) -> None:
    guild_id, job_id = any_job(chance)
    match chance.randrange(4):
        case 0:
            session_id = any_session(chance, guild_id=guild_id)[1]
            cancel_session(session_id, guild_id=guild_id, caller=caller())
        case 1:
            drop_track(job_id, guild_id=guild_id, caller=caller())
        case _:
            cancel_job(job_id, guild_id=guild_id, caller=caller())


def hold(chance: random.Random) -> None:
    guild_id, session_id = any_session(chance)
    match chance.randrange(5):
        case 0:
            hold_session(session_id, guild_id=guild_id, reason="wait", caller=caller())
        case 1:
            hold_guild(guild_id, reason="wait", caller=caller())
            release_guild(guild_id, caller=caller())
        case _:
            release_session(session_id, guild_id=guild_id, caller=caller())


def work(chance: random.Random) -> None:
    by = f"worker {chance.randrange(3)}"
    for lease in claim_jobs(by, count=chance.choice([1, 1, 3]), ttl_s=LEASE_S):
        try:
            end(lease, by, chance)
        except QueueError:
            continue  # somebody cancelled it, or took it over


def end(lease: Lease, by: str, chance: random.Random) -> None:
    """One of the ways in which a worker lets go of a job; now and then it just goes away."""
    job_id, token, fate = lease.job.id, lease.token, chance.random()
    if fate < 0.1:
        return
    extend_lease(job_id, token=token, principal=by, ttl_s=LEASE_S, progress=chance.random())
    if fate < 0.2:
        release_job(job_id, token=token, principal=by)
    elif fate < 0.35:
        permanent = fate > 0.32
        fail_job(job_id, token=token, principal=by, error="no", permanent=permanent, jitter=0.5)
    else:
        complete_job(job_id, token=token, principal=by, result={}, audio_seconds=fate)


def fold(_chance: random.Random) -> None:
    fold_counters()


Step = Callable[[random.Random], None]
CROWD: Sequence[Step] = (move, move, rule, enqueue, requeue, cancel, hold, work, work, work, fold)
# Seconds between two steps, where the queue would otherwise be empty or nothing else be heard.
PAUSES = {"work": 0.02, "cancel": 0.02, "enqueue": 0.01, "fold": 0.05}


class Storm:
    """Threads that each repeat one kind of step until they are told to stop."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self._stop = Event()

    def repeat(self, step: Step, seed: int) -> None:
        chance = random.Random(seed)
        try:
            while not self._stop.is_set():
                try:
                    step(chance)
                    self.done[step.__name__] += 1
                except QueueError as refusal:
                    self.refused[type(refusal).__name__] += 1
                self._stop.wait(PAUSES.get(step.__name__, 0.0))
        finally:
            self._stop.set()  # one that fails ends the test at once
            connections.close_all()

    def run(self, steps: Sequence[Step], *, watch: Callable[[], None], seconds: float) -> int:
        """How often ``watch`` ran beside the steps."""
        n_looks, stop_at = 0, monotonic() + seconds
        with ThreadPoolExecutor(len(steps)) as pool:
            running = [pool.submit(self.repeat, step, seed) for seed, step in enumerate(steps)]
            try:
                while monotonic() < stop_at and not self._stop.is_set():
                    watch()
                    n_looks += 1
            finally:
                self._stop.set()
            for future in running:
                future.result(PATIENCE_S)
        return n_looks


def watch() -> None:
    """Check every invariant in one snapshot."""
    with transaction.atomic():
        query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        for sentence, statement in INVARIANTS.items():
            assert query(statement) == [], sentence


def drain() -> None:
    """Let everything go and do all the work that is left."""
    for guild_id, session_id in query("SELECT guild_id, id FROM guildqueue_session"):
        release_session(session_id, guild_id=guild_id, caller=caller())
    write("UPDATE guildqueue_job SET run_after = NULL")
    write(
        "UPDATE guildqueue_job SET lease_expires_at = now() - interval '1 second'"
        " WHERE state = 'running'"
    )
    while leases := claim_jobs("last", count=50, ttl_s=60):
        for lease in leases:
            complete_job(lease.job.id, token=lease.token, principal="last", result={})


@pytest.fixture
def conflicts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The database errors that a service took for a conflict and decided again."""
    seen: list[str] = []

    def noted(error: Error) -> bool:
        seen.append(str(error))
        return is_conflict(error)

    monkeypatch.setattr("guildqueue.services.transaction.is_conflict", noted)
    return seen


def test_everything_at_once_leaves_every_commit_whole(
    monkeypatch: pytest.MonkeyPatch,
    server_log: ServerLog,
    conflicts: list[str],
) -> None:
    monkeypatch.setattr(settings, "QUEUE_RETRY_BASE_SECONDS", 0.02)
    monkeypatch.setattr("guildqueue.services.fold_counters.STEPS_WORTH_FOLDING", 20)
    for guild_id in GUILDS:
        stored_guild(guild_id)
        for n_tracks in (1, 2, 3):
            stored_session(guild_id, n_tracks=n_tracks)
    storm = Storm()

    n_looks = storm.run(CROWD, watch=watch, seconds=SECONDS)
    watch()
    drain()
    watch()

    assert not server_log.has_deadlock()
    assert conflicts == []
    assert "QueueBusy" not in storm.refused
    # Not a calm: each kind of step, and the watcher, had many turns.
    assert all(storm.done[step.__name__] > SECONDS for step in CROWD)
    assert n_looks > SECONDS
    lost = query(
        "SELECT job.id FROM guildqueue_job AS job WHERE job.state IN ('pending', 'running')"
        " AND NOT EXISTS (SELECT FROM guildqueue_job_dependency AS dependency"
        " JOIN guildqueue_job AS needed ON needed.id = dependency.needs_id"
        " WHERE dependency.job_id = job.id AND needed.state IN ('dead', 'cancelled'))"
    )
    assert lost == []
