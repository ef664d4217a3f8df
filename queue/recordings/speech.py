"""Speech for the demo, made by eSpeak NG: meetings that nobody held, for a worker to transcribe.

Nothing but the demo uses this, and nothing else needs the library. It is loaded when asked
for, from the ``espeakng-loader`` wheel of requirements-worker.txt (GPL-3.0-or-later).
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recordings.demo_scripts import Line

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[Any, np.dtype[np.int16]]

RATE = 16_000
PAUSE_S = 0.45
# Seven bits fewer make a FLAC file less than half as large, and a worker hears the same words.
_QUIET_BITS = 7

_SYNCHRONOUS = 2
_NO_EXIT = 1 << 15
_RATE_PARAMETER, _PITCH_PARAMETER = 1, 3
_UTF8 = 1
_Callback = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
)


class SpeechMissing(Exception):
    """No speech can be made here: the library is not installed or does not work."""


@dataclass(frozen=True, slots=True)
class Voice:
    """How somebody sounds: a variant of the library's, words a minute, pitch from 0 to 99."""

    variant: str
    words_a_minute: int
    pitch: int


# Those that Whisper's smallest model understands best: at most one word in ten is wrong.
VOICES = (
    Voice("en-us+Mike", 150, 50),
    Voice("en-us+f3", 150, 50),
    Voice("en-us+max", 145, 40),
    Voice("en-us+f2", 155, 45),
    Voice("en-us+Gene", 145, 50),
    Voice("en-us+f3", 142, 62),
    Voice("en-us+Michael", 142, 55),
    Voice("en-us+f2", 142, 60),
    Voice("en-us+Mike", 158, 40),
    Voice("en-us+max", 140, 62),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenLine:
    """A line where it is heard; times in seconds from the meeting's beginning."""

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTrack:
    """One speaker's file, its length, and what is said on it, in order."""

    speaker: str
    path: Path
    seconds: float
    lines: tuple[SpokenLine, ...] = ()


def record_meeting(
    folder: Path, lines: Sequence[Line], voices: Sequence[Voice] = VOICES
) -> tuple[RecordedTrack, ...]:
    """The meeting as one FLAC file a speaker in ``folder``, numbered in order of appearance.

    All of them begin together, so that a track is silent while the others speak; each ends
    after its speaker's last word. Raises SpeechMissing.
    """
    import numpy as np  # noqa: PLC0415  (only the demo needs it)

    speakers = list(dict.fromkeys(line.speaker for line in lines))
    tracks: dict[str, list[Samples]] = {speaker: [] for speaker in speakers}
    spoken: dict[str, list[SpokenLine]] = {speaker: [] for speaker in speakers}
    lengths = dict.fromkeys(speakers, 0)
    now = 0
    for line in lines:
        voice = voices[speakers.index(line.speaker) % len(voices)]
        said = synthesise(line.text, voice)
        tracks[line.speaker] += [np.zeros(now - lengths[line.speaker], np.int16), said]
        start_s, now = now / RATE, now + len(said)
        spoken[line.speaker].append(SpokenLine(start_s=start_s, end_s=now / RATE, text=line.text))
        lengths[line.speaker] = now
        now += round(PAUSE_S * RATE)
    folder.mkdir(parents=True, exist_ok=True)
    return tuple(
        RecordedTrack(
            speaker=speaker,
            path=write_track(folder / f"{number}-{speaker}.flac", np.concatenate(tracks[speaker])),
            seconds=lengths[speaker] / RATE,
            lines=tuple(spoken[speaker]),
        )
        for number, speaker in enumerate(speakers, start=1)
    )


def write_track(path: Path, samples: "Samples") -> Path:
    """``samples`` as a FLAC file at ``path``, which is returned."""
    import soundfile  # noqa: PLC0415

    soundfile.write(path, samples >> _QUIET_BITS << _QUIET_BITS, RATE, subtype="PCM_16")
    return path


def synthesise(text: str, voice: Voice) -> "Samples":
    """``text`` as ``voice`` says it: 16 kHz mono. Raises SpeechMissing."""
    import numpy as np  # noqa: PLC0415

    library = _library()
    pieces: list[Samples] = []

    def keep(samples: Any, n_samples: int, _events: Any) -> int:
        if samples and n_samples > 0:
            pieces.append(np.ctypeslib.as_array(samples, (n_samples,)).copy())
        return 0

    callback = _Callback(keep)  # kept in a name: the library calls it until the text ends
    library.engine.espeak_SetSynthCallback(callback)
    if library.engine.espeak_SetVoiceByName(voice.variant.encode()) != 0:
        raise SpeechMissing(f"the speech library has no voice {voice.variant}")
    library.engine.espeak_SetParameter(_RATE_PARAMETER, voice.words_a_minute, 0)
    library.engine.espeak_SetParameter(_PITCH_PARAMETER, voice.pitch, 0)
    data = text.encode()
    library.engine.espeak_Synth(data, len(data) + 1, 0, 1, 0, _UTF8, None, None)
    library.engine.espeak_Synchronize()
    if not pieces:
        return np.zeros(0, np.int16)
    said = np.concatenate(pieces)
    at = np.arange(len(said) * RATE // library.rate) * (library.rate / RATE)
    resampled: Samples = np.interp(at, np.arange(len(said)), said).astype(np.int16)
    return resampled


@dataclass(frozen=True, slots=True)
class _Library:
    engine: Any
    rate: int


@cache
def _library() -> _Library:
    """The engine, started once a process: it cannot be started twice."""
    try:
        import espeakng_loader  # noqa: PLC0415

        engine = ctypes.CDLL(espeakng_loader.get_library_path())
        rate = engine.espeak_Initialize(
            _SYNCHRONOUS, 0, espeakng_loader.get_data_path().encode(), _NO_EXIT
        )
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise SpeechMissing(f"no speech library: {error}") from error
    if rate <= 0:
        raise SpeechMissing("the speech library does not start")
    return _Library(engine, rate)
