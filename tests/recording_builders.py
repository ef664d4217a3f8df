"""Recordings made up for tests: audio in every container, Craig zips and folders around it."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import soundfile

GUILD_ID = 118000000000000001
SPEAKERS = ("ada (118000000000001001)", "goran (118000000000001002)")


def tone(
    seconds: float = 0.5, *, rate: int = 16000
) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """A low hum: audio that compresses little and says nothing."""
    noise = np.random.default_rng(7).normal(size=round(seconds * rate))
    return (0.05 * noise).astype(np.float32)


def audio(extension: str = "flac", *, seconds: float = 0.5, rate: int = 16000) -> bytes:
    """A whole file of ``seconds`` as the extension has it."""
    kind = {
        "flac": ("FLAC", "PCM_16"),
        "wav": ("WAV", "PCM_16"),
        "ogg": ("OGG", "VORBIS"),
        "oga": ("OGG", "VORBIS"),
        "opus": ("OGG", "OPUS"),
        "mp3": ("MP3", "MPEG_LAYER_III"),
    }
    if extension == "aac":
        return adts(seconds)
    container, subtype = kind[extension]
    buffer = io.BytesIO()
    soundfile.write(buffer, tone(seconds, rate=rate), rate, format=container, subtype=subtype)
    return buffer.getvalue()


def adts(seconds: float) -> bytes:
    """Frames of streamed AAC at 16 kHz: true headers around a payload that nobody decodes."""
    payload = bytes(93)
    length = len(payload) + 7
    header = bytes(
        [
            0xFF,
            0xF1,
            0b01_1000_00,
            0x40 | length >> 11,
            length >> 3 & 0xFF,
            (length & 7) << 5 | 0x1F,
        ]
    )
    return (header + b"\xfc" + payload) * round(seconds * 16000 / 1024)


def streamed_flac(seconds: float = 0.5) -> bytes:
    """FLAC whose header does not know its length, as Craig streams it."""
    data = bytearray(audio("flac", seconds=seconds))
    data[21] &= 0xF0
    data[22:26] = bytes(4)
    return bytes(data)


def empty_flac() -> bytes:
    """The header of streamed FLAC, and then no frame."""
    data = streamed_flac()
    return data[: data.index(b"\xff\xf8")]


def info_text(
    *,
    recording: str = "a1RetroEight",
    guild: str | None = f"Starling Guild ({GUILD_ID})",
    channel: str = "retrospective (118000000000000101)",
    start: str = "2026-11-23T18:00:04.211Z",
    speakers: Sequence[str] = SPEAKERS,
    after: Sequence[str] = (),
) -> bytes:
    """An info.txt as Craig writes it; ``after`` are lines behind the tracks."""
    lines = [
        f"Recording {recording}",
        "",
        *([] if guild is None else [f"Guild:\t\t{guild}"]),
        f"Channel:\t{channel}",
        "Requester:\tada (118000000000001001)",
        f"Start time:\t{start}",
        "",
        "Tracks:",
        *(f"\t{speaker}" for speaker in speakers),
        *after,
        "",
    ]
    return "\r\n".join(lines).encode()


def craig_files(
    *, speakers: Sequence[str] = SPEAKERS, extension: str = "flac", info: bytes | None = None
) -> dict[str, bytes]:
    """The files of a download: info.txt and one file a speaker, named as Craig names it."""
    width = len(str(len(speakers)))
    files = {"info.txt": info_text(speakers=speakers) if info is None else info}
    for number, speaker in enumerate(speakers, start=1):
        user = speaker.partition(" ")[0].replace("#", "_")
        files[f"{number:0{width}d}-{user}.{extension}"] = audio(extension)
    return files


def craig_zip(
    folder: Path, files: Mapping[str, bytes] | None = None, *, name: str = "craig-a1.flac.zip"
) -> Path:
    """A download as one zip, stored as Craig stores it."""
    path = folder / name
    with zipfile.ZipFile(path, "w") as archive:
        for file_name, data in (craig_files() if files is None else files).items():
            archive.writestr(file_name, data)
    return path


def craig_folder(
    folder: Path, files: Mapping[str, bytes] | None = None, *, name: str = "craig-a1"
) -> Path:
    """A download unpacked."""
    path = folder / name
    path.mkdir()
    for file_name, data in (craig_files() if files is None else files).items():
        (path / file_name).write_bytes(data)
    return path
