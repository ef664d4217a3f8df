"""The command line in this process: what it answers, says and exits with."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from django.core.management import load_command_class


@dataclass(frozen=True)
class Ended:
    """A command that ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one line of JSON."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    @property
    def fault(self) -> str:
        """Standard error, which must be one line, without the word before the colon."""
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        return self.err.strip().partition(": ")[2]


def run(name: str, *words: object) -> Ended:
    """``manage.py NAME WORDS…``."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        command = load_command_class("guildqueue", name)
        with _exit_code() as code:
            command.run_from_argv(["manage.py", name, *map(str, words)])
    return Ended(code[0], out.getvalue(), err.getvalue())


def queue(*words: object) -> Ended:
    """``manage.py queue WORDS…``."""
    return run("queue", *words)


@contextmanager
def _exit_code() -> Iterator[list[int]]:
    code = [0]
    try:
        yield code
    except SystemExit as error:
        code[0] = int(error.code or 0)
