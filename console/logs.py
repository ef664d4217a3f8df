"""Structured logs: one JSON object a line for machines, colours for a person at a terminal."""

import contextlib
import logging.config
import sys
from collections.abc import Iterator, Sequence
from typing import Any


@contextlib.contextmanager
def _as_if_missing(names: Sequence[str]) -> Iterator[None]:
    """Importing any of these modules fails in here, unless it is imported already."""
    kept_out = {name: None for name in names if name not in sys.modules}
    sys.modules.update(kept_out)  # type: ignore[arg-type] # what the import system documents
    try:
        yield
    finally:
        for name in kept_out:
            del sys.modules[name]


# It takes whatever of these is installed, for what we never use: 8 MiB of every process.
with _as_if_missing(("rich", "twisted", "greenlet")):
    import structlog


def default_format() -> str:
    return "console" if sys.stderr.isatty() else "json"


def configure(form: str, *, debug: bool) -> None:
    """Have structlog's events and the standard library's records rendered alike, to stderr."""
    level = logging.DEBUG if debug else logging.INFO
    structlog.configure(
        # Past the standard library, which takes three times as long over a line.
        processors=[*_shared(), *_rendered(form)],
        logger_factory=_StderrLogger,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(_standard_library(form, level=logging.getLevelName(level)))


class _StderrLogger:
    """Writes each event as a line, at once; where nobody can read it any more, it is lost."""

    __slots__ = ("name",)

    def __init__(self, name: str = "") -> None:
        self.name = name

    def write(self, line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()

    debug = info = warning = error = critical = write


def _shared() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.StackInfoRenderer(),
    ]


def _rendered(form: str) -> list[Any]:
    if form == "json":
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    return [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]


def _standard_library(form: str, *, level: str) -> dict[str, Any]:
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [
                    *_shared(),
                    structlog.stdlib.PositionalArgumentsFormatter(),
                    structlog.stdlib.ExtraAdder(_FOREIGN_FIELDS),
                ],
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *_rendered(form),
                ],
            }
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "stream": "ext://sys.stderr",
                "formatter": "structured",
            }
        },
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {
            "console": {"level": level},
            "guildqueue": {"level": level},
            "recordings": {"level": level},
            # A refused request is the caller's business; its own line is in the request log.
            "django.request": {"level": "ERROR"},
        },
    }


# Only what is plain data: Django's records carry the whole request object.
_FOREIGN_FIELDS = {"status_code"}
