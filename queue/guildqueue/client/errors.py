"""What a call over HTTP may come to, other than its answer."""

from collections.abc import Mapping
from typing import Any


class ConsoleAway(Exception):
    """The console cannot be reached, or has no database; asking again later may work."""


class RequestFailed(Exception):
    """The console refused. ``problem`` is its RFC 9457 answer, ``status`` its HTTP status."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = problem
        super().__init__(f"{status}: {problem.get('detail') or problem.get('title') or '?'}")


class LeaseLost(RequestFailed):
    """The job is no longer this worker's: stop the work. ``reason`` may be ``cancelled``."""

    @property
    def reason(self) -> str:
        return str(self.problem.get("refusal") or "no-such-job")
