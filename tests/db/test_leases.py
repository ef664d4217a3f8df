"""A worker's writes: only under its own lease, and without one nothing changes."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from guildqueue.domain.errors import InvalidInput, JobNotFound, StaleLease
from guildqueue.domain.ids import BIGINT_MAX, GuildId, JobId
from guildqueue.domain.job import Job, JobState, Lease
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.fail import fail_job
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.release import release_job
from guildqueue.services.snapshot import queue_snapshot
from tests.builders import (
    WORKER,
    complete,
    document_id,
    expire_lease,
    make_due,
    running_jobs,
    session_jobs,
    stored_guild,
    stored_job,
    stored_session,
    track_ids,
)
from tests.db.races import elsewhere, query
from tests.db.stored import put_in_lane, row_versions, write

pytestmark = pytest.mark.usefixtures("committed_db")


@pytest.fixture
def guild() -> GuildId:
    return stored_guild()


@pytest.fixture
def lease(guild: GuildId) -> Lease:
    """On the first of a session's two tracks."""
    return running_jobs(stored_session(guild, n_tracks=2), n=1)[0]


def now(lease: Lease) -> Job:
    return stored_job(lease.job.id, session_id=lease.job.session_id)


def fail(lease: Lease, *, permanent: bool = False, jitter: float = 0.5) -> JobState:
    return fail_job(
        lease.job.id,
        token=lease.token,
        principal=WORKER,
        error="no speech",
        permanent=permanent,
        jitter=jitter,
    )


