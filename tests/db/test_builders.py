"""The builders store what they say."""

import pytest

from guildqueue.domain.snapshot import SessionState
from guildqueue.services.browse import session_detail
from tests import builders

pytestmark = pytest.mark.usefixtures("committed_db")


def test_every_builder_gives_the_state_in_its_name() -> None:
    guild_id = builders.stored_guild()

    waiting = builders.stored_session(guild_id, n_tracks=2)
    made = {
        builders.stored_session(guild_id): SessionState.QUEUED,
        builders.stored_session(guild_id, recording=True): SessionState.RECORDING,
        builders.done_session(guild_id, n_tracks=2): SessionState.DONE,
        builders.dead_session(guild_id, n_tracks=2): SessionState.DEAD,
        builders.cancelled_session(guild_id): SessionState.CANCELLED,
    }

    states = {session_id: session_detail(session_id).entry.state for session_id in made}
    assert states == made
    assert {job.attempt for job in builders.session_jobs(waiting)} == {0}


def test_running_jobs_leaves_the_sessions_ahead_waiting() -> None:
    guild_id = builders.stored_guild()
    ahead = builders.stored_session(guild_id, n_tracks=2)
    wanted = builders.stored_session(guild_id, n_tracks=3)

    leases = builders.running_jobs(wanted, n=2)

    assert [lease.job.id for lease in leases] == builders.track_ids(wanted)[:2]
    assert session_detail(ahead).entry.state is SessionState.QUEUED


def test_a_stored_user_signs_in() -> None:
    guild_id = builders.stored_guild()
    user = builders.stored_user(guilds=[guild_id])

    client = builders.signed_in(user)

    assert client.session["_auth_user_id"] == str(user.pk)
    assert user.check_password(builders.PASSWORD)
