"""How figures are put together: medians, spreads and ratios; no measuring here."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

STEADY = 1.5  # how far the limits before and after a figure may lie apart, as a factor
ENOUGH = 5  # steady rounds, with which the others are left out


@dataclass(frozen=True, slots=True)
class Round:
    """A rate between two limits, all a second."""

    rate: float
    before: float
    after: float

    @property
    def ratio(self) -> float:
        """To that round's own limit: the machine's noise is in both."""
        return self.rate / ((self.before + self.after) / 2)

    @property
    def is_steady(self) -> bool:
        """Whether the machine was about as fast before as after."""
        return max(self.before, self.after) <= STEADY * min(self.before, self.after)


@dataclass(frozen=True, slots=True)
class Figure:
    """All rounds of one subject. Where enough of them were steady, only these count."""

    rounds: list[Round] = field(default_factory=list)

    @property
    def counted(self) -> list[Round]:
        steady = [round_ for round_ in self.rounds if round_.is_steady]
        return steady if len(steady) >= ENOUGH else self.rounds

    @property
    def is_steady(self) -> bool:
        return all(round_.is_steady for round_ in self.counted)

    @property
    def rates(self) -> list[float]:
        return [round_.rate for round_ in self.counted]

    @property
    def ratios(self) -> list[float]:
        return [round_.ratio for round_ in self.counted]


def add_round(figures: Sequence[Figure], rates: Sequence[float], limits: Sequence[float]) -> None:
    """A round of one rate a figure, with a limit before the first, between them, and at the end."""
    if len(limits) != len(rates) + 1:
        raise ValueError(f"{len(rates)} rates need {len(rates) + 1} limits, not {len(limits)}")
    for figure, rate, (before, after) in zip(figures, rates, pairwise(limits), strict=True):
        figure.rounds.append(Round(rate, before, after))


def quartiles(figures: Sequence[float]) -> str:
    """Median and the middle half."""
    if len(figures) < 2:
        return f"{figures[0]:.2f}"
    low, middle, high = statistics.quantiles(figures, n=4, method="inclusive")
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"


def spread(figures: Sequence[float], digits: int = 0) -> str:
    """Median and range."""
    middle = statistics.median(figures)
    return f"{middle:.{digits}f} ({min(figures):.{digits}f} to {max(figures):.{digits}f})"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table at the end. ``target`` says what was wanted, empty where nothing was."""

    section: str
    what: str
    value: str
    ratio: str = ""
    target: str = ""


def table(rows: Sequence[Row]) -> str:
    """All rows in columns as wide as needed."""
    heads = Row("section", "what", "median (range)", "ratio", "wanted")
    cells = [(row.section, row.what, row.value, row.ratio, row.target) for row in [heads, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
