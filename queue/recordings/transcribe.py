"""The handler of ``transcribe`` jobs: one speaker's track becomes text."""

import time
from collections.abc import Callable
from typing import Any

from guildqueue.worker.handler import HandlerResult, HandlerWork
from recordings import whisper
from recordings.media import track_audio, write_result

REPORT_EVERY_S = 0.5


def run(work: HandlerWork, report: Callable[[float], None]) -> HandlerResult:
    """Transcribe the track and put its text in a file that the result names.

    ``report`` gets the part of the track that is done, at most every half second.
    Raises PermanentFailure for a track that no retry can transcribe.
    """
    with track_audio(work) as path:
        samples = whisper.decode(path)
    duration_s = len(samples) / whisper.SAMPLE_RATE
    heard = whisper.listen(samples)
    segments: list[dict[str, Any]] = []
    reported_at = time.monotonic()
    for segment in heard.segments:
        start_s = min(max(segment.start_s, 0.0), duration_s)
        end_s = min(max(segment.end_s, start_s), duration_s)
        segments.append(
            {"start_s": round(start_s, 3), "end_s": round(end_s, 3), "text": segment.text}
        )
        if time.monotonic() - reported_at >= REPORT_EVERY_S:
            reported_at = time.monotonic()
            report(end_s / duration_s)
    transcript = {
        "version": 1,
        "name": str(work.payload.get("name") or ""),
        "language": heard.language,
        "duration_s": round(duration_s, 3),
        "segments": segments,
    }
    name = write_result(work, "transcripts", transcript)
    return HandlerResult(
        result={"path": name, "segments": len(segments), "language": heard.language},
        audio_seconds=round(duration_s, 3),
    )
