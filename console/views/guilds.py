"""The list of guilds and one guild's queue, with the hold of the whole guild."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from console.access import administered_guild, caller_of, user_id_of
from console.forms import HoldForm, parse_after
from console.views import outcomes
from console.views.pages import guild_page
from console.views.queue_rows import queue_page, quick_actions
from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.services.browse import guild_list
from guildqueue.services.hold import hold_guild, release_guild
from guildqueue.services.snapshot import queue_snapshot


@login_required
@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    guilds = guild_list(user_id_of(request))
    return render(request, "guilds/index.html", {"guilds": guilds, "at": timezone.now()})


@guild_page
@require_safe
def queue(request: HttpRequest, guild_id: int) -> HttpResponse:
    guild = administered_guild(request, guild_id)
    after = parse_after(request.GET)
    try:
        return queue_response(request, guild.id, after=after)
    except InvalidInput:
        messages.info(request, "The queue changed meanwhile. This is its front.")
        return see_queue(guild.id)


@guild_page
@require_http_methods(["GET", "HEAD", "POST"])
def hold(request: HttpRequest, guild_id: int) -> HttpResponse:
    guild = administered_guild(request, guild_id)
    form = HoldForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        changed = hold_guild(guild.id, reason=reason, caller=caller_of(request))
        messages.success(request, outcomes.held(guild.name, changed))
        return see_queue(guild.id)
    status = 422 if request.method == "POST" else 200
    return render(request, "guilds/hold.html", {"guild": guild, "form": form}, status=status)


@guild_page
@require_POST
def release(request: HttpRequest, guild_id: int) -> HttpResponse:
    guild = administered_guild(request, guild_id)
    changed = release_guild(guild.id, caller=caller_of(request))
    messages.success(request, outcomes.released(guild.name, changed))
    return see_queue(guild.id)


def queue_response(
    request: HttpRequest, guild_id: GuildId, *, after: SessionId | None = None, status: int = 200
) -> HttpResponse:
    """The queue as it is now: the page, or its live inside alone for htmx."""
    snapshot = queue_snapshot(guild_id, after=after)
    context = {
        "snapshot": snapshot,
        "page": queue_page(snapshot, after=after),
        "rules": quick_actions(snapshot),
        "after": after,
    }
    template = "guilds/_queue.html" if request.htmx else "guilds/queue.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=status)


def see_queue(guild_id: GuildId, *, session_id: SessionId | None = None) -> HttpResponse:
    """303 to the queue, at the session's row where one is named."""
    response = redirect("guild-queue-show", guild_id)
    response.status_code = 303
    if session_id is not None:
        response["Location"] += f"#s-{session_id}"
    return response
