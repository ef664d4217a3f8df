"""How many samples a FLAC stream holds, also where its header does not say.

Craig streams its FLAC, so the header's total is 0. The last frame says which sample it
begins at, and its checksum says whether the file was cut.
Source: RFC 9639, sections 8.2 (streaminfo) and 9 (frames).
"""

from dataclasses import dataclass
from typing import BinaryIO

_STREAMINFO_BYTES = 34
_FRAME_MAX_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class StreamInfo:
    """``n_samples`` a channel, 0 where the encoder did not know; ``first_frame_at`` in bytes."""

    min_block: int
    sample_rate: int
    n_samples: int
    first_frame_at: int


def read_streaminfo(file: BinaryIO) -> StreamInfo | None:
    """The header of a FLAC file; None if this is not one."""
    file.seek(0)
    if file.read(4) != b"fLaC":
        return None
    header = file.read(4)
    body = file.read(_STREAMINFO_BYTES)
    if len(body) < _STREAMINFO_BYTES or header[0] & 0x7F != 0:
        return None
    packed = int.from_bytes(body[10:18], "big")
    at = 8 + _STREAMINFO_BYTES
    while not header[0] & 0x80:
        file.seek(at)
        header = file.read(4)
        if len(header) < 4:
            return None
        at += 4 + int.from_bytes(header[1:4], "big")
    return StreamInfo(
        min_block=int.from_bytes(body[0:2], "big"),
        sample_rate=packed >> 44,
        n_samples=packed & (2**36 - 1),
        first_frame_at=at,
    )


def count_samples(file: BinaryIO, info: StreamInfo) -> int | None:
    """Samples up to the end of the last frame; None if the file ends in the middle of one.

    Reads only the end of the file, whatever its length. 0 for a stream without a frame.
    """
    size = file.seek(0, 2)
    if size <= info.first_frame_at:
        return 0 if size == info.first_frame_at else None
    start = max(info.first_frame_at, size - _FRAME_MAX_BYTES)
    file.seek(start)
    tail = file.read()
    at = len(tail)
    while (at := max(tail.rfind(b"\xff\xf8", 0, at), tail.rfind(b"\xff\xf9", 0, at))) >= 0:
        end = _frame_end(tail[at : at + 16], info)
        if end is not None and _crc16(tail[at:]) == 0:
            return end
    return None


def _frame_end(header: bytes, info: StreamInfo) -> int | None:
    """The number of the sample after the frame that ``header`` begins; None if it begins none."""
    if len(header) < 6:
        return None
    number = _coded_number(header[4:11])
    if number is None:
        return None
    value, length = number
    at = 4 + length
    size = _block_size(header[2] >> 4, header[at : at + 2])
    if size is None:
        return None
    samples, extra = size
    extra += {12: 1, 13: 2, 14: 2}.get(header[2] & 0x0F, 0)
    checked = header[: at + extra + 1]
    if len(checked) < at + extra + 1 or _crc8(checked) != 0:
        return None
    starts_at = value if header[1] & 1 else value * info.min_block
    return starts_at + samples


def _coded_number(data: bytes) -> tuple[int, int] | None:
    """A number in FLAC's wider UTF-8, and the bytes it took."""
    first = data[0]
    if first < 0x80:
        return first, 1
    n_ones = 8 - (first ^ 0xFF).bit_length()
    if not 2 <= n_ones <= 7 or len(data) < n_ones:
        return None
    value = first & ((1 << (7 - n_ones)) - 1)
    for byte in data[1:n_ones]:
        if byte & 0xC0 != 0x80:
            return None
        value = value << 6 | byte & 0x3F
    return value, n_ones


def _block_size(code: int, explicit: bytes) -> tuple[int, int] | None:
    """Samples in a frame and how many explicit bytes said so."""
    if code == 1:
        return 192, 0
    if 2 <= code <= 5:
        return 144 << code, 0
    if code >= 8:
        return 1 << code, 0
    n_bytes = {6: 1, 7: 2}.get(code)
    if n_bytes is None or len(explicit) < n_bytes:
        return None
    return int.from_bytes(explicit[:n_bytes], "big") + 1, n_bytes


def _table(polynomial: int, width: int) -> tuple[int, ...]:
    top = 1 << (width - 1)
    mask = (1 << width) - 1
    table = []
    for byte in range(256):
        value = byte << (width - 8)
        for _ in range(8):
            value = (value << 1 ^ polynomial if value & top else value << 1) & mask
        table.append(value)
    return tuple(table)


_CRC8 = _table(0x07, 8)
_CRC16 = _table(0x8005, 16)


def _crc8(data: bytes) -> int:
    value = 0
    for byte in data:
        value = _CRC8[value ^ byte]
    return value


def _crc16(data: bytes) -> int:
    value = 0
    for byte in data:
        value = (value << 8 & 0xFF00) ^ _CRC16[value >> 8 ^ byte]
    return value
