"""Anything that may happen to a queue, in any order: claims, ready and rows are the model's.

``CLAIM_MACHINE_EXAMPLES`` is how many examples each order gets, 30 if it is not set.
"""

import os
from itertools import cycle
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

import pytest
from django.conf import settings
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from guildqueue.domain.errors import LeaseCancelled, StaleLease
from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import JobId
from guildqueue.domain.job import Lease
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.fail import fail_job
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.ready import ready_jobs
from guildqueue.services.release import release_job
from tests.db import claim_checks
from tests.db.claim_model import Job
from tests.db.lane_requests import rooted_guild
from tests.db.queue_machine import GUILDS, MAX_ATTEMPTS, QueueMachine, refused
from tests.db.stored import row_versions

pytestmark = pytest.mark.usefixtures("committed_db")

SCOPES: dict[str, dict[str, Any]] = {
    "anything": {},
    "anything, said": {"assignee_kind": "worker"},
    "gpu": {"labels": frozenset({"gpu"})},
    "gpu or long": {"any_labels": frozenset({"gpu", "long"})},
    "A and C": {"guilds": frozenset({GUILDS["A"], GUILDS["C"]})},
    "documents": {"kinds": frozenset({"document"})},
    "moved back": {"min_priority": 1},
    "never moved": {"max_priority": 0},
    "for agents": {"assignee_kind": "agent"},
    "first meeting": {},
}
# Who looks, by which filter, and how far: the first after each step, the others by turns.
FIRST_VIEW = ("ada", "anything", 1000)
OTHER_VIEWS = (
    ("ben", "anything", 3),
    ("ada", "A and C", 1000),
    ("ben", "gpu or long", 1000),
    ("ada", "moved back", 1000),
    ("ben", "first meeting", 1000),
)
VERBS = ("heartbeat", "complete", "fail", "release")
principals = st.sampled_from(["ada", "ben"])
scopes = st.sampled_from(sorted(SCOPES))


class Given(NamedTuple):
    """A lease that somebody was given once."""

    job_id: JobId
    token: int
    who: str


