"""Claim and complete, ours and the peers', at both depths, by one worker and by four."""

from benchmarks.claims import own
from benchmarks.claims.meter import side_by_side
from benchmarks.claims.report import Run
from benchmarks.claims.subjects import Subject, peers


def run(run: Run) -> None:
    """Each depth is filled once; all subjects take turns on it."""
    for depth in (run.size.shallow, run.size.deep):
        subjects = _prepared(run, depth)
        for n_workers in run.workers:
            figures = side_by_side(
                run.server,
                subjects,
                n_workers=n_workers,
                floor=run.size.floor(depth),
                timing=run.size.timing,
            )
            for subject, figure in zip(subjects, figures, strict=True):
                what = f"{subject.name}, {n_workers} worker(s), {depth} waiting"
                run.add_figure("peers", what, figure, target=subject.target)
        for database in {subject.database for subject in subjects}:
            run.server.drop(database)


def _prepared(run: Run, depth: int) -> list[Subject]:
    """The subjects, each on the filled database of its queue."""
    chosen = [subject for subject in _all() if run.only_subjects in subject.name]
    queues = {subject.queue.name: subject.queue for subject in chosen}
    for queue in queues.values():
        queue.create(run.server, queue.database)
        queue.fill(run.server, queue.database, waiting=depth, done=run.size.done)
    return [subject.on(subject.queue.database) for subject in chosen]


def _all() -> list[Subject]:
    return [
        *(own.worker(count) for count in own.WORKERS),
        *(bare(count) for bare in (own.loop, own.turnover) for count in (1, 10, 100)),
        *peers(),
    ]
