"""The command line: which sections, how big, and the table at the end."""

import argparse
import importlib
import os
import platform
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.claims import own
from benchmarks.claims.figures import table
from benchmarks.claims.report import Run
from benchmarks.claims.server import Server
from benchmarks.claims.sizes import SIZES
from console.embedded import server as embedded

SECTIONS = {
    "peers": "beside_peers",
    "flat": "flat",
    "caps": "capped",
    "enqueue": "enqueuing",
    "latency": "latency",
    "memory": "memory",
    "wakeups": "wakeups",
}
PROFILE = {"profile": "profiled"}  # a section of its own: its figures are not beside anything


def main(words: Sequence[str]) -> int:
    """Exit status 0; a section that breaks ends the run after the table of what there is."""
    options = _parser().parse_args(words)
    own.WORKERS.update(options.worker)
    sections = PROFILE if options.profile else {name: SECTIONS[name] for name in options.only}
    with tempfile.TemporaryDirectory(prefix="guildqueue-claims-") as folder:
        size = SIZES[options.size]
        timing = replace(size.timing, rounds=options.rounds)
        run = Run(
            server=Server(Path(folder)),
            size=replace(size, timing=timing),
            workers=options.workers,
            only_subjects=options.subject,
        )
        try:
            print(_heading(run), flush=True)
            run.server.prepare_limit()
            for module in sections.values():
                importlib.import_module(f"benchmarks.claims.{module}").run(run)
        finally:
            print(f"\n{table(run.rows)}")
            for what in run.skipped:
                print(f"NOT RUN: {what}")
            embedded.leave(Path(folder))
    return 0


def _heading(run: Run) -> str:
    with run.server.connect("postgres") as connection:
        found = connection.execute("SHOW server_version").fetchone()
    timing = run.size.timing
    return (
        f"Claims, size {run.size.name}: PostgreSQL {found and found[0]}, Python "
        f"{platform.python_version()}, {os.cpu_count()} processors; {timing.rounds} rounds of "
        f"{timing.window_s:g} s each.\nRates are jobs a second, median (range); a ratio is to "
        "single-row UPDATEs a second of as many pgbench clients, measured right before and after: "
        "median (middle half), of the steady rounds where there are enough."
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks claims")
    parser.add_argument("--size", choices=list(SIZES), default="full")
    parser.add_argument(
        "--only",
        type=_sections,
        default=list(SECTIONS),
        metavar="SECTION,...",
        help=f"of {', '.join(SECTIONS)}",
    )
    parser.add_argument(
        "--workers", type=_numbers, default=[1, 4], metavar="N,...", help="processes (1,4)"
    )
    parser.add_argument(
        "--subject", default="", metavar="TEXT", help="only what has this in its name"
    )
    parser.add_argument(
        "--worker",
        type=_worker,
        action="append",
        default=[],
        metavar="N=WORDS",
        help="one more worker of ours, N jobs a claim, by its words after manage.py",
    )
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of each figure (5)")
    parser.add_argument("--profile", action="store_true", help="only where the time goes, for ours")
    return parser


def _sections(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"no section {name!r}; known: {', '.join(SECTIONS)}")
    return names


def _worker(text: str) -> tuple[int, tuple[str, ...]]:
    count, _, words = text.partition("=")
    return int(count), tuple(words.split())


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]
