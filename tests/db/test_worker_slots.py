"""Writing what came of many jobs, where the queue does not take one of them."""

from typing import Any

import pytest
from django.db import DataError, OperationalError

from guildqueue.domain.job import Completion, JobState
from guildqueue.services import complete
from guildqueue.services.cancel import cancel_session
from guildqueue.worker import outcome
from guildqueue.worker.plan import WorkerPlan
from guildqueue.worker.protocol import Done, Report
from guildqueue.worker.slots import Slots
from tests import builders

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def slots(committed_db: None) -> Slots:
    """One place with three jobs, of which all are done and none is written."""
    guild_id = builders.stored_guild()
    for _ in range(3):
        builders.stored_session(guild_id)
    plan = WorkerPlan(
        principal=builders.WORKER,
        handlers={"transcribe": "tests.db.worker_handlers.transcribe"},
        environment={},
        ttl_s=60,
        poll_s=1,
        grace_s=1,
        batch=3,
    )
    slots = Slots(plan)
    slots.claim(0)
    (slot,) = slots.all
    slot.batch.hear([Report(job_id, Done({}, None)) for job_id in slot.batch.open])
    return slots


def stored(slots: Slots) -> list[tuple[str, str | None]]:
    """State and error of each job, in the order of the claim."""
    jobs = [ended.lease.job for ended in slots.all[0].batch.ended]
    found = [builders.stored_job(job.id, session_id=job.session_id) for job in jobs]
    return [(job.state, job.error) for job in found]


def refuse_second(slots: Slots, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database does not take what came of the second job, alone or with others."""
    second = slots.all[0].batch.ended[1].lease.job.id
    one, many = complete.complete_job, complete.complete_and_claim

    def complete_job(job_id: Any, **names: Any) -> None:
        if job_id == second:
            raise error
        one(job_id, **names)

    def complete_and_claim(principal: str, done: list[Completion], **names: Any) -> Any:
        if second in [completion.job_id for completion in done]:
            raise error
        return many(principal, done, **names)

    monkeypatch.setattr(outcome, "complete_job", complete_job)
    monkeypatch.setattr(outcome, "complete_and_claim", complete_and_claim)


def test_a_result_that_can_never_be_stored_fails_its_own_job_alone(
    slots: Slots, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [ended.lease.job for ended in slots.all[0].batch.ended]
    refuse_second(slots, DataError("out of range"), monkeypatch)

    slots.turn_over(0, claims=True)

    found = [builders.stored_job(job.id, session_id=job.session_id) for job in jobs]
    assert [(job.state, job.error) for job in found] == [
        ("done", None),
        ("dead", "the result cannot be stored: out of range"),
        ("done", None),
    ]
    assert slots.busy == []


def test_results_that_meet_an_outage_are_all_kept(
    slots: Slots, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_second(slots, OperationalError("gone"), monkeypatch)

    with pytest.raises(OperationalError):
        slots.turn_over(0, claims=True)

    assert stored(slots) == [(JobState.RUNNING, None)] * 3


def test_one_that_was_cancelled_meanwhile_keeps_no_other_from_being_written(slots: Slots) -> None:
    jobs = [ended.lease.job for ended in slots.all[0].batch.ended]
    cancel_session(jobs[1].session_id, guild_id=jobs[1].guild_id, caller=builders.caller())

    slots.turn_over(0, claims=True)

    found = [builders.stored_job(job.id, session_id=job.session_id) for job in jobs]
    assert [job.state for job in found] == ["done", "cancelled", "done"]


def test_what_it_empties_is_filled_in_the_same_commit(slots: Slots) -> None:
    session_id = builders.stored_session(builders.STARLING, n_tracks=5)

    slots.turn_over(0, claims=True)

    assert len(slots.all[0].batch.open) == 3
    assert [job.state for job in builders.session_jobs(session_id)[:5]].count("running") == 3
