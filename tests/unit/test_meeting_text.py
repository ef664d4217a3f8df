"""From sound to a page: what was spoken in turns is read in turns."""

import json
from pathlib import Path

import pytest

from guildqueue.worker.handler import HandlerInput, HandlerWork
from recordings import document, transcribe
from recordings.demo_scripts import Line
from recordings.speech import SpeechMissing, record_meeting

pytest.importorskip("faster_whisper", reason="requirements-worker.txt is not installed")

# Each speaker talks again after the other: heard without its silences, a track runs together.
SPOKEN = (
    Line("ada", "Good evening everyone, and thank you for being here on time."),
    Line("ben", "I would like to talk about the market on Saturday."),
    Line("ada", "The bread sold out in an hour, so we should bake more."),
    Line("ben", "I will bring the large tent, because it may rain."),
    Line("ada", "Thank you all, and see you on Saturday."),
)


def test_a_meetings_turns_come_out_in_the_order_they_were_spoken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GUILDQUEUE_MEDIA_ROOT", str(tmp_path))
    monkeypatch.delenv("WHISPER_MODEL", raising=False)
    try:
        tracks = record_meeting(tmp_path / "audio" / "118" / "market", SPOKEN)
    except SpeechMissing as missing:
        pytest.skip(f"no speech can be made here: {missing}")
    texts = [
        transcribe.run(
            work(number, "transcribe", {"name": track.speaker, "uri": str(track.path)}), quiet
        ).result
        for number, track in enumerate(tracks, start=1)
    ]
    inputs = tuple(
        HandlerInput(job_id=number, name=track.speaker, result=text)
        for number, (track, text) in enumerate(zip(tracks, texts, strict=True), start=1)
    )

    done = document.run(work(9, "document", {"title": "Market"}, inputs), quiet)

    turns = json.loads((tmp_path / done.result["path"]).read_text(encoding="utf-8"))["turns"]
    assert [turn["speaker"] for turn in turns] == ["ada", "ben", "ada", "ben", "ada"]
    for turn, word in zip(turns, ("evening", "market", "hour", "rain", "Saturday"), strict=True):
        assert word in turn["text"]


def work(
    job_id: int, kind: str, payload: dict[str, str], inputs: tuple[HandlerInput, ...] = ()
) -> HandlerWork:
    return HandlerWork(
        job_id=job_id,
        guild_id=118,
        session_id=5,
        kind=kind,
        token=1,
        payload=payload,
        inputs=inputs,
    )


def quiet(_part: float) -> None:
    """Nobody listens to the progress."""
