"""What came of a meeting, as its page shows it: the document and each track's text."""

from dataclasses import dataclass

from console.results import ResultMissing, read_document, read_transcript
from guildqueue.domain.job import JobState
from guildqueue.domain.session_detail import JobDetail, SessionDetail
from recordings.document import Document, Transcript


@dataclass(frozen=True, slots=True)
class Track:
    """A speaker's job with its text where it is done, or why that cannot be shown."""

    detail: JobDetail
    transcript: Transcript | None
    missing: str


@dataclass(frozen=True, slots=True)
class Meeting:
    """``document`` is None while it is not done, or with ``missing`` saying why."""

    document: Document | None
    missing: str
    tracks: tuple[Track, ...]


def meeting(detail: SessionDetail) -> Meeting:
    """The session's texts, read from their files."""
    document, missing = None, ""
    if detail.document is not None and detail.document.job.state == JobState.DONE:
        try:
            document = read_document(detail.document.job)
        except ResultMissing as error:
            missing = str(error)
    return Meeting(document, missing, tuple(_track(track) for track in detail.tracks))


def _track(track: JobDetail) -> Track:
    if track.job.state != JobState.DONE:
        return Track(track, None, "")
    try:
        return Track(track, read_transcript(track.job), "")
    except ResultMissing as error:
        return Track(track, None, str(error))
