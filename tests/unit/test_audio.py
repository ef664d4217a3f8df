"""How long a track is, and that a cut one is never taken for a whole one."""

from pathlib import Path

import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recordings.audio import AudioFault, audio_seconds, measure_track
from recordings.errors import RecordingRefused
from tests.recording_builders import audio, empty_flac, streamed_flac, tone

EXTENSIONS = ["flac", "wav", "ogg", "oga", "opus", "mp3", "aac"]


def track(folder: Path, data: bytes, extension: str = "flac") -> Path:
    path = folder / f"1-ada.{extension}"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_a_whole_track_is_as_long_as_it_is(tmp_path: Path, extension: str) -> None:
    path = track(tmp_path, audio(extension, seconds=3), extension)

    assert audio_seconds(path) == pytest.approx(3, abs=0.1)


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("part", [0.02, 0.25, 0.5, 0.9, 0.999])
def test_a_track_that_was_cut_is_never_measured(
    tmp_path: Path, extension: str, part: float
) -> None:
    data = audio(extension, seconds=3)
    path = track(tmp_path, data[: min(int(len(data) * part), len(data) - 1)], extension)

    with pytest.raises(AudioFault):
        audio_seconds(path)


@pytest.mark.parametrize("seconds", [0.001, 0.05, 0.5, 0.256, 7.3])
def test_streamed_flac_is_measured_by_its_last_frame(tmp_path: Path, seconds: float) -> None:
    path = track(tmp_path, streamed_flac(seconds))

    assert audio_seconds(path) == pytest.approx(seconds, abs=1e-9)


def test_streamed_flac_of_every_rate_and_width_is_measured(tmp_path: Path) -> None:
    for rate in (8000, 44100, 48000, 96000, 12345):
        for subtype in ("PCM_S8", "PCM_16", "PCM_24"):
            path = tmp_path / f"{rate}-{subtype}.flac"
            soundfile.write(path, tone(1.5, rate=rate), rate, subtype=subtype)
            data = bytearray(path.read_bytes())
            data[21] &= 0xF0
            data[22:26] = bytes(4)
            path.write_bytes(data)

            assert audio_seconds(path) == pytest.approx(1.5, abs=1e-4)


@given(part=st.floats(min_value=0, max_value=0.999))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_streamed_flac_that_was_cut_is_never_measured(tmp_path: Path, part: float) -> None:
    data = streamed_flac(2)
    path = track(tmp_path, data[: int(len(data) * part)])

    with pytest.raises(AudioFault):
        audio_seconds(path)


@pytest.mark.parametrize(
    ("data", "extension", "fault"),
    [
        (b"", "flac", "is empty"),
        (b"this is no audio at all, whatever its name", "flac", "not audio"),
        (b"this is no audio at all, whatever its name", "aac", "not audio"),
        (b"this is no audio at all, whatever its name", "mp3", "not audio"),
        (empty_flac(), "flac", "holds no audio"),
        (audio("wav", seconds=0), "wav", "holds no audio"),
    ],
)
def test_a_track_without_audio_is_a_fault(
    tmp_path: Path, data: bytes, extension: str, fault: str
) -> None:
    with pytest.raises(AudioFault, match=fault):
        audio_seconds(track(tmp_path, data, extension))


def test_a_streamed_wav_that_declares_no_length_is_as_long_as_its_samples(tmp_path: Path) -> None:
    data = bytearray(audio("wav", seconds=2))
    at = data.find(b"data")
    data[at + 4 : at + 8] = data[4:8] = b"\xff\xff\xff\xff"

    assert audio_seconds(track(tmp_path, bytes(data), "wav")) == pytest.approx(2)


def test_what_a_file_is_counts_not_how_it_is_called(tmp_path: Path) -> None:
    assert audio_seconds(track(tmp_path, audio("ogg", seconds=1), "flac")) == pytest.approx(1)


def test_a_refusal_names_the_download_and_the_track(tmp_path: Path) -> None:
    path = track(tmp_path, b"noise")

    with pytest.raises(RecordingRefused, match=r"craig-a1\.zip: 1-ada\.flac is not audio"):
        measure_track(path, download=Path("craig-a1.zip"), name="1-ada.flac")


def test_a_refused_track_says_nothing_on_stderr(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    data = audio("mp3", seconds=3)

    with pytest.raises(AudioFault):
        audio_seconds(track(tmp_path, data[: len(data) // 2], "mp3"))

    assert capfd.readouterr() == ("", "")
