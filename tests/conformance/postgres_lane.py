"""The lane in the database, asked through its services."""

import os
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

import pytest
from django.db import connection

from guildqueue.domain.grant import Asker
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.lane import LaneJob, standing_of
from guildqueue.domain.ledger import LedgerRecord
from guildqueue.domain.order import SortKey
from guildqueue.domain.principal import Caller, Principal, PrincipalKind
from guildqueue.services.browse import events_page
from guildqueue.services.bump import bump_added, bump_job
from guildqueue.services.cancel import cancel_job
from guildqueue.services.complete import complete_job
from guildqueue.services.fail import fail_job
from guildqueue.services.register_guild import register_guild
from guildqueue.services.snapshot import queue_snapshot
from guildqueue.services.unbump import unbump_job
from tests.conformance.planned_lane import answer_of
from tests.conformance.protocol import Answer, Recorded, Who
from tests.db.races import query
from tests.db.stored import write

ACCOUNT = Principal(PrincipalKind.ACCOUNT, "tester")
WORKER = "account:tester@host/1"
NOBODY = JobId(2**62)
_guilds = count(118000000000005001)


class PostgresLane:
    """A guild in which every job is a meeting of its own, so that its queue shows all of them.

    A stranger is whoever has another uid than this process. With ``skips_unknown`` needs that no
    foreign key admits are let be, where otherwise the test is skipped.
    """

    def __init__(self, root: Path, *, skips_unknown: bool = False) -> None:
        self.root = root
        self.guild_id = register_guild(GuildId(next(_guilds)), name="lane", root=str(root)).id
        self._skips_unknown = skips_unknown
        self._ids: dict[str, JobId] = {}

    def declare(self, content: bytes | None) -> None:
        path = self.root / "queue.toml"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content.replace(b"[priority", b"[queue.priority"))

    def push(
        self,
        name: str,
        *,
        needs: Iterable[str] = (),
        bump: bool = False,
        who: Who = Who.OPERATOR,
        reason: str = "",
    ) -> Answer:
        made: list[JobId] = []

        def add() -> JobId:
            made.append(self._ids.get(name) or self._insert(needs))
            # An answer names it as soon as it is there.
            self._ids.setdefault(name, made[0])
            return made[0]

        if not bump:
            add()
            return Answer(accepted=True)
        known = set(self._ids)
        outcome = bump_added(
            add,
            guild_id=self.guild_id,
            asker=_asker(who),
            external_id=name,
            reason=reason,
        )
        answer = self._named(answer_of(outcome))
        if not answer.accepted and name not in known:
            self._ids.pop(name, None)
        return answer

    def bump(self, name: str, *, who: Who = Who.OPERATOR, reason: str = "") -> Answer:
        outcome = bump_job(self._id(name), guild_id=self.guild_id, asker=_asker(who), reason=reason)
        return self._named(answer_of(outcome))

    def unbump(self, name: str, *, who: Who = Who.OPERATOR, reason: str = "") -> Answer:
        outcome = unbump_job(
            self._id(name), guild_id=self.guild_id, asker=_asker(who), reason=reason
        )
        return self._named(answer_of(outcome))

    def settle(self, name: str, state: str) -> None:
        job_id = self._ids[name]
        if state == "cancelled":
            cancel_job(job_id, guild_id=self.guild_id, caller=Caller(principal=ACCOUNT))
            return
        self.start(name)
        token = query("SELECT token FROM guildqueue_job WHERE id = %s", [job_id])[0][0]
        if state == "done":
            complete_job(job_id, token=token, principal=WORKER, result={})
        else:
            fail_job(job_id, token=token, principal=WORKER, error="x", permanent=True, jitter=0.0)

    def start(self, name: str) -> None:
        write(
            "UPDATE guildqueue_job SET state = 'running', token = token + 1, lease_by = %s,"
            " lease_expires_at = now() + interval '1 hour' WHERE id = %s",
            WORKER,
            self._ids[name],
        )

    def lease(self, name: str) -> object:
        return query(
            "SELECT state, token, lease_by, lease_expires_at, attempt FROM guildqueue_job"
            " WHERE id = %s",
            [self._ids[name]],
        )

    def write_as_newer(self, name: str) -> None:
        write("UPDATE guildqueue_job SET kind = 'translate' WHERE id = %s", self._ids[name])

    def entangle(self, name: str, needs: Iterable[str]) -> None:
        wanted = list(needs)
        if not self._skips_unknown and not set(wanted) <= set(self._ids):
            pytest.skip("a foreign key keeps a job from needing an unknown one")
        job_id = self._ids[name]
        write("DELETE FROM guildqueue_job_dependency WHERE job_id = %s", job_id)
        self._insert_needs(job_id, [need for need in wanted if need in self._ids])

    def jobs(self) -> Mapping[str, LaneJob[str]]:
        names = self._names()
        found = query(
            "SELECT id, state, kind, priority, bump_seq, bump_named,"
            " ARRAY(SELECT needs_id FROM guildqueue_job_dependency"
            "        WHERE job_id = job.id ORDER BY id)"
            " FROM guildqueue_job AS job WHERE guild_id = %s ORDER BY id",
            [self.guild_id],
        )
        return {
            names[job_id]: LaneJob(
                id=names[job_id],
                standing=standing_of(state, kind),
                sort_key=SortKey(priority, job_id),
                needs=tuple(names[need] for need in needs),
                bump_seq=bump_seq,
                named=named,
            )
            for job_id, state, kind, priority, bump_seq, named, needs in found
        }

    def order(self) -> list[str]:
        names = self._names()
        return [names[entry.tracks[0].job_id] for entry in queue_snapshot(self.guild_id).sessions]

    def records(self) -> list[Recorded]:
        records: list[LedgerRecord] = []
        while page := events_page(self.guild_id, before=records[-1].event_id if records else None):
            records += page
        return [self._recorded(r) for r in reversed(records) if r.type.startswith("Priority")]

    def _recorded(self, record: LedgerRecord) -> Recorded:
        changed = record.changed
        job_id = changed.get("job_id")
        return Recorded(
            type=record.type,
            by=record.by.partition(":")[0],
            job=self._names().get(JobId(int(job_id)), "?") if job_id else "",
            reason=record.reason,
            refusal=changed.get("refusal"),
            moved=self._called(changed.get("moved", ())),
            removed=self._called(changed.get("removed", ())),
            note=self._spelled(changed["note"]),
            untrusted=record.untrusted,
        )

    def _insert(self, needs: Iterable[str]) -> JobId:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO guildqueue_session (guild_id, title) VALUES (%s, 'x') RETURNING id",
                [self.guild_id],
            )
            session_id = SessionId(cursor.fetchone()[0])
            cursor.execute(
                "INSERT INTO guildqueue_job (guild_id, session_id, kind)"
                " VALUES (%s, %s, 'transcribe') RETURNING id",
                [self.guild_id, session_id],
            )
            job_id = JobId(cursor.fetchone()[0])
        self._insert_needs(job_id, needs)
        return job_id

    def _insert_needs(self, job_id: JobId, needs: Iterable[str]) -> None:
        for need in needs:
            if self._ids[need] != job_id:
                write(
                    "INSERT INTO guildqueue_job_dependency (guild_id, job_id, needs_id)"
                    " VALUES (%s, %s, %s)",
                    self.guild_id,
                    job_id,
                    self._ids[need],
                )
        write(
            "UPDATE guildqueue_job AS job SET unmet = (SELECT count(*)"
            " FROM guildqueue_job_dependency JOIN guildqueue_job AS needed ON needed.id = needs_id"
            " WHERE job_id = job.id AND needed.state <> 'done') WHERE id = %s",
            job_id,
        )

    def _id(self, name: str) -> JobId:
        return self._ids.get(name, NOBODY)

    def _names(self) -> dict[JobId, str]:
        return {job_id: name for name, job_id in self._ids.items()}

    def _called(self, ids: Iterable[str]) -> tuple[str, ...]:
        names = self._names()
        return tuple(names[JobId(int(job_id))] for job_id in ids)

    def _spelled(self, note: str) -> str:
        names = {str(job_id): name for job_id, name in self._names().items()}
        words = (word.rstrip(",;:") for word in note.split())
        told = {word: names[word] for word in words if word in names}
        for number, name in told.items():
            note = note.replace(number, name)
        return note

    def _named(self, answer: Answer) -> Answer:
        return Answer(
            accepted=answer.accepted,
            refusal=answer.refusal,
            moved=self._called(answer.moved),
            already=self._called(answer.already),
            removed=self._called(answer.removed),
            skipped=self._called(answer.skipped),
            note=self._spelled(answer.note),
        )


def _asker(who: Who) -> Asker:
    uid = os.getuid() if who.is_operators_account else os.getuid() + 4321
    return Asker(uid=uid, principal=ACCOUNT, source=who.source)
