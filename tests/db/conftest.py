"""Fixtures that several files here share."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from guildqueue.domain.ids import GuildId
from tests.db.prepared_turn import PreparedTurn
from tests.db.stored import write
from tests.db.worker_process import Workers, worker_processes


@pytest.fixture
def workers(committed_db: None, database_url: str, tmp_path: Path) -> Iterator[Workers]:
    with worker_processes(database_url, tmp_path) as started:
        yield started


@pytest.fixture
def turn(guild: GuildId, database_url: str) -> Iterator[PreparedTurn]:
    """Prepared, run and so planned while there is not one job."""
    write("VACUUM ANALYZE")
    with psycopg.connect(database_url, autocommit=True, prepare_threshold=None) as connection:
        prepared = PreparedTurn(connection)
        for _ in range(7):
            prepared.claim()
        yield prepared
