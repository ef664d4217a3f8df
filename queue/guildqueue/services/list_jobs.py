"""Any jobs, running, ended or waiting, by a filter and page by page."""

from typing import NamedTuple

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import BIGINT_MAX, JobId
from guildqueue.domain.job import Job
from guildqueue.store import jobs

LIMIT_MOST = 1000


class JobPage(NamedTuple):
    """Jobs by ascending id; ``more`` says whether others follow the last of them."""

    jobs: tuple[Job, ...]
    more: bool

    @property
    def after(self) -> JobId | None:
        """Where the next page begins; None on the last one."""
        return self.jobs[-1].id if self.more else None


def list_jobs(filter: JobFilter, *, after: JobId | None = None, limit: int = 100) -> JobPage:  # noqa: A002
    """The first ``limit`` jobs that fit, with ids above ``after``. Raises InvalidInput."""
    if not 1 <= limit <= LIMIT_MOST:
        raise InvalidInput("limit", limit, f"a number from 1 to {LIMIT_MOST}")
    if after is not None and not 0 <= after <= BIGINT_MAX:
        raise InvalidInput("after", after, "the id of a job")
    found = jobs.list_jobs(filter, after=after, limit=limit + 1)
    return JobPage(tuple(found[:limit]), more=len(found) > limit)
