"""How figures are put together: medians, spreads and ratios; no measuring here."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Figure:
    """A rate of each round with the limit measured right before and after it, all a second."""

    rates: list[float] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)

    def add(self, rate: float, before: float, after: float) -> None:
        self.rates.append(rate)
        self.limits.append((before + after) / 2)

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    @property
    def ratios(self) -> list[float]:
        """A round's rate by that round's own limit: the machine's noise is in both."""
        return [rate / limit for rate, limit in zip(self.rates, self.limits, strict=True)]

    @property
    def ratio(self) -> float:
        return statistics.median(self.ratios)


def add_round(figures: Sequence[Figure], rates: Sequence[float], limits: Sequence[float]) -> None:
    """A round of one rate a figure, with a limit before the first, between them, and at the end."""
    if len(limits) != len(rates) + 1:
        raise ValueError(f"{len(rates)} rates need {len(rates) + 1} limits, not {len(limits)}")
    for figure, rate, (before, after) in zip(figures, rates, pairwise(limits), strict=True):
        figure.add(rate, before, after)


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
