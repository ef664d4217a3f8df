"""Which jobs a claim may take, as one value."""

import hashlib
import json
from dataclasses import dataclass

from guildqueue.domain.ids import GuildId


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Restrictions on a claim; an empty set restricts nothing."""

    guilds: frozenset[GuildId] = frozenset()
    kinds: frozenset[str] = frozenset()

    def scope_hash(self) -> str:
        """What tells two rotations apart: the same for the same scope, however it was written."""
        scope = {"guilds": sorted(self.guilds), "kinds": sorted(self.kinds)}
        return hashlib.sha256(json.dumps(scope, sort_keys=True).encode()).hexdigest()
