"""What was asked of the lane, and what came of it, in people's words."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from console.told_things import Thing, count_of, said
from guildqueue.domain.lane_refusals import LaneRefusal

Changed = Mapping[str, Any]

WHY: Mapping[LaneRefusal, str | Promise] = {
    LaneRefusal.NOT_GRANTED: gettext_lazy("without the right to ask"),
    LaneRefusal.NO_SUCH_JOB: gettext_lazy("there is no such job"),
    LaneRefusal.NO_SUCH_SESSION: gettext_lazy("there is no such meeting"),
    LaneRefusal.FINISHED: gettext_lazy("it had ended already"),
    LaneRefusal.DEPENDENCY_FAILED: gettext_lazy("it needs what failed or was cancelled"),
    LaneRefusal.DEPENDENCY_RING: gettext_lazy("it needs jobs that wait for each other"),
    LaneRefusal.NEWER_RELEASE: gettext_lazy("it needs what only a newer release can move"),
    LaneRefusal.STILL_NEEDED: gettext_lazy("something else that runs next needs it"),
    LaneRefusal.OTHER_NEEDS: gettext_lazy("it was there already, with other needs"),
    LaneRefusal.QUEUE_UNREADABLE: gettext_lazy("the queue could not be read"),
    LaneRefusal.BUSY: gettext_lazy("others changed the queue at the same moment"),
}


def bumped(who: str, thing: Thing, changed: Changed) -> SafeString:
    """An admitted bump, also one that found nothing to do."""
    verb, is_one = changed.get("verb"), bool(changed.get("job_id"))
    if verb == "repair":
        sentence = _("{who} put the record of what runs next right")
    elif not (count_of(changed, "moved") or count_of(changed, "named")):
        sentence = _("{who} asked that {what} runs next, which changed nothing")
    elif verb == "add":
        sentence = _("{who} added a job of {what} that runs next")
    elif is_one:
        sentence = _("{who} let a job of {what} run next")
    else:
        sentence = _("{who} let {what} run next")
    return format_html(sentence, who=said(who), what=thing.markup)


def unbumped(who: str, thing: Thing, changed: Changed) -> SafeString:
    """An admitted un-bump, also one that found nothing to do."""
    if changed.get("verb") == "repair":
        sentence = _("{who} put the record of what runs next right")
    elif not count_of(changed, "removed"):
        sentence = _("{who} asked that {what} no longer runs next, which changed nothing")
    elif changed.get("job_id"):
        sentence = _("{who} took a job of {what} back from what runs next")
    else:
        sentence = _("{who} took {what} back from what runs next")
    return format_html(sentence, who=said(who), what=thing.markup)


def refused(who: str, thing: Thing, changed: Changed) -> SafeString:
    """A request that changed nothing; of what a stranger named, nothing is said here."""
    if not thing.text:
        sentence = _("{who} asked to change what runs next")
    elif changed.get("verb") == "unbump":
        sentence = _("{who} asked that {what} no longer runs next")
    else:
        sentence = _("{who} asked that {what} runs next")
    return format_html(sentence, who=said(who), what=thing.markup)


def refused_why(changed: Changed) -> str:
    """Why a request was refused; a reason that only a newer release knows is shown as it is."""
    word = str(changed.get("refusal") or "")
    known = {refusal.value: words for refusal, words in WHY.items()}
    return str(known.get(word, word))
