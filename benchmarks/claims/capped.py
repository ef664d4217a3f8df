"""What a cap costs: on every guild, and with a long line of one capped guild at the head."""

from dataclasses import replace

from benchmarks.claims import own
from benchmarks.claims.figures import quartiles, spread
from benchmarks.claims.meter import side_by_side
from benchmarks.claims.own import Shape
from benchmarks.claims.report import Run
from benchmarks.claims.subjects import PGQUEUER_QUEUE, Subject, pgqueuer_worker

CAP = 1_000
LIMITED = {"BENCH_ENTRYPOINTS": f"noop={CAP},stuck=1"}
# One of the entrypoint runs already, and the rest of its jobs come before everybody's.
STUCK = """
INSERT INTO pgqueuer (priority, status, entrypoint, queue_manager_id, heartbeat)
SELECT 1, CASE n WHEN 0 THEN 'picked' ELSE 'queued' END::pgqueuer_status, 'stuck',
       CASE n WHEN 0 THEN gen_random_uuid() END, now() + interval '1 day'
  FROM generate_series(0, %(n)s) AS n
"""


def run(run: Run) -> None:
    """Ours and pgqueuer's, each without and with; the ratio is of the times a job."""
    free, capped = _own(run)
    pgq_free, pgq_capped = _pgqueuer(run)
    pairs = [
        (subject.on(free), subject.on(capped), "<= 1.3")
        for subject in [*map(own.worker, own.WORKERS), own.turnover(1), own.turnover(10)]
    ]
    for batch in (1, 10):
        subject = pgqueuer_worker(batch, "psycopg")
        pairs.append((subject.on(pgq_free), replace(subject.on(pgq_capped), settings=LIMITED), ""))
    _compare(run, pairs)
    for database in (free, capped, pgq_free, pgq_capped):
        run.server.drop(database)


def _compare(run: Run, pairs: list[tuple[Subject, Subject, str]]) -> None:
    subjects = [subject for without, capped, _ in pairs for subject in (without, capped)]
    figures = side_by_side(
        run.server,
        subjects,
        n_workers=1,
        floor=run.size.floor(run.size.deep),
        timing=run.size.timing,
    )
    for (subject, _, target), without, capped in zip(
        pairs, figures[::2], figures[1::2], strict=True
    ):
        # By each one's own limit, so that a machine that changed between the two counts less.
        pairs_of_rounds = zip(without.rounds, capped.rounds, strict=True)
        times = [free.ratio / limited.ratio for free, limited in pairs_of_rounds]
        value = f"{spread(without.rates)} -> {spread(capped.rates)} /s"
        run.add("caps", subject.name, value, ratio=f"time x {quartiles(times)}", target=target)


def _own(run: Run) -> tuple[str, str]:
    size = run.size
    shape = Shape(waiting=size.deep, done=size.done, cap=None)
    capped = replace(shape, cap=CAP, capped_head=size.capped_head)
    for database, what in (("bench_free", shape), ("bench_capped", capped)):
        own.OWN.create(run.server, database)
        own.fill(run.server, database, what)
    return "bench_free", "bench_capped"


def _pgqueuer(run: Run) -> tuple[str, str]:
    databases = ("bench_pgq_free", "bench_pgq_capped")
    for database in databases:
        PGQUEUER_QUEUE.create(run.server, database)
        PGQUEUER_QUEUE.fill(run.server, database, waiting=run.size.deep, done=run.size.done)
    with run.server.connect(databases[1]) as connection:
        PGQUEUER_QUEUE.write(connection, STUCK, run.size.capped_head)
    run.server.settle(databases[1])
    return databases
