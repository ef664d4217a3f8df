"""A meeting before it is in the queue."""

from dataclasses import dataclass
from datetime import datetime

from guildqueue.domain.errors import QueueError


class GuildNeeded(QueueError):
    """A file that does not say whose its meetings are, read without naming a guild."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTrack:
    """One speaker's recording. ``audio_seconds`` is None where nobody measured it.

    ``uri`` is a path below the media root, an absolute path or an http(s) URL; None where
    only the length is known.
    """

    name: str
    uri: str | None = None
    audio_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewParticipant:
    """A person who was there, who need not have a track."""

    name: str
    user_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """One meeting; ``recording`` is true while more tracks are to come."""

    title: str
    external_id: str | None = None
    started_at: datetime | None = None
    participants: tuple[NewParticipant, ...] = ()
    tracks: tuple[NewTrack, ...] = ()
    recording: bool = False
