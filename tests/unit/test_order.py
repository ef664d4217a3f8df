"""The one order: lane, then priority, then id."""

from itertools import permutations

from guildqueue.domain.ids import BIGINT_MAX, BIGINT_MIN, JobId
from guildqueue.domain.order import (
    CLAIM_ORDER_COLUMNS,
    SORT_KEY_COLUMNS,
    ClaimKey,
    SortKey,
    claim_key,
    session_key,
)


def test_keys_name_their_fields_as_the_sql_columns_do() -> None:
    assert tuple(field for field in ClaimKey._fields if field in CLAIM_ORDER_COLUMNS) == (
        CLAIM_ORDER_COLUMNS
    )
    assert SortKey._fields == SORT_KEY_COLUMNS


def test_the_lane_then_the_number_then_the_id_decide() -> None:
    in_order = [
        claim_key(3, BIGINT_MAX, JobId(90)),
        claim_key(4, BIGINT_MIN, JobId(1)),
        claim_key(None, BIGINT_MIN, JobId(80)),
        claim_key(None, -1, JobId(5)),
        claim_key(None, 0, JobId(2)),
        claim_key(None, 0, JobId(10)),
        claim_key(None, 1, JobId(1)),
    ]

    for keys in permutations(in_order):
        assert sorted(keys) == in_order


def test_a_bump_number_of_any_sign_stays_ahead_of_the_rest() -> None:
    assert claim_key(BIGINT_MIN, 0, JobId(2)) < claim_key(0, 0, JobId(1))
    assert claim_key(BIGINT_MAX, 0, JobId(2)) < claim_key(None, 0, JobId(1))


def test_a_session_stands_where_its_first_job_stands() -> None:
    key = session_key([claim_key(None, 4, JobId(9)), claim_key(None, 4, JobId(7))])

    assert key == SortKey(4, 7)


def test_a_session_with_some_jobs_in_the_lane_is_keyed_on_the_others() -> None:
    key = session_key([claim_key(1, 4, JobId(7)), claim_key(None, 4, JobId(9))])

    assert key == SortKey(4, 9)


def test_a_session_wholly_in_the_lane_has_no_place_outside_it() -> None:
    assert session_key([claim_key(1, 0, JobId(7)), claim_key(2, 0, JobId(9))]) is None


def test_a_session_with_nothing_outstanding_has_no_place() -> None:
    assert session_key([]) is None