WRITES: dict[str, Callable[[JobId, int, str], object]] = {
    "heartbeat": lambda job, token, by: extend_lease(
        job, token=token, principal=by, ttl_s=60, progress=0.5
    ),
    "complete": lambda job, token, by: complete_job(job, token=token, principal=by, result={}),
    "fail": lambda job, token, by: fail_job(
        job, token=token, principal=by, error="late", jitter=0.0
    ),
    "fail for good": lambda job, token, by: fail_job(
        job, token=token, principal=by, error="late", permanent=True, jitter=0.0
    ),
    "release": lambda job, token, by: release_job(job, token=token, principal=by),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_stale_token_or_another_principal_changes_nothing(lease: Lease, name: str) -> None:
    job, token, write_it = lease.job.id, lease.token, WRITES[name]
    versions = row_versions()

    for wrong_token, by in ((token - 1, WORKER), (token + 1, WORKER), (token, "account:other")):
        with pytest.raises(StaleLease):
            write_it(job, wrong_token, by)
    with pytest.raises(JobNotFound):
        write_it(JobId(BIGINT_MAX), token, WORKER)

    assert row_versions() == versions


@pytest.mark.parametrize("name", WRITES)
def test_a_lease_taken_over_by_the_same_worker_is_stale(lease: Lease, name: str) -> None:
    expire_lease(lease.job.id)
    (newer,) = claim_jobs(WORKER, ttl_s=60)
    versions = row_versions()

    with pytest.raises(StaleLease):
        WRITES[name](lease.job.id, lease.token, WORKER)

    assert (newer.job.id, newer.token) == (lease.job.id, lease.token + 1)
    assert row_versions() == versions


@pytest.mark.parametrize("name", WRITES)
def test_a_finished_job_takes_no_more_writes(lease: Lease, name: str) -> None:
    complete(lease)
    versions = row_versions()

    with pytest.raises(StaleLease):
        WRITES[name](lease.job.id, lease.token, WORKER)

    assert row_versions() == versions


def test_a_heartbeat_extends_the_lease_and_says_how_far(lease: Lease) -> None:
    expires_at = extend_lease(
        lease.job.id, token=lease.token, principal=WORKER, ttl_s=600, progress=0.25
    )

    assert expires_at > lease.expires_at + timedelta(seconds=500)
    assert now(lease).progress == 0.25
    extend_lease(lease.job.id, token=lease.token, principal=WORKER, ttl_s=600)
    assert now(lease).progress == 0.25


@pytest.mark.parametrize(
    ("said", "stored"), [(-1.0, 0.0), (7.0, 1.0), (float("nan"), 0.5), (float("inf"), 1.0)]
)
def test_a_progress_outside_its_range_is_no_reason_to_lose_the_lease(
    lease: Lease, said: float, stored: float
) -> None:
    held = lease.job.id, lease.token
    extend_lease(held[0], token=held[1], principal=WORKER, ttl_s=60, progress=0.5)

    extend_lease(held[0], token=held[1], principal=WORKER, ttl_s=60, progress=said)

    assert now(lease).progress == stored


def test_a_late_heartbeat_keeps_a_lease_that_nobody_took_over(lease: Lease) -> None:
    expire_lease(lease.job.id)

    extend_lease(lease.job.id, token=lease.token, principal=WORKER, ttl_s=60)

    assert lease.job.id not in [taken.job.id for taken in claim_jobs("other", count=9, ttl_s=60)]


def test_heartbeats_touch_no_index(guild: GuildId, lease: Lease) -> None:
    query("SELECT pg_stat_force_next_flush()")
    statement = (
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'guildqueue_job'"
    )
    query("SELECT pg_stat_clear_snapshot()")
    before = query(statement)[0]

    for _ in range(5):
        extend_lease(lease.job.id, token=lease.token, principal=WORKER, ttl_s=60, progress=0.5)

    query("SELECT pg_stat_force_next_flush()")
    query("SELECT pg_stat_clear_snapshot()")
    after = query(statement)[0]
    assert (after[0] - before[0], after[1] - before[1]) == (5, 5)


@pytest.mark.parametrize(
    "text", ['"', "\\", '\\"', "{a,b}", "NULL", "", " ", "line\nline", "\u00e4\U0001f600", "',$1"]
)
def test_a_result_is_stored_as_it_is_whatever_it_is_written_with(lease: Lease, text: str) -> None:
    job, result = lease.job, {text: [text]}

    complete_job(job.id, token=lease.token, principal=WORKER, result=result)

    assert now(lease).result == {text: [text]}


def test_a_lease_says_of_its_job_what_a_list_says(lease: Lease) -> None:
    assert lease.job == now(lease)
    assert {lease.expires_at.tzinfo, lease.job.created_at.tzinfo} == {UTC}


def test_a_text_as_payload_and_as_result_keeps_nobody_from_the_job(guild: GuildId) -> None:
    (job, *_) = session_jobs(stored_session(guild))
    write("UPDATE guildqueue_job SET payload = '\"p\"', result = '\"r\"' WHERE id = %s", job.id)

    (lease, *_) = claim_jobs(WORKER, ttl_s=60)

    assert lease.job.id == job.id
    assert [str(lease.job.payload), str(lease.job.result)] == ["p", "r"]


def test_a_completed_job_is_done_with_its_result_and_length(lease: Lease) -> None:
    complete(lease, audio_seconds=12.5)

    job = now(lease)
    assert (job.state, job.progress, job.audio_seconds) == (JobState.DONE, 1.0, 12.5)
    assert job.result == {"path": f"nowhere/{lease.job.id}.json"}
    assert job.finished_at is not None


def test_a_completion_without_a_length_keeps_the_known_one(lease: Lease) -> None:
    complete(lease)

    assert now(lease).audio_seconds == 60.0


@pytest.mark.parametrize("length", [float("nan"), float("inf"), -1.0])
def test_a_length_that_is_no_length_is_refused(lease: Lease, length: float) -> None:
    versions = row_versions()

    with pytest.raises(InvalidInput, match="audio_seconds"):
        complete(lease, audio_seconds=length)

    assert row_versions() == versions


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_no_database_holds_does_not_lose_a_result(lease: Lease, text: str) -> None:
    result = {"path": text, text: [1, text, float("nan")]}

    complete_job(lease.job.id, token=lease.token, principal=WORKER, result=result)

    shown = text.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
    assert now(lease).result == {"path": shown, shown: [1, shown, None]}


def test_the_document_can_run_once_every_track_is_done(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=2)
    first, second = running_jobs(session)
    complete(first)
    blocked = claim_jobs(WORKER, ttl_s=60)

    complete(second)

    assert blocked == []
    (document,) = claim_jobs(WORKER, ttl_s=60)
    assert (document.job.id, document.job.needs) == (
        document_id(session),
        tuple(track_ids(session)),
    )


def test_a_failed_job_waits_longer_each_time_and_keeps_its_number(guild: GuildId) -> None:
    session = stored_session(guild)
    write("UPDATE guildqueue_job SET priority = 7, max_attempts = 4")
    waits = []
    for _ in range(3):
        (lease,) = claim_jobs(WORKER, ttl_s=60)
        assert fail(lease) is JobState.PENDING
        job = now(lease)
        assert job.run_after is not None
        waits.append((job.run_after - datetime.now(UTC)).total_seconds())
        assert (job.priority, job.error, job.progress) == (7, "no speech", 0.0)
        make_due(job.id)

    assert waits == [pytest.approx(expected, abs=1) for expected in (2.5, 5.0, 10.0)]
    (lease,) = claim_jobs(WORKER, ttl_s=60)
    assert fail(lease) is JobState.DEAD
    assert stored_job(track_ids(session)[0], session_id=session).attempt == 4


def test_a_job_that_waits_for_its_retry_lets_others_pass(guild: GuildId) -> None:
    first, second = stored_session(guild), stored_session(guild)
    (lease,) = running_jobs(first)
    fail(lease)

    (other,) = claim_jobs(WORKER, ttl_s=60)
    make_due(lease.job.id)
    (again,) = claim_jobs(WORKER, ttl_s=60)

    assert other.job.session_id == second
    assert (again.job.id, again.job.attempt, again.job.run_after) == (lease.job.id, 2, None)


def test_a_permanent_failure_is_dead_at_once(lease: Lease) -> None:
    assert fail(lease, permanent=True) is JobState.DEAD

    job = now(lease)
    assert (job.state, job.error, job.attempt) == (JobState.DEAD, "no speech", 1)
    assert queue_snapshot(job.guild_id).counts.dead == 1


def test_a_failed_lane_job_keeps_the_lane_and_a_dead_one_leaves_it(lease: Lease) -> None:
    put_in_lane([lease.job.id])
    fail(lease)
    retried = now(lease)
    make_due(lease.job.id)
    (again,) = claim_jobs(WORKER, ttl_s=60)

    fail(again, permanent=True)

    assert retried.bump_seq == 1
    assert now(lease).bump_seq is None


def test_a_reason_is_kept_short_and_without_secrets(lease: Lease) -> None:
    fail_job(
        lease.job.id,
        token=lease.token,
        principal=WORKER,
        error="postgres://u:hunter2@db/x \0" + "x" * 10_000,
        jitter=0.0,
    )

    error = now(lease).error
    assert error is not None
    assert error.startswith("postgres://[redacted] ")
    assert len(error) == 4000


def test_a_released_job_is_as_if_it_had_never_been_claimed(lease: Lease) -> None:
    release_job(lease.job.id, token=lease.token, principal=WORKER)

    job = now(lease)
    assert (job.state, job.attempt, job.started_at) == (JobState.PENDING, 0, None)
    (again,) = claim_jobs(WORKER, ttl_s=60)
    assert (again.job.id, again.job.attempt, again.token) == (job.id, 1, lease.token + 1)


def test_an_expired_lease_is_taken_over_in_its_own_place(guild: GuildId) -> None:
    first = stored_session(guild, n_tracks=2)
    stored_session(guild)
    (lost, _) = running_jobs(first)
    expire_lease(lost.job.id)

    (again,) = claim_jobs("other", ttl_s=60)

    assert (again.job.id, again.job.attempt) == (lost.job.id, 2)
    assert again.job.run_after is None


def test_a_lease_lost_at_the_last_attempt_ends_the_job_with_the_reason(guild: GuildId) -> None:
    session = stored_session(guild, n_tracks=1)
    behind = stored_session(guild)
    write("UPDATE guildqueue_job SET max_attempts = 1")
    (lost,) = running_jobs(session)
    put_in_lane([lost.job.id])
    expire_lease(lost.job.id)

    (next_one,) = claim_jobs(WORKER, ttl_s=60)

    job = now(lost)
    assert (job.state, job.bump_seq) == (JobState.DEAD, None)
    assert job.error == f"the worker {WORKER} was lost at attempt 1 of 1"
    assert next_one.job.session_id == behind
    with pytest.raises(StaleLease):
        complete(lost)


def test_attempts_and_tokens_count_every_claim(guild: GuildId) -> None:
    stored_session(guild)
    seen = []
    for _ in range(3):
        (lease,) = claim_jobs(WORKER, ttl_s=60)
        seen.append((lease.job.attempt, lease.token))
        expire_lease(lease.job.id)

    assert seen == [(1, 1), (2, 2), (3, 3)]
    assert session_jobs(lease.job.session_id)[0].progress == 0.0


def test_a_server_in_another_time_zone_moves_no_moment(guild: GuildId) -> None:
    stored_session(guild, n_tracks=2)
    database = connection.ops.quote_name(str(connection.settings_dict["NAME"]))
    write(f"ALTER DATABASE {database} SET timezone = 'Asia/Kathmandu'")

    try:
        lease, failed = elsewhere(lambda: claim_jobs(WORKER, count=2, ttl_s=60))
        elsewhere(lambda: fail(failed))
        job = elsewhere(lambda: now(failed))
        nothing = elsewhere(lambda: claim_jobs("other", count=9, ttl_s=60))
    finally:
        write(f"ALTER DATABASE {database} RESET timezone")

    assert (lease.expires_at - datetime.now(UTC)).total_seconds() == pytest.approx(60, abs=5)
    assert job.run_after is not None
    assert (job.run_after - datetime.now(UTC)).total_seconds() == pytest.approx(2.5, abs=2.4)
    assert nothing == []
