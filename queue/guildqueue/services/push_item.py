"""Put an item into a queue without a database, in its turn or ahead of it."""

from collections.abc import Sequence
from pathlib import Path

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.grant import Asker
from guildqueue.domain.lane import plan_bump
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_refusals import DependencyFailed, OtherNeeds
from guildqueue.domain.lane_text import SLUG, SLUG_RULE
from guildqueue.services.request_item import Decision, ItemRequest, Verb, answer
from guildqueue.store import lane_file
from guildqueue.store.lane_file import LaneFolder, LaneState


def push_item(folder: Path, *, slug: str, needs: Sequence[str] = ()) -> bool:
    """Put the item at the end; False if it is there already, and then nothing is written.

    Who may write queue.txt may do it. Raises InvalidInput, DependencyFailed, OtherNeeds,
    QueueUnreadable or OSError.
    """
    check_slugs(slug, needs)
    files = LaneFolder(folder)
    with lane_file.alone(files):
        state = lane_file.read_state(files)
        if not _is_new(state, slug, needs):
            return False
        lane_file.append_item(files, slug, tuple(dict.fromkeys(needs)))
    return True


def push_bumped(
    folder: Path,
    *,
    slug: str,
    needs: Sequence[str] = (),
    asker: Asker,
    reason: str = "",
    correlation_id: str = "",
) -> LaneOutcome:
    """Put the item into the queue and name it to run next, in one step through one grant.

    An item that is there already is bumped if it is unfinished. Without the grant nothing is
    created. Raises as bump_item does, and InvalidInput.
    """
    check_slugs(slug, needs)
    request = ItemRequest(
        verb=Verb.PUSH, slug=slug, asker=asker, reason=reason, correlation_id=correlation_id
    )
    return answer(folder, request, lambda state: _decide(state, slug, needs))


def check_slugs(slug: str, needs: Sequence[str]) -> None:
    """Raises InvalidInput for a word that no line of the queue could hold."""
    for word in (slug, *needs):
        if not SLUG.fullmatch(word):
            raise InvalidInput("slug", word, SLUG_RULE)


def _decide(state: LaneState, slug: str, needs: Sequence[str]) -> Decision:
    if not _is_new(state, slug, needs):
        return Decision(plan_bump(state.jobs, [slug]))
    needed = tuple(dict.fromkeys(needs))
    job = lane_file.new_job(state, slug, needed)
    return Decision(plan_bump({**state.jobs, slug: job}, [slug]), needed)


def _is_new(state: LaneState, slug: str, needs: Sequence[str]) -> bool:
    """Whether to create it. Raises for a known item with other needs and for unknown needs."""
    known = state.items.get(slug)
    if known is not None:
        if needs and set(needs) != set(known.needs):
            raise OtherNeeds(slug, known.needs)
        return False
    unknown = [(need, "unknown") for need in dict.fromkeys(needs) if need not in state.items]
    if unknown:
        raise DependencyFailed(slug, unknown)
    return True
