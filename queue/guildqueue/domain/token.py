"""A machine's bearer token: what it may do, and for whom it speaks."""

from dataclasses import dataclass
from enum import StrEnum

from guildqueue.domain.ids import GuildId, TokenId, UserId
from guildqueue.domain.principal import Principal, PrincipalKind


class Verb(StrEnum):
    """What a token may be allowed to do."""

    READ = "read"
    ENQUEUE = "enqueue"
    CLAIM = "claim"
    MOVE = "move"
    BUMP = "bump"
    METRICS = "metrics"


WORKER_VERBS = (Verb.READ, Verb.CLAIM)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearer:
    """Whom a valid token lets in.

    With a user it acts as that user, with the user's guilds; without one, ``guild_ids`` and
    ``verbs`` are its scope. ``source`` is the declared automation that it may speak for.
    """

    token_id: TokenId
    name: str
    user_id: UserId | None
    username: str | None
    guild_ids: frozenset[GuildId]
    verbs: frozenset[str]
    source: str | None

    @property
    def principal(self) -> Principal:
        """The user it acts as, or the token itself."""
        if self.username is not None:
            return Principal(PrincipalKind.USER, self.username)
        return Principal(PrincipalKind.TOKEN, self.name)

    @property
    def lease_holder(self) -> str:
        """Whose its leases are: this very token's, so that another one of its name has none."""
        return f"{PrincipalKind.TOKEN}:{self.name}#{self.token_id}"
