"""Verify a guild's ledger: every digest, the chain, and the lane that the records give."""

from collections.abc import Iterator
from dataclasses import dataclass

from guildqueue.domain.errors import GuildNotFound
from guildqueue.domain.ids import EventId, GuildId, JobId
from guildqueue.domain.lane_check import Difference, Lane, LedgerReplay, find_differences
from guildqueue.domain.ledger import EventType, LedgerRecord
from guildqueue.domain.principal import Caller
from guildqueue.services.record import record_request
from guildqueue.services.transaction import decided_in_transaction
from guildqueue.store import guilds, lane_notes, ledger, locks

PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainFault:
    """A record that is not as it was written, or that does not follow the one before it."""

    event_id: EventId
    fact: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What was found; ``n_repaired`` differences have a correcting record now."""

    guild_id: GuildId
    n_records: int
    faults: tuple[ChainFault, ...]
    differences: tuple[Difference, ...]
    n_repaired: int = 0

    @property
    def is_sound(self) -> bool:
        """Nothing is wrong that is not set right by now."""
        return not self.faults and self.n_repaired == len(self.differences)


def all_guilds() -> list[GuildId]:
    """Every guild, ascending."""
    return guilds.read_guild_ids()


def verify_ledger(guild_id: GuildId, *, repair: Caller | None = None) -> Verdict:
    """What is wrong with the guild's record, which is read from the first to the newest.

    With ``repair`` each difference between record and lane gets a correcting record of that
    caller; the table is left as it is. Raises GuildNotFound or QueueBusy.
    """
    if guilds.read_guild(guild_id) is None:
        raise GuildNotFound(guild_id)
    reading = _Reading(guild_id)
    # All but the newest without a lock, as there may be millions.
    reading.go_on()
    return _finish(reading, repair)


@decided_in_transaction
def _finish(reading: "_Reading", repair: Caller | None) -> Verdict:
    """Read what has been added meanwhile, and compare while nobody changes the lane."""
    locks.lock_order(reading.guild_id)
    reading.go_on()
    recorded, stored = _lanes(reading)
    differences = find_differences(recorded, stored)
    if repair is not None:
        for difference in differences:
            _append_correction(reading.guild_id, difference, repair)
    return Verdict(
        guild_id=reading.guild_id,
        n_records=reading.n_records,
        faults=tuple(reading.faults),
        differences=tuple(differences),
        n_repaired=0 if repair is None else len(differences),
    )


def _lanes(reading: "_Reading") -> tuple[Lane, Lane]:
    """The lane by the record, and by the table."""
    members = [JobId(int(job_id)) for job_id in reading.replay.lane.members if job_id.isdecimal()]
    ended_at = lane_notes.read_ended_at(reading.guild_id, members)
    recorded = reading.replay.without_ended({str(job): at for job, at in ended_at.items()})
    stored = lane_notes.read_members(reading.guild_id)
    return recorded, [(str(job_id), named) for job_id, named in stored]


def _append_correction(guild_id: GuildId, difference: Difference, caller: Caller) -> None:
    enters = bool(difference.correction["moved"] or difference.correction["named"])
    record_request(
        guild_id,
        EventType.PRIORITY_BUMPED if enters else EventType.PRIORITY_UNBUMPED,
        caller=caller,
        changed={
            "verb": "repair",
            "job_id": None,
            "session_id": None,
            **difference.correction,
            "note": difference.fact,
        },
        reason="the record is made to say what the lane is",
    )


class _Reading:
    """A guild's records from the oldest on, checked and replayed as they come."""

    def __init__(self, guild_id: GuildId) -> None:
        self.guild_id = guild_id
        self.replay = LedgerReplay()
        self.faults: list[ChainFault] = []
        self.n_records = 0
        self._after = EventId(0)
        self._digest = ""

    def go_on(self) -> None:
        """Read all that is there by now."""
        while page := ledger.read_after(self.guild_id, after=self._after, limit=PAGE):
            for record in page:
                self.faults += self._faults_of(record)
                self.replay.apply(record)
                self._digest = record.digest
            self.n_records += len(page)
            self._after = page[-1].event_id

    def _faults_of(self, record: LedgerRecord) -> Iterator[ChainFault]:
        if ledger.digest_of(record) != record.digest:
            fact = "is not as it was written: its digest is another one"
            yield ChainFault(event_id=record.event_id, fact=fact)
        if record.prev_digest != self._digest:
            fact = "does not follow the record before it: one was changed, removed or put between"
            yield ChainFault(event_id=record.event_id, fact=fact)
