"""How the pages say lengths, moments, people and states; the only place that words them."""

from collections.abc import Iterable
from datetime import UTC, datetime

from guildqueue.domain.principal import PrincipalKind
from guildqueue.domain.snapshot import LastMove, WaitsFor

MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400

WAITS_FOR_WORDS = {
    WaitsFor.HOLD: "waits for a release",
    WaitsFor.DEPENDENCY: "waits for its tracks",
    WaitsFor.DEPENDENCY_FAILED: "waits for a track that failed",
    WaitsFor.NOT_BEFORE: "waits for its time",
    WaitsFor.CAP: "waits for a free slot",
}

JOB_STATE_WORDS = {
    "pending": "waiting",
    "running": "running",
    "done": "done",
    "dead": "dead",
    "cancelled": "cancelled",
}

PRINCIPAL_WORDS = {
    PrincipalKind.USER: "{name}",
    PrincipalKind.SOURCE: "{name}",
    PrincipalKind.TOKEN: "token {name}",
    PrincipalKind.ACCOUNT: "account {name}",
    PrincipalKind.OPERATOR: "the operator {name}",
}

PLACE_WORDS = {
    "first": "moved first",
    "last": "moved last",
    "before": "moved",
    "after": "moved",
}


def duration_words(seconds: float | None) -> str:
    """A length of audio: ``1 h 12 min``, ``9 min``, ``40 s``; None was never measured."""
    if seconds is None:
        return "not measured"
    whole = max(0, round(seconds))
    if whole < MINUTE_S:
        return f"{whole} s"
    minutes = round(whole / MINUTE_S)
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def ago_words(moment: datetime, now: datetime) -> str:
    """How long before ``now``: ``just now``, ``2 min ago``, ``3 days ago``; the future is now."""
    seconds = (now - moment).total_seconds()
    if seconds < MINUTE_S:
        return "just now"
    if seconds < HOUR_S:
        return f"{int(seconds // MINUTE_S)} min ago"
    if seconds < DAY_S:
        return f"{int(seconds // HOUR_S)} h ago"
    days = int(seconds // DAY_S)
    return "1 day ago" if days == 1 else f"{days:,} days ago"


def moment_words(moment: datetime, now: datetime) -> str:
    """A moment in UTC that says so, with the day where it is not the day of ``now``."""
    there, here = moment.astimezone(UTC), now.astimezone(UTC)
    clock = f"{there:%H:%M} UTC"
    days = (here.date() - there.date()).days
    if days == 0:
        return clock
    if days == 1:
        return f"yesterday {clock}"
    if there.year == here.year:
        return f"{there.day} {there:%b}, {clock}"
    return f"{there.day} {there:%b} {there.year}, {clock}"


def stamp_words(seconds: float) -> str:
    """A place in a recording: ``4:07``, ``1:02:33``."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def people_words(n_people: int) -> str:
    return "1 person" if n_people == 1 else f"{n_people:,} people"


def counted(n_things: int, noun: str) -> str:
    """``1 track``, ``5 tracks``; for nouns whose plural ends in s."""
    return f"{n_things:,} {noun}" if n_things == 1 else f"{n_things:,} {noun}s"


def principal_words(by: str) -> str:
    """Whoever the ledger spells ``user:ada``, as a person would say it."""
    kind, _, name = by.partition(":")
    form = PRINCIPAL_WORDS.get(kind)  # type: ignore[call-overload]  # a StrEnum is its text
    return form.format(name=name) if form and name else by


def move_words(move: LastMove) -> str:
    """What a session's last move was; a rule is said by its own name."""
    words = PLACE_WORDS.get(move.place)
    return words or f"moved by “{rule_words(move.place).lower()}”"


def rule_words(rule: str) -> str:
    """A rule's name as a heading: ``Short recordings first``."""
    return rule.removeprefix("rule:").replace("-", " ").capitalize()


def job_state_words(state: str) -> str:
    """A job's state; one that a newer release wrote is shown as it stands."""
    return JOB_STATE_WORDS.get(state, state)


def waits_for_words(waits_for: WaitsFor) -> str:
    return WAITS_FOR_WORDS[waits_for]


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
    return ", ".join(parts) or "no tracks yet"


def percent_words(share: float) -> str:
    """A share of 1 in whole per cent; only what is complete is 100 %."""
    return f"{int(min(1.0, max(0.0, share)) * 100)} %"


def _state_rank(state: str) -> tuple[int, str]:
    known = ("done", "running", "pending", "dead", "cancelled")
    return (known.index(state) if state in known else len(known), state)
