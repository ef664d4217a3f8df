"""Issue, recognise and revoke bearer tokens."""

import hashlib
import secrets
from collections.abc import Collection

from guildqueue.domain.errors import InvalidInput, UserNotFound
from guildqueue.domain.ids import GuildId, TokenId
from guildqueue.domain.token import Bearer, Verb
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import guilds, tokens

PREFIX = "gq_"


@decided_in_transaction
def issue_token(
    name: str,
    *,
    username: str | None = None,
    guild_ids: Collection[GuildId] = (),
    verbs: Collection[str] = (),
    source: str | None = None,
) -> str:
    """The new token, which cannot be shown again: only its hash is stored.

    With ``username`` it acts as that user; without, ``guild_ids`` and ``verbs`` are its scope.
    Raises InvalidInput for an unknown verb or an empty name, UserNotFound.
    """
    if not name.strip():
        raise InvalidInput("name", name, "some text")
    for verb in verbs:
        if verb not in set(Verb):
            raise InvalidInput("verb", verb, tuple(Verb))
    user_id = guilds.find_user(username) if username is not None else None
    if username is not None and user_id is None:
        raise UserNotFound(username)
    raw = PREFIX + secrets.token_urlsafe(32)
    tokens.insert_token(
        name=name,
        sha256=_hashed(raw),
        user_id=user_id,
        guild_ids=guild_ids,
        verbs=verbs,
        source=source,
    )
    return raw


def token_bearer(raw: str) -> Bearer | None:
    """Whom the token lets in; None for one that is unknown, revoked or of a former user."""
    bearer = tokens.find_token(_hashed(raw)) if raw.startswith(PREFIX) else None
    if bearer is not None:
        tokens.touch_token(bearer.token_id)
    return bearer


def token_bearers(raws: Collection[str]) -> dict[str, Bearer]:
    """Whom the tokens let in, by token; one read, and no token counts as used by it."""
    hashed = {_hashed(raw): raw for raw in raws if raw.startswith(PREFIX)}
    return {hashed[sha256]: bearer for sha256, bearer in tokens.find_tokens(hashed.keys()).items()}


def revoke_token(token_id: TokenId) -> bool:
    """True if the token could be used before."""
    return tokens.revoke_token(token_id)


def list_tokens() -> list[Bearer]:
    """All tokens that are not revoked, oldest first."""
    return tokens.list_tokens()


def _hashed(raw: str) -> str:
    # The token has 256 random bits, so a fast hash is as good as a slow one.
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()
