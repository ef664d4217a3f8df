"""One meeting: its page, and what an administrator may do to the whole of it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from console.access import administered_session, caller_of
from console.forms import HoldForm
from console.views import outcomes
from console.views.answers import see_back, session_response
from console.views.asking import asking
from console.views.consequences import cancelling, holding, releasing, requeueing
from console.views.pages import guild_page
from console.views.refusals import says_refusals
from guildqueue.domain.ids import SessionId
from guildqueue.services.browse import session_detail
from guildqueue.services.cancel import cancel_session
from guildqueue.services.hold import hold_session, release_session
from guildqueue.services.requeue import requeue_session

ASK_AND_ACT = require_http_methods(["GET", "HEAD", "POST"])


@guild_page
@require_safe
def show(request: HttpRequest, session_id: int) -> HttpResponse:
    administered_session(request, session_id)
    return session_response(request, SessionId(session_id))


@guild_page
@ASK_AND_ACT
@says_refusals("held")
def hold(request: HttpRequest, session_id: int) -> HttpResponse:
    guild_id = administered_session(request, session_id)
    detail = session_detail(SessionId(session_id))
    form = HoldForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        asked, reason = detail.entry.session_id, form.cleaned_data["reason"]
        changed = hold_session(asked, guild_id=guild_id, reason=reason, caller=caller_of(request))
        messages.success(request, outcomes.held(detail.entry.title, changed))
        return see_back(request, guild_id, asked)
    status = 422 if request.method == "POST" else 200
    context = asking(request, detail, form=form, consequence=holding(detail.entry))
    return render(request, "sessions/hold.html", context, status=status)


@guild_page
@ASK_AND_ACT
@says_refusals("released")
def release(request: HttpRequest, session_id: int) -> HttpResponse:
    guild_id = administered_session(request, session_id)
    detail = session_detail(SessionId(session_id))
    if request.method != "POST":
        context = asking(request, detail, consequence=releasing(detail.entry))
        return render(request, "sessions/release.html", context)
    asked = detail.entry.session_id
    changed = release_session(asked, guild_id=guild_id, caller=caller_of(request))
    messages.success(request, outcomes.released(detail.entry.title, changed))
    return see_back(request, guild_id, asked)


@guild_page
@ASK_AND_ACT
@says_refusals("cancelled")
def cancel(request: HttpRequest, session_id: int) -> HttpResponse:
    guild_id = administered_session(request, session_id)
    detail = session_detail(SessionId(session_id))
    if request.method != "POST":
        context = asking(request, detail, consequence=cancelling(detail.entry))
        return render(request, "sessions/cancel.html", context)
    asked = detail.entry.session_id
    jobs = cancel_session(asked, guild_id=guild_id, caller=caller_of(request))
    messages.success(request, outcomes.cancelled(detail.entry.title, jobs))
    return see_back(request, guild_id, asked)


@guild_page
@ASK_AND_ACT
@says_refusals("requeued")
def requeue(request: HttpRequest, session_id: int) -> HttpResponse:
    guild_id = administered_session(request, session_id)
    detail = session_detail(SessionId(session_id))
    if request.method != "POST":
        context = asking(request, detail, consequence=requeueing(detail.entry))
        return render(request, "sessions/requeue.html", context)
    asked = detail.entry.session_id
    jobs = requeue_session(asked, guild_id=guild_id, caller=caller_of(request))
    messages.success(request, outcomes.requeued(detail.entry.title, jobs))
    return see_back(request, guild_id, asked)
