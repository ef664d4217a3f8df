"""Depth: how much there is to claim, by the claim's own predicate."""

from collections.abc import Mapping

from django.conf import settings

from guildqueue.domain.filters import JobFilter
from guildqueue.store import ready
from guildqueue.store.scopes import ClaimScope, claim_scope


def queue_depth(filter: JobFilter) -> Mapping[str, int]:  # noqa: A002  the word of every front end
    """How many jobs claims by this filter would take until none is left, by kind.

    Every kind that the filter and this release know is there, if only with 0. Cost grows with
    the number of claimable jobs. Raises InvalidInput.
    """
    scope = _scope(filter)
    counted = ready.count_claimable(scope)
    return {kind: counted.get(kind, 0) for kind in scope.kinds}


def depth_query(filter: JobFilter) -> str:  # noqa: A002
    """The very statement of ``queue_depth`` for a scaler: no parameters, the sum as its only row.

    Raises InvalidInput.
    """
    return ready.claimable_query(_scope(filter))


def _scope(filter: JobFilter) -> ClaimScope:  # noqa: A002
    return claim_scope(filter.for_claim(), default_cap=settings.QUEUE_RUNNING_CAP, buries=True)
