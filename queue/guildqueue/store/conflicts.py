"""Which database errors mean that somebody else was faster."""

from django.db import Error
from psycopg import errors

_CONFLICTS = (errors.DeadlockDetected, errors.SerializationFailure)


def is_conflict(error: Error) -> bool:
    """A broken lock cycle (40P01) or a failed serialisation (40001): a retry is safe."""
    return isinstance(error.__cause__, _CONFLICTS)
