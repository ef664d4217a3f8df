"""Queues to try the planners on, and what writing a plan makes of them."""

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from guildqueue.domain.ids import BIGINT_MAX, BIGINT_MIN, SessionId
from guildqueue.domain.moves import OrderedSession, Placed
from guildqueue.domain.order import SortKey

# Few different numbers and ids, so that ties, neighbours and interleaving ids are common.
SMALL_NUMBERS = st.integers(-3, 3)
ANY_NUMBERS = SMALL_NUMBERS | st.integers(BIGINT_MIN, BIGINT_MAX - 100)
EDGE_NUMBERS = st.sampled_from(
    [BIGINT_MIN, BIGINT_MIN + 1, -1, 0, BIGINT_MAX - 2, BIGINT_MAX - 1, BIGINT_MAX]
)
JOB_IDS = st.integers(1, 60) | st.integers(BIGINT_MAX - 3, BIGINT_MAX)


@st.composite
def queues(
    draw: st.DrawFn,
    *,
    numbers: st.SearchStrategy[int] = ANY_NUMBERS,
    min_size: int = 0,
    max_size: int = 9,
) -> list[OrderedSession]:
    """A guild's sessions in claim order; session ids say nothing about the order."""
    job_ids = draw(st.lists(JOB_IDS, min_size=min_size, max_size=max_size, unique=True))
    session_ids = draw(st.permutations(range(1, len(job_ids) + 1)))
    sessions = [
        OrderedSession(SessionId(session_id), SortKey(draw(numbers), job_id))
        for session_id, job_id in zip(session_ids, job_ids, strict=True)
    ]
    return sorted(sessions, key=lambda session: session.key)


def ids(sessions: Sequence[Placed]) -> list[SessionId]:
    return [session.session_id for session in sessions]


def written(
    queue: Sequence[OrderedSession], changed: Mapping[SessionId, int]
) -> list[OrderedSession]:
    """The queue as the database would list it once ``changed`` is written."""
    return sorted(
        (
            OrderedSession(s.session_id, s.key._replace(priority=changed[s.session_id]))
            if s.session_id in changed
            else s
            for s in queue
        ),
        key=lambda session: session.key,
    )


def pairs(queue: Sequence[Placed]) -> tuple[tuple[SessionId, int], ...]:
    return tuple((session.session_id, session.key.priority) for session in queue)
