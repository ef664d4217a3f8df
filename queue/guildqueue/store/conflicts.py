"""Which database errors mean that somebody else was faster."""

from django.db import Error
from psycopg import errors

_CONFLICTS = (errors.DeadlockDetected, errors.SerializationFailure)


def is_conflict(error: Error) -> bool:
    """A broken lock cycle (40P01) or a failed serialisation (40001): a retry is safe."""
    return isinstance(error.__cause__, _CONFLICTS)


def is_impatience(error: Error) -> bool:
    """A lock was waited for as long as the transaction allowed (55P03)."""
    return isinstance(error.__cause__, errors.LockNotAvailable)
