"""Log lines: ours and the standard library's alike, and none that stops who writes it."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import logging, structlog
from console import logs
logs.configure({form!r}, debug={debug})
log = structlog.get_logger("guildqueue.example")
{body}
"""
BOTH = """
log.info("job done", job_id=7)
logging.getLogger("guildqueue.example").info("job %s", "done")
"""


def written(body: str, *, form: str = "json", debug: bool = False) -> str:
    """What a process of its own writes to standard error."""
    program = PROGRAM.format(form=form, debug=debug, body=body)
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=True, encoding="utf-8")
    return done.stderr


def test_both_kinds_of_loggers_write_the_same_fields() -> None:
    ours, standard = map(json.loads, written(BOTH).splitlines())

    assert ours.pop("job_id") == 7
    assert ours.pop("at") <= standard.pop("at")
    assert ours == standard == {
        "event": "job done", "level": "info", "logger": "guildqueue.example"
    }  # fmt: skip


@pytest.mark.parametrize(("debug", "n_lines"), [(False, 0), (True, 2)])
def test_details_are_written_only_when_debugging(debug: bool, n_lines: int) -> None:
    body = BOTH.replace("info", "debug")

    assert len(written(body, debug=debug).splitlines()) == n_lines


@pytest.mark.parametrize("form", ["json", "console"])
def test_an_exception_is_written_with_its_traceback(form: str) -> None:
    body = "try: 1 / 0\nexcept ArithmeticError: log.exception('sum failed', guild='Kürbis')"

    text = written(body, form=form)

    assert "sum failed" in text
    assert "ZeroDivisionError: division by zero" in text


@pytest.mark.parametrize("ending", ["sys.stderr.close()", "os.close(2)"])
def test_who_logs_goes_on_where_nobody_reads_it_any_more(ending: str) -> None:
    body = f"import os, sys; {ending}; log.warning('unheard'); os.write(1, b'went on')"
    program = PROGRAM.format(form="json", debug=False, body=body)

    words = [sys.executable, "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=False)

    assert done.stdout == "went on"
