"""What runs next: a bump of much, the list of a long queue, and a long log replayed."""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from django.db import connection

from benchmarks.browser import database_url
from benchmarks.fill import fill_guild, milliseconds, run_sql, spread
from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.lane import LanePlan
from guildqueue.domain.lane_log import LaneRecord, plan_effects
from guildqueue.domain.ledger import EventType
from guildqueue.services.register_guild import register_guild
from guildqueue.store import lane_file
from tests.db.command import queue
from tests.db.lane_requests import bumped, chain, unbumped

PROJECT = Path(__file__).resolve().parents[1]
CHAIN, FAN, LISTED = GuildId(1_001), GuildId(1_002), GuildId(1_003)
N_NEEDS = 1_000
N_SESSIONS, N_JOBS = 2_500, 4
N_REQUESTS, N_ITEMS = 100_000, 1_000
ROUNDS = 15

INSERT_NEEDS = """
INSERT INTO guildqueue_job_dependency (guild_id, job_id, needs_id)
SELECT %(guild_id)s, %(job_id)s, id FROM guildqueue_job
 WHERE guild_id = %(guild_id)s AND id <> %(job_id)s
"""


@dataclass
class Figures:
    """What some work took each time but the first, which is a warm-up; milliseconds."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def take(self, work: Callable[[], object]) -> None:
        begun_s = _processor_s()
        self.clock.append(milliseconds(work))
        self.processor.append((_processor_s() - begun_s) * 1000)

    def __str__(self) -> str:
        ours = statistics.median(self.processor[1:])
        return f"{spread(self.clock[1:])}, {ours:.0f} of them ours to compute"


def _processor_s() -> float:
    """Processor time of this process and of its children that ended; the server's is not in it."""
    spent = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in spent)


def run() -> None:
    """The three that the targets name: 150 ms, 1 s and 1 s."""
    print(f"\nWhat runs next; milliseconds, median (range); load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        bumps(Path(folder))
        lists()
        replays(Path(folder))


def bumps(folder: Path) -> None:
    """A job and all it needs, which is one long chain, or all of it at once."""
    register_guild(CHAIN, name="Bench", root=str(folder))
    last, top = chain(CHAIN, N_NEEDS + 1)[-1], _fan()
    register_guild(FAN, root=str(folder))
    run_sql("VACUUM ANALYZE")
    for what, guild_id, job_id in (("in a chain", CHAIN, last), ("side by side", FAN, top)):
        into, back = Figures(), Figures()
        for _ in range(ROUNDS + 1):
            into.take(partial(bumped, job_id, guild_id))
            back.take(partial(unbumped, job_id, guild_id))
        print(f"a bump of a job that needs {N_NEEDS} {what}: {into}")
        print(f"its un-bump: {back}")


def _fan() -> JobId:
    """A job that needs all others of its guild."""
    fill_guild(FAN, n_sessions=N_NEEDS + 1, n_jobs=1)
    with connection.cursor() as cursor:
        cursor.execute("SELECT max(id) FROM guildqueue_job WHERE guild_id = %s", [FAN])
        top = JobId(cursor.fetchone()[0])
        cursor.execute(INSERT_NEEDS, {"guild_id": FAN, "job_id": top})
        cursor.execute("UPDATE guildqueue_job SET unmet = %s WHERE id = %s", [N_NEEDS, top])
    return top


def lists() -> None:
    """The command, in this process and as people start it, without and with a lane."""
    fill_guild(LISTED, n_sessions=N_SESSIONS, n_jobs=N_JOBS)
    _list(f"queue list of {N_SESSIONS} x {N_JOBS} jobs")
    run_sql(
        "UPDATE guildqueue_job SET bump_seq = nextval('guildqueue_bump_seq'), bump_named = true,"
        " bumped_at = now(), bumped_by = 'operator:bench' WHERE guild_id = %s AND id IN"
        " (SELECT id FROM guildqueue_job WHERE guild_id = %s ORDER BY id DESC LIMIT %s)",
        [LISTED, LISTED, N_NEEDS],
    )
    _list(f"the same with {N_NEEDS} of them in the lane")


def _list(what: str) -> None:
    words = ("list", "-g", str(LISTED))
    ways = (("in process", _in_process, ROUNDS), ("the real command", _real_command, 5))
    for how, ask, rounds in ways:
        for form in ((), ("--json",)):
            took = Figures()
            for _ in range(rounds + 1):
                took.take(partial(ask, *words, *form))
            print(f"{what}, {how}{' --json' if form else ''}: {took}")


def _in_process(*words: str) -> None:
    _check(queue(*words).code)


def _real_command(*words: str) -> None:
    command = [sys.executable, "manage.py", "queue", *words]
    env = os.environ | {"DATABASE_URL": database_url()}
    done = subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, check=False)
    _check(done.returncode)


def _check(code: int) -> None:
    """Raises SystemExit for a figure that would be of something else."""
    if code:
        raise SystemExit(f"queue list ended with {code}")


def replays(folder: Path) -> None:
    """A queue without a database whose log holds a bump and an un-bump of each item in turn."""
    lane = lane_file.LaneFolder(folder)
    slugs = [f"item-{number}" for number in range(N_ITEMS)]
    lane.queue.write_text("\n".join(slugs) + "\n")
    for type_ in (EventType.PRIORITY_BUMPED, EventType.PRIORITY_UNBUMPED):
        lane_file.append_record(lane, _record(type_, slugs[0]))
    pair = lane.log.read_text()
    with lane.log.open("a") as log:
        for number in range(1, N_REQUESTS // 2):
            log.write(pair.replace(slugs[0], slugs[number % N_ITEMS]))
    size_mb = lane.log.stat().st_size / 1e6
    took = Figures()
    for _ in range(ROUNDS + 1):
        took.take(partial(lane_file.read_state, lane))
    print(f"a log of {N_REQUESTS} requests ({size_mb:.0f} MB) replayed: {took}")


def _record(type_: EventType, slug: str) -> LaneRecord:
    is_bump = type_ is EventType.PRIORITY_BUMPED
    plan = LanePlan(moved=(slug,), naming=(slug,)) if is_bump else LanePlan(removed=(slug,))
    changed = {"verb": "bump", "job_id": slug, **plan_effects(plan)}
    return LaneRecord(
        type=type_, by="operator:bench", reason="the board meets at noon", changed=changed
    )
