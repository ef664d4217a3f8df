"""Template filters and tags that put the words of console.words into markup."""

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache

from django import template
from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext

from console import words
from console.views.queue_rows import Row
from guildqueue.domain.job import Kind
from guildqueue.domain.snapshot import TrackBar

register = template.Library()

register.filter("duration", words.duration_words)
register.filter("people", words.people_words)
register.filter("tracks_count", words.tracks_count)
register.filter("principal", words.principal_words)
register.filter("asked", words.asked_words)
register.filter("placed", words.placed_words)
register.filter("move_words", words.move_words)
register.filter("rule_words", words.rule_words)
register.filter("job_state", words.job_state_words)
register.filter("session_state", words.session_state_words)
register.filter("waits_for", words.waits_for_words)
register.filter("percent", words.percent_words)
register.filter("stamp", words.stamp_words)


@register.filter
def in_quotes(text: str) -> SafeString:
    """What somebody wrote, in the quotes of the language that is spoken."""
    return format_html(gettext("“<bdi>{text}</bdi>”"), text=words.kept_straight(text))


@register.simple_tag
def moment(at: datetime, now: datetime) -> SafeString:
    """A moment as ``18:00 UTC``, with the day where it is not the day of ``now``."""
    return _time(at, words.moment_words(at, now))


@register.simple_tag
def ago(at: datetime, now: datetime) -> SafeString:
    """A moment as ``2 min ago``, seen from ``now``; the moment itself is its title."""
    return format_html(
        '<time datetime="{}" title="{}" data-ago>{}</time>',
        at.isoformat(timespec="seconds"),
        words.moment_words(at, now),
        words.ago_words(at, now),
    )


@register.simple_tag
def tracks(bars: Iterable[TrackBar]) -> SafeString:
    """One small bar a track: its colour the state, its fill the progress, both as text too."""
    shown = tuple((b.state, b.progress) for b in bars if b.kind != Kind.DOCUMENT)
    return _tracks(shown, get_language())


@lru_cache(maxsize=1024)  # most sessions of a queue look like others: all waiting, all done
def _tracks(bars: tuple[tuple[str, float], ...], _language: str | None) -> SafeString:
    text = words.tracks_words(bars)
    drawn = format_html_join(
        "", '<i data-s="{}" data-p="{}"></i>', ((state, steps(share)) for state, share in bars)
    )
    return format_html(
        '<span class="tracks" role="img" aria-label="{}" title="{}">{}</span>', text, text, drawn
    )


@register.simple_tag
def menu(row: Row) -> SafeString:
    """The Move menu of a row, from ``sessions/_menu.html``.

    It is the same for all rows of a shape but for their ids, so each shape is rendered once and
    the ids are filled in: of a page of 200 rows that takes 20 ms.
    """
    ends = (_UP if row.up else row.up, _DOWN if row.down else row.down)
    lane = (row.may_bump, row.may_unbump)
    markup = _menu(get_language(), row.entry.is_movable, row.entry.held, lane, *ends)
    for blank, text in ((_ID, row.id), (_URL, row.url), (_UP, row.up), (_DOWN, row.down)):
        markup = markup.replace(blank, text or "")
    return mark_safe(markup)  # noqa: S308 - a template's output, ids and addresses filled in


@lru_cache
def _menu(
    _language: str | None,
    is_movable: bool,
    is_held: bool,
    lane: tuple[bool, bool],
    up: str | None,
    down: str | None,
) -> str:
    shape = {"is_movable": is_movable, "is_held": is_held, "up": up, "down": down}
    shape |= {"may_bump": lane[0], "may_unbump": lane[1]}
    markup = render_to_string("sessions/_menu.html", {"id": _ID, "url": _URL, **shape})
    return _BETWEEN_TAGS.sub("><", markup).strip()


@register.simple_tag
def region(version: str, at: datetime) -> SafeString:
    """What scripts know a live region by: its version, and the database's clock as it was read."""
    return format_html(
        ' data-version="{}" data-at="{}" data-heartbeat="{}"',
        version,
        at.isoformat(),
        settings.LIVE_HEARTBEAT_SECONDS,
    )


@register.simple_tag
def stream(name: str, *ids: int) -> SafeString:
    """The attributes that keep a region posted by the stream of that name."""
    markup = ' hx-sse:connect="{}" hx-trigger="load, live:retry" hx-swap="innerMorph"'
    return format_html(markup, reverse(name, args=ids))


@register.filter
def steps(share: float) -> int:
    """A share of 1 in steps of 5 %: the CSP forbids styles that carry any number."""
    return int(min(1.0, max(0.0, share)) * 20) * 5


def _time(at: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{}">{}</time>', at.isoformat(timespec="seconds"), text)


_BETWEEN_TAGS = re.compile(r">\s+<")
# Blanks of a menu; no id, address or neighbour looks like one.
_ID, _URL, _UP, _DOWN = "[id]", "[url]", "[up]", "[down]"
