"""Bearer tokens by their hash; the token itself is never stored."""

from collections.abc import Collection
from typing import Any

from guildqueue.domain.ids import GuildId, TokenId, UserId
from guildqueue.domain.token import Bearer
from guildqueue.store.statements import execute, row, rows, sole


def insert_token(
    *,
    name: str,
    sha256: str,
    user_id: UserId | None,
    guild_ids: Collection[GuildId],
    verbs: Collection[str],
    source: str | None,
) -> TokenId:
    """The new token's id."""
    found = sole(
        "insert_token",
        {
            "name": name,
            "sha256": sha256,
            "user_id": user_id,
            "guild_ids": list(guild_ids),
            "verbs": list(verbs),
            "source": source,
        },
    )
    return TokenId(found.id)


def find_token(sha256: str) -> Bearer | None:
    """Whom the token of that hash lets in; None once revoked or its user deactivated."""
    found = row("find_token", {"sha256": sha256})
    return _bearer(found) if found else None


def find_tokens(hashes: Collection[str]) -> dict[str, Bearer]:
    """Whom the tokens of those hashes let in, by hash; who may not come in is not there."""
    return {found.sha256: _bearer(found) for found in rows("find_tokens", {"hashes": list(hashes)})}


def touch_token(token_id: TokenId) -> None:
    """Note that the token was used, to the minute."""
    execute("touch_token", {"token_id": token_id})


def revoke_token(token_id: TokenId) -> bool:
    """True if the token could be used before."""
    return bool(rows("revoke_token", {"token_id": token_id}))


def list_tokens() -> list[Bearer]:
    """All tokens that are not revoked, oldest first."""
    return [_bearer(found) for found in rows("list_tokens", {})]


def _bearer(found: Any) -> Bearer:
    return Bearer(
        token_id=TokenId(found.id),
        name=found.name,
        user_id=found.user_id,
        username=found.username,
        guild_ids=frozenset(GuildId(guild) for guild in found.guild_ids),
        verbs=frozenset(found.verbs),
        source=found.source,
    )
