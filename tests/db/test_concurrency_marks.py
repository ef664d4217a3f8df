"""Everything that begins, ends or moves a job at once: no mark hides one, and no count is wrong.

MARKS_SECONDS makes it longer or shorter.
"""

import os
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial, wraps
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import transaction

from guildqueue.domain.errors import QueueError
from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Completion, Lease
from guildqueue.domain.new_job import NewJob
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_and_claim, complete_job
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.fail import fail_job
from guildqueue.services.hold import hold_guild, release_guild, release_session
from guildqueue.services.prune_marks import prune_marks
from guildqueue.services.register_guild import register_guild
from guildqueue.services.release import release_job
from guildqueue.store import claims
from guildqueue.store.scopes import claim_scope
from tests.builders import caller, stored_session
from tests.conftest import ServerLog
from tests.db.lane_requests import bumped, rooted_guild, unbumped
from tests.db.mark_checks import LANE, check_marks, raise_line
from tests.db.races import query
from tests.db.stored import write
from tests.db.test_concurrency_mixed import (
    GUILDS,
    Step,
    Storm,
    any_job,
    any_session,
    cancel,
    conflicts,
    hold,
    move,
    requeue,
    rule,
)

__all__ = ["conflicts"]
pytestmark = pytest.mark.usefixtures("committed_db")

SECONDS = float(os.environ.get("MARKS_SECONDS", "6"))
MAX_WAITING = 300
FILTERS = (
    JobFilter(),
    JobFilter(guilds=frozenset(GUILDS[:1])),
    JobFilter(labels=frozenset({"gpu"})),
    JobFilter(kinds=frozenset({"document"})),
    JobFilter(min_priority=1),
)
# In which the newest mark of a minute ago is one of a second ago.
AGE = (
    "UPDATE guildqueue_mark SET at = at - interval '1 minute'"
    " WHERE at BETWEEN now() - interval '30 seconds' AND now() - interval '1 second'"
)


class _RolledBack(Exception):
    """What takes a step back."""


def perhaps(action: Callable[[], object], chance: random.Random) -> bool:
    """Do it, and take it back in one of four cases; whether it stays."""
    if chance.random() < 0.75:
        action()
        return True
    try:
        with transaction.atomic():
            action()
            if chance.random() < 0.5:
                claims.settle_marks()  # as far as a commit that fails at its end
            raise _RolledBack
    except _RolledBack:
        return False


def wavering(step: Step) -> Step:
    """The step, of which one in four is rolled back once it is done."""

    @wraps(step)
    def run(chance: random.Random) -> None:
        perhaps(lambda: step(chance), chance)

    return run


def enqueue(chance: random.Random) -> None:
    """One or many jobs, some of them with a delay that soon ends."""
    if query("SELECT count(*) FROM guildqueue_job WHERE state = 'pending'")[0][0] > MAX_WAITING:
        return
    guild, session = any_session(chance)
    soon = datetime.now(UTC) + timedelta(seconds=0.05)
    new = NewJob(
        session_id=session,
        kind="transcribe",
        labels=chance.choice([(), ("gpu",)]),
        run_after=chance.choice([None, None, soon]),
    )
    enqueue_jobs(guild, jobs=[new] * chance.choice([1, 1, 20]))


def bump(chance: random.Random) -> None:
    guild, job = any_job(chance)
    chance.choice([bumped, unbumped])(job, guild)


def gate(chance: random.Random) -> None:
    """A guild's cap or its hold."""
    guild = chance.choice(GUILDS)
    match chance.randrange(4):
        case 0:
            register_guild(guild, lifts_cap=True)
        case 1:
            hold_guild(guild, reason="", caller=caller())
        case 2:
            register_guild(guild, running_cap=chance.randint(1, 8))
        case _:
            release_guild(guild, caller=caller())


