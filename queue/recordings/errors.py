"""Why a recording does not get in; every text is one line."""

from pathlib import Path

from guildqueue.domain import new_session
from guildqueue.domain.errors import QueueError


class RecordingRefused(QueueError):
    """A file that is not a whole, honest recording; nothing of it was kept."""

    def __init__(self, path: Path | str, fault: str) -> None:
        self.path = Path(path)
        self.fault = one_line(fault)
        super().__init__(f"{one_line(str(path))}: {self.fault}")


class GuildNeeded(new_session.GuildNeeded):
    """A recording that does not say whose it is, imported without naming a guild."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        super().__init__(f"{one_line(str(path))}: does not name its guild; give one with -g")


def one_line(text: str, limit: int = 300) -> str:
    """``text`` with every character that a terminal would act on escaped, cut at ``limit``.

    Names inside archives come from outside: a line break or an escape sequence in one
    must not forge a second line of output.
    """
    shown = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "replace").decode("ascii")
        for char in text
    )
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
