"""A quick action: what it would change, and applying it."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from console.access import administered_guild, caller_of
from console.views import outcomes
from console.views.answers import see_queue
from console.views.pages import guild_page
from console.views.refusals import says_guild_refusals
from console.words import rule_words
from guildqueue.domain.rules import KNOWN_RULES
from guildqueue.services.apply_rule import apply_rule
from guildqueue.services.rule_places import rule_places


@guild_page
@require_http_methods(["GET", "HEAD", "POST"])
@says_guild_refusals("applied")
def preview(request: HttpRequest, guild_id: int, rule: str) -> HttpResponse:
    guild = administered_guild(request, guild_id)
    if rule not in KNOWN_RULES:
        raise Http404("no such rule")
    if request.method != "POST":
        context = {"guild": guild, "rule": rule, "preview": rule_places(guild.id, rule=rule)}
        return render(request, "guilds/rule.html", context)
    outcome = apply_rule(guild.id, rule=rule, caller=caller_of(request))
    messages.success(request, outcomes.ruled(rule_words(rule), outcome.changed))
    return see_queue(request, guild.id)
