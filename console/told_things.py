"""What a ledger record is about, and how much it changed, in people's words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.words import kept_straight, number_words, short
from guildqueue.domain.ledger import EventType


@dataclass(frozen=True, slots=True)
class Thing:
    """A meeting or job that a record names, as markup in a sentence and as plain text."""

    markup: SafeString
    text: str


def thing_named(changed: Mapping[str, Any]) -> Thing:
    """By its title, else by its number; with neither, something."""
    title = changed.get("title")
    if isinstance(title, str) and title:
        return _strong(short(title))
    for field, words in (("session_id", _("meeting {id}")), ("job_id", _("job {id}"))):
        if changed.get(field):
            text = words.format(id=short(str(changed[field])))
            return Thing(format_html("{}", text), text)
    if changed.get("external_id"):
        return _strong(short(str(changed["external_id"])))
    return Thing(format_html("{}", _("something")), "")


def said(name: str) -> SafeString:
    """A name in a sentence, whichever way it is written."""
    return format_html("<bdi>{}</bdi>", short(kept_straight(name)))


def quoted(text: str) -> str:
    return _("“%(text)s”") % {"text": text} if text else ""


def count_of(changed: Mapping[str, Any], field: str) -> int:
    """How many things the record lists there."""
    found = changed.get(field)
    return len(found) if isinstance(found, list) else 0


def detail_words(type_: str, changed: Mapping[str, Any]) -> list[str]:
    """How far something moved, or how many jobs it was about."""
    match type_:
        case EventType.SESSION_MOVED:
            return _places(changed)
        case EventType.REQUEUED | EventType.CANCELLED if n := count_of(changed, "jobs"):
            return [ngettext("%(n)s job", "%(n)s jobs", n) % {"n": number_words(n)}]
        case _:
            return []


def _places(changed: Mapping[str, Any]) -> list[str]:
    before, after, of = (changed.get(name) for name in ("from", "to", "of"))
    if not (isinstance(before, int) and isinstance(after, int) and isinstance(of, int)):
        return []
    places = {"before": number_words(before), "after": number_words(after), "of": number_words(of)}
    if before == after:
        return [_("still %(after)s of %(of)s") % places]
    return [_("from %(before)s to %(after)s of %(of)s") % places]


def _strong(text: str) -> Thing:
    return Thing(format_html("<b><bdi>{}</bdi></b>", kept_straight(text)), text)
