"""Which errors mean that the database cannot be reached, and which that it refused something."""

import psycopg
import pytest
from django.db import IntegrityError
from django.db.utils import InterfaceError, OperationalError
from psycopg_pool import PoolTimeout

from console.away import is_away


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


AWAY = [
    OperationalError("connection refused"),
    caused(OperationalError(), psycopg.OperationalError("connection refused")),
    caused(OperationalError(), psycopg.errors.AdminShutdown()),
    caused(OperationalError(), psycopg.errors.CannotConnectNow()),
    caused(OperationalError(), psycopg.errors.TooManyConnections()),
    caused(OperationalError(), psycopg.errors.ConnectionFailure()),
    caused(OperationalError(), PoolTimeout("no connection after 5 s")),
    PoolTimeout("no connection after 5 s"),
    caused(InterfaceError(), psycopg.InterfaceError("the connection is closed")),
    InterfaceError("connection already closed"),
]
HERE = [
    caused(OperationalError(), psycopg.errors.DeadlockDetected()),
    caused(OperationalError(), psycopg.errors.LockNotAvailable()),
    caused(OperationalError(), psycopg.errors.QueryCanceled()),
    caused(OperationalError(), psycopg.errors.DiskFull()),
    caused(InterfaceError(), psycopg.InterfaceError("the cursor is closed")),
    IntegrityError("duplicate key"),
    psycopg.errors.UniqueViolation(),
    ValueError("connection"),
    None,
]


@pytest.mark.parametrize("error", AWAY, ids=repr)
def test_an_unreachable_database_is_away(error: Exception) -> None:
    assert is_away(error)


@pytest.mark.parametrize("error", HERE, ids=repr)
def test_a_database_that_refuses_a_statement_is_not_away(error: Exception | None) -> None:
    assert not is_away(error)
