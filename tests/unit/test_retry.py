"""The wait before the next try."""

import pytest

from guildqueue.domain.retry import retry_delay_s


def test_the_wait_doubles_with_each_try_up_to_the_cap() -> None:
    delays = [retry_delay_s(attempt, base_s=2.0, cap_s=30.0, jitter=0.5) for attempt in range(1, 7)]

    assert delays == [1.0, 2.0, 4.0, 8.0, 15.0, 15.0]


def test_jitter_spreads_the_wait_down_to_nothing() -> None:
    assert retry_delay_s(3, base_s=2.0, cap_s=30.0, jitter=0.0) == 0.0
    assert retry_delay_s(3, base_s=2.0, cap_s=30.0, jitter=0.25) == 2.0


@pytest.mark.parametrize("attempt", [64, 65, 1_025, 10**9])
def test_the_wait_after_very_many_tries_is_the_cap(attempt: int) -> None:
    assert retry_delay_s(attempt, base_s=1.0, cap_s=60.0, jitter=0.5) == 30.0


def test_a_base_above_the_cap_waits_the_cap() -> None:
    assert retry_delay_s(1, base_s=90.0, cap_s=60.0, jitter=0.5) == 30.0


@pytest.mark.parametrize("attempt", [0, -1])
def test_a_job_that_was_never_tried_has_no_wait(attempt: int) -> None:
    with pytest.raises(ValueError, match="attempt"):
        retry_delay_s(attempt, base_s=1.0, cap_s=60.0, jitter=0.5)


@pytest.mark.parametrize("jitter", [-0.1, 1.0, float("nan")])
def test_jitter_outside_its_range_is_refused(jitter: float) -> None:
    with pytest.raises(ValueError, match="jitter"):
        retry_delay_s(1, base_s=1.0, cap_s=60.0, jitter=jitter)


@pytest.mark.parametrize(
    ("base_s", "cap_s"),
    [(-1.0, 60.0), (1.0, -60.0), (float("inf"), 60.0), (1.0, float("inf")), (float("nan"), 60.0)],
)
def test_a_wait_that_is_negative_or_endless_is_refused(base_s: float, cap_s: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        retry_delay_s(1, base_s=base_s, cap_s=cap_s, jitter=0.5)
