"""The demo's meetings: the same words every time, and tracks that are heard in their place."""

import builtins
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import soundfile

from recordings import speech
from recordings.demo_scripts import Line, compose, titles
from recordings.speech import SpeechMissing, record_meeting

SPEAKERS = ("ada", "björk", "chen.wei", "d_o_r_a", "emeka", "faye", "goran", "hina")


@pytest.fixture
def library() -> None:
    try:
        speech._library()
    except SpeechMissing as missing:
        pytest.skip(f"requirements-worker.txt is not installed: {missing}")


@pytest.mark.parametrize("title", titles())
@pytest.mark.parametrize("n_speakers", [1, 2, 5])
def test_everybody_at_the_table_says_something_and_no_blank_is_left(
    title: str, n_speakers: int
) -> None:
    lines = compose(title, SPEAKERS[:n_speakers], seed=3)

    assert {line.speaker for line in lines} == set(SPEAKERS[:n_speakers])
    assert lines[0].speaker == lines[-1].speaker == "ada"
    assert not any("{" in line.text or not line.text.strip() for line in lines)


def test_a_seed_gives_its_own_words_and_the_same_ones_again() -> None:
    first = compose("Raid planning", SPEAKERS[:3], seed=1)

    assert compose("Raid planning", SPEAKERS[:3], seed=1) == first
    assert compose("Raid planning", SPEAKERS[:3], seed=2) != first


def test_a_meeting_without_words_is_an_error() -> None:
    with pytest.raises(KeyError):
        compose("Coronation", SPEAKERS, seed=1)


def test_each_speaker_is_heard_after_the_one_before(library: None, tmp_path: Path) -> None:
    lines = [Line("ada", "Good evening."), Line("ben", "Hello."), Line("ada", "Let us begin.")]

    ada, ben = record_meeting(tmp_path / "retro", lines)

    assert [(ada.speaker, ada.path.name), (ben.speaker, ben.path.name)] == [
        ("ada", "1-ada.flac"),
        ("ben", "2-ben.flac"),
    ]
    first, last = heard(ben.path)
    assert not any(loud(ada.path, second) for second in (first, last))
    assert ben.seconds < ada.seconds
    assert ada.seconds == pytest.approx(soundfile.info(ada.path).duration)


def test_the_demos_tracks_are_one_to_six_minutes_long_and_small(
    library: None, tmp_path: Path
) -> None:
    for number, title in enumerate(titles()):
        lines = compose(title, SPEAKERS[: 2 + number % 4], seed=number)
        tracks = record_meeting(tmp_path / str(number), lines)

        assert all(60 <= track.seconds <= 360 for track in tracks)

    assert sum(path.stat().st_size for path in tmp_path.rglob("*.flac")) < 25_000_000


def test_without_the_library_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "espeakng_loader":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(SpeechMissing, match="no speech library"):
        speech._library.__wrapped__()


def heard(path: Path) -> tuple[float, float]:
    """The first and the last second at which there is sound."""
    samples, rate = soundfile.read(path, dtype="int16")
    at: Sequence[int] = abs(samples).nonzero()[0]
    return at[0] / rate + 0.1, at[-1] / rate - 0.1


def loud(path: Path, second: float) -> bool:
    """True if there is sound within a twentieth of a second."""
    samples, rate = soundfile.read(path, dtype="int16")
    around = samples[int((second - 0.05) * rate) : int((second + 0.05) * rate)]
    return bool(abs(around).any())
