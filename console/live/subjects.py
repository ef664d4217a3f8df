"""What can be watched: how each is read, and what its viewers are sent of it."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from console.api.answers import one_line, snapshot_body
from console.lane import queue_board, session_board
from console.live.frames import Frame, frame
from console.live.render import render_guild_list, render_history, render_queue, render_session
from console.live.work import Work
from guildqueue.domain.ids import GuildId, SessionId, UserId
from guildqueue.domain.version import parse_version
from guildqueue.services.browse import History, guild_lists, history, session_detail
from guildqueue.services.snapshot import queue_snapshot

JSON = "json"


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read. Numbers order readings, digests tell them apart.

    ``guild_ids`` are the guilds of which a change may show in it.
    """

    number: int
    digest: str
    value: Any
    guild_ids: frozenset[GuildId]

    @classmethod
    def of(cls, value: Any, guild_ids: Collection[GuildId]) -> Self:
        """``value`` by the version that it carries."""
        return cls(*parse_version(value.version), value, frozenset(guild_ids))


class Subject(ABC):
    """Hashable by what it names, so that all viewers of one thing share one reading."""

    __slots__ = ()
    kind: ClassVar[str]

    @abstractmethod
    def read(self) -> Reading:
        """What is there now; blocks. Raises GuildNotFound or SessionNotFound if it is gone."""

    @abstractmethod
    def frame(self, found: Reading, form: str) -> Frame:
        """What viewers of that form are sent: ``json``, or a language for HTML; blocks."""

    async def read_by(self, work: Work) -> Reading:
        """``read`` in a thread."""
        return await work.run(self.read)


@dataclass(frozen=True, slots=True)
class GuildQueue(Subject):
    """A guild's queue: its first page."""

    guild_id: GuildId
    kind: ClassVar[str] = "queue"

    def read(self) -> Reading:
        return Reading.of(queue_board(queue_snapshot(self.guild_id)), [self.guild_id])

    def frame(self, found: Reading, form: str) -> Frame:
        if form == JSON:
            snapshot = found.value.shown
            line = one_line(snapshot_body(snapshot))
            return frame(line, name="snapshot", version=snapshot.version)
        return frame(render_queue(found.value, form), version=found.value.version)


@dataclass(frozen=True, slots=True)
class GuildHistory(Subject):
    """The newest page of a guild's ledger."""

    guild_id: GuildId
    kind: ClassVar[str] = "history"

    def read(self) -> Reading:
        return Reading.of(history(self.guild_id), [self.guild_id])

    def frame(self, found: Reading, form: str) -> Frame:
        page: History = found.value
        return frame(render_history(self.guild_id, page.records, form), version=page.version)


@dataclass(frozen=True, slots=True)
class Meeting(Subject):
    """One session of a guild."""

    session_id: SessionId
    guild_id: GuildId
    kind: ClassVar[str] = "session"

    def read(self) -> Reading:
        return Reading.of(session_board(session_detail(self.session_id)), [self.guild_id])

    def frame(self, found: Reading, form: str) -> Frame:
        return frame(render_session(found.value, form), version=found.value.version)


@dataclass(frozen=True, slots=True)
class OwnGuilds(Subject):
    """The guilds that a user administers; the lists of several users are read together."""

    user_id: UserId
    kind: ClassVar[str] = "guilds"

    def read(self) -> Reading:
        return read_guild_lists([self])[self]

    async def read_by(self, work: Work) -> Reading:
        return await work.together(read_guild_lists, self)

    def frame(self, found: Reading, form: str) -> Frame:
        return frame(render_guild_list(found.value, form), version=found.value.version)


def read_guild_lists(asked: Collection[OwnGuilds]) -> dict[OwnGuilds, Reading]:
    """Each user's list, in one read whatever the number of users."""
    lists = guild_lists([subject.user_id for subject in asked])
    readings = {}
    for subject in asked:
        found = lists[subject.user_id]
        readings[subject] = Reading.of(found, [guild.id for guild in found.guilds])
    return readings
