"""What a job may say before it is in the queue."""

from datetime import datetime
from typing import Any

import pytest

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import BIGINT_MAX, SessionId
from guildqueue.domain.new_job import NewJob, check_new_job, refuse_ring


def new_job(kind: str = "transcribe", **given: Any) -> NewJob:
    return NewJob(session_id=SessionId(1), kind=kind, **given)


def test_a_plain_job_will_do() -> None:
    check_new_job(new_job(labels=("gpu",), needs=(3, "a"), audio_seconds=0.0, external_id="x"))


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("kind", {"kind": "translate"}),
        ("kind", {"kind": ""}),
        ("assignee_kind", {"assignee_kind": "robot"}),
        ("external_id", {"external_id": ""}),
        ("external_id", {"external_id": "a\0"}),
        ("labels", {"labels": ("",)}),
        ("labels", {"labels": ("a",) * 1001}),
        ("needs", {"needs": (0,)}),
        ("needs", {"needs": (BIGINT_MAX + 1,)}),
        ("needs", {"needs": ("",)}),
        ("run_after", {"run_after": datetime(2026, 1, 1)}),  # noqa: DTZ001
        ("audio_seconds", {"audio_seconds": -1.0}),
        ("audio_seconds", {"audio_seconds": float("nan")}),
        ("audio_seconds", {"audio_seconds": float("inf")}),
    ],
)
def test_what_could_never_be_stored_is_refused_by_its_field(
    field: str, given: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_new_job(new_job(**given))

    assert refused.value.field == field


def test_a_chain_is_no_circle() -> None:
    chain = [new_job(external_id=f"j{n}", needs=(f"j{n + 1}",)) for n in range(5000)]

    refuse_ring([*chain, new_job(external_id="j5000")])


@pytest.mark.parametrize(
    ("needs", "ring"),
    [
        ({"a": "a"}, "a needs a"),
        ({"a": "b", "b": "c", "c": "a", "d": "a"}, "a needs b needs c needs a"),
        ({"x": "", "b": "c", "c": "b"}, "b needs c needs b"),
    ],
)
def test_a_circle_is_refused_by_name(needs: dict[str, str], ring: str) -> None:
    jobs = [
        new_job(external_id=name, needs=(need,) if need else ()) for name, need in needs.items()
    ]

    with pytest.raises(InvalidInput) as refused:
        refuse_ring(jobs)

    assert refused.value.value == ring
