"""What every connection that hears others has in common: proving it, and trying anew."""

import random

PATIENCE_S = 3.0  # for our own word to come back
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0


class Deaf(Exception):
    """Our own word did not come back: the connection is silent, or a pooler stands in between."""

    def __init__(self) -> None:
        super().__init__("what is said is not heard: is LISTEN_DATABASE_URL a direct address?")


def retry_pause_s(n_failed: int) -> float:
    """Seconds until the next try: growing, and never the same for all processes."""
    longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(n_failed, 10))
    return random.uniform(longest / 2, longest)  # noqa: S311 - a pause, no secret
