"""How the pages say lengths, moments, people and states; the only place that words them."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from django.utils.dateformat import format as format_date
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext, pgettext_lazy

from guildqueue.domain.principal import PrincipalKind, split_asked
from guildqueue.domain.snapshot import LastMove, WaitsFor

MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400
TITLE_UP_TO = 80
CONSOLE_SPELLED = "source:console"
TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")

WAITS_FOR_WORDS = {
    WaitsFor.HOLD: gettext_lazy("waits for a release"),
    WaitsFor.DEPENDENCY: gettext_lazy("waits for its tracks"),
    WaitsFor.DEPENDENCY_FAILED: gettext_lazy("waits for a track that failed"),
    WaitsFor.NOT_BEFORE: gettext_lazy("waits for its time"),
    WaitsFor.CAP: gettext_lazy("waits for a free slot"),
}

JOB_STATE_WORDS = {
    "pending": pgettext_lazy("state", "waiting"),
    "running": pgettext_lazy("state", "running"),
    "done": pgettext_lazy("state", "done"),
    "dead": pgettext_lazy("state", "dead"),
    "cancelled": pgettext_lazy("state", "cancelled"),
}

SESSION_STATE_WORDS = {
    **JOB_STATE_WORDS,
    "recording": pgettext_lazy("state", "recording"),
    "held": pgettext_lazy("state", "held"),
    "queued": pgettext_lazy("state", "queued"),
}

PRINCIPAL_WORDS = {
    PrincipalKind.USER: "{name}",
    PrincipalKind.SOURCE: "{name}",
    PrincipalKind.TOKEN: gettext_lazy("token {name}"),
    PrincipalKind.ACCOUNT: gettext_lazy("account {name}"),
    PrincipalKind.OPERATOR: gettext_lazy("the operator {name}"),
}

PLACE_WORDS = {
    "first": gettext_lazy("moved first"),
    "last": gettext_lazy("moved last"),
    "before": gettext_lazy("moved"),
    "after": gettext_lazy("moved"),
}

RULE_WORDS = {
    "many-participants-first": gettext_lazy("Many participants first"),
    "short-recordings-first": gettext_lazy("Short recordings first"),
}


def duration_words(seconds: float | None) -> str:
    """A length of audio: ``1 h 12 min``, ``9 min``, ``40 s``; None was never measured."""
    if seconds is None:
        return _("not measured")
    whole = max(0, round(seconds))
    if whole < MINUTE_S:
        return _("%(n)s s") % {"n": whole}
    minutes = round(whole / MINUTE_S)
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return _("%(n)s min") % {"n": minutes}
    if not minutes:
        return _("%(n)s h") % {"n": number_words(hours)}
    return _("%(hours)s h %(minutes)s min") % {"hours": number_words(hours), "minutes": minutes}


def ago_words(moment: datetime, now: datetime) -> str:
    """How long before ``now``: ``just now``, ``2 min ago``, ``3 days ago``; the future is now."""
    seconds = (now - moment).total_seconds()
    if seconds < MINUTE_S:
        return _("just now")
    if seconds < HOUR_S:
        return _("%(n)s min ago") % {"n": int(seconds // MINUTE_S)}
    if seconds < DAY_S:
        return _("%(n)s h ago") % {"n": int(seconds // HOUR_S)}
    days = int(seconds // DAY_S)
    return ngettext("%(n)s day ago", "%(n)s days ago", days) % {"n": number_words(days)}


def moment_words(moment: datetime, now: datetime) -> str:
    """A moment in UTC that says so, with the day where it is not the day of ``now``."""
    there, here = moment.astimezone(UTC), now.astimezone(UTC)
    clock = f"{there:%H:%M} UTC"
    days = (here.date() - there.date()).days
    if days == 0:
        return clock
    if days == 1:
        return _("yesterday, %(clock)s") % {"clock": clock}
    if days == -1:
        return _("tomorrow, %(clock)s") % {"clock": clock}
    is_far = there.year != here.year
    form = pgettext("date format", "j M Y") if is_far else pgettext("date format", "j M")
    return f"{format_date(there, form)}, {clock}"


def number_words(number: int) -> str:
    """A figure with its thousands marked as the language does."""
    return str(number) if abs(number) < 1_000 else number_format(number, force_grouping=True)


def stamp_words(seconds: float) -> str:
    """A place in a recording: ``4:07``, ``1:02:33``."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def people_words(n_people: int) -> str:
    return ngettext("%(n)s person", "%(n)s people", n_people) % {"n": number_words(n_people)}


