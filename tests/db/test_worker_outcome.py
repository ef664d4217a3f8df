"""Writing what came of a job, where the queue does not take it."""

from typing import Any

import pytest
from django.db import DataError, OperationalError

from guildqueue.domain.errors import StaleLease
from guildqueue.domain.job import JobState
from guildqueue.worker import outcome
from guildqueue.worker.outcome import write_outcome
from guildqueue.worker.protocol import Done, Failed
from tests import builders

pytestmark = pytest.mark.usefixtures("committed_db")


def refuse_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def complete_job(*_words: Any, **_names: Any) -> None:
        raise error

    monkeypatch.setattr(outcome, "complete_job", complete_job)


def test_a_result_that_can_never_be_stored_ends_the_job_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session_id = builders.stored_session(builders.stored_guild())
    (lease,) = builders.running_jobs(session_id)
    refuse_with(DataError("out of\nrange"), monkeypatch)

    write_outcome(lease, Done({}, None), principal=builders.WORKER)

    job = builders.session_jobs(session_id)[0]
    assert (job.state, job.error) == (JobState.DEAD, "the result cannot be stored: out of range")


def test_a_result_that_meets_an_outage_is_kept_for_the_next_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session_id = builders.stored_session(builders.stored_guild())
    (lease,) = builders.running_jobs(session_id)
    refuse_with(OperationalError("gone"), monkeypatch)

    with pytest.raises(OperationalError):
        write_outcome(lease, Done({}, None), principal=builders.WORKER)

    assert builders.session_jobs(session_id)[0].state == JobState.RUNNING


@pytest.mark.parametrize("came_of_it", [Done({}, None), Failed("no")])
def test_nothing_is_written_under_another_principal(came_of_it: Done | Failed) -> None:
    session_id = builders.stored_session(builders.stored_guild())
    (lease,) = builders.running_jobs(session_id)

    with pytest.raises(StaleLease):
        write_outcome(lease, came_of_it, principal="account:tester@host/2")

    job = builders.session_jobs(session_id)[0]
    assert (job.state, job.error, job.result) == (JobState.RUNNING, None, None)
