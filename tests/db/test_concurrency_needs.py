"""Completions beside new dependencies: what a job waits for is counted right in any order."""

import random
from collections.abc import Callable

import pytest
from django.db import transaction

from guildqueue.domain.ids import GuildId, JobId
from guildqueue.domain.job import Lease
from guildqueue.domain.new_session import NewTrack
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.cancel import cancel_job
from guildqueue.services.claim import claim_jobs
from guildqueue.services.requeue import requeue_job
from guildqueue.store import jobs, locks
from tests.builders import (
    WORKER,
    caller,
    complete,
    document_id,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_job,
    stored_session,
    track_ids,
)
from tests.db.races import begun, half_done, together

pytestmark = pytest.mark.usefixtures("committed_db")

ROUNDS = range(20)


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


def claim(n: int) -> list[Lease]:
    return claim_jobs(WORKER, count=n, ttl_s=60)


def needing_one_more(guild_id: GuildId, job: JobId, needs: JobId) -> None:
    """A dependency as every writer of one inserts it: under the needs lock."""
    with transaction.atomic():
        locks.lock_needs(guild_id)
        jobs.lock_jobs(guild_id, [job])
        jobs.insert_needs(guild_id, job, [needs])


@pytest.mark.parametrize("first", ["insertion", "completion"])
def test_a_completion_and_a_dependency_on_the_job_agree(guild: GuildId, first: str) -> None:
    needed, needing = stored_session(guild), stored_session(guild)
    (lease,) = running_jobs(needed)
    document = document_id(needing)

    def insert() -> None:
        needing_one_more(guild, document, lease.job.id)

    def end() -> None:
        complete(lease)

    early, late = (insert, end) if first == "insertion" else (end, insert)
    with half_done(early, commit=True) as open_one, begun(late) as waiting:
        waiting.wait_until_blocked()
        open_one.end()

    assert stored_job(document, session_id=needing).unmet == 1
    assert stored_job(lease.job.id, session_id=needed).state == "done"


@pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])
def test_a_completion_behind_a_late_track_counts_right(guild: GuildId, commit: bool) -> None:
    session = stored_session(guild)
    (lease,) = running_jobs(session)

    with (
        half_done(
            lambda: add_tracks(session, guild_id=guild, tracks=[NewTrack(name="late")]),
            commit=commit,
        ) as adding,
        begun(lambda: complete(lease)) as completing,
    ):
        completing.wait_until_blocked()
        adding.end()

    assert stored_job(document_id(session), session_id=session).unmet == int(commit)


@pytest.mark.parametrize("first", ["end of recording", "completion"])
def test_a_document_begun_while_its_track_completes_is_not_stuck(
    guild: GuildId, first: str
) -> None:
    session = stored_session(guild, recording=True)
    (lease,) = running_jobs(session)

    def stop_recording() -> None:
        add_tracks(session, guild_id=guild, tracks=[], recording=False)

    def end() -> None:
        complete(lease)

    early, late = (stop_recording, end) if first == "end of recording" else (end, stop_recording)
    with half_done(early, commit=True) as open_one, begun(late) as waiting:
        waiting.wait_until_blocked()
        open_one.end()

    assert stored_job(document_id(session), session_id=session).unmet == 0


@pytest.mark.parametrize("seed", ROUNDS)
def test_completions_and_dependencies_at_once_never_lose_count(guild: GuildId, seed: int) -> None:
    chance = random.Random(seed)
    needed, needing = stored_session(guild, n_tracks=2), stored_session(guild)
    first, second = running_jobs(needed)
    document = document_id(needing)
    races: list[Callable[[], object]] = [
        lambda: complete(first),
        lambda: complete(second),
        lambda: needing_one_more(guild, document, first.job.id),
        lambda: needing_one_more(guild, document, second.job.id),
        lambda: add_tracks(needing, guild_id=guild, tracks=[NewTrack(name="late")]),
    ]
    chance.shuffle(races)

    together(*races)

    assert stored_job(document, session_id=needing).unmet == 2
    assert stored_job(document_id(needed), session_id=needed).unmet == 0
    for lease in claim(99):
        complete(lease)
    for lease in claim(99):
        complete(lease)
    assert {job.state for job in [*session_jobs(needed), *session_jobs(needing)]} == {"done"}


@pytest.mark.parametrize("seed", ROUNDS)
def test_a_track_completed_while_it_is_requeued_or_cancelled_is_counted_once(
    guild: GuildId, seed: int
) -> None:
    session = stored_session(guild, n_tracks=2)
    done, running = running_jobs(session)
    complete(done)
    document = document_id(session)
    races: list[Callable[[], object]] = [
        lambda: complete(running),
        lambda: requeue_job(done.job.id, guild_id=guild, caller=caller()),
    ]
    if seed % 2:
        races.append(lambda: cancel_job(running.job.id, guild_id=guild, caller=caller()))

    together(*races)

    states = {job.id: job.state for job in session_jobs(session)}
    expected = sum(states[job] != "done" for job in track_ids(session))
    assert stored_job(document, session_id=session).unmet == expected