def tracks_count(n_tracks: int) -> str:
    return ngettext("%(n)s track", "%(n)s tracks", n_tracks) % {"n": number_words(n_tracks)}


def principal_words(by: str) -> str:
    """Whoever the ledger spells ``user:ada``, as a person would say it."""
    kind, _, name = by.partition(":")
    form = PRINCIPAL_WORDS.get(kind)  # type: ignore[call-overload]  # a StrEnum is its text
    return str(form).format(name=name) if form and name else by


def via_words(by: str) -> str:
    """By way of which automation somebody asked: ``from the console``."""
    if by == CONSOLE_SPELLED:
        return _("from the console")
    return _("by way of %(source)s") % {"source": principal_words(by)}


def asked_words(spelled: str) -> str:
    """Who let something run next: ``ada, from the console``; ``spelled`` is as a job keeps it."""
    by, behind = split_asked(spelled)
    if behind is None:
        return principal_words(by)
    return _("%(who)s, %(via)s") % {"who": principal_words(behind), "via": via_words(by)}


def placed_words(spelled: Iterable[str]) -> str:
    """Who placed what runs next, each of them once, in the order of their first."""
    names = list(dict.fromkeys(map(asked_words, spelled)))
    if not names:
        return _("in the order in which it was asked for")
    if len(names) == 1:
        return _("placed by %(who)s") % {"who": names[0]}
    if len(names) == 2:
        return _("placed by %(who)s; %(other)s") % {"who": names[0], "other": names[1]}
    n_others = len(names) - 1
    return ngettext(
        "placed by %(who)s; %(n)s other", "placed by %(who)s; %(n)s others", n_others
    ) % {"who": names[0], "n": number_words(n_others)}


def kept_straight(text: str) -> str:
    """``text`` without the marks that turn what stands behind it, out of a ``<bdi>`` too."""
    return TURNING.sub("", text)


def short(title: str) -> str:
    """As much of a title as a sentence can carry."""
    return title if len(title) <= TITLE_UP_TO else f"{title[:TITLE_UP_TO]}…"


def move_words(move: LastMove) -> str:
    """What a session's last move was; a rule is said by its own name."""
    words = PLACE_WORDS.get(move.place)
    return str(words) if words else _("moved by “%(rule)s”") % {"rule": rule_words(move.place)}


def rule_words(rule: str) -> str:
    """A rule's name as a heading: ``Short recordings first``."""
    name = rule.removeprefix("rule:")
    return str(RULE_WORDS.get(name, name.replace("-", " ").capitalize()))


def job_state_words(state: str) -> str:
    """A job's state; one that a newer release wrote is shown as it stands."""
    return str(JOB_STATE_WORDS.get(state, state))


def session_state_words(state: str) -> str:
    """A session's state in one word."""
    return str(SESSION_STATE_WORDS.get(state, state))


def waits_for_words(waits_for: WaitsFor) -> str:
    return str(WAITS_FOR_WORDS[waits_for])


def tracks_words(bars: Iterable[tuple[str, float]]) -> str:
    """What ``(state, progress)`` of each track says: ``2 done, 1 running (70 %), 3 waiting``."""
    shares_by_state: dict[str, list[float]] = {}
    for state, share in bars:
        shares_by_state.setdefault(state, []).append(share)
    parts = []
    for state in sorted(shares_by_state, key=_state_rank):
        shares = shares_by_state[state]
        fills = f" ({', '.join(map(percent_words, shares))})" if state == "running" else ""
        parts.append(f"{len(shares)} {job_state_words(state)}{fills}")
    return ", ".join(parts) or _("no tracks yet")


def percent_words(share: float) -> str:
    """A share of 1 in whole per cent; only what is complete is 100 %."""
    return f"{int(min(1.0, max(0.0, share)) * 100)} %"


def _state_rank(state: str) -> tuple[int, str]:
    known = ("done", "running", "pending", "dead", "cancelled")
    return (known.index(state) if state in known else len(known), state)
