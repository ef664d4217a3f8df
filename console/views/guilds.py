"""The list of guilds and one guild's queue, with the hold of the whole guild."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from console.access import administered_guild, caller_of, user_id_of
from console.forms import HoldForm, parse_after, parse_before
from console.views import outcomes
from console.views.answers import queue_response, see_queue
from console.views.consequences import releasing_guild
from console.views.contexts import history_context
from console.views.pages import guild_page
from console.views.refusals import says_guild_refusals
from guildqueue.domain.errors import InvalidInput
from guildqueue.services import browse
from guildqueue.services.hold import hold_guild, release_guild
from guildqueue.services.snapshot import queue_snapshot


@login_required
@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    user_id = user_id_of(request)
    found = browse.guild_lists([user_id])[user_id]
    context = {"guilds": found.guilds, "version": found.version, "at": timezone.now()}
    return render(request, "guilds/index.html", context)


@guild_page
@require_safe
def queue(request: HttpRequest, guild_id: int) -> HttpResponse:
    guild = administered_guild(request, guild_id)
    after = parse_after(request.GET)
    try:
        return queue_response(request, guild.id, after=after)
    except InvalidInput:
        messages.info(request, _("The queue changed meanwhile. This is its front."))
        return see_queue(request, guild.id)


@guild_page
@require_safe
def history(request: HttpRequest, guild_id: int) -> HttpResponse:
    guild = administered_guild(request, guild_id)
    before = parse_before(request.GET)
    if before is not None:
        version, records = "", browse.events_page(guild.id, before=before)
    else:
        version, records = browse.history(guild.id)
    context = history_context(guild.id, records, is_first=before is None)
    context |= {"guild": guild, "version": version}
    return render(request, "guilds/history.html", context)


@guild_page
@require_http_methods(["GET", "HEAD", "POST"])
@says_guild_refusals("held")
def hold(request: HttpRequest, guild_id: int) -> HttpResponse:
    guild = administered_guild(request, guild_id)
    form = HoldForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        changed = hold_guild(guild.id, reason=reason, caller=caller_of(request))
        messages.success(request, outcomes.held(guild.name, changed))
        return see_queue(request, guild.id)
    status = 422 if request.method == "POST" else 200
    return render(request, "guilds/hold.html", {"guild": guild, "form": form}, status=status)


@guild_page
@require_http_methods(["GET", "HEAD", "POST"])
@says_guild_refusals("released")
def release(request: HttpRequest, guild_id: int) -> HttpResponse:
    guild = administered_guild(request, guild_id)
    if request.method != "POST":
        context = {"guild": guild, "consequence": releasing_guild(queue_snapshot(guild.id))}
        return render(request, "guilds/release.html", context)
    changed = release_guild(guild.id, caller=caller_of(request))
    messages.success(request, outcomes.released(guild.name, changed))
    return see_queue(request, guild.id)
