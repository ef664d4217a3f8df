"""The worker that the demo's finished meetings once had: its texts are the scripts themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from guildqueue.domain.filters import JobFilter
from guildqueue.domain.ids import GuildId
from guildqueue.domain.job import Kind, Lease
from guildqueue.domain.new_session import NewSession
from guildqueue.services.backdate import EndedJob
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.fail import fail_job
from guildqueue.worker.handler import HandlerWork
from recordings.demo_audio import PlacedTrack, Shelf
from recordings.demo_book import Lost
from recordings.document import Transcript, merge_document
from recordings.media import result_name, write_json

_PRINCIPAL = "account:demo@localhost/1"
_LEASE_S = 600.0
_WAITED_S = 11 * 60
_TIMES_AS_FAST_AS_SPEECH = 20
# The very words of a worker that meets such a file.
_FAULTS = {
    Lost.UNREADABLE: "The file is not audio that can be read.",
    Lost.MISSING: "The audio file {uri} is not there.",
}


@dataclass(frozen=True, slots=True)
class PastWorker:
    """Does the jobs of one meeting, of whose guild nothing else may be claimable."""

    guild_id: GuildId
    session: NewSession
    tracks: Sequence[PlacedTrack]
    lost: Lost | None
    shelf: Shelf

    def work_off(self, since: datetime) -> list[EndedJob]:
        """The ended jobs, at the moments that a worker would have had after ``since``."""
        ended: list[EndedJob] = []
        texts: list[Transcript] = []
        free_at = since + timedelta(seconds=_WAITED_S)
        of_guild = JobFilter(guilds=frozenset({self.guild_id}))
        while leases := claim_jobs(_PRINCIPAL, filter=of_guild, count=100, ttl_s=_LEASE_S):
            for lease in leases:
                began_at = free_at
                seconds = self._work(lease, texts)
                free_at += timedelta(seconds=seconds)
                ended.append(EndedJob(lease.job.id, began_at, free_at))
        return ended

    def _work(self, lease: Lease, texts: list[Transcript]) -> float:
        """How many seconds that took."""
        if lease.job.kind == Kind.DOCUMENT:
            self._write_document(lease, texts)
            return 1.5
        track = next(track for track in self.tracks if track.uri == lease.job.payload["uri"])
        if self.lost is not None and track is self.tracks[0]:
            error = _FAULTS[self.lost].format(uri=track.uri)
            _fail(lease, error)
            return 0.5
        texts.append(self._write_transcript(lease, track))
        return 1.0 + track.recorded.seconds / _TIMES_AS_FAST_AS_SPEECH

    def _write_transcript(self, lease: Lease, track: PlacedTrack) -> Transcript:
        seconds = round(track.recorded.seconds, 3)
        text: Transcript = {
            "version": 1,
            "name": track.name,
            "language": "en",
            "duration_s": seconds,
            "segments": [
                {
                    "start_s": round(line.start_s, 3),
                    "end_s": round(line.end_s, 3),
                    "text": line.text,
                }
                for line in track.recorded.lines
            ],
        }
        facts = {"segments": len(text["segments"]), "language": "en"}
        self._complete(lease, "transcripts", text, facts, audio_seconds=seconds)
        return text

    def _write_document(self, lease: Lease, texts: Sequence[Transcript]) -> None:
        began_at = self.session.started_at
        document = merge_document(
            self.session.title, began_at.isoformat() if began_at else None, texts
        )
        facts = {"turns": len(document["turns"]), "speakers": len(document["speakers"])}
        self._complete(lease, "documents", document, facts)

    def _complete(
        self,
        lease: Lease,
        folder: str,
        content: Any,
        facts: dict[str, Any],
        audio_seconds: float | None = None,
    ) -> None:
        name = result_name(_work_of(lease), folder)
        path = self.shelf.media_root / name
        self.shelf.put.append(path)
        write_json(path, content)
        complete_job(
            lease.job.id,
            token=lease.token,
            principal=_PRINCIPAL,
            result={"path": name, **facts},
            audio_seconds=audio_seconds,
        )


def _fail(lease: Lease, error: str) -> None:
    fail_job(
        lease.job.id,
        token=lease.token,
        principal=_PRINCIPAL,
        error=error,
        permanent=True,
        jitter=0.0,
    )


def _work_of(lease: Lease) -> HandlerWork:
    return HandlerWork(
        job_id=lease.job.id,
        guild_id=lease.job.guild_id,
        session_id=lease.job.session_id,
        kind=lease.job.kind,
        token=lease.token,
        payload=lease.job.payload,
    )
