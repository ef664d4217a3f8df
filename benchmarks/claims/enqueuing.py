"""An enqueue of many beside bare COPYs of the same columns."""

import json
import subprocess

from benchmarks.claims import own
from benchmarks.claims.figures import quartiles, spread
from benchmarks.claims.own import Shape
from benchmarks.claims.report import Run
from benchmarks.claims.server import environment, python

DATABASE = "bench_bulk"


def run(run: Run) -> None:
    """The COPY that counts is into the same indexes; the one into none is how much they cost."""
    n, rounds = run.size.enqueued, run.size.timing.rounds
    own.OWN.create(run.server, DATABASE)
    own.fill(run.server, DATABASE, Shape(waiting=0, done=run.size.shallow, guilds=1))
    done = subprocess.run(
        python("-m", "benchmarks.claims.bulk", str(n), str(rounds)),
        check=True,
        env=environment(run.server.url(DATABASE), own.SETTINGS),
        capture_output=True,
        text=True,
    )
    took: dict[str, list[float]] = json.loads(done.stdout)
    ours = took["enqueue_jobs"]
    for name, what, target in (
        ("copy_indexed", "a bare COPY with the same indexes", ">= 0.5"),
        ("copy_plain", "a bare COPY without indexes", ""),
    ):
        bare = took[name]
        ratio = quartiles([copy / queue for copy, queue in zip(bare, ours, strict=True)])
        value = f"{spread([n / s for s in ours])} /s beside {spread([n / s for s in bare])} /s"
        run.add("enqueue", f"{n} jobs beside {what}", value, ratio=ratio, target=target)
    run.server.drop(DATABASE)
