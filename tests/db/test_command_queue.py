"""``manage.py queue``: what each subcommand does, answers and exits with."""

import os
import pwd
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from guildqueue.domain.ids import GuildId, UserId
from guildqueue.domain.job import JobState
from guildqueue.services.browse import events_page, guild_list, session_detail
from guildqueue.services.tokens import token_bearer
from tests import builders
from tests.db.command import queue

ME = f"account:{pwd.getpwuid(os.getuid()).pw_name}"
PROJECT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def guild_id(committed_db: None) -> GuildId:
    return builders.stored_guild()


def test_list_answers_the_same_as_the_api(guild_id: GuildId) -> None:
    builders.stored_session(guild_id, title="one", n_tracks=2, audio_seconds=None)
    builders.dead_session(guild_id)
    builders.done_session(guild_id)
    user = builders.stored_user(guilds=[guild_id])

    listed = queue("list", "-g", guild_id, "--json").json

    api = builders.signed_in(user).get(f"/api/guilds/{guild_id}/queue").json()
    assert listed.pop("version").split(".")[1] == api.pop("version").split(".")[1]
    # On top of it the command line tells the lane job by job.
    assert {name: listed[name] for name in api} == api
    assert set(listed) - set(api) == {"next", "unplaced"}


def test_list_says_how_to_go_on(guild_id: GuildId) -> None:
    for _ in range(201):
        builders.stored_session(guild_id)

    first = queue("list", "-g", guild_id)

    last = first.out.strip().split()[-1]
    assert f"1 more sessions: go on with --after {last}" in first.out
    assert len(queue("list", "-g", guild_id, "--after", last, "--json").json["sessions"]) == 1


def test_what_a_title_holds_is_shown_and_not_obeyed(guild_id: GuildId) -> None:
    builders.stored_session(guild_id, title="[red]bold[/red] \x1b[31m\N{SNOWMAN}\u202e")

    out = queue("list", "-g", guild_id).out

    assert "[red]bold[/red] \\x1b[31m\N{SNOWMAN}\\u202e" in out


def test_a_move_is_done_answered_and_recorded_as_the_account(guild_id: GuildId) -> None:
    one, two = (builders.stored_session(guild_id) for _ in range(2))

    moved = queue("move", two, "--first", "--json")

    assert (moved.code, moved.json["accepted"]) == (0, True)
    assert [entry["session_id"] for entry in moved.json["order"]] == [str(two), str(one)]
    assert events_page(guild_id)[0].by == ME
    assert session_detail(two).entry.position == 1


def test_a_move_that_changes_nothing_says_so(guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id)

    moved = queue("move", session_id, "--last")

    assert (moved.code, moved.out) == (
        0,
        f"nothing to do: session {session_id} is there already\n",
    )


def test_a_refused_move_answers_the_order_and_exits_3(guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id)
    gone = builders.cancelled_session(guild_id)

    refused = queue("move", session_id, "--after", gone, "--json")

    assert refused.code == 3
    assert refused.json["refusal"] == "neighbour-left-queue"
    assert refused.json["order"] == [{"session_id": str(session_id), "priority": 0}]
    assert refused.fault == f"session {gone} is not in the queue to move next to"


def test_a_session_of_another_guild_than_the_named_one_is_not_moved(guild_id: GuildId) -> None:
    other = builders.stored_guild(builders.MAGPIE)
    session_id = builders.stored_session(other)

    refused = queue("move", session_id, "--first", "-g", guild_id)

    assert (refused.code, refused.fault) == (3, f"no session {session_id}")


def test_a_preview_writes_nothing_and_the_rule_does_what_it_said(guild_id: GuildId) -> None:
    few = builders.stored_session(guild_id, n_tracks=1)
    many = builders.stored_session(guild_id, n_tracks=5)

    preview = queue("rule", "many-participants-first", "--preview", "-g", guild_id, "--json").json
    unchanged = queue("list", "-g", guild_id, "--json").json["sessions"]
    applied = queue("rule", "many-participants-first", "-g", guild_id, "--json").json

    assert [entry["session_id"] for entry in unchanged] == [str(few), str(many)]
    assert applied == preview
    assert applied["changed"] == [str(few)]


def test_holds_of_a_session_and_a_guild_are_made_and_ended(guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id)

    assert queue("hold", session_id, "--reason", "wait for ivo", "--json").json["changed"] is True
    held = session_detail(session_id).entry.hold
    assert held is not None
    assert (held.by, held.reason) == (ME, "wait for ivo")
    assert queue("hold", "--session", session_id).out.startswith("nothing to do")
    assert queue("release", session_id).out == f"released session {session_id}\n"
    assert queue("hold", "-g", guild_id).out == f"held guild {guild_id}\n"
    assert queue("list", "-g", guild_id, "--json").json["held"] is True
    assert queue("release", "-g", guild_id).out == f"released guild {guild_id}\n"


def test_cancel_and_requeue_take_a_job_or_a_session(guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id)
    track, document = (job.id for job in builders.session_jobs(session_id))

    assert queue("cancel", track, "--json").json == {"jobs": [str(track)]}
    assert queue("requeue", track, "--json").json == {"jobs": [str(track)]}
    both = {"jobs": [str(track), str(document)]}
    assert queue("cancel", "--session", session_id, "--json").json == both
    assert queue("cancel", "--session", session_id).code == 3
    assert queue("requeue", "--session", session_id, "--json").json == both
    assert queue("requeue", track, "--session", session_id).code == 2


