"""The history in people's words: the one place that makes a sentence of a ledger record."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.told_lane import bumped, refused, refused_why, unbumped
from console.told_things import Thing, count_of, detail_words, quoted, said, thing_named
from console.words import number_words, principal_words, rule_words, via_words
from guildqueue.domain.ids import EventId
from guildqueue.domain.ledger import EventType, LedgerRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A record as people read it: ``sentence`` is markup, ``details`` and ``reason`` are text.

    ``unchecked`` is what somebody without the right to ask wrote, "" for all others: it is never
    in the sentence, and nothing of it is known to be true.
    """

    event_id: EventId
    at: datetime
    sentence: SafeString
    details: tuple[str, ...] = ()
    reason: str = ""
    unchecked: str = ""
    is_refused: bool = False


Changed = Mapping[str, Any]
Sentence = Callable[[str, Thing, Changed], SafeString]


def tell(records: Iterable[LedgerRecord]) -> tuple[Told, ...]:
    """Each record in the words of the language that is spoken now."""
    return tuple(told(record) for record in records)


def told(record: LedgerRecord) -> Told:
    """One record; of a type that only a newer release knows, at least who and what it is called."""
    is_refused = record.type == EventType.PRIORITY_REFUSED
    who, via = asked_by(record)
    # What a stranger names may not be there, so it is not said as if it were.
    thing = thing_named({} if record.untrusted else record.changed)
    sentence = SENTENCES.get(record.type, _unknown(record.type))
    details = [via, refused_why(record.changed) if is_refused else ""]
    return Told(
        event_id=record.event_id,
        at=record.at,
        sentence=sentence(who, thing, record.changed),
        details=tuple(filter(None, [*details, *detail_words(record.type, record.changed)])),
        reason="" if record.untrusted else record.reason,
        unchecked=_unchecked(record) if record.untrusted else "",
        is_refused=is_refused,
    )


def asked_by(record: LedgerRecord) -> tuple[str, str]:
    """Who asked, as a sentence begins, and through what: the person rather than the console."""
    if record.on_behalf_of is None or not record.by.startswith("source:"):
        return _beginning(record.by), ""
    return _beginning(record.on_behalf_of), via_words(record.by)


def _beginning(by: str) -> str:
    # A name is written as its owner writes it; our own word before it begins a sentence.
    words = principal_words(by)
    return words if words == by.partition(":")[2] else capfirst(words)


def _unchecked(record: LedgerRecord) -> str:
    named = thing_named(record.changed)
    return " · ".join(filter(None, (named.text, quoted(record.reason)))) or _("nothing")


def _moved(who: str, thing: Thing, changed: Changed) -> SafeString:
    neighbour = thing_named({"title": changed.get("neighbour_title")}).markup
    sentences = {
        "first": _("{who} moved {what} first"),
        "last": _("{who} moved {what} last"),
        "before": _("{who} moved {what} before {neighbour}"),
        "after": _("{who} moved {what} after {neighbour}"),
    }
    sentence = sentences.get(str(changed.get("place")), _("{who} moved {what}"))
    return format_html(sentence, who=said(who), what=thing.markup, neighbour=neighbour)


def _ruled(who: str, _thing: Thing, changed: Changed) -> SafeString:
    n_sessions = count_of(changed, "sessions")
    sentence = ngettext(
        "{who} applied {rule} to {n} session", "{who} applied {rule} to {n} sessions", n_sessions
    )
    rule = format_html("<b>{}</b>", rule_words(str(changed.get("rule", ""))))
    return format_html(sentence, who=said(who), rule=rule, n=number_words(n_sessions))


def _held(who: str, thing: Thing, changed: Changed) -> SafeString:
    whole, one = _("{who} held the whole guild"), _("{who} held {what}")
    return format_html(one if "session_id" in changed else whole, who=said(who), what=thing.markup)


def _released(who: str, thing: Thing, changed: Changed) -> SafeString:
    whole, one = _("{who} released the whole guild"), _("{who} released {what}")
    return format_html(one if "session_id" in changed else whole, who=said(who), what=thing.markup)


def _requeued(who: str, thing: Thing, _changed: Changed) -> SafeString:
    return format_html(_("{who} requeued {what}"), who=said(who), what=thing.markup)


def _cancelled(who: str, thing: Thing, _changed: Changed) -> SafeString:
    return format_html(_("{who} cancelled {what}"), who=said(who), what=thing.markup)


def _dropped(who: str, thing: Thing, changed: Changed) -> SafeString:
    track = thing_named({"title": changed.get("track")}).markup
    sentence = _("{who} left the track of {track} out of {what}")
    return format_html(sentence, who=said(who), track=track, what=thing.markup)


def _unknown(type_: str) -> Sentence:
    def sentence(who: str, _thing: Thing, _changed: Changed) -> SafeString:
        words = _("{who} changed something that this release has no words for: {type}")
        return format_html(words, who=said(who), type=type_)

    return sentence


SENTENCES: Mapping[str, Sentence] = {
    EventType.SESSION_MOVED: _moved,
    EventType.RULE_APPLIED: _ruled,
    EventType.HELD: _held,
    EventType.RELEASED: _released,
    EventType.REQUEUED: _requeued,
    EventType.CANCELLED: _cancelled,
    EventType.TRACK_DROPPED: _dropped,
    EventType.PRIORITY_BUMPED: bumped,
    EventType.PRIORITY_UNBUMPED: unbumped,
    EventType.PRIORITY_REFUSED: refused,
}
