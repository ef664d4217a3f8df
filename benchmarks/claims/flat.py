"""Whether a claim costs the same whatever the table holds: medians of single claims, in turns.

The buffers are those of a claim and its completion.
"""

import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from benchmarks.claims import own
from benchmarks.claims.counters import PATH_NAME, Counters
from benchmarks.claims.figures import quartiles
from benchmarks.claims.meter import end, scratch
from benchmarks.claims.own import Shape
from benchmarks.claims.report import Run
from benchmarks.claims.server import environment, python

CHURN_LIMIT_S = 1_800.0
NO_VACUUM = """
SELECT format('ALTER TABLE %I SET (autovacuum_enabled = false)', relname)
  FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""


@dataclass(slots=True, kw_only=True)
class Variant:
    """A database to claim from, and the one that it is compared with."""

    what: str
    database: str
    than: str
    target: str = ""
    claims: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    buffers: list[float] = field(default_factory=list)


def run(run: Run) -> None:
    """All databases first, then rounds over all of them, so that noise meets all alike."""
    with _prepared(run) as variants:
        for _ in range(run.size.timing.rounds):
            _round(run, variants)
    for variant in variants:
        than = "" if variant.than == variant.database else f" than {variant.than}"
        buffers = statistics.median(variant.buffers)
        run.add(
            "flat",
            variant.what,
            f"{quartiles(variant.claims)} ms a claim, {buffers:.0f} buffers",
            ratio=quartiles(variant.ratios) + than,
            target=variant.target,
        )
        run.server.drop(variant.database)


def _round(run: Run, variants: list[Variant]) -> None:
    medians: dict[str, float] = {}
    n = max(20, run.size.n_claims // run.size.timing.rounds)
    for variant in variants:
        words = python("-m", "benchmarks.claims.timed", str(n))
        env = environment(run.server.url(variant.database), own.SETTINGS)
        done = subprocess.run(words, check=True, env=env, capture_output=True, text=True)
        took = json.loads(done.stdout)
        claims = took["claims"]
        variant.buffers.append(took["buffers"])
        variant.claims += claims
        medians[variant.database] = statistics.median(claims)
        variant.ratios.append(medians[variant.database] / medians[variant.than])


@contextmanager
def _prepared(run: Run) -> Iterator[list[Variant]]:
    """Shallow and deep first: the others are compared with the deep one."""
    size = run.size
    deep = Shape(waiting=size.deep, done=size.done)
    variants = [
        _filled(run, "shallow", "shallow", f"{size.shallow} waiting", _waiting(run, size.shallow)),
        _filled(run, "deep", "shallow", f"{size.deep} waiting", deep),
    ]
    for n in size.guilds[1:]:
        shape = Shape(waiting=size.deep, done=size.done, guilds=n)
        variants.append(_filled(run, f"guilds_{n}", "deep", f"{n} guilds", shape))
    shape = Shape(waiting=size.deep, done=size.done, running=size.running)
    variants.append(_filled(run, "running", "deep", f"{size.running} running leases", shape))
    shape = Shape(waiting=size.deep, done=size.done, priorities=1_000)
    variants.append(_filled(run, "priorities", "deep", "1000 distinct priorities", shape))
    variants.append(_filled(run, "churned", "deep", "", deep))
    n = _churn(run, "churned", size.churn)
    variants[-1].what = f"after {n} claims, no vacuum"
    variants.append(_filled(run, "snapshot", "deep", "", deep))
    with run.server.connect("snapshot") as holder:
        holder.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        holder.execute("SELECT count(*) FROM guildqueue_guild")
        n = _churn(run, "snapshot", size.snapshot_claims)
        variants[-1].what = f"after {n} claims under an old snapshot"
        yield variants


def _waiting(run: Run, n: int) -> Shape:
    return Shape(waiting=n, done=run.size.done)


def _filled(run: Run, database: str, than: str, what: str, shape: Shape) -> Variant:
    own.OWN.create(run.server, database)
    own.fill(run.server, database, shape)
    return Variant(
        what=what, database=database, than=than, target="" if database == than else "<= 1.25"
    )


def _churn(run: Run, database: str, n: int) -> int:
    """How many of ``n`` jobs were claimed and completed, in tens, within the time there is."""
    with run.server.connect(database) as connection:
        for (text,) in connection.execute(NO_VACUUM).fetchall():
            connection.execute(text)
    with scratch() as folder:
        counters = Counters.create(folder / "counters")
        env = environment(run.server.url(database), own.SETTINGS)
        process = subprocess.Popen(
            python("-m", "benchmarks.claims.loop", "10", str(n)),
            env=env | {PATH_NAME: str(folder / "counters")},
        )
        try:
            give_up_at = time.monotonic() + CHURN_LIMIT_S
            while process.poll() is None and time.monotonic() < give_up_at:
                time.sleep(0.2)
        finally:
            end([process])
        if counters.total < n:
            run.skip(f"{database}: only {counters.total} of {n} claims in {CHURN_LIMIT_S:g} s")
        return counters.total
