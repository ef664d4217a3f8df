"""Structured logs: one JSON object a line for machines, colours for a person at a terminal."""

import logging.config
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
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
    """Send structlog's and the standard library's records through one renderer to stderr."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    logging.config.dictConfig(_standard_library(form, level="DEBUG" if debug else "INFO"))


def _shared() -> list[Any]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.UnicodeDecoder(),
    ]


def _standard_library(form: str, *, level: str) -> dict[str, Any]:
    render: list[Any] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if form == "json"
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [*_shared(), structlog.stdlib.ExtraAdder(_FOREIGN_FIELDS)],
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
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
