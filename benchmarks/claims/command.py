"""The command line: which sections, how big, and the table at the end."""

import argparse
import importlib
import os
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path

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


def main(words: Sequence[str]) -> int:
    """Exit status 0; a section that breaks ends the run after the table of what there is."""
    options = _parser().parse_args(words)
    with tempfile.TemporaryDirectory(prefix="guildqueue-claims-") as folder:
        run = Run(
            server=Server(Path(folder)),
            size=SIZES[options.size],
            workers=options.workers,
            only_subjects=options.subject,
        )
        try:
            print(_heading(run), flush=True)
            run.server.prepare_limit()
            for name in options.only:
                importlib.import_module(f"benchmarks.claims.{SECTIONS[name]}").run(run)
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
        "median (middle half)."
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
    return parser


def _sections(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"no section {name!r}; known: {', '.join(SECTIONS)}")
    return names


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]
