"""What a run is told, and what it has found so far."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.claims.figures import Figure, Row, quartiles, spread
from benchmarks.claims.server import Server
from benchmarks.claims.sizes import Size


@dataclass(slots=True, kw_only=True)
class Run:
    """Sections take what they need of it, add rows, and print them as they come."""

    server: Server
    size: Size
    workers: Sequence[int] = (1, 4)
    only_subjects: str = ""
    rows: list[Row] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    begun_at: float = field(default_factory=time.monotonic)

    def add(
        self, section: str, what: str, value: str, *, ratio: str = "", target: str = ""
    ) -> None:
        row = Row(section, what, value, ratio, target)
        self.rows.append(row)
        minutes = (time.monotonic() - self.begun_at) / 60
        print(
            f"{minutes:5.1f} min  {section:9} {what:44} {value:28} {ratio:22} {target}", flush=True
        )

    def add_figure(self, section: str, what: str, figure: Figure, *, target: str = "") -> None:
        """A rate a second and its ratio to the limit."""
        n_steady = sum(round_.is_steady for round_ in figure.rounds)
        note = "" if figure.is_steady else f" [{n_steady} of {len(figure.rounds)} steady]"
        ratio = quartiles(figure.ratios) + note
        self.add(section, what, f"{spread(figure.rates)} /s", ratio=ratio, target=target)

    def skip(self, what: str) -> None:
        """Not run, and said so."""
        self.skipped.append(what)
        print(f"NOT RUN: {what}", flush=True)
