"""A guild's root on this host: made with the guild, of the account that makes it."""

import os
from pathlib import Path
from typing import Any

import pytest

from guildqueue.domain.ids import GuildId
from guildqueue.services.browse import guild_record
from guildqueue.services.guild_root import declare_sources, ensure_roots, guild_root
from guildqueue.services.register_guild import ensure_guild, register_guild
from tests.builders import MAGPIE, STARLING
from tests.db.lane_requests import bumped, tracks_alone

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


def test_a_guild_that_is_registered_has_a_folder_of_this_accounts(data_dir: Path) -> None:
    register_guild(STARLING, name="Starling Guild")
    ensure_guild(MAGPIE, name="Magpie Collective")

    for guild_id in (STARLING, MAGPIE):
        folder = data_dir / "guilds" / str(guild_id)
        assert folder == guild_root(guild_record(guild_id))
        assert folder.stat().st_uid == os.getuid()
        [job_id] = tracks_alone(guild_id, 1)
        assert bumped(job_id, guild_id).accepted


def test_nobody_else_may_write_the_folder_whatever_the_umask(data_dir: Path) -> None:
    umask = os.umask(0)
    try:
        register_guild(STARLING, name="Starling Guild")
    finally:
        os.umask(umask)

    modes = [path.stat().st_mode & 0o777 for path in (data_dir, *data_dir.rglob("*"))]
    assert modes == [0o700, 0o755, 0o755]


def test_a_root_that_the_record_names_is_never_made(data_dir: Path, tmp_path: Path) -> None:
    register_guild(STARLING, name="Starling Guild", root=str(tmp_path / "mistyped"))
    ensure_roots()
    [job_id] = tracks_alone(STARLING, 1)

    assert not (tmp_path / "mistyped").exists()
    assert not data_dir.exists()
    assert bumped(job_id).refusal == "not-granted"


def test_guilds_that_were_there_before_get_their_folders(data_dir: Path) -> None:
    for guild_id in (STARLING, MAGPIE):
        register_guild(guild_id, name="A guild")
        (data_dir / "guilds" / str(guild_id)).rmdir()

    ensure_roots()

    assert {path.name for path in (data_dir / "guilds").iterdir()} == {str(STARLING), str(MAGPIE)}


def test_where_no_folder_can_be_made_a_guild_is_registered_and_a_bump_says_why(
    data_dir: Path,
) -> None:
    data_dir.touch()

    register_guild(STARLING, name="Starling Guild")

    [job_id] = tracks_alone(STARLING, 1)
    assert "not a directory" in bumped(job_id).note


def test_a_guild_that_is_only_met_again_gets_no_folder(data_dir: Path) -> None:
    register_guild(STARLING, name="Starling Guild", root="/srv/starling")

    assert not ensure_guild(STARLING, name="Another name")

    assert not data_dir.exists()


def test_a_declaration_is_written_once_and_never_over_another(data_dir: Path) -> None:
    guild = register_guild(GuildId(7), name="Wren Club")

    written = declare_sources(guild, ("console", "nightly-import"))

    assert written == data_dir / "guilds" / "7" / "queue.toml"
    assert 'sources = ["console", "nightly-import"]' in written.read_text()
    assert written.stat().st_mode & 0o777 == 0o644
    assert declare_sources(guild, ("eve",)) is None
    assert "eve" not in written.read_text()
