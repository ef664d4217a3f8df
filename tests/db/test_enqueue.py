"""Enqueue: what a new job takes from its session, and what it waits for."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from guildqueue.domain.errors import GuildNotFound, InvalidInput, QueueError, SessionNotFound
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.job import JobState
from guildqueue.domain.moves import Place
from guildqueue.domain.new_job import NewJob
from guildqueue.domain.snapshot import WaitsFor
from guildqueue.services.browse import job_detail
from guildqueue.services.claim import claim_jobs
from guildqueue.services.enqueue import EnqueuedJob, enqueue_jobs
from guildqueue.services.hold import hold_session
from guildqueue.services.move import move_session
from guildqueue.services.requeue import requeue_job
from tests.builders import (
    MAGPIE,
    bury,
    caller,
    complete,
    done_session,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_job,
    stored_session,
    track_ids,
)
from tests.conftest import ServerLog
from tests.db.races import begun, half_done, query, together
from tests.db.stored import numbers, row_versions, set_number

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


@pytest.fixture
def session(guild: GuildId) -> SessionId:
    return stored_session(guild)


def new_job(session: SessionId, kind: str = "transcribe", **given: Any) -> NewJob:
    return NewJob(session_id=session, kind=kind, **given)


def enqueued(guild: GuildId, *jobs: NewJob) -> list[JobId]:
    return [answer.job_id for answer in enqueue_jobs(guild, jobs=jobs)]


def test_a_job_is_stored_as_it_was_given(guild: GuildId, session: SessionId) -> None:
    later = datetime.now(UTC).replace(microsecond=5) + timedelta(hours=1)

    (job_id,) = enqueued(
        guild,
        new_job(
            session,
            kind="document",
            assignee_kind="agent",
            payload={"name": 'a "quote"\t\\N', "n": [1, None, "\0"]},
            labels=("gpu", "de", "gpu", 'with "quote", comma'),
            run_after=later,
            external_id="x-1",
            audio_seconds=1.5,
        ),
    )

    job = stored_job(job_id, session_id=session)
    assert job.payload == {"name": 'a "quote"\t\\N', "n": [1, None, "\ufffd"]}
    assert job.labels == ("gpu", "de", 'with "quote", comma')
    assert (job.kind, job.assignee_kind, job.run_after) == ("document", "agent", later)
    assert (job.external_id, job.audio_seconds) == ("x-1", 1.5)
    assert (job.state, job.attempt, job.max_attempts, job.unmet) == ("pending", 0, 5, 0)
    assert job_detail(job_id).waits_for is WaitsFor.NOT_BEFORE


def test_a_job_takes_its_sessions_number_and_hold(guild: GuildId, session: SessionId) -> None:
    other = stored_session(guild)
    move_session(other, guild_id=guild, place=Place.FIRST, caller=caller())
    hold_session(session, guild_id=guild, reason="", caller=caller())

    mine, its = enqueued(guild, new_job(session), new_job(other))

    assert numbers(guild) == {other: 0, session: 1}
    assert stored_job(mine, session_id=session).held
    assert not stored_job(its, session_id=other).held


def test_a_job_of_a_finished_session_takes_the_largest_number(guild: GuildId) -> None:
    finished = done_session(guild)
    set_number(finished, 7)

    (job_id,) = enqueued(guild, new_job(finished))

    assert stored_job(job_id, session_id=finished).priority == 7


def test_an_external_id_is_enqueued_once_and_left_as_it_was(
    guild: GuildId, session: SessionId
) -> None:
    first = enqueue_jobs(guild, jobs=[new_job(session, external_id="a", labels=("one",))])
    versions = row_versions()

    changed = new_job(SessionId(999_999), external_id="a", labels=("two",), needs=(999_999,))
    again = enqueue_jobs(guild, jobs=[changed])

    assert first == [EnqueuedJob(again[0].job_id, created=True)]
    assert again == [EnqueuedJob(first[0].job_id, created=False)]
    assert row_versions() == versions


def test_an_external_id_is_its_guilds_own(guild: GuildId, session: SessionId) -> None:
    other = stored_guild(MAGPIE)

    (here,) = enqueue_jobs(guild, jobs=[new_job(session, external_id="a")])
    (there,) = enqueue_jobs(other, jobs=[new_job(stored_session(other), external_id="a")])

    assert here.created
    assert there.created
    assert here.job_id != there.job_id


def test_a_repeat_among_many_is_the_first_of_them(guild: GuildId, session: SessionId) -> None:
    (known,) = enqueued(guild, new_job(session, external_id="k"))
    names = ("a", "k", None, "a", "b")

    answers = enqueue_jobs(guild, jobs=[new_job(session, external_id=name) for name in names])

    assert [answer.created for answer in answers] == [True, False, True, False, True]
    assert answers[1].job_id == known
    assert answers[3].job_id == answers[0].job_id
    ids = [answer.job_id for answer in answers if answer.created]
    assert ids == sorted(ids)


def test_jobs_wait_for_what_they_need_by_either_id(guild: GuildId, session: SessionId) -> None:
    (track,) = track_ids(session)
    first, second, third = enqueued(
        guild,
        new_job(session, external_id="late", needs=("early", track, "early")),
        new_job(session, external_id="early"),
        new_job(session, needs=("late",)),
    )

    jobs = {job.id: job for job in session_jobs(session)}

    assert (jobs[first].needs, jobs[first].unmet) == ((track, second), 2)
    assert (jobs[second].needs, jobs[second].unmet) == ((), 0)
    assert (jobs[third].needs, jobs[third].unmet) == ((first,), 1)


def test_what_is_done_already_is_not_waited_for(guild: GuildId) -> None:
    finished = done_session(guild)
    track, document = (job.id for job in session_jobs(finished))

    (job_id,) = enqueued(guild, new_job(finished, needs=(track, document)))

    job = stored_job(job_id, session_id=finished)
    assert (job.unmet, job.needs) == (0, (track, document))
    assert [lease.job.id for lease in claim_jobs("w", ttl_s=60)] == [job_id]


def test_a_job_that_needs_a_dead_one_waits_until_that_is_requeued(guild: GuildId) -> None:
    session = stored_session(guild)
    (lease,) = running_jobs(session)
    bury(lease)

    (job_id,) = enqueued(guild, new_job(session, needs=(lease.job.id,)))

    assert job_detail(job_id).waits_for is WaitsFor.DEPENDENCY_FAILED
    requeue_job(lease.job.id, guild_id=guild, caller=caller())
    (again,) = running_jobs(session)
    complete(again)
    assert stored_job(job_id, session_id=session).unmet == 0


REFUSED: list[tuple[dict[str, Any], type[QueueError]]] = [
    ({"needs": (999_999,)}, InvalidInput),
    ({"needs": ("nobody",)}, InvalidInput),
    ({"external_id": "a", "needs": ("a",)}, InvalidInput),
    ({"session": SessionId(999_999)}, SessionNotFound),
    ({"kind": "translate"}, InvalidInput),
    ({"labels": ("",)}, InvalidInput),
]


@pytest.mark.parametrize(("given", "error"), REFUSED, ids=[str(given) for given, _ in REFUSED])
def test_one_that_cannot_be_leaves_nothing_of_all(
    guild: GuildId, session: SessionId, given: dict[str, Any], error: type[QueueError]
) -> None:
    versions = row_versions()

    with pytest.raises(error):
        enqueue_jobs(guild, jobs=[new_job(session), new_job(**{"session": session} | given)])

    assert row_versions() == versions


def test_nothing_of_another_guild_can_be_needed_or_added_to(
    guild: GuildId, session: SessionId
) -> None:
    foreign = stored_session(stored_guild(MAGPIE))

    with pytest.raises(InvalidInput):
        enqueue_jobs(guild, jobs=[new_job(session, needs=(track_ids(foreign)[0],))])
    with pytest.raises(SessionNotFound):
        enqueue_jobs(guild, jobs=[new_job(foreign)])
    with pytest.raises(GuildNotFound):
        enqueue_jobs(GuildId(5), jobs=[new_job(session)])


def test_nothing_given_enqueues_nothing(guild: GuildId) -> None:
    assert enqueue_jobs(guild, jobs=[]) == []


def test_many_are_written_in_the_order_given_and_claimed_so(guild: GuildId) -> None:
    sessions = [stored_session(guild, n_tracks=0, recording=True) for _ in range(3)]
    jobs = [new_job(sessions[n % 3], payload={"name": str(n)}) for n in range(3000)]

    ids = enqueued(guild, *jobs)

    assert ids == sorted(ids)
    names = [lease.job.name for lease in claim_jobs("w", count=50, ttl_s=60)]
    assert names == [str(n) for n in range(50)]


@pytest.mark.parametrize("commit", [True, False], ids=["committed", "rolled back"])
def test_a_completion_waits_for_a_job_that_comes_to_need_it(
    guild: GuildId, session: SessionId, commit: bool
) -> None:
    (lease,) = running_jobs(session)
    needing = new_job(session, external_id="n", needs=(lease.job.id,))

    with (
        half_done(lambda: enqueue_jobs(guild, jobs=[needing]), commit=commit) as enqueuing,
        begun(lambda: complete(lease)) as completing,
    ):
        completing.wait_until_blocked()
        enqueuing.end()
        completing.result()

    found = query("SELECT unmet FROM guildqueue_job WHERE external_id = 'n'")
    assert found == ([(0,)] if commit else [])


def test_a_completion_half_done_is_awaited_by_what_comes_to_need_it(
    guild: GuildId, session: SessionId
) -> None:
    (lease,) = running_jobs(session)
    needing = new_job(session, needs=(lease.job.id,))

    with (
        half_done(lambda: complete(lease), commit=True) as completing,
        begun(lambda: enqueued(guild, needing)) as enqueuing,
    ):
        enqueuing.wait_until_blocked()
        completing.end()
        (job_id,) = enqueuing.result()

    assert stored_job(job_id, session_id=session).unmet == 0


def test_enqueuers_and_completions_in_a_crowd_miss_no_dependency(
    guild: GuildId, server_log: ServerLog
) -> None:
    session = stored_session(guild, n_tracks=12)
    leases = running_jobs(session)

    def enqueue() -> int:
        for lease in leases:
            enqueued(guild, new_job(session, needs=(lease.job.id,)))
        return 0

    def end() -> int:
        for lease in leases:
            complete(lease)
        return 0

    together(enqueue, end, enqueue)

    jobs = session_jobs(session)
    states = {job.id: job.state for job in jobs}
    for job in jobs:
        assert job.unmet == sum(states[need] != JobState.DONE for need in job.needs)
    assert not server_log.has_deadlock()


def test_eight_of_one_external_id_at_once_make_one_job(guild: GuildId, session: SessionId) -> None:
    answers = together(
        *[lambda: enqueue_jobs(guild, jobs=[new_job(session, external_id="once")])] * 8
    )

    found = [answer for given in answers if isinstance(given, list) for answer in given]
    assert len(found) == 8
    assert len({answer.job_id for answer in found}) == 1
    assert sum(answer.created for answer in found) == 1
