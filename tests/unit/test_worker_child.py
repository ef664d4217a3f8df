"""What a handler's process says of its work, and what it is given to live with."""

import re
from pathlib import Path
from typing import Any

import pytest

from guildqueue.worker import child
from guildqueue.worker.handler import (
    HandlerInput,
    HandlerResult,
    HandlerWork,
    PermanentFailure,
    WorkerUnfit,
)
from guildqueue.worker.process import handler_environment
from guildqueue.worker.protocol import (
    Done,
    Drop,
    Dropped,
    Failed,
    Order,
    Progress,
    Report,
    Unfit,
    Word,
    decode_order,
    decode_report,
    encode_drop,
    encode_orders,
    encode_report,
)

WORKER = Path(child.__file__).parent
WORK = HandlerWork(
    job_id=1,
    guild_id=2**62,
    session_id=3,
    kind="document",
    token=4,
    payload={"title": "Lore — \N{SNOWMAN} \x00"},
    inputs=(HandlerInput(job_id=5, name="ada", result={"path": "a.json"}),),
)


def test_an_order_arrives_as_it_was_given() -> None:
    orders = [Order("recordings.document.run", WORK), Order("recordings.transcribe.run", WORK)]

    assert decode_order(encode_orders(orders)) == orders


def test_what_is_not_to_be_done_any_more_arrives_as_it_was_said() -> None:
    assert decode_order(encode_drop(Drop(frozenset({1, 2**62})))) == Drop(frozenset({1, 2**62}))


@pytest.mark.parametrize(
    "word",
    [
        Progress(0.25), Dropped(), Done({"path": "é"}, 1.5), Done({}, None),
        Failed("a", True, "b"), Unfit("c"),
    ],
)  # fmt: skip
def test_a_report_arrives_as_it_was_sent(word: Word) -> None:
    assert decode_report(encode_report(Report(7, word))) == (7, word)


def outcome(monkeypatch: pytest.MonkeyPatch, handler: Any) -> Any:
    """What becomes of WORK in the hands of ``handler``."""
    monkeypatch.setattr(child, "_found", lambda _name: handler)
    return child.outcome_of("some.handler", WORK, lambda _share: None)


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (PermanentFailure("no audio"), Failed("no audio", permanent=True)),
        (ValueError("first\nsecond"), "ValueError: first second"),
        (KeyError(), "KeyError"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
        (RuntimeError("\ud800 \x1b[2J \u202e"), "RuntimeError: \\ud800 \\x1b[2J \\u202e"),
        (RuntimeError("x" * 1000), "RuntimeError: " + "x" * 499 + "…"),
    ],
)
def test_what_a_handler_raises_is_a_reason_on_one_line(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException, expected: Failed | str
) -> None:
    def handler(work: HandlerWork, report: Any) -> HandlerResult:
        raise raised

    found = outcome(monkeypatch, handler)

    if isinstance(expected, Failed):
        assert found == expected
    else:
        assert (found.reason, found.permanent) == (expected, False)
        assert "Traceback" in found.traceback


@pytest.mark.parametrize("raised", [WorkerUnfit("no model"), ModuleNotFoundError("no model")])
def test_what_is_missing_on_this_machine_is_not_the_jobs_fault(
    monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    def handler(work: HandlerWork, report: Any) -> HandlerResult:
        raise raised

    found = outcome(monkeypatch, handler)

    assert isinstance(found, Unfit)
    assert found.reason == "no model"


@pytest.mark.parametrize(
    "result",
    [
        HandlerResult(result={"a": float("nan")}),
        HandlerResult(result={"a": object()}),
        HandlerResult(result={"a": "x" * 65_536}),
        HandlerResult(audio_seconds=-1.0),
        HandlerResult(audio_seconds=float("nan")),
    ],
)
def test_a_result_that_cannot_be_stored_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, result: HandlerResult
) -> None:
    assert isinstance(outcome(monkeypatch, lambda _work, _report: result), Failed)


def test_the_environment_of_a_handler_leads_to_no_database() -> None:
    given = {
        "PATH": "/bin",
        "PGPASSWORD": "p",
        "DATABASE_URL": "postgresql://a",
        "TEST_DATABASE_URL": "postgresql://a",
        "ANY_NAME": "postgres://a",
        "GUILDQUEUE_SECRET_KEY": "s",
        "GUILDQUEUE_DATA_DIR": "/data",
        "DJANGO_SETTINGS_MODULE": "console.settings",
        "WHISPER_MODEL": "of the shell",
    }

    kept = handler_environment(given, {"WHISPER_MODEL": "of the settings"})

    assert kept.pop("PYTHONPATH")
    assert kept == {"PATH": "/bin", "WHISPER_MODEL": "of the settings"}


def test_no_clock_of_a_worker_decides_anything() -> None:
    wall_clock = re.compile(r"\bdatetime\b|\btime\.time\b|\btimezone\b|\blocaltime\b")

    read = [path.name for path in WORKER.glob("*.py") if wall_clock.search(path.read_text())]

    assert len(list(WORKER.glob("*.py"))) > 8
    assert read == []
