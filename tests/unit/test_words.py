"""How pages say lengths, moments, people and states."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console import words
from guildqueue.domain.snapshot import LastMove, WaitsFor

NOW = datetime(2026, 3, 14, 20, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (None, "not measured"),
        (0.0, "0 s"),
        (40.4, "40 s"),
        (59.7, "1 min"),
        (60.0, "1 min"),
        (540.0, "9 min"),
        (3599.0, "1 h"),
        (3600.0, "1 h"),
        (4320.0, "1 h 12 min"),
        (3_600_000.0, "1,000 h"),
    ],
)
def test_lengths_are_said_in_hours_and_minutes(seconds: float | None, said: str) -> None:
    assert words.duration_words(seconds) == said


@given(seconds=st.floats(min_value=0, max_value=1e9))
def test_no_length_says_sixty_minutes_or_seconds(seconds: float) -> None:
    assert not words.duration_words(seconds).endswith(("60 min", "60 s"))


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (timedelta(seconds=-90), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(seconds=60), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=23, minutes=59), "23 h ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=1234), "1,234 days ago"),
    ],
)
def test_past_moments_are_said_from_the_clock_of_the_snapshot(before: timedelta, said: str) -> None:
    assert words.ago_words(NOW - before, NOW) == said


@pytest.mark.parametrize(
    ("moment", "said"),
    [
        (datetime(2026, 3, 14, 18, 0, tzinfo=UTC), "18:00 UTC"),
        (datetime(2026, 3, 13, 23, 59, tzinfo=UTC), "yesterday, 23:59 UTC"),
        (datetime(2026, 3, 1, 8, 5, tzinfo=UTC), "1 Mar, 08:05 UTC"),
        (datetime(2025, 12, 31, 8, 5, tzinfo=UTC), "31 Dec 2025, 08:05 UTC"),
        (datetime(2026, 3, 16, 8, 5, tzinfo=UTC), "16 Mar, 08:05 UTC"),
        (datetime(2026, 3, 15, 1, 0, tzinfo=timezone(timedelta(hours=9))), "16:00 UTC"),
    ],
)
def test_moments_are_said_in_utc_with_the_day_where_it_is_another(
    moment: datetime, said: str
) -> None:
    assert words.moment_words(moment, NOW) == said


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("user:Björk", "Björk"),
        ("user:a:b", "a:b"),
        ("source:nightly-import", "nightly-import"),
        ("token:worker", "token worker"),
        ("account:root", "account root"),
        ("operator:root", "the operator root"),
        ("newer:kind", "newer:kind"),
        ("user:", "user:"),
        ("user:{name}", "{name}"),
    ],
)
def test_a_principal_is_said_as_people_would(by: str, said: str) -> None:
    assert words.principal_words(by) == said


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("first", "moved first"),
        ("after", "moved"),
        ("short-recordings-first", "moved by “Short recordings first”"),
    ],
)
def test_a_move_is_said_by_its_place_or_its_rule(place: str, said: str) -> None:
    assert words.move_words(LastMove(at=NOW, by="user:ada", place=place)) == said


def test_tracks_are_said_by_state_in_one_order() -> None:
    bars = [("pending", 0.0), ("running", 0.7), ("done", 1.0), ("running", 0.25), ("odd", 0.0)]

    assert words.tracks_words(bars) == "1 done, 2 running (70 %, 25 %), 1 waiting, 1 odd"
    assert words.tracks_words([]) == "no tracks yet"


@pytest.mark.parametrize(
    ("share", "said"),
    [(0.0, "0 %"), (0.999, "99 %"), (1.0, "100 %"), (7.0, "100 %"), (-1.0, "0 %")],
)
def test_only_what_is_complete_is_a_hundred_per_cent(share: float, said: str) -> None:
    assert words.percent_words(share) == said


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.0, "0:00"), (247.9, "4:07"), (3753.0, "1:02:33"), (-1.0, "0:00")]
)
def test_places_in_a_recording_are_said_as_a_clock(seconds: float, said: str) -> None:
    assert words.stamp_words(seconds) == said


def test_every_reason_to_wait_has_its_words() -> None:
    assert all(words.waits_for_words(reason) for reason in WaitsFor)
