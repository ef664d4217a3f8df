"""What a claim that waits and the request that tries it once have to say to each other."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from django.http import HttpRequest

KEY = "guildqueue.patience"


@dataclass(slots=True)
class Patience:
    """What one try found: ``wait_s`` is 0.0 but where there was nothing, and waiting is wanted.

    ``note`` writes of the request what is written of every one. It is called for the last try
    alone, so that a claim is one line in the log however often it is tried.
    """

    began: float = field(default_factory=time.perf_counter)
    wait_s: float = 0.0
    note: Callable[[], None] | None = None


def patience_of(request: HttpRequest) -> Patience | None:
    """The try that the request is; None for any other request.

    Under WSGI, as with Django's test client, nobody waits.
    """
    found = getattr(request, "scope", {}).get(KEY)
    return found if isinstance(found, Patience) else None


def wait_if_empty(request: HttpRequest, wait_s: float) -> None:
    """Say that the answer is an empty one, and for how long another one would be better."""
    patience = patience_of(request)
    if patience is not None:
        patience.wait_s = wait_s
