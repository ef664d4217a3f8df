"""What a worker says of a job that it holds; only its own lease and token let it."""

import random

from django.http import HttpRequest, HttpResponse
from ninja import Router

from console.api.answers import answer
from console.api.auth import job_guild_of, lease_holder_of
from console.api.schemas import REFUSALS, PathId, Problem
from console.api.work_schemas import Beat, Completion, Ended, Extended, Failure, Handback
from guildqueue.domain.errors import StaleLease
from guildqueue.domain.ids import BIGINT_MAX, JobId
from guildqueue.domain.job import JobState
from guildqueue.domain.location import check_result
from guildqueue.domain.token import Verb
from guildqueue.domain.wire import moment
from guildqueue.services.complete import complete_job
from guildqueue.services.fail import fail_job
from guildqueue.services.heartbeat import extend_lease
from guildqueue.services.release import release_job

router = Router(tags=["leases"])
JOB = "/jobs/{bigid:job_id}"
ENDING = {200: Ended, 409: Problem, **REFUSALS}


@router.post(
    f"{JOB}/heartbeat",
    response={200: Extended, 409: Problem, **REFUSALS},
    url_name="api-job-heartbeat",
)
def heartbeat(request: HttpRequest, job_id: PathId, beat: Beat) -> HttpResponse:
    """Extend the lease to `ttl` seconds from now. A 409 `cancelled` means: stop the work."""
    job_guild_of(request, job_id, Verb.CLAIM)
    expires_at = extend_lease(
        JobId(job_id),
        token=_fencing(job_id, beat.token),
        principal=lease_holder_of(request),
        ttl_s=beat.ttl,
        progress=beat.progress,
    )
    return answer({"expires_at": moment(expires_at)})


@router.post(f"{JOB}/complete", response=ENDING, url_name="api-job-complete")
def complete(request: HttpRequest, job_id: PathId, done: Completion) -> HttpResponse:
    """The job is done, and whatever needs it comes closer."""
    guild_id = job_guild_of(request, job_id, Verb.CLAIM)
    check_result(done.result, guild_id=guild_id)
    complete_job(
        JobId(job_id),
        token=_fencing(job_id, done.token),
        principal=lease_holder_of(request),
        result=done.result,
        audio_seconds=done.audio_seconds,
    )
    return answer({"state": JobState.DONE.value})


@router.post(f"{JOB}/fail", response=ENDING, url_name="api-job-fail")
def fail(request: HttpRequest, job_id: PathId, failed: Failure) -> HttpResponse:
    """Another try after a wait, or `dead` where attempts are used up or it is `permanent`."""
    job_guild_of(request, job_id, Verb.CLAIM)
    state = fail_job(
        JobId(job_id),
        token=_fencing(job_id, failed.token),
        principal=lease_holder_of(request),
        error=failed.error,
        permanent=failed.permanent,
        jitter=random.random(),  # noqa: S311 - it spreads retries
    )
    return answer({"state": state.value})


@router.post(f"{JOB}/release", response=ENDING, url_name="api-job-release")
def release(request: HttpRequest, job_id: PathId, back: Handback) -> HttpResponse:
    """Hand the job back untouched: it waits in its own place, the attempt uncounted."""
    job_guild_of(request, job_id, Verb.CLAIM)
    release_job(
        JobId(job_id), token=_fencing(job_id, back.token), principal=lease_holder_of(request)
    )
    return answer({"state": JobState.PENDING.value})


def _fencing(job_id: int, digits: str) -> int:
    token = int(digits)
    if token > BIGINT_MAX:
        raise StaleLease(JobId(job_id), token)
    return token
