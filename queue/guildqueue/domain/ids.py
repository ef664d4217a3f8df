"""The identifiers of the queue and the range they live in."""

from typing import NewType

GuildId = NewType("GuildId", int)
SessionId = NewType("SessionId", int)
JobId = NewType("JobId", int)
UserId = NewType("UserId", int)
EventId = NewType("EventId", int)
TokenId = NewType("TokenId", int)

BIGINT_MAX = 2**63 - 1
BIGINT_MIN = -(2**63)
