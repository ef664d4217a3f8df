"""How a command that cannot go on says so: one line on stderr and the exit code of the contract."""

import contextlib
from collections.abc import Iterator

from django.core.management import CommandError
from django.db import Error, InterfaceError, OperationalError, ProgrammingError

from guildqueue.domain.errors import InvalidInput, QueueError
from guildqueue.worker.schema import SchemaBehind


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
    except InvalidInput as error:
        raise Misused(str(error)) from error
    except QueueError as error:
        raise Refused(str(error)) from error
    except SchemaBehind as error:
        raise Broken(str(error)) from error
    except (OperationalError, InterfaceError) as error:
        raise Broken(f"the database is away: {error}") from error
    except ProgrammingError as error:
        hint = "; is the schema current? (manage.py migrate)"
        raise Broken(f"the database refused: {error}{hint}") from error
    except (Error, OSError) as error:
        raise Broken(str(error)) from error
    except KeyboardInterrupt as error:
        raise CommandError("stopped", returncode=130) from error


def one_line(text: str) -> str:
    """``text`` on one line, every character that a terminal would act on escaped."""
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in joined)
