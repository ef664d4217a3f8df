"""Claims under caps beside everything else that locks a guild: no deadlock, no cap exceeded."""

import random
from collections.abc import Callable

import pytest
from django.conf import settings

from guildqueue.domain.errors import QueueBusy
from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.new_job import NewJob
from guildqueue.services.claim import claim_jobs
from guildqueue.services.complete import complete_job
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.hold import hold_guild, release_guild
from guildqueue.services.move import move_session
from guildqueue.services.register_guild import register_guild
from tests.builders import MAGPIE, STARLING, caller, stored_guild, stored_session
from tests.conftest import ServerLog
from tests.db.races import query, together

pytestmark = pytest.mark.usefixtures("committed_db")
N_STEPS = 40


def change_at_random(guild: GuildId, session: SessionId, chance: random.Random) -> None:
    match chance.randrange(4):
        case 0:
            move_session(session, guild_id=guild, place=Place.LAST, caller=caller())
        case 1:
            hold_guild(guild, reason="", caller=caller())
            release_guild(guild, caller=caller())
        case 2:
            register_guild(guild, running_cap=chance.randint(2, 3))
        case _:
            enqueue_jobs(guild, jobs=[NewJob(session_id=session, kind="transcribe")])


@pytest.mark.parametrize("order", ["turns", "global"])
def test_claims_under_caps_beside_every_other_change(
    order: str, monkeypatch: pytest.MonkeyPatch, server_log: ServerLog
) -> None:
    monkeypatch.setattr(settings, "QUEUE_CLAIM_ORDER", order)
    guilds = [stored_guild(STARLING, running_cap=2), stored_guild(MAGPIE, running_cap=3)]
    sessions = {g: [stored_session(g, n_tracks=6) for _ in range(4)] for g in guilds}

    def change(seed: int) -> Callable[[], int]:
        chance = random.Random(seed)

        def run() -> int:
            for _ in range(N_STEPS):
                guild = chance.choice(guilds)
                change_at_random(guild, chance.choice(sessions[guild]), chance)
            return 0

        return run

    def work(by: str) -> Callable[[], int]:
        def run() -> int:
            most = 0
            for n in range(N_STEPS):
                for lease in claim_jobs(by, count=1 + n % 3, ttl_s=60):
                    found = query(
                        "SELECT count(*) FROM guildqueue_job WHERE state = 'running'"
                        " GROUP BY guild_id"
                    )
                    most = max(most, *(n_running for (n_running,) in found))
                    complete_job(lease.job.id, token=lease.token, principal=by, result={})
            return most

        return run

    answers = together(change(1), change(2), *[work(f"w{n}") for n in range(4)])

    assert not [answer for answer in answers if isinstance(answer, QueueBusy)]
    assert max(answer for answer in answers if isinstance(answer, int)) in {2, 3}
    assert not server_log.has_deadlock()
