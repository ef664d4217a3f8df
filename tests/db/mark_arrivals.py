"""Ways in which a job comes to stand in front of all others: each is prepared, then happens."""

from collections.abc import Callable

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.new_job import NewJob
from guildqueue.services.cancel import cancel_job
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.hold import hold_session, release_session
from guildqueue.services.overdue import settle_overdue
from guildqueue.services.release import release_job
from guildqueue.services.requeue import requeue_job
from tests.builders import (
    WORKER,
    caller,
    complete,
    expire_lease,
    make_due,
    running_jobs,
    stored_session,
    track_ids,
)
from tests.db.lane_requests import bumped, unbumped
from tests.db.old_release import OldWorker
from tests.db.stored import set_number

FRONT = -5  # the number of a meeting before all others
Arrival = Callable[[], object]


def front(guild: GuildId, *, n_tracks: int = 1) -> SessionId:
    session = stored_session(guild, n_tracks=n_tracks)
    set_number(session, FRONT)
    return session


def by_enqueue(guild: GuildId) -> Arrival:
    session = front(guild)
    running_jobs(session)
    new = [NewJob(session_id=session, kind="transcribe")]
    return lambda: enqueue_jobs(guild, jobs=new)


def by_copy(guild: GuildId) -> Arrival:
    session = front(guild)
    running_jobs(session)
    new = [NewJob(session_id=session, kind="transcribe")] * 500
    return lambda: enqueue_jobs(guild, jobs=new)


def by_release(guild: GuildId) -> Arrival:
    (lease,) = running_jobs(front(guild))
    return lambda: release_job(lease.job.id, token=lease.token, principal=WORKER)


def by_unhold(guild: GuildId) -> Arrival:
    session = front(guild)
    hold_session(session, guild_id=guild, reason="", caller=caller())
    return lambda: release_session(session, guild_id=guild, caller=caller())


def by_completion(guild: GuildId) -> Arrival:
    (lease,) = running_jobs(front(guild))
    return lambda: complete(lease)


def by_requeue(guild: GuildId) -> Arrival:
    session = front(guild, n_tracks=2)
    running_jobs(session, n=1)
    job = track_ids(session)[1]
    cancel_job(job, guild_id=guild, caller=caller())
    return lambda: requeue_job(job, guild_id=guild, caller=caller())


def by_unbump(guild: GuildId) -> Arrival:
    (job,) = track_ids(front(guild))
    bumped(job, guild)
    return lambda: unbumped(job, guild)


def by_bump(guild: GuildId) -> Arrival:
    (job,) = track_ids(stored_session(guild))
    return lambda: bumped(job, guild)


def by_delay(guild: GuildId) -> Arrival:
    make_due(track_ids(front(guild))[0])
    return settle_overdue


def by_delay_in_lane(guild: GuildId) -> Arrival:
    (job,) = track_ids(front(guild))
    bumped(job, guild)
    make_due(job)
    return settle_overdue


def by_lost_lease(guild: GuildId) -> Arrival:
    (lease,) = running_jobs(front(guild))
    expire_lease(lease.job.id)
    return settle_overdue


def by_hand(guild: GuildId) -> Arrival:
    session = stored_session(guild)
    return lambda: set_number(session, FRONT)


def by_old_release(guild: GuildId) -> Arrival:
    session = front(guild)
    old = OldWorker("old")
    (job,) = old.claim(count=1)
    assert job["session_id"] == session
    return lambda: old.release(job)


def by_old_completion(guild: GuildId) -> Arrival:
    front(guild)
    old = OldWorker("old")
    (job,) = old.claim(count=1)
    return lambda: old.complete(job)


ARRIVALS = [
    by_enqueue,
    by_copy,
    by_release,
    by_unhold,
    by_completion,
    by_requeue,
    by_unbump,
    by_bump,
    by_delay,
    by_delay_in_lane,
    by_lost_lease,
    by_hand,
    by_old_release,
    by_old_completion,
]
