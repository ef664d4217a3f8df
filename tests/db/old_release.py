"""A worker and a console of an older release, as their statements were: see ``frozen/*.sql``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.store.statements import load_statements

FROZEN = load_statements(Path(__file__).parent / "frozen")
Row = Mapping[str, Any]


def sent(name: str, **params: Any) -> list[Row]:
    """What the old statement returns, one mapping a row."""
    with connection.cursor() as cursor:
        cursor.execute(FROZEN[name], params)
        if cursor.description is None:
            return []
        columns = [column.name for column in cursor.description]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


@transaction.atomic
def old_session(guild_id: GuildId, *, n_tracks: int) -> SessionId:
    """A meeting that the old console put into the queue."""
    new = {"external_id": None, "title": "of the old console", "recording": False}
    session_id = sent("insert_session", guild_id=guild_id, started_at=None, **new)[0]["id"]
    place = {"guild_id": guild_id, "session_id": session_id}
    sent("insert_participants", names=["ada"], user_ids=[None], **place)
    place |= {"priority": 0, "held": False, "max_attempts": 5}
    lengths = [60.0] * n_tracks
    tracks = sent("insert_tracks", payloads=["{}"] * n_tracks, audio_seconds=lengths, **place)
    [document] = sent("insert_document", payload="{}", **place)
    needs = [track["id"] for track in tracks]
    sent("insert_needs", guild_id=guild_id, job_id=document["id"], needs=needs)
    sent("recount_needs", guild_id=guild_id, job_ids=[document["id"]])
    return SessionId(session_id)


class OldWorker:
    """A worker of the old release, which knew two kinds of jobs."""

    def __init__(self, principal: str) -> None:
        self.principal = principal

    @transaction.atomic
    def claim(self, *, count: int = 1, guild_id: GuildId | None = None) -> list[Row]:
        """The rows that a claim of the old worker returns; of a guild's turn if one is given."""
        sent("bury_lost_jobs")
        taker = {"principal": self.principal, "ttl_s": 60, "count": count}
        kinds = ["transcribe", "document"]
        if guild_id is not None:
            return sent("claim_turn", kinds=kinds, guild_id=guild_id, **taker)
        return sent("claim_jobs", kinds=kinds, guilds=None, **taker)

    def extend(self, job: Row) -> bool:
        return bool(sent("extend_lease", ttl_s=60, progress=0.5, **self._holder(job)))

    @transaction.atomic
    def complete(self, job: Row) -> bool:
        """True if the job is done by this."""
        guild_id = job["guild_id"]
        sent("share_needs", guild_id=guild_id)
        sent("lock_with_dependents", guild_id=guild_id, job_id=job["id"])
        ending = {"result": '{"path": "old.json"}', "audio_seconds": 61.0, "guild_id": guild_id}
        return bool(sent("complete_job", **ending, **self._holder(job)))

    @transaction.atomic
    def retry(self, job: Row) -> None:
        """The job failed and may be tried again at once."""
        assert sent("lock_lease", **self._holder(job))
        sent("retry_job", job_id=job["id"], error="no memory", delay_s=-1)

    @transaction.atomic
    def bury(self, job: Row) -> None:
        """The job failed for good."""
        assert sent("lock_lease", **self._holder(job))
        sent("bury_job", job_id=job["id"], error="no speech")

    def release(self, job: Row) -> bool:
        return bool(sent("release_job", **self._holder(job)))

    def _holder(self, job: Row) -> dict[str, Any]:
        return {"job_id": job["id"], "token": job["token"], "principal": self.principal}


def old_cancel(guild_id: GuildId, job_id: JobId) -> bool:
    """True if the old console's cancel ended the job."""
    return bool(sent("cancel_jobs", guild_id=guild_id, job_ids=[job_id]))
