"""What a command answers: words for a person or, with --json, one line of JSON."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from django.core.management.base import OutputWrapper

from guildqueue.management.ending import one_line

if TYPE_CHECKING:
    from rich.table import Table

PIPED_WIDTH = 200  # columns where no terminal says how many there are


@dataclass(frozen=True, slots=True)
class Output:
    """Where a subcommand's answer goes."""

    stdout: OutputWrapper
    as_json: bool

    def tell(self, body: Any, *lines: str) -> None:
        """``body`` as JSON, or ``lines``, in which nothing acts on a terminal."""
        if self.as_json:
            self.stdout.write(json.dumps(body, allow_nan=False))
            return
        for line in lines:
            self.stdout.write(one_line(line))

    def table(self, body: Any, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """``body`` as JSON, or a table whose last column takes what room is left."""
        if self.as_json:
            self.tell(body)
            return
        from rich.table import Table  # noqa: PLC0415 - most commands and workers draw none

        table = Table(box=None, pad_edge=False, header_style="bold")
        for number, name in enumerate(columns):
            table.add_column(name, no_wrap=number < len(columns) - 1)
        for row in rows:
            # Text from outside: neither markup nor an escape sequence of it is obeyed.
            table.add_row(*(one_line("" if cell is None else str(cell)) for cell in row))
        self.stdout.write(_drawn(table, self.stdout.isatty()), ending="")


def _drawn(table: "Table", is_terminal: bool) -> str:
    from rich.console import Console  # noqa: PLC0415 - as above

    # Under a terminal rich asks it for its width.
    width = None if is_terminal else PIPED_WIDTH
    buffer = StringIO()
    console = Console(
        file=buffer, width=width, force_terminal=is_terminal, markup=False, highlight=False
    )
    console.print(table)
    return buffer.getvalue()


def length_words(seconds: float | None) -> str:
    """A length as ``1:02:03``; ``?`` for one that nobody measured."""
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
