"""Read what runs next, and what no worker of this release will ever take."""

from dataclasses import dataclass

from guildqueue.domain.ids import GuildId
from guildqueue.domain.lane_note import LaneNote, UnplacedJob
from guildqueue.store import lane_notes

UNPLACED_MOST = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildLane:
    """The lane in its order, and outstanding jobs of unknown kinds, which have no place in line.

    Of the latter the first 100.
    """

    jobs: tuple[LaneNote, ...]
    unplaced: tuple[UnplacedJob, ...]


def guild_lane(guild_id: GuildId) -> GuildLane:
    """What runs next in the guild, with who let it."""
    return GuildLane(
        jobs=tuple(lane_notes.read_notes(guild_id)),
        unplaced=tuple(lane_notes.read_unplaced(guild_id, limit=UNPLACED_MOST)),
    )
