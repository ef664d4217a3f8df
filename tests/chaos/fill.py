"""The work of a run: guilds with and without caps, jobs of every temper, by the services."""

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from django.test import override_settings

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.job import Kind
from guildqueue.domain.new_job import NewJob
from guildqueue.domain.new_session import NewSession, NewTrack
from guildqueue.services.create_session import create_session
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.register_guild import register_guild

# Cap and share of the jobs, a guild each.
GUILDS: Sequence[tuple[int | None, float]] = (
    (1, 0.03),
    (2, 0.06),
    (4, 0.11),
    *[(None, 0.1)] * 8,
)
SESSION_JOBS = 40
# What is needed must not die of bad luck, or what needs it would wait for ever.
MANY_ATTEMPTS, FEW_ATTEMPTS = 100, 3
# Of each hundred jobs that nothing needs.
TEMPERS = {"fails": 3, "hopeless": 1, "returns": 1, "slow": 1, "dull": 2, "plain": 92}
LATEST_S = 15


def fill(n_jobs: int, chance: random.Random) -> int:
    """How many jobs now wait, about ``n_jobs``; a job's temper is its payload's ``uri``."""
    filled, tempers = 0, _tempers(chance)
    for number, (cap, share) in enumerate(GUILDS, 1):
        guild_id = register_guild(GuildId(number), name=f"Guild {number}", running_cap=cap).id
        n_here = round(n_jobs * share)
        with override_settings(QUEUE_MAX_ATTEMPTS=MANY_ATTEMPTS):
            filled += sum(_meeting(guild_id) for _ in range(n_here // 16))
            filled += _enqueue(guild_id, list(_chained(guild_id, n_here // 4)))
        with override_settings(QUEUE_MAX_ATTEMPTS=FEW_ATTEMPTS):
            filled += _enqueue(guild_id, _singles(guild_id, n_here // 2, chance, tempers))
    return filled


def _meeting(guild_id: GuildId) -> int:
    """Three tracks and the document that needs them."""
    tracks = tuple(NewTrack(name=name, uri="plain") for name in ("ada", "bo", "cleo"))
    create_session(guild_id, session=NewSession(title="meeting", tracks=tracks))
    return len(tracks) + 1


def _chained(guild_id: GuildId, n_jobs: int) -> Iterator[NewJob]:
    """Jobs of which every fourth needs the three before it, and with them all before those."""
    session_id = _session(guild_id)
    for number in range(n_jobs):
        first = max(0, number - 3)
        needs = tuple(f"{guild_id}/{n}" for n in range(first, number)) if number % 4 == 3 else ()
        yield NewJob(
            session_id=session_id,
            kind=Kind.DOCUMENT if needs else Kind.TRANSCRIBE,
            payload={"uri": "fails" if number % 50 == 7 else "plain"},
            needs=needs,
            external_id=f"{guild_id}/{number}",
        )


def _singles(
    guild_id: GuildId, n_jobs: int, chance: random.Random, tempers: Iterator[str]
) -> list[NewJob]:
    """Jobs that nothing needs, of any temper; some not before a moment."""
    sessions = [_session(guild_id) for _ in range(0, n_jobs, SESSION_JOBS)]
    jobs = []
    for number, temper in zip(range(n_jobs), tempers, strict=False):
        payload: dict[str, object] = {"uri": temper}
        run_after = None
        if chance.random() < 0.05:
            run_after = datetime.now(UTC) + timedelta(seconds=chance.uniform(1, LATEST_S))
            payload["not_before"] = run_after.timestamp()
        jobs.append(
            NewJob(
                session_id=sessions[number // SESSION_JOBS],
                kind=chance.choice(list(Kind)),
                payload=payload,
                run_after=run_after,
            )
        )
    return jobs


def _tempers(chance: random.Random) -> Iterator[str]:
    """Without end, each hundred with its share of every temper."""
    deck = [temper for temper, n_cards in TEMPERS.items() for _ in range(n_cards)]
    while True:
        chance.shuffle(deck)
        yield from deck


def _session(guild_id: GuildId) -> SessionId:
    return create_session(guild_id, session=NewSession(title="work")).session_id


def _enqueue(guild_id: GuildId, jobs: Sequence[NewJob]) -> int:
    return len(enqueue_jobs(guild_id, jobs=jobs))
