"""Callers of the API with tokens of their own scope."""

import json
from collections.abc import Collection
from typing import Any

from guildqueue.domain.ids import GuildId
from guildqueue.domain.token import Verb
from guildqueue.services.tokens import issue_token
from tests.web.api import Caller

WORKS = (Verb.READ, Verb.ENQUEUE, Verb.CLAIM)


def machine(
    *guild_ids: GuildId,
    verbs: Collection[str] = WORKS,
    name: str = "a machine",
    source: str | None = None,
) -> Caller:
    """Somebody with a new token for those guilds and verbs."""
    raw = issue_token(name, guild_ids=guild_ids, verbs=verbs, source=source)
    return Caller({"Authorization": f"Bearer {raw}"})


def body_of(response: Any, status: int = 200) -> Any:
    """What was answered, once it is that status."""
    assert response.status_code == status, response.content
    return json.loads(response.content)


def claimed(caller: Caller, **wanted: object) -> list[dict[str, Any]]:
    """The leases that a claim gives."""
    leases: list[dict[str, Any]] = body_of(caller.post("/api/claims", wanted))["leases"]
    return leases
