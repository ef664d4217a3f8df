"""Work: what is ready, claims of it, lists of jobs; by one filter, within the caller's scope."""

from django.http import HttpRequest, HttpResponse
from ninja import Body, Router

from console.api.answers import answer
from console.api.auth import lease_holder_of, within_scope
from console.api.patience import wait_if_empty
from console.api.schemas import REFUSALS
from console.api.work_schemas import (
    ClaimWanted,
    JobPage,
    Leases,
    ListWanted,
    ReadyJobs,
    ReadyWanted,
    whole_id,
)
from guildqueue.domain.filters import parse_filter
from guildqueue.domain.ids import JobId
from guildqueue.domain.token import Verb
from guildqueue.domain.wire import job_body, lease_body
from guildqueue.services.claim import claim_jobs
from guildqueue.services.list_jobs import list_jobs
from guildqueue.services.ready import ready_jobs

router = Router(tags=["work"])
ANY_READY = ReadyWanted()
ANY_CLAIM = ClaimWanted()
ANY_LIST = ListWanted()


@router.post("/ready", response={200: ReadyJobs, **REFUSALS}, url_name="api-ready")
def list_ready(request: HttpRequest, wanted: Body[ReadyWanted] = ANY_READY) -> HttpResponse:
    """What the caller's next claims would take, in that order; nothing is taken."""
    found = parse_filter(wanted.filter).for_claim()
    scoped = within_scope(request, found, Verb.READ)
    if scoped is None:
        return answer({"jobs": [], "held_count": 0})
    page = ready_jobs(lease_holder_of(request), filter=scoped, limit=wanted.limit)
    return answer({"jobs": list(map(job_body, page.jobs)), "held_count": page.held_count})


@router.post("/claims", response={200: Leases, **REFUSALS}, url_name="api-claim")
def claim(request: HttpRequest, wanted: Body[ClaimWanted] = ANY_CLAIM) -> HttpResponse:
    """Up to `count` jobs, now running, each under a lease of `ttl` seconds; none is no error.

    Repeated with its `request_id` while those leases last, it answers with the same ones.
    """
    found = parse_filter(wanted.filter).for_claim()
    scoped = within_scope(request, found, Verb.CLAIM)
    leases = (
        []
        if scoped is None
        else claim_jobs(
            lease_holder_of(request),
            filter=scoped,
            count=wanted.count,
            ttl_s=wanted.ttl,
            request_id=wanted.request_id,
        )
    )
    if not leases:
        wait_if_empty(request, wanted.wait)
    return answer({"leases": list(map(lease_body, leases))})


@router.post("/jobs/list", response={200: JobPage, **REFUSALS}, url_name="api-job-list")
def list_some_jobs(request: HttpRequest, wanted: Body[ListWanted] = ANY_LIST) -> HttpResponse:
    """Jobs in whatever state by ascending id; `after` of a page asks for the next, null ends."""
    scoped = within_scope(request, parse_filter(wanted.filter), Verb.READ)
    after = None if wanted.after is None else JobId(whole_id("after", wanted.after))
    if scoped is None:
        return answer({"jobs": [], "after": None})
    page = list_jobs(scoped, after=after, limit=wanted.limit)
    next_after = None if page.after is None else str(page.after)
    return answer({"jobs": list(map(job_body, page.jobs)), "after": next_after})
