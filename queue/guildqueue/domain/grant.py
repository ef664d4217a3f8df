"""Who may say what runs next: the operator, or a source that the operator has declared."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from guildqueue.domain.errors import shortened
from guildqueue.domain.principal import Principal, PrincipalKind

RESERVED = "operator"
SOURCE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# The table of the declaration: in a guild's root, and beside a queue.txt.
GUILD_TABLE = ("queue", "priority")
LANE_TABLE = ("priority",)


class MalformedDeclaration(ValueError):
    """The declaration is there, and does not say what it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What the queue's own reviewed file says, and whose it is.

    ``owner_name`` is what the password database calls ``owner_uid``, None if nothing. With a
    ``fault`` nothing can be read from it, which admits nobody: that is another fact than a file
    that is not there, which declares no source. A fault is told and recorded for everybody who
    asks, so it has nothing of what is written there, and only ``place`` has the path.
    """

    owner_uid: int | None
    owner_name: str | None
    sources: frozenset[str] = frozenset()
    fault: str | None = None
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks, as the operating system and the front end vouch for them.

    ``uid`` is the process's; ``principal`` is whom a refusal is recorded for. ``may_be_operator``
    is False where the process is a server's and says nothing of who asks.
    """

    uid: int
    principal: Principal
    source: str | None = None
    on_behalf_of: str | None = None
    may_be_operator: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whom the record names, and why the request is refused; None for one that is admitted.

    ``place`` is the path to look at, for a refusal told on the host itself: "" for a server's.
    """

    principal: Principal
    refusal: str | None = None
    place: str = ""

    @property
    def is_granted(self) -> bool:
        return self.refusal is None


def judge(declaration: Declaration, asker: Asker) -> Verdict:
    """Whether the asker may bump and un-bump.

    The account decides before the name does: a name is not a credential, and whoever is refused
    learns nothing of what is declared. Root is an account like any other.
    """
    refusal = _account_refusal(declaration, asker)
    if refusal is None and asker.source is not None:
        refusal = _source_refusal(declaration, asker.source)
    if refusal is not None:
        return Verdict(asker.principal, refusal, _place(declaration, asker))
    if asker.source is not None:
        return Verdict(Principal(PrincipalKind.SOURCE, asker.source))
    return Verdict(Principal(PrincipalKind.OPERATOR, declaration.owner_name or ""))


def _account_refusal(declaration: Declaration, asker: Asker) -> str | None:
    if declaration.fault is not None:
        return f"the declaration cannot be relied on: {declaration.fault}"
    if declaration.owner_uid is None:
        return "nobody owns the declaration"
    if declaration.owner_name is None:
        return f"the operator (uid {declaration.owner_uid}) is not in the password database"
    if asker.uid != declaration.owner_uid:
        return "only the operator's account and the sources declared for it may"
    if asker.source is None and not asker.may_be_operator:
        return (
            "it asks through a server, which is never the operator, "
            "and names no source that it may speak for"
        )
    return None


def _place(declaration: Declaration, asker: Asker) -> str:
    is_told = declaration.fault is not None and asker.may_be_operator
    return declaration.place if is_told else ""


def _source_refusal(declaration: Declaration, source: str) -> str | None:
    if source == RESERVED:
        return f"{RESERVED!r} is reserved and is no source"
    if source not in declaration.sources:
        return f"source {shortened(source)} is not declared"
    return None


def declared_sources(content: bytes, table: Sequence[str]) -> frozenset[str]:
    """The sources that the TOML ``content`` lists in ``table``; none where it has no such table.

    Unknown keys are let be. Raises MalformedDeclaration.
    """
    try:
        found: Any = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise MalformedDeclaration(f"not text (byte {error.start})") from error
    except tomllib.TOMLDecodeError as error:
        raise MalformedDeclaration(f"not TOML{_position(error)}") from error
    except RecursionError as error:
        raise MalformedDeclaration("not TOML (nested too deeply)") from error
    for depth, name in enumerate(table):
        found = found.get(name, {})
        if not isinstance(found, dict):
            raise MalformedDeclaration(f"{'.'.join(table[: depth + 1])} is not a table")
    return _checked_sources(found.get("sources", []))


def _position(error: tomllib.TOMLDecodeError) -> str:
    # The rest of the message may repeat what is written there.
    found = re.search(r" \(at [^()]*\)\Z", str(error))
    return found[0] if found else ""


def _checked_sources(sources: object) -> frozenset[str]:
    if not isinstance(sources, list):
        raise MalformedDeclaration("sources is not a list")
    for number, source in enumerate(sources, start=1):
        if not isinstance(source, str) or not SOURCE_NAME.fullmatch(source):
            raise MalformedDeclaration(f"entry {number} of sources is not a source's name")
        if source == RESERVED:
            raise MalformedDeclaration(f"{RESERVED!r} is reserved and cannot be declared")
    return frozenset(sources)
