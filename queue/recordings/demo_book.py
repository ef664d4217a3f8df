"""What the demo consists of, read from demo_meetings.toml: guilds, meetings, moves."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from guildqueue.domain.ids import GuildId
from guildqueue.domain.moves import Place


class DemoState(StrEnum):
    """What became of a meeting when the demo begins; what runs is the worker's to say."""

    DONE = "done"
    DEAD = "dead"
    QUEUED = "queued"
    HELD = "held"
    CANCELLED = "cancelled"
    RECORDING = "recording"


ENDED_BY_WORKER = frozenset({DemoState.DONE, DemoState.DEAD})


class Lost(StrEnum):
    """Why the first track of a dead meeting cannot be transcribed."""

    UNREADABLE = "unreadable"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRecording:
    """What is said in a meeting, as kinds of meeting one after the other, by how many."""

    voices: int
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSession:
    """One meeting; ``says`` names its recording, "" for none, and ``key`` is what moves name.

    The first of ``people`` have the recording's tracks. The meeting began ``hours`` ago.
    ``by`` holds or cancels it.
    """

    state: DemoState
    title: str
    says: str
    people: tuple[str, ...]
    hours: float
    key: str = ""
    by: str = ""
    reason: str = ""
    measured: bool = True
    lost: Lost | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoMove:
    """One administrator's move, naming sessions by their keys."""

    session: str
    place: Place
    by: str
    neighbour: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoGuild:
    """A guild with its meetings in the order in which they come in; the first one signs in."""

    id: GuildId
    name: str
    administrators: tuple[str, ...]
    sessions: tuple[DemoSession, ...]
    moves: tuple[DemoMove, ...]


@cache
def recordings() -> Mapping[str, DemoRecording]:
    """Every recording by its name."""
    return {
        name: DemoRecording(voices=found["voices"], parts=tuple(found["parts"]))
        for name, found in _book()["recordings"].items()
    }


@cache
def guilds() -> tuple[DemoGuild, ...]:
    """The guilds; what a worker ended comes first among a guild's sessions."""
    return tuple(_guild(found) for found in _book()["guild"])


def _guild(found: Mapping[str, Any]) -> DemoGuild:
    sessions = [_session(session) for session in found["session"]]
    return DemoGuild(
        id=GuildId(found["id"]),
        name=found["name"],
        administrators=tuple(found["administrators"]),
        sessions=tuple(sorted(sessions, key=lambda s: s.state not in ENDED_BY_WORKER)),
        moves=tuple(DemoMove(**{**move, "place": Place(move["place"])}) for move in found["move"]),
    )


def _session(found: Mapping[str, Any]) -> DemoSession:
    return DemoSession(
        **{
            **found,
            "state": DemoState(found["state"]),
            "people": tuple(found["people"].split()),
            "lost": Lost(found["lost"]) if "lost" in found else None,
        }
    )


def _book() -> dict[str, Any]:
    text = Path(__file__).with_name("demo_meetings.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
