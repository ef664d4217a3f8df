"""One track of a meeting: done again, or left out of the document."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from console.access import administered_session, caller_of
from console.views import outcomes
from console.views.answers import see_session
from console.views.pages import guild_page
from console.views.refusals import says_refusals
from guildqueue.domain.ids import JobId, SessionId
from guildqueue.domain.job import Job
from guildqueue.domain.session_detail import SessionDetail
from guildqueue.services.browse import session_detail
from guildqueue.services.drop_track import drop_track
from guildqueue.services.requeue import requeue_job

ASK_AND_ACT = require_http_methods(["GET", "HEAD", "POST"])


@guild_page
@ASK_AND_ACT
@says_refusals("requeued")
def requeue(request: HttpRequest, session_id: int, job_id: int) -> HttpResponse:
    guild_id = administered_session(request, session_id)
    detail, job = _track(session_id, job_id)
    if request.method != "POST":
        context = {
            "question": _("Requeue this track"),
            "consequence": _("It will be transcribed again, then the document is made from all."),
            "button": _("Requeue the track"),
        }
        return _ask(request, detail, job, context)
    jobs = requeue_job(JobId(job_id), guild_id=guild_id, caller=caller_of(request))
    messages.success(request, outcomes.requeued(job.name, jobs))
    return see_session(request, SessionId(session_id))


@guild_page
@ASK_AND_ACT
@says_refusals("left out")
def drop(request: HttpRequest, session_id: int, job_id: int) -> HttpResponse:
    guild_id = administered_session(request, session_id)
    detail, job = _track(session_id, job_id)
    if request.method != "POST":
        context = {
            "question": _("Leave this track out"),
            "consequence": _("The document no longer waits for this track and will not hold it."),
            "button": _("Leave it out"),
        }
        return _ask(request, detail, job, context)
    changed = drop_track(JobId(job_id), guild_id=guild_id, caller=caller_of(request))
    messages.success(request, outcomes.dropped(job.name, changed))
    return see_session(request, SessionId(session_id))


def _track(session_id: int, job_id: int) -> tuple[SessionDetail, Job]:
    """The meeting and one of its tracks; raises Http404 for any other job."""
    detail = session_detail(SessionId(session_id))
    for track in detail.tracks:
        if track.job.id == job_id:
            return detail, track.job
    raise Http404("no such track")


def _ask(
    request: HttpRequest, detail: SessionDetail, job: Job, context: dict[str, str]
) -> HttpResponse:
    return render(
        request,
        "sessions/track.html",
        {"detail": detail, "job": job, "back": "session", **context},
    )
