"""Template filters and tags that put the words of console.words into markup."""

from collections.abc import Iterable
from datetime import datetime

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from console import words
from guildqueue.domain.job import Kind
from guildqueue.domain.snapshot import TrackBar

register = template.Library()

register.filter("duration", words.duration_words)
register.filter("people", words.people_words)
register.filter("counted", words.counted)
register.filter("principal", words.principal_words)
register.filter("move_words", words.move_words)
register.filter("rule_words", words.rule_words)
register.filter("job_state", words.job_state_words)
register.filter("waits_for", words.waits_for_words)
register.filter("percent", words.percent_words)
register.filter("stamp", words.stamp_words)


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
    shown = [bar for bar in bars if bar.kind != Kind.DOCUMENT]
    text = words.tracks_words(shown)
    return format_html(
        '<span class="tracks" role="img" aria-label="{}" title="{}">{}</span>',
        text,
        text,
        format_html_join("", "{}", ((_bar(bar),) for bar in shown)),
    )


@register.filter
def steps(share: float) -> int:
    """A share of 1 in steps of 5 %: the CSP forbids styles that carry any number."""
    return int(min(1.0, max(0.0, share)) * 20) * 5


def _bar(bar: TrackBar) -> SafeString:
    # Known states are most of a page's markup, so they skip the escaping.
    known = _KNOWN_BARS.get(bar.state)
    if known is not None:
        return known
    return format_html('<i data-s="{}" data-p="{}"></i>', bar.state, steps(bar.progress))


def _time(at: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{}">{}</time>', at.isoformat(timespec="seconds"), text)


_KNOWN_BARS = {
    state: mark_safe(f'<i data-s="{state}"></i>')  # noqa: S308 - only names of our own
    for state in ("pending", "done", "dead", "cancelled")
}