def test_show_says_why_a_job_died(guild_id: GuildId) -> None:
    session_id = builders.dead_session(guild_id, error="no speech in it")
    job = builders.session_jobs(session_id)[0]

    shown = queue("show", job.id, "--json").json

    assert (shown["job_id"], shown["state"], shown["attempt"]) == (str(job.id), JobState.DEAD, 1)
    assert shown["error"] == "no speech in it"
    assert "error: no speech in it" in queue("show", job.id).out


def test_a_guild_is_made_shown_and_changed(guild_id: GuildId, tmp_path: Path) -> None:
    assert queue("guild", 77).fault == "no guild 77; --name NAME makes it"
    queue("guild", 77, "--name", "Wren Club")

    queue("guild", 77, "--cap", 3, "--root", tmp_path)

    assert queue("guild", 77, "--json").json == {
        "guild_id": "77",
        "name": "Wren Club",
        "root": str(tmp_path),
        "running_cap": 3,
        "held": False,
    }


def test_a_guilds_cap_is_taken_away_and_nothing_else(guild_id: GuildId) -> None:
    queue("guild", 77, "--name", "Wren Club", "--cap", 3)
    queue("guild", 78, "--no-cap")

    lifted = queue("guild", 77, "--no-cap", "--json").json

    assert (lifted["name"], lifted["running_cap"]) == ("Wren Club", None)
    assert queue("guild", 77, "--json").json == lifted
    assert queue("guild", 78, "--json").json["running_cap"] is None


def test_a_member_is_added_and_removed_but_never_made(guild_id: GuildId) -> None:
    user_id = UserId(builders.stored_user("ada").pk)

    assert queue("member", "ada", "-g", guild_id, "--json").json["changed"] is True
    assert queue("member", "ada", "-g", guild_id).out.startswith("nothing to do: ada administers")
    assert [guild.id for guild in guild_list(user_id)] == [guild_id]
    queue("member", "ada", "-g", guild_id, "--remove")
    assert guild_list(user_id) == []

    unknown = queue("member", "nobody", "-g", guild_id)
    assert (unknown.code, "createsuperuser" in unknown.fault) == (3, True)


def test_a_token_is_shown_once_and_can_be_revoked(guild_id: GuildId) -> None:
    made = queue("token", "create", "nightly", "-g", guild_id, "--verb", "claim", "--json").json

    bearer = token_bearer(made["token"])
    assert bearer is not None
    assert (bearer.guild_ids, bearer.verbs) == (frozenset({guild_id}), frozenset({"claim"}))
    listed = queue("token", "list")
    assert "nightly" in listed.out
    assert made["token"] not in listed.out
    assert queue("token", "revoke", bearer.token_id).code == 0
    assert token_bearer(made["token"]) is None
    assert queue("token", "revoke", bearer.token_id).code == 3


def test_a_token_without_a_scope_is_misuse(guild_id: GuildId) -> None:
    builders.stored_user("ada")

    assert queue("token", "create", "t").code == 2
    assert queue("token", "create", "t", "--user", "ada", "--verb", "claim").code == 2
    assert queue("token", "create", "t", "--user", "nobody").code == 3
    assert queue("token", "create", "t", "-g", 5, "--verb", "claim").code == 3


def test_events_are_the_ledger_newest_first(guild_id: GuildId) -> None:
    session_id = builders.stored_session(guild_id)
    queue("hold", session_id, "--reason", "because")
    queue("release", session_id)

    events = queue("events", "-g", guild_id, "--json").json["events"]

    assert [event["type"] for event in events] == ["Released", "Held"]
    assert events[1]["reason"] == "because"
    assert events[0]["prev_digest"] == events[1]["digest"]
    older = queue("events", "-g", guild_id, "--before", events[0]["event_id"], "--json").json
    assert [event["type"] for event in older["events"]] == ["Held"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((), 2),
        (("list",), 2),
        (("list", "-g", "1", "-g", "2"), 2),
        (("list", "-g", "1" * 30), 2),
        (("list", "-g", "-1"), 2),
        (("list", "-g", "x"), 2),
        (("list", "-g", "1"), 3),
        (("move", "1", "--first", "--last"), 2),
        (("move", "1", "--before"), 2),
        (("move", "99", "--first"), 3),
        (("show", "99"), 3),
        (("requeue",), 2),
        (("cancel", "99"), 3),
        (("rule", "no-such-rule", "-g", builders.STARLING), 2),
        (("guild", "5", "--cap", "0"), 2),
        (("guild", "5", "--cap", "1", "--no-cap"), 2),
        (("guild", "5", "--name", " "), 2),
        (("hold",), 2),
        (("bump", "1"), 2),
    ],
)
def test_exit_codes_are_those_of_the_contract(
    guild_id: GuildId, words: tuple[str, ...], code: int
) -> None:
    ended = queue(*words)

    assert (ended.code, ended.out) == (code, "")
    assert "Traceback" not in ended.err


def test_the_default_guild_counts_where_the_flag_is_not_given(
    guild_id: GuildId, settings: Any
) -> None:
    settings.GUILDQUEUE_GUILD = int(guild_id)

    assert queue("list", "--json").json["guild_id"] == str(guild_id)
    assert queue("list", "-g", builders.MAGPIE).code == 3


@pytest.mark.parametrize("words", [("queue", "list", "-g", "1"), ("worker", "--once")])
def test_a_database_that_is_away_is_one_line_and_exit_1(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    away = {
        "DATABASE_URL": f"postgresql://nobody@/none?host={tmp_path}",
        "GUILDQUEUE_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "console.settings",
    }

    ended = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=PROJECT,
        env=os.environ | away,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Broken: the database is away: ")
    assert ended.stderr.count("\n") == 1