class ClaimsMachine(QueueMachine):
    def __init__(self) -> None:
        super().__init__()
        self.given: list[Given] = []
        self.other_views = cycle(OTHER_VIEWS)

    def scope(self, name: str) -> JobFilter:
        if name == "first meeting":
            return JobFilter(session=min(self.model.sessions, default=None))
        return JobFilter(**SCOPES[name])

    def running(self, *, is_lost: bool | None = None) -> list[Job]:
        jobs = [job for job in self.model.jobs.values() if job.state == "running"]
        return [job for job in jobs if is_lost in {None, job.is_lost}]

    # Claims

    @rule(who=principals, scope=scopes)
    def claim(self, who: str, scope: str) -> None:
        self.take(who, scope)

    @rule(who=principals, count=st.sampled_from([1, 1, 2, 4]))
    def claim_anything(self, who: str, count: int) -> None:
        self.take(who, "anything", count=count)

    @rule(who=principals, scope=scopes, count=st.sampled_from([2, 3, 50]))
    def claim_many(self, who: str, scope: str, count: int) -> None:
        self.take(who, scope, count=count)

    @rule(who=principals, scope=scopes, count=st.integers(1, 3), request=st.sampled_from("rs"))
    def claim_under_request(self, who: str, scope: str, count: int, request: str) -> None:
        self.take(who, scope, count=count, request=request)

    @rule(who=principals, scope=st.sampled_from(["anything", "A and C"]), n_jobs=st.integers(1, 8))
    def work_off(self, who: str, scope: str, n_jobs: int) -> None:
        """A worker that takes one job after the other and gets them done."""
        for _ in range(n_jobs):
            for lease in self.take(who, scope):
                self.write("complete", lease.job.id, lease.token, who)
                self.model.jobs[lease.job.id].leave("done")

    @rule(who=principals)
    def claim_and_vanish(self, who: str) -> None:
        """The lease expires by itself: no row is written as it does."""
        for lease in self.take(who, "anything", ttl_s=0.01):
            sleep(0.02)
            self.model.jobs[lease.job.id].is_lost = True

    def take(
        self,
        who: str,
        scope: str,
        *,
        count: int = 1,
        request: str | None = None,
        ttl_s: float = 3600.0,
    ) -> list[Lease]:
        wanted = self.scope(scope)
        before = {guild: self.model.n_running(guild) for guild in self.model.guilds}
        again = self.model.given(who, request)
        expected = self.model.claim(who, wanted, count=count, request_id=request)

        leases = claim_jobs(who, filter=wanted, count=count, ttl_s=ttl_s, request_id=request)

        taken = [(self.name(lease.job.id), lease.token) for lease in leases]
        due = [(job.name, job.token) for job in expected]
        assert taken == due or (again and sorted(taken) == sorted(due)), (
            f"{who} by {scope!r}: the claim took {taken}, the model {due}"
        )
        for guild, n_before in before.items():
            cap = self.model.cap(guild)
            assert cap is None or self.model.n_running(guild) <= max(cap, n_before)
        self.given += [Given(lease.job.id, lease.token, who) for lease in leases]
        return leases

    def name(self, job_id: JobId) -> str:
        return claim_checks.name_of(self.model, job_id)

    # Workers

    def write(self, verb: str, job_id: JobId, token: int, who: str, **more: Any) -> None:
        if verb == "heartbeat":
            extend_lease(job_id, token=token, principal=who, ttl_s=3600.0)
        elif verb == "complete":
            complete_job(job_id, token=token, principal=who, result={})
        elif verb == "release":
            release_job(job_id, token=token, principal=who)
        else:
            failed = {"error": "no speech", "jitter": 0.5, **more}
            fail_job(job_id, token=token, principal=who, **failed)

    @precondition(lambda self: self.running())
    @rule(data=st.data(), verb=st.sampled_from(["heartbeat", "complete", "complete", "release"]))
    def work(self, data: st.DataObject, verb: str) -> None:
        """A lease that expired is its worker's as long as nobody has claimed the job again."""
        job = self.pick(data, "job", self.running())
        self.write(verb, job.id, job.token, str(job.lease_by))
        if verb == "heartbeat":
            job.is_lost = False
            return
        job.leave("done" if verb == "complete" else "pending")
        if verb == "release":
            job.attempt -= 1

    @precondition(lambda self: self.running())
    @rule(data=st.data(), permanent=st.booleans(), jitter=st.sampled_from([0.0, 0.5]))
    def fail(self, data: st.DataObject, permanent: bool, jitter: float) -> None:
        """Without jitter the next try is due at once, else in an hour."""
        job = self.pick(data, "job", self.running())
        self.write("fail", job.id, job.token, str(job.lease_by), permanent=permanent, jitter=jitter)
        is_last = permanent or job.attempt >= MAX_ATTEMPTS
        job.leave("dead" if is_last else "pending")
        job.is_deferred = not is_last and jitter > 0

    @precondition(lambda self: self.stale())
    @rule(data=st.data(), verb=st.sampled_from(VERBS))
    def write_too_late(self, data: st.DataObject, verb: str) -> None:
        """A token that is no longer the job's is refused, and nothing is written."""
        shown = {f"{self.name(g.job_id)} #{g.token} of {g.who}": g for g in self.stale()}
        late = shown[data.draw(st.sampled_from(sorted(shown)), "lease")]
        job = self.model.jobs[late.job_id]
        is_told = job.state == "cancelled" and job.token == late.token
        versions = row_versions()

        assert refused(lambda: self.write(verb, *late)) is (
            LeaseCancelled if is_told else StaleLease
        )

        assert row_versions() == versions

    @precondition(lambda self: self.running())
    @rule(data=st.data(), verb=st.sampled_from(VERBS))
    def write_as_another(self, data: st.DataObject, verb: str) -> None:
        job = self.pick(data, "job", self.running())
        other = "ben" if job.lease_by == "ada" else "ada"
        versions = row_versions()

        assert refused(lambda: self.write(verb, job.id, job.token, other)) is StaleLease

        assert row_versions() == versions

    def stale(self) -> list[Given]:
        jobs = self.model.jobs
        return [
            each
            for each in self.given
            if (jobs[each.job_id].token, jobs[each.job_id].state) != (each.token, "running")
        ]

    # Time

    @precondition(lambda self: self.running(is_lost=False))
    @rule(data=st.data())
    def lose_lease(self, data: st.DataObject) -> None:
        job = self.pick(data, "job", self.running(is_lost=False))
        claim_checks.move_time(
            "UPDATE guildqueue_job SET lease_expires_at = clock_timestamp() - interval '1 s'"
            " WHERE id = %s",
            job.id,
        )
        job.is_lost = True

    @precondition(lambda self: self.deferred())
    @rule(data=st.data())
    def come_due(self, data: st.DataObject) -> None:
        job = self.pick(data, "job", self.deferred())
        claim_checks.move_time(
            "UPDATE guildqueue_job SET run_after = clock_timestamp() - interval '1 s'"
            " WHERE id = %s",
            job.id,
        )
        job.is_deferred = False

    def deferred(self) -> list[Job]:
        return [j for j in self.model.jobs.values() if j.state == "pending" and j.is_deferred]

    # After every step

    @invariant()
    def all_is_as_modelled(self) -> None:
        assert claim_checks.broken_rules() == []
        assert claim_checks.stored_jobs(self.model) == claim_checks.modelled_jobs(self.model)
        assert claim_checks.stored_lane(self.model) == claim_checks.modelled_lane(self.model)
        for who, name, limit in (FIRST_VIEW, next(self.other_views)):
            scope = self.scope(name)
            page = ready_jobs(who, filter=scope, limit=limit)
            listed = [self.name(job.id) for job in page.jobs]
            due = [job.name for job in self.model.ready(who, scope, limit=limit)]
            assert listed == due, f"{who} by {name!r}: ready lists {listed}, the model {due}"
            n_held = 0 if listed else self.model.held_count(who, scope)
            assert page.held_count == n_held, f"{who} by {name!r}"


@pytest.mark.parametrize("order", ["turns", "global"])
def test_claims_and_ready_are_the_models_whatever_happens(
    order: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rooted_guild(tmp_path)  # whose declaration all guilds share
    monkeypatch.setattr(settings, "QUEUE_CLAIM_ORDER", order)
    monkeypatch.setattr(settings, "QUEUE_MAX_ATTEMPTS", MAX_ATTEMPTS)
    monkeypatch.setattr(settings, "QUEUE_RUNNING_CAP", None)
    monkeypatch.setattr(settings, "QUEUE_RETRY_BASE_SECONDS", 7200.0)
    monkeypatch.setattr(settings, "QUEUE_RETRY_CAP_SECONDS", 7200.0)
    machine = type("Claims", (ClaimsMachine,), {"claim_order": order, "root": tmp_path})
    run_state_machine_as_test(
        machine,
        settings=hypothesis_settings(
            deadline=None,
            max_examples=int(os.environ.get("CLAIM_MACHINE_EXAMPLES", "30")),
            stateful_step_count=35,  # a longer failing example takes too long to shrink
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
