"""How a command that cannot go on says so: one line on stderr and the exit code of the contract."""

import contextlib
from collections.abc import Iterator

from django.core.management import CommandError
from django.db import Error, InterfaceError, OperationalError

from guildqueue.domain.errors import InvalidInput, QueueError
from guildqueue.worker.schema import SchemaBehind

_MISSING = ("42P01", "42703", "42883")  # a table, a column, a function


class Broken(CommandError):
    """It broke; running the same again may work."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text), returncode=1)


class Misused(CommandError):
    """It was not called as its usage says."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text), returncode=2)


class Refused(CommandError):
    """A rule of the queue does not allow it, or there is no such thing."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text), returncode=3)


@contextlib.contextmanager
def ended_in_one_line() -> Iterator[None]:
    """Turn whatever the inside raises, and people may meet, into the command's last line."""
    try:
        yield
    except BrokenPipeError:
        raise
    except KeyboardInterrupt as error:
        raise CommandError("stopped", returncode=130) from error
    except (QueueError, SchemaBehind, Error, OSError) as error:
        raise _last_line(error) from error


def _last_line(error: Exception) -> CommandError:
    match error:
        case InvalidInput():
            return Misused(str(error))
        case QueueError():
            return Refused(str(error))
        case OperationalError() | InterfaceError():
            return Broken(f"the database is away: {error}")
        case Error() if getattr(error.__cause__, "sqlstate", None) in _MISSING:
            return Broken("the schema is not current: run manage.py migrate first")
        case Error():
            return Broken(f"the database refused: {error}")
        case _:
            return Broken(str(error))


def one_line(text: str) -> str:
    """``text`` on one line, every character that a terminal would act on escaped."""
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in joined)
