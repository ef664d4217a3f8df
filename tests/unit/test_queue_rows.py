"""Where a session stands on the queue page, and past whom its menu moves it."""

from console.views.queue_rows import Row, queue_page, quick_actions
from guildqueue.domain.ids import SessionId
from guildqueue.domain.snapshot import QueueSnapshot, SessionState
from tests.web.entries import bars, entry, snapshot


def ids(rows: tuple[Row, ...]) -> list[int]:
    return [row.entry.session_id for row in rows]


def ends(found: QueueSnapshot, *, after: int | None = None) -> dict[int, tuple[str | None, ...]]:
    page = queue_page(found, after=None if after is None else SessionId(after))
    rows = (*page.running, *page.lane, *page.waiting)
    return {row.entry.session_id: (row.up, row.down) for row in rows if row.entry.is_movable}


def test_what_runs_stands_before_what_runs_next_and_what_waits() -> None:
    found = snapshot(
        entry(1, tracks=bars("running", "pending")),
        entry(2, tracks=bars("running"), lane_jobs=1),
        entry(3, tracks=bars("pending"), lane_jobs=1),
        entry(4, tracks=bars("pending", "pending"), lane_jobs=1),
        entry(5, tracks=bars("done")),
        entry(6, tracks=(), state=SessionState.RECORDING),
    )

    page = queue_page(found)

    assert ids(page.running) == [1, 2]
    assert ids(page.lane) == [3]
    assert ids(page.waiting) == [4]
    assert ids(page.finished) == [5]
    assert ids(page.recording) == [6]


def test_up_and_down_pass_the_neighbour_in_line_whatever_section_it_is_in() -> None:
    found = snapshot(
        entry(7, tracks=bars("running", "pending")),
        entry(3, tracks=bars("pending"), lane_jobs=1),
        entry(9),
        entry(5, tracks=bars("running"), position=None),
        entry(8),
    )

    assert ends(found) == {7: ("", "after 9"), 9: ("before 7", "after 8"), 8: ("before 9", "")}


def test_a_page_in_the_middle_knows_whom_it_follows_but_not_who_comes_next() -> None:
    assert ends(snapshot(entry(3), entry(4), more=2), after=2) == {
        3: ("before 2", "after 4"),
        4: ("before 3", None),
    }


def test_a_session_alone_has_nowhere_to_go() -> None:
    assert ends(snapshot(entry(3))) == {3: ("", "")}


def test_an_empty_queue_is_empty() -> None:
    page = queue_page(snapshot())

    assert page.is_empty
    assert page.last_id is None


def test_a_quick_action_says_who_stays_behind() -> None:
    found = snapshot(entry(1), entry(2, audio_seconds=None), entry(3, audio_seconds=None))

    notes = {action.title: action.note for action in quick_actions(found)}

    assert notes == {
        "Many participants first": "preview",
        "Short recordings first": "2 not measured stay behind · preview",
    }
