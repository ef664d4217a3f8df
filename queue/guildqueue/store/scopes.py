"""A filter as the statements name it."""

from typing import Any, NamedTuple

from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.job import KNOWN_KINDS


class ClaimScope(NamedTuple):
    """Which jobs a claim may take, None for no restriction.

    ``default_cap`` is that of guilds without one. ``buries`` counts slots as a claim finds them
    that is still to come, which first ends what was lost for good.
    """

    kinds: list[str]
    assignee_kind: str
    guilds: list[GuildId] | None
    labels: list[str] | None
    any_labels: list[str] | None
    min_priority: int | None
    max_priority: int | None
    session: SessionId | None
    default_cap: int | None
    buries: bool


def claim_scope(scope: JobFilter, *, default_cap: int | None, buries: bool = False) -> ClaimScope:
    """The filter of a claim; a kind that this release does not know is left out."""
    return ClaimScope(
        kinds=[kind for kind in KNOWN_KINDS if not scope.kinds or kind in scope.kinds],
        assignee_kind=scope.claimed_by,
        guilds=sorted(scope.guilds) or None,
        labels=sorted(scope.labels) or None,
        any_labels=sorted(scope.any_labels) or None,
        min_priority=scope.min_priority,
        max_priority=scope.max_priority,
        session=scope.session,
        default_cap=default_cap,
        buries=buries,
    )


def list_scope(scope: JobFilter) -> dict[str, Any]:
    """The filter of a list, in which None means any, of kinds and assignees too."""
    return {
        **claim_scope(scope, default_cap=None)._asdict(),
        "kinds": sorted(scope.kinds) or None,
        "assignee_kind": scope.assignee_kind,
        "states": sorted(scope.states) or None,
        "held": scope.held,
    }
