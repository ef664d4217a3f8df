"""How Django reaches PostgreSQL: the address, and the options that every connection gets."""

from pathlib import Path
from typing import Any

import dj_database_url
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import ProgrammingError

from console import env

ADDRESS = "an address like postgresql://user:password@host/name"


def from_environment(*, embedded_data_dir: Path, program: str) -> dict[str, Any]:
    """Django's DATABASES entry: DATABASE_URL, or the embedded server where there is none."""
    database: dict[str, Any] = env.secret("DATABASE_URL", allowed=ADDRESS, parse=_parse) or {
        "ENGINE": "console.embedded",
        "NAME": "guildqueue",
        "EMBEDDED_DATA_DIR": embedded_data_dir,
    }
    prepared = env.switch("QUEUE_PREPARED_STATEMENTS", default=True)
    options: dict[str, Any] = {
        "server_side_binding": True,
        # Behind a pooler in transaction mode the next statement meets another server process,
        # which never saw the PREPARE.
        "prepare_threshold": 5 if prepared else None,
        "connect_timeout": 5,
        "application_name": f"guildqueue {program}"[:63],
    }
    given = database.get("OPTIONS", {})
    return database | {"CONN_MAX_AGE": 0, "CONN_HEALTH_CHECKS": True, "OPTIONS": options | given}


def with_pool(database: dict[str, Any], *, max_size: int) -> dict[str, Any]:
    """``database`` with a pool of at most ``max_size`` connections a process."""
    pool = {
        "min_size": 1,
        "max_size": max_size,
        "timeout": 3,
        # After an outage the pool must be back with the database, not a backoff later: a failed
        # attempt gives up soon, and the next request makes a new one.
        "reconnect_timeout": 3,
        "max_idle": 60,
    }
    return database | {"OPTIONS": database["OPTIONS"] | {"pool": pool}}


def direct_address(url: str) -> str:
    """``url`` as it is. Raises ValueError if it is no address of a PostgreSQL database."""
    try:
        named = conninfo_to_dict(url)
    except ProgrammingError:
        raise ValueError("not an address") from None
    if not url.startswith(("postgres://", "postgresql://")) or not named.get("dbname"):
        raise ValueError("not PostgreSQL, or no database name")
    return url


def _parse(url: str) -> dict[str, Any]:
    if not url.startswith(("postgres://", "postgresql://")):
        raise ValueError("not PostgreSQL")
    parsed = dict(dj_database_url.parse(url))
    if not parsed.get("NAME"):
        raise ValueError("no database name")
    return parsed
