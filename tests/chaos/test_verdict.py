"""The judge of a run finds what it is there to find."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.chaos.diary import Answer, Claimed, Told, Write, Written
from tests.chaos.facts import Facts, JobFact
from tests.chaos.verdict import Seen, violations
from tests.chaos.watch import Kept

DONE = JobFact(
    id=7,
    guild=1,
    state="done",
    token=2,
    attempt=2,
    max_attempts=5,
    unmet=0,
    error=None,
    temper="plain",
    done_by="bo",
    done_under=2,
    not_before=None,
)
# Ada claimed the job and fell asleep; bo took it over at 11 and completed it at 12.
CLAIMS = [Claimed("ada", 7, 1, 10.0, 11.0), Claimed("bo", 7, 2, 11.0, 12.5)]


def written(
    who: str, write: Write, answer: Answer, *, at: float, until: float | None = None
) -> Written:
    token = {"ada": 1, "bo": 2}[who]
    reason = "StaleLease" if answer is Answer.REFUSED else ""
    return Written(who, write, 7, token, at, answer, at, reason, until)


BO_COMPLETES = written("bo", Write.COMPLETE, Answer.ACCEPTED, at=12.0)
ADA_IS_REFUSED = written("ada", Write.COMPLETE, Answer.REFUSED, at=11.5)


def seen(
    *writes: Written, claims: Sequence[Claimed] = CLAIMS, job: JobFact = DONE, n_ends: int = 1
) -> Seen:
    facts = Facts({7: job}, [(7, "running", job.state)] * n_ends, [], [], [])
    told = Told(list(claims), [BO_COMPLETES, *writes])
    return Seen(1, told, facts, {1: Kept(cap=1, most_running=1)}, "", [])


def test_a_job_that_was_taken_over_and_done_once_breaks_nothing() -> None:
    assert violations(seen(ADA_IS_REFUSED)) == {}


@pytest.mark.parametrize("write", list(Write))
def test_a_late_write_that_was_accepted_is_found(write: Write) -> None:
    late = written("ada", write, Answer.ACCEPTED, at=11.5)

    assert "every late write is refused" in violations(seen(late))


def test_a_second_end_is_found() -> None:
    assert "every job ends exactly once" in violations(seen(n_ends=2))


def test_a_result_of_an_older_lease_is_found() -> None:
    stolen = DONE._replace(done_by="ada", done_under=1)

    found = violations(seen(ADA_IS_REFUSED, job=stolen))

    assert "every result is of the lease that ended the job" in found


def test_a_lease_that_two_were_given_is_found() -> None:
    both = [*CLAIMS, Claimed("cleo", 7, 2, 11.1, 12.6)]

    assert "a lease has one holder until it ends" in violations(seen(claims=both))


def test_a_lease_that_was_taken_while_it_held_is_found() -> None:
    beat = written("ada", Write.BEAT, Answer.ACCEPTED, at=10.5, until=11.5)

    assert "a lease has one holder until it ends" in violations(seen(beat))


def test_a_write_that_was_refused_too_soon_is_found() -> None:
    too_soon = written("ada", Write.BEAT, Answer.REFUSED, at=10.5)

    assert "no other write is refused" in violations(seen(too_soon))


def test_a_job_that_is_still_at_it_is_found() -> None:
    running = DONE._replace(state="running", done_by=None, done_under=None)

    assert "no job is lost" in violations(seen(job=running))


def test_a_death_without_a_reason_is_found() -> None:
    dead = DONE._replace(state="dead", error="no idea", done_by=None, done_under=None)

    assert "a job dies for a reason" in violations(seen(job=dead))


@pytest.mark.parametrize(
    ("promise", "amiss"),
    [
        ("no cap is exceeded", {"caps": {1: Kept(cap=1, most_running=2)}}),
        ("no deadlock and no error", {"server_log": "ERROR:  deadlock detected"}),
        ("nobody dies of it", {"died": ["bo ended with 1"]}),
        ("no job is lost", {"n_jobs": 2}),
    ],
)
def test_what_was_seen_from_outside_counts(promise: str, amiss: dict[str, object]) -> None:
    assert promise in violations(replace(seen(), **amiss))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("promise", "amiss"),
    [
        ("nothing begins before it may", {"too_early": [7]}),
        ("counters and needs are right", {"wrong_counters": [(1, "done")]}),
        ("the record holds the cancels alone", {"ledger": [("Cancelled", 7)]}),
        ("the record holds the cancels alone", {"ledger": [("SessionMoved", 7)]}),
    ],
)
def test_what_the_database_says_counts(promise: str, amiss: dict[str, object]) -> None:
    whole = seen()

    found = violations(replace(whole, facts=replace(whole.facts, **amiss)))  # type: ignore[arg-type]

    assert promise in found
