"""Who a request comes from."""

from dataclasses import dataclass
from enum import StrEnum

FOR = " for "


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

    @property
    def spelled(self) -> str:
        """Both in one text, as a job of the lane keeps them: ``source:console for user:ada``."""
        behind = f"{FOR}{self.on_behalf_of}" if self.on_behalf_of else ""
        return f"{self.principal}{behind}"


def split_asked(spelled: str) -> tuple[str, str | None]:
    """``spelled`` as the automation and whom it asked for, None for nobody.

    Only a source asks for others, and no source's name has a blank.
    """
    by, found, behind = spelled.partition(FOR)
    return (by, behind) if found and by.startswith("source:") else (spelled, None)
