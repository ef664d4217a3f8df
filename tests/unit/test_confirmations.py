"""What a change would do, and what it came to, in one sentence."""

from dataclasses import replace

import pytest

from console.views import outcomes
from console.views.consequences import bumping, cancelling, holding, requeueing, unbumping
from guildqueue.domain.errors import InLane, PriorityExhausted, QueueBusy, RequestRefused
from guildqueue.domain.ids import SessionId
from guildqueue.domain.lane_outcome import LaneOutcome
from guildqueue.domain.lane_refusals import LaneRefusal
from guildqueue.domain.snapshot import JobCounts, SessionState, TrackBar, WaitsFor
from guildqueue.services.move import MoveOutcome
from tests.web.entries import bars, entry

DOCUMENT = bars("pending")[0]
KEPT = "What is done stays readable."
THEN = "then the document is made from all."


def document(state: str) -> tuple[TrackBar, ...]:
    return (TrackBar(job_id=DOCUMENT.job_id, name="", kind="document", state=state, progress=0.0),)


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["pending"], "1 track will not be transcribed."),
        (
            ["pending", "running", "running"],
            "3 tracks will not be transcribed. 2 of its jobs are running and stop at once.",
        ),
        (["running"], "1 track will not be transcribed. It is running and stops at once."),
        (
            ["running", "pending", "done"],
            f"2 tracks will not be transcribed. 1 of its jobs is running and stops at once. {KEPT}",
        ),
        (["done", "dead"], ""),
    ],
)
def test_a_cancel_says_what_it_stops(states: list[str], said: str) -> None:
    assert cancelling(entry(1, tracks=bars(*states))) == said


def test_a_cancel_of_the_document_alone_says_so() -> None:
    last = entry(1, tracks=bars("done") + document("pending"))

    assert cancelling(last) == f"Its document will not be made. {KEPT}"


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (
            ["done", "dead", "dead", "cancelled"],
            f"3 tracks will be transcribed again (2 dead, 1 cancelled), {THEN}",
        ),
        (["done", "done"], "Nothing failed: all of it, 2 tracks, will be transcribed again."),
        (["pending", "done"], ""),
        ([], ""),
    ],
)
def test_a_requeue_says_what_it_does_again(states: list[str], said: str) -> None:
    assert requeueing(entry(1, tracks=bars(*states))) == said


def test_a_requeue_of_a_dead_document_leaves_the_tracks() -> None:
    dead = entry(1, tracks=bars("done") + document("dead"))

    assert requeueing(dead) == "Its document will be made again; the tracks stay as they are."


def test_a_hold_says_what_goes_on() -> None:
    assert holding(entry(1)).startswith("Nothing of it starts until")
    assert holding(entry(1, tracks=bars("running"))).startswith("1 job of it running now finishes")
    assert holding(entry(1, tracks=bars("done"))) == ""
    assert holding(entry(1, tracks=(), state=SessionState.RECORDING)) != ""
    assert entry(1, tracks=()).jobs == JobCounts()


def moved(before: int | None, after: int | None, *, changed: int = 1) -> str:
    ids = tuple(SessionId(number) for number in range(changed))
    outcome = MoveOutcome(
        changed=ids, order=(), place_before=before, place_after=after, n_waiting=9
    )
    return outcomes.moved("Retrospective", outcome)


def test_a_move_is_said_with_both_places() -> None:
    assert moved(7, 2) == "Retrospective moved from 7 to 2 of 9."
    assert moved(7, 7) == "Retrospective moved; it is still 7 of 9."
    assert moved(None, None) == "Retrospective moved."
    assert moved(7, 7, changed=0) == "Nothing to do: Retrospective is there already."


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (InLane(SessionId(5)), "Retrospective runs next, ahead of the order that moves change."),
        (InLane(SessionId(6)), "the session to move it next to runs next, ahead of the order."),
        (PriorityExhausted(SessionId(5)), "the numbers behind the order are used up there."),
        (QueueBusy(), "others changed the queue at the same moment. Try again."),
        (RequestRefused("a newer reason"), "a newer reason."),
    ],
)
def test_a_refusal_says_why_and_that_the_list_is_fresh(error: RequestRefused, said: str) -> None:
    sentence = outcomes.refused("moved", error, "Retrospective", moved_id=5)

    assert sentence == f"Not moved: {said} The list is up to date."


def test_a_title_without_end_is_cut_in_a_sentence() -> None:
    sentence = outcomes.released("x" * 100_000, True)

    assert sentence == f"{'x' * 80}… is released."


def test_a_bump_says_what_it_comes_after_and_what_still_keeps_it_back() -> None:
    free, held = entry(1), entry(1, waits_for=WaitsFor.HOLD)

    assert bumping(free).endswith("and ahead of everything else.")
    assert "It waits for a release, though" in bumping(held)
    assert bumping(entry(1, waits_for=WaitsFor.DEPENDENCY)) == bumping(free)


def test_a_bump_of_what_runs_next_by_name_or_has_ended_has_nothing_to_do() -> None:
    assert bumping(entry(1, lane_jobs=2, named=True)) == ""
    assert bumping(entry(1, tracks=bars("done"))) == ""
    assert bumping(entry(1, lane_jobs=2)) != ""
    assert bumping(entry(1, lane_jobs=1, named=True)) != ""


def test_only_what_somebody_named_can_be_taken_back() -> None:
    assert "goes back to its place" in unbumping(entry(1, lane_jobs=1, named=True))
    assert unbumping(entry(1, lane_jobs=2)) == ""


def test_a_bump_and_a_take_back_say_what_they_came_to() -> None:
    asked, nothing = entry(1, "Retro"), LaneOutcome(accepted=True)

    assert outcomes.bumped(asked, replace(nothing, moved=("7",))) == "Retro runs next."
    assert outcomes.bumped(asked, replace(nothing, already=("7",))).startswith("Nothing to do")
    assert "nothing of Retro" in outcomes.bumped(asked, nothing)
    assert "no longer" in outcomes.unbumped(asked, replace(nothing, removed=("7",)))
    assert outcomes.unbumped(asked, nothing).startswith("Nothing to do")


@pytest.mark.parametrize("refusal", LaneRefusal)
def test_every_refusal_of_the_lane_is_a_sentence_without_ids(refusal: LaneRefusal) -> None:
    said = outcomes.lane_refused("bump", refusal, "Retro")

    assert said.startswith("Not run next: ")
    assert said.endswith(" The list is up to date.")
    assert "%(" not in said
    assert outcomes.lane_refused("unbump", refusal, "Retro").startswith("Not taken back: ")
