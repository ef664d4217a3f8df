"""32 clients that enqueue, claim and complete, with wake-ups on and off."""

from dataclasses import replace

from benchmarks.claims import own
from benchmarks.claims.figures import quartiles
from benchmarks.claims.meter import side_by_side
from benchmarks.claims.report import Run

CLIENTS = 32
DATABASE = "bench_wakeups"
OFF = {"QUEUE_WAKE_UPS": "false"}


def run(run: Run) -> None:
    """Each client enqueues one job for each that it does: the most wake-ups there can be."""
    own.OWN.create(run.server, DATABASE)
    own.fill(run.server, DATABASE, own.Shape(waiting=run.size.shallow, done=run.size.done))
    on = replace(
        own.loop(1).on(DATABASE),
        name="32 clients, wake-ups on",
        words=("-m", "benchmarks.claims.loop", "--enqueue", "1"),
    )
    off = replace(on, name="32 clients, wake-ups off", settings={**on.settings, **OFF})
    figures = side_by_side(
        run.server, [off, on], n_workers=CLIENTS, floor=None, timing=run.size.timing
    )
    for subject, figure in zip((off, on), figures, strict=True):
        run.add_figure("wake-ups", subject.name, figure)
    rounds = zip(figures[0].rounds, figures[1].rounds, strict=True)
    shares = [told.ratio / silent.ratio for silent, told in rounds]
    run.add("wake-ups", "on beside off", quartiles(shares), target=">= 0.95")
    run.server.drop(DATABASE)