def work(chance: random.Random) -> None:
    by = f"worker {chance.randrange(3)}"
    asked: dict[str, Any] = {
        "filter": chance.choice(FILTERS),
        "count": chance.choice([1, 1, 20]),
        "ttl_s": chance.choice([0.05, 60.0]),
    }
    if chance.random() < 0.25:
        perish(by, **asked)
        return
    taken = claim_jobs(by, **asked)
    if chance.random() < 0.25:
        done = [Completion(lease.job.id, lease.token, {}) for lease in taken]
        taken = complete_and_claim(by, done, **asked).leases
    for lease in taken:
        try:
            perhaps(partial(end, lease, by, chance), chance)
        except QueueError:
            continue  # cancelled, or taken over


def perish(by: str, *, filter: JobFilter, count: int, ttl_s: float) -> None:  # noqa: A002
    """A claim whose statement ends without a commit."""
    with transaction.atomic():
        claims.claim_in_turns(
            claim_scope(filter.for_claim(), default_cap=None),
            claims.Taker(by, ttl_s, None),
            filter_hash=filter.scope_hash(),
            count=count,
        )
        transaction.set_rollback(True)


def end(lease: Lease, by: str, chance: random.Random) -> None:
    job_id, token, fate = lease.job.id, lease.token, chance.random()
    if fate < 0.15:
        release_job(job_id, token=token, principal=by)
    elif fate < 0.3:
        fail_job(job_id, token=token, principal=by, error="no", jitter=0.5)
    elif fate < 0.9:  # else it is lost
        complete_job(job_id, token=token, principal=by, result={})


def keep_up(chance: random.Random) -> None:
    """Upkeep, and marks raised far more often than claims do."""
    write(AGE)
    prune_marks()
    for _ in range(20):
        raise_line(chance.choice(GUILDS), counts=True)
        raise_line(LANE)


CROWD = [wavering(step) for step in (move, rule, requeue, cancel, hold, gate, bump, enqueue)]


def change(chance: random.Random) -> None:
    chance.choice(CROWD)(chance)


def drain() -> None:
    """Open everything and do all that can be done."""
    for guild in GUILDS:
        register_guild(guild, lifts_cap=True)
        release_guild(guild, caller=caller())
    for guild_id, session_id in query("SELECT guild_id, id FROM guildqueue_session"):
        release_session(session_id, guild_id=guild_id, caller=caller())
    write("UPDATE guildqueue_job SET run_after = now() - interval '1 hour' WHERE run_after > now()")
    write(
        "UPDATE guildqueue_job SET lease_expires_at = now() - interval '1 second'"
        " WHERE state = 'running'"
    )
    while leases := claim_jobs("last", count=20, ttl_s=60):
        for lease in leases:
            complete_job(lease.job.id, token=lease.token, principal="last", result={})


def left_over() -> list[JobId]:
    """Jobs that nothing keeps back and that are not done all the same."""
    found = query(
        "SELECT id FROM guildqueue_job WHERE state IN ('pending', 'running') AND unmet = 0"
    )
    return [job_id for (job_id,) in found]


def test_no_mark_ever_hides_a_job_and_no_count_is_ever_wrong(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    database_url: str,
    server_log: ServerLog,
    conflicts: list[str],
) -> None:
    monkeypatch.setattr(settings, "QUEUE_RETRY_BASE_SECONDS", 0.02)
    monkeypatch.setattr("guildqueue.services.prune_marks.STEPS_WORTH_A_MARK", 1)
    for guild in GUILDS:
        rooted_guild(tmp_path, guild)
        for n_tracks in (1, 2, 3):
            stored_session(guild, n_tracks=n_tracks)
    storm = Storm()

    with psycopg.connect(database_url) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM guildqueue_job")
        steps = [change, change, change, work, work, work, keep_up]
        n_looks = storm.run(steps, watch=check_marks, seconds=SECONDS)
        check_marks()
        drain()
        check_marks()

    assert left_over() == []
    assert not server_log.has_deadlock()
    assert conflicts == []
    assert "QueueBusy" not in storm.refused
    # Not a calm: each had many turns.
    assert all(storm.done[step.__name__] > 2 * SECONDS for step in steps)
    assert n_looks > 2 * SECONDS
