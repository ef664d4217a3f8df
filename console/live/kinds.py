"""The streams there are: their addresses, and what each shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import assert_never, cast

from console.live.authority import Admitted, Asked, Credential
from console.live.subjects import GuildHistory, GuildQueue, Meeting, OwnGuilds, Subject
from guildqueue.domain.ids import GuildId, SessionId, UserId

Ids = Mapping[str, int]


class Shown(Enum):
    """What a stream can show."""

    QUEUE = auto()
    HISTORY = auto()
    SESSION = auto()
    GUILDS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """``for_machines``: JSON, and bearer tokens are taken; otherwise HTML for a browser."""

    name: str
    route: str
    for_machines: bool
    shows: Shown


def asked_by(credential: Credential | None, ids: Ids) -> Asked:
    """What whoever holds the credential asks for at an address with those ids."""
    return Asked(
        credential=credential,
        guild_id=GuildId(ids["guild_id"]) if "guild_id" in ids else None,
        session_id=SessionId(ids["session_id"]) if "session_id" in ids else None,
    )


def subject_of(kind: Kind, admitted: Admitted, ids: Ids) -> Subject:
    """What a stream of that kind shows to whoever was admitted to it."""
    match kind.shows:
        case Shown.QUEUE:
            return GuildQueue(GuildId(ids["guild_id"]))
        case Shown.HISTORY:
            return GuildHistory(GuildId(ids["guild_id"]))
        case Shown.SESSION:
            return Meeting(SessionId(ids["session_id"]), cast(GuildId, admitted.guild_id))
        case Shown.GUILDS:
            return OwnGuilds(cast(UserId, admitted.user_id))
        case never:
            assert_never(never)


KINDS = (
    Kind(
        name="api-queue-stream",
        route="api/guilds/<bigid:guild_id>/queue/stream",
        for_machines=True,
        shows=Shown.QUEUE,
    ),
    Kind(
        name="guild-queue-stream",
        route="guilds/<bigid:guild_id>/stream",
        for_machines=False,
        shows=Shown.QUEUE,
    ),
    Kind(
        name="guild-history-stream",
        route="guilds/<bigid:guild_id>/history/stream",
        for_machines=False,
        shows=Shown.HISTORY,
    ),
    Kind(name="guild-list-stream", route="guilds/stream", for_machines=False, shows=Shown.GUILDS),
    Kind(
        name="session-stream",
        route="sessions/<bigid:session_id>/stream",
        for_machines=False,
        shows=Shown.SESSION,
    ),
)
