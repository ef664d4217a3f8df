"""The console as one of those who may say what runs next: where it may, and as whom it asks."""

import os
from dataclasses import dataclass
from typing import Generic, TypeVar

from guildqueue.domain.grant import Asker
from guildqueue.domain.principal import Principal, PrincipalKind
from guildqueue.domain.session_detail import SessionDetail
from guildqueue.domain.snapshot import QueueSnapshot
from guildqueue.services.may_bump import may_bump

# The console is an automation like any other: a guild's declaration lists it, or it may not.
CONSOLE = "console"

Shown = TypeVar("Shown", QueueSnapshot, SessionDetail)


@dataclass(frozen=True, slots=True)
class Board(Generic[Shown]):
    """What a page shows, and whether the console may say there what runs next."""

    shown: Shown
    lane_open: bool

    @property
    def version(self) -> str:
        """That of what is shown; another one where the buttons are others."""
        return f"{self.shown.version}{'-lane' if self.lane_open else ''}"


def queue_board(snapshot: QueueSnapshot) -> Board[QueueSnapshot]:
    """The queue with what a look at the guild's declaration allows; one look a page."""
    asker = console_asker()
    lane_open = may_bump(snapshot.guild_id, root=snapshot.guild_root, asker=asker)
    return Board(snapshot, lane_open)


def session_board(detail: SessionDetail) -> Board[SessionDetail]:
    """The same for one meeting."""
    guild = detail.guild
    return Board(detail, may_bump(guild.id, root=guild.root, asker=console_asker()))


def console_asker(principal: Principal | None = None) -> Asker:
    """The console asking for ``principal``, or for nobody yet; it is never the operator."""
    return Asker(
        uid=os.getuid(),
        principal=principal or Principal(PrincipalKind.SOURCE, CONSOLE),
        source=CONSOLE,
        on_behalf_of=None if principal is None else str(principal),
        may_be_operator=False,
    )
