"""How long a track is, and whether it is whole; the only place that opens audio to measure it."""

from pathlib import Path
from typing import BinaryIO

import soundfile

from recordings import container, flac
from recordings.errors import RecordingRefused

# What libsndfile answers where a header leaves the length open.
_UNKNOWN_FRAMES = 2**62
_TAIL_FRAMES = 1152

CUT = "audio is cut short"
NONE = "holds no audio"


class AudioFault(ValueError):
    """What is wrong with an audio file, as a phrase that follows its name."""


def measure_track(path: Path, *, download: Path, name: str) -> float | None:
    """Seconds in the track ``name`` of ``download``, None where nothing here can tell.

    Raises RecordingRefused, naming the download and the track, if it is not whole audio.
    """
    try:
        return audio_seconds(path)
    except AudioFault as fault:
        raise RecordingRefused(download, f"{name} {fault}") from fault
    except OSError as error:
        raise RecordingRefused(download, f"{name}: {error.strerror or error}") from error


def audio_seconds(path: Path) -> float | None:
    """Seconds in the file, read from its headers and its end, not by decoding it all.

    None for AAC in a container, which needs a decoder that may not be installed.
    Raises AudioFault if there is no audio or not all of it, OSError if it cannot be read.
    """
    with path.open("rb") as file:
        if file.seek(0, 2) == 0:
            raise AudioFault("is empty")
        seconds = _seconds_by_content(path, file)
    if seconds is not None and seconds <= 0:
        raise AudioFault(NONE)
    return seconds


def _seconds_by_content(path: Path, file: BinaryIO) -> float | None:
    file.seek(0)
    magic = file.read(12)
    if magic[:4] == b"fLaC":
        return _flac_seconds(path, file)
    if magic[:4] == b"OggS":
        return _ogg_seconds(path, file)
    if path.suffix.lower() == ".aac":
        return _aac_seconds(path, file, magic)
    if magic[:4] == b"RIFF" and container.wav_is_cut(file):
        raise AudioFault(CUT)
    if path.suffix.lower() == ".mp3" and container.mp3_is_cut(file):
        raise AudioFault(CUT)
    return _known_seconds(path)


def _flac_seconds(path: Path, file: BinaryIO) -> float:
    info = flac.read_streaminfo(file)
    if info is None or info.sample_rate == 0:
        raise AudioFault(CUT)
    if info.n_samples:
        return _known_seconds(path) or 0.0
    n_samples = flac.count_samples(file, info)
    if n_samples is None:
        raise AudioFault(CUT)
    return n_samples / info.sample_rate


def _ogg_seconds(path: Path, file: BinaryIO) -> float | None:
    granule = container.ogg_last_granule(file)
    if granule is None:
        raise AudioFault(CUT)
    with _opened(path) as sound:
        if sound.frames < _UNKNOWN_FRAMES:
            return float(sound.frames / sound.samplerate)
        return float(granule / sound.samplerate)


def _known_seconds(path: Path) -> float | None:
    """The header's length, once the last samples that it promises could be read."""
    with _opened(path) as sound:
        if sound.frames >= _UNKNOWN_FRAMES:
            return None
        if sound.frames == 0:
            raise AudioFault(NONE)
        try:
            sound.seek(max(0, sound.frames - _TAIL_FRAMES))
            n_read = len(sound.read(_TAIL_FRAMES))
        except soundfile.LibsndfileError as error:
            raise AudioFault(CUT) from error
        if n_read == 0:
            raise AudioFault(CUT)
        return float(sound.frames / sound.samplerate)


def _opened(path: Path) -> soundfile.SoundFile:
    try:
        return soundfile.SoundFile(path)
    except soundfile.LibsndfileError as error:
        raise AudioFault("is not audio that can be read") from error


def _aac_seconds(path: Path, file: BinaryIO, magic: bytes) -> float | None:
    if container.is_adts(file):
        seconds = container.adts_seconds(file)
        if seconds is None:
            raise AudioFault(CUT)
        return seconds
    if magic[4:8] != b"ftyp":
        raise AudioFault("is not audio that can be read")
    return _contained_seconds(path)


def _contained_seconds(path: Path) -> float | None:
    try:
        import av  # noqa: PLC0415  (the console runs without it)
    except ImportError:
        return None
    try:
        with av.open(str(path)) as opened:
            if not opened.streams.audio:
                raise AudioFault(NONE)
            return None if opened.duration is None else opened.duration / av.time_base
    except av.FFmpegError as error:
        raise AudioFault(CUT) from error
