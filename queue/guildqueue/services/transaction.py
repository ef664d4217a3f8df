"""What every writing service runs in: one transaction, decided once more after a conflict."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import OperationalError, transaction

from guildqueue.domain.errors import QueueBusy
from guildqueue.store.conflicts import is_conflict, is_impatience

P = ParamSpec("P")
R = TypeVar("R")


def decided_in_transaction(service: Callable[P, R]) -> Callable[P, R]:
    """Run ``service`` in a transaction of its own.

    Should the database break a lock cycle or refuse a serialisation, the service decides once
    more against what the others left. Raises QueueBusy if that happens twice, or if a lock was
    waited for as long as the service allows.
    """
    return _decided(service, transaction.atomic)


def decided_at_once(service: Callable[P, R]) -> Callable[P, R]:
    """The same for a service that writes in one statement: that is its transaction."""
    return _decided(service, nullcontext)


def _decided(
    service: Callable[P, R], opened: Callable[[], AbstractContextManager[object]]
) -> Callable[P, R]:
    @wraps(service)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        for _ in range(2):
            try:
                with opened():
                    return service(*args, **kwargs)
            except OperationalError as error:
                # Inside a caller's transaction nothing can be decided again: it is lost.
                if is_nested() or not (is_conflict(error) or is_impatience(error)):
                    raise
                if is_impatience(error):
                    break
        raise QueueBusy

    return run


def is_nested() -> bool:
    """Whether what is written now is part of a caller's transaction, which is still open."""
    return bool(transaction.get_connection().in_atomic_block)
