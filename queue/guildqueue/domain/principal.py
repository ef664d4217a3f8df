"""Who a request comes from."""

from dataclasses import dataclass
from enum import StrEnum


class PrincipalKind(StrEnum):
    """What vouches for the name: a sign-in, a token, an account or a declaration."""

    USER = "user"
    TOKEN = "token"
    ACCOUNT = "account"
    SOURCE = "source"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Principal:
    """Whoever a request comes from; ``str()`` gives the ledger's spelling, ``user:ada``."""

    kind: PrincipalKind
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """A principal in one request.

    ``correlation_id`` ties the request's log lines to its ledger record; ``on_behalf_of``
    names the person behind an automation.
    """

    principal: Principal
    correlation_id: str = ""
    on_behalf_of: str | None = None
