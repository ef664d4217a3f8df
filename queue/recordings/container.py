"""What tells a whole WAV, Ogg, MP3 or AAC file from one that was cut, read without decoding."""

import struct
from typing import BinaryIO

_OGG_HEADER = struct.Struct("<4sBBqIIIB")
_OGG_LAST_PAGE = 0x04
_OGG_PAGE_MAX_BYTES = 27 + 255 + 255 * 255
_ADTS_RATES = (
    96000,
    88200,
    64000,
    48000,
    44100,
    32000,
    24000,
    22050,
    16000,
    12000,
    11025,
    8000,
    7350,
)


def wav_is_cut(file: BinaryIO) -> bool:
    """True if the samples that the ``data`` chunk declares are not all there.

    A streaming encoder writes 0 or all ones as the length, which declares nothing.
    """
    size = file.seek(0, 2)
    file.seek(12)
    while len(head := file.read(8)) == 8:
        name, length = head[:4], int.from_bytes(head[4:], "little")
        at = file.tell()
        if name == b"data":
            return length < 0xFFFF_FF00 and at + length > size
        file.seek(at + length + (length & 1))
    return True


def ogg_last_granule(file: BinaryIO) -> int | None:
    """The granule position that the stream ends at; None if it ends before its last page does."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 2 * _OGG_PAGE_MAX_BYTES))
    tail = file.read()
    at = tail.rfind(b"OggS")
    if at < 0 or len(tail) - at < _OGG_HEADER.size:
        return None
    _, _, flags, granule, _, _, _, n_lacing = _OGG_HEADER.unpack_from(tail, at)
    lacing = tail[at + _OGG_HEADER.size : at + _OGG_HEADER.size + n_lacing]
    end = at + _OGG_HEADER.size + n_lacing + sum(lacing)
    whole = len(lacing) == n_lacing and end <= len(tail) and flags & _OGG_LAST_PAGE
    return int(granule) if whole else None


def mp3_is_cut(file: BinaryIO) -> bool:
    """True if fewer bytes are there than the encoder's own header frame declares.

    A file without such a header (a streamed one) declares nothing.
    """
    size = file.seek(0, 2)
    file.seek(0)
    start = 0
    head = file.read(10)
    if head[:3] == b"ID3" and len(head) == 10:
        start = 10 + sum(
            (byte & 0x7F) << shift for byte, shift in zip(head[6:], (21, 14, 7, 0), strict=True)
        )
    file.seek(start)
    frame = file.read(200)
    at = max(frame.find(b"Xing"), frame.find(b"Info"))
    if at < 0 or len(frame) < at + 16:
        return False
    flags = int.from_bytes(frame[at + 4 : at + 8], "big")
    if not flags & 2:
        return False
    at += 12 if flags & 1 else 8
    return start + int.from_bytes(frame[at : at + 4], "big") > size


def is_adts(file: BinaryIO) -> bool:
    """True if the file begins with a frame header of streamed AAC."""
    file.seek(0)
    head = file.read(2)
    return len(head) == 2 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0


def adts_seconds(file: BinaryIO) -> float | None:
    """The length of streamed AAC, walking its frame headers; None if it ends in mid-frame."""
    file.seek(0)
    data = file.read()
    at = n_frames = 0
    while at + 7 <= len(data):
        if data[at] != 0xFF or data[at + 1] & 0xF6 != 0xF0:
            return None
        n_frames += (data[at + 6] & 3) + 1
        length = (data[at + 3] & 3) << 11 | data[at + 4] << 3 | data[at + 5] >> 5
        if length < 7:
            return None
        at += length
    rate = data[2] >> 2 & 0x0F
    if at != len(data) or rate >= len(_ADTS_RATES):
        return None
    return n_frames * 1024 / _ADTS_RATES[rate]
