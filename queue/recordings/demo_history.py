"""What happened before the demo begins: meetings came in, were transcribed, held, cancelled."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.new_session import NewParticipant, NewSession, NewTrack
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.services.backdate import EndedJob, backdate_session
from guildqueue.services.cancel import cancel_session
from guildqueue.services.create_session import create_session
from guildqueue.services.hold import hold_session
from guildqueue.services.move import move_session
from recordings.demo_audio import PlacedTrack, Shelf, external_id
from recordings.demo_book import ENDED_BY_WORKER, DemoGuild, DemoSession, DemoState
from recordings.demo_worker import PastWorker


def add_guild_sessions(guild: DemoGuild, shelf: Shelf, *, now: datetime) -> int:
    """How many meetings came in. Whatever people changed is in the ledger, under its own moment.

    What a worker ended must come first: it takes whatever of the guild can be claimed.
    """
    by_key: dict[str, SessionId] = {}
    for session in guild.sessions:
        session_id = _add_session(guild.id, session, shelf, now)
        by_key[session.key or session.title] = session_id
    for move in guild.moves:
        move_session(
            by_key[move.session],
            guild_id=guild.id,
            place=move.place,
            neighbour=by_key[move.neighbour] if move.neighbour else None,
            caller=_person(move.by),
        )
    return len(guild.sessions)


def _add_session(guild_id: GuildId, session: DemoSession, shelf: Shelf, now: datetime) -> SessionId:
    tracks = shelf.place(guild_id, session)
    began_at = _on_the_quarter(now - timedelta(hours=session.hours))
    new = _new_session(guild_id, session, tracks, began_at)
    session_id = create_session(guild_id, session=new).session_id
    length_s = max((track.recorded.seconds for track in tracks), default=0.0)
    in_queue_at = began_at + timedelta(seconds=length_s + 90)
    ended: Sequence[EndedJob] = ()
    if session.state in ENDED_BY_WORKER:
        ended = PastWorker(guild_id, new, tracks, session.lost, shelf).work_off(in_queue_at)
    elif session.state is DemoState.HELD:
        caller = _person(session.by)
        hold_session(session_id, guild_id=guild_id, reason=session.reason, caller=caller)
    elif session.state is DemoState.CANCELLED:
        cancel_session(session_id, guild_id=guild_id, caller=_person(session.by))
    backdate_session(session_id, guild_id=guild_id, created_at=in_queue_at, ended=ended)
    return session_id


def _new_session(
    guild_id: GuildId,
    session: DemoSession,
    tracks: Sequence[PlacedTrack],
    began_at: datetime,
) -> NewSession:
    return NewSession(
        title=session.title,
        external_id=external_id(guild_id, session),
        started_at=began_at,
        participants=tuple(NewParticipant(name=name) for name in session.people),
        tracks=tuple(
            NewTrack(
                name=track.name,
                uri=track.uri,
                audio_seconds=round(track.recorded.seconds, 3) if session.measured else None,
            )
            for track in tracks
        ),
        recording=session.state is DemoState.RECORDING,
    )


def _person(username: str) -> Caller:
    return Caller(principal=Principal(PrincipalKind.USER, username), correlation_id="demo")


def _on_the_quarter(moment: datetime) -> datetime:
    """People meet at the full hour or a quarter of it; never later than ``moment``."""
    return moment.replace(minute=moment.minute // 15 * 15, second=0, microsecond=0)
