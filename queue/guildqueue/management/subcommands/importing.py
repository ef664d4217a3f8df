"""``queue import``: recordings in, by the importer that settings plug in."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, cast

from django.conf import settings
from django.core.management import CommandError
from django.utils.module_loading import import_string

from guildqueue.domain.errors import QueueError
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.new_session import GuildNeeded
from guildqueue.management.arguments import Options, add_guild, add_subcommand, guild_or_none
from guildqueue.management.ending import one_line
from guildqueue.management.output import Output
from guildqueue.services.browse import guild_record

OnProgress = Callable[[str, float], None]
"""Hears what is at hand and which part of the file, 0.0 to 1.0, is done."""


Fault = tuple[Path, QueueError | OSError]


class Imported(Protocol):
    """One session of a file; ``created`` is false for one that was there before."""

    @property
    def path(self) -> Path: ...
    @property
    def guild_id(self) -> GuildId: ...
    @property
    def session_id(self) -> SessionId: ...
    @property
    def title(self) -> str: ...
    @property
    def n_tracks(self) -> int: ...
    @property
    def created(self) -> bool: ...


class Importer(Protocol):
    """What settings.QUEUE_IMPORTER names."""

    def __call__(
        self, path: Path, *, guild: GuildId | None, media_root: Path, on_progress: OnProgress
    ) -> Sequence[Imported]:
        """The sessions of the file, in the queue. Raises a QueueError, or GuildNeeded."""


class NotImported(CommandError):
    """Some files did not get in: a line a file. 2 if all they lack is a guild, else 1."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        lines = [_fault_line(path, error) for path, error in faults]
        needed = all(isinstance(error, GuildNeeded) for _, error in faults)
        super().__init__("\n".join(lines), returncode=2 if needed else 1)


def add_subcommands(subparsers: Any) -> None:
    parser = add_subcommand(
        subparsers,
        "import",
        run_import,
        about="Put recordings in the queue: Craig zips or folders, RTTM, JSON lines.",
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH")
    add_guild(parser, meaning="whose they are, whatever a Craig download says")


def run_import(out: Output, options: Options) -> None:
    override = guild_or_none(options["guilds"]) if options["guilds"] else None
    fallback = guild_or_none(None)
    for guild_id in {override, fallback} - {None}:
        guild_record(cast(GuildId, guild_id))
    imported: list[Imported] = []
    faults: list[Fault] = []
    paths: list[Path] = options["paths"]
    with _progress(shown=not out.as_json) as told:
        for path in paths:
            try:
                imported += _import(path, override, fallback, told(path))
            except (QueueError, OSError) as error:
                faults.append((path, error))
    out.tell([_body(session) for session in imported], *_lines(imported))
    if faults:
        raise NotImported(faults)


def _import(
    path: Path, override: GuildId | None, fallback: GuildId | None, on_progress: OnProgress
) -> Sequence[Imported]:
    """``override`` is stronger than what the file says of its guild, ``fallback`` weaker."""
    importer: Importer = import_string(settings.QUEUE_IMPORTER)
    media_root = Path(settings.MEDIA_ROOT)
    try:
        return importer(path, guild=override, media_root=media_root, on_progress=on_progress)
    except GuildNeeded:
        if fallback is None or override is not None:
            raise
    return importer(path, guild=fallback, media_root=media_root, on_progress=on_progress)


@contextmanager
def _progress(*, shown: bool) -> Iterator[Callable[[Path], OnProgress]]:
    """A bar a file on a terminal; elsewhere nothing."""
    # Here, as every subcommand imports this module and few draw.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415

    console = Console(stderr=True, markup=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    with Progress(*columns, console=console, disable=not (shown and console.is_terminal)) as bars:

        def bar(path: Path) -> OnProgress:
            name = one_line(path.name)
            task = bars.add_task(name, total=1.0)

            def tell(what: str, share: float) -> None:
                bars.update(task, completed=share, description=f"{name}: {one_line(what)}")

            return tell

        yield bar


def _fault_line(path: Path, error: QueueError | OSError) -> str:
    text = one_line(str(error))
    name = one_line(str(path))
    return text if name in text else f"{name}: {text}"


def _lines(imported: Sequence[Imported]) -> Iterator[str]:
    for session in imported:
        fact = f"{session.n_tracks} tracks" if session.created else "was there before"
        yield f"session {session.session_id} in guild {session.guild_id}: {session.title} ({fact})"


def _body(session: Imported) -> dict[str, Any]:
    return {
        "path": str(session.path),
        "guild_id": str(session.guild_id),
        "session_id": str(session.session_id),
        "title": session.title,
        "tracks": session.n_tracks,
        "created": session.created,
    }
