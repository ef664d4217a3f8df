"""``manage.py queue import``: files in, sessions out, and a line for each file that is bad."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from guildqueue.domain.ids import SessionId
from guildqueue.services.browse import guild_record, session_detail
from tests import builders
from tests.db.command import queue

pytestmark = pytest.mark.usefixtures("committed_db")
LINE = '{"title": "standup", "external_id": "s1", "tracks": [{"name": "ada"}]}\n'


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings: Any) -> Path:
    settings.MEDIA_ROOT = str(tmp_path / "media")
    settings.GUILDQUEUE_GUILD = None
    return tmp_path / "media"


@pytest.fixture
def craig(shared_data: Path) -> Path:
    return min((shared_data / "craig").glob("*.zip"))


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "meetings.jsonl"
    path.write_text(LINE)
    return path


def test_a_download_makes_its_guild_and_its_session(craig: Path, media: Path) -> None:
    (imported,) = queue("import", craig, "--json").json

    detail = session_detail(SessionId(int(imported["session_id"])))
    assert imported["created"] is True
    assert str(guild_record(detail.guild.id).id) == imported["guild_id"]
    assert imported["tracks"] == len(detail.tracks)
    assert all((media / str(track.job.payload["uri"])).is_file() for track in detail.tracks)


def test_importing_twice_changes_nothing_the_second_time(craig: Path) -> None:
    first = queue("import", craig, "--json").json
    second = queue("import", craig, "--json")

    assert second.code == 0
    assert second.json == [{**first[0], "created": False}]
    assert "was there before" in queue("import", craig).out


def test_the_flag_overrides_what_the_file_says_and_the_default_guild_does_not(
    craig: Path, settings: Any
) -> None:
    magpie = builders.stored_guild(builders.MAGPIE)
    settings.GUILDQUEUE_GUILD = int(magpie)

    by_file = queue("import", craig, "--json").json[0]["guild_id"]
    by_flag = queue("import", craig, "-g", magpie, "--json").json[0]["guild_id"]

    assert (by_file != str(magpie), by_flag) == (True, str(magpie))


def test_a_file_that_names_no_guild_needs_the_flag_or_the_default(
    lines: Path, settings: Any
) -> None:
    guild_id = builders.stored_guild()

    refused = queue("import", lines)
    assert (refused.code, refused.fault) == (
        2,
        f"{lines}: does not name its guild; give one with -g",
    )
    settings.GUILDQUEUE_GUILD = int(guild_id)
    assert queue("import", lines, "--json").json[0]["guild_id"] == str(guild_id)


def test_bad_files_are_a_line_each_and_the_good_ones_get_in(
    lines: Path, craig: Path, tmp_path: Path
) -> None:
    guild_id = builders.stored_guild()
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"title": ')
    torn = tmp_path / "torn.zip"
    torn.write_bytes(craig.read_bytes()[:1000])

    ended = queue("import", broken, tmp_path / "absent.zip", torn, lines, "-g", guild_id)

    faults = ended.err.strip().removeprefix("NotImported: ").splitlines()
    assert ended.code == 1
    assert [Path(fault.partition(":")[0]).name for fault in faults] == [
        "broken.jsonl",
        "absent.zip",
        "torn.zip",
    ]
    assert ended.out.count("session ") == 1


@pytest.mark.parametrize("guilds", [("-g", "5"), ("-g", "5", "-g", "6")])
def test_a_guild_that_is_not_there_or_not_one_stops_it_all(
    lines: Path, guilds: tuple[str, ...]
) -> None:
    ended = queue("import", lines, *guilds)

    assert (ended.code, ended.out) == (3 if len(guilds) == 2 else 2, "")


def test_a_file_name_cannot_forge_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a\nfake: done\x1b[2J.zip"
    path.write_bytes(b"PK")

    ended = queue("import", path)

    assert ended.code == 1
    assert "\x1b" not in ended.fault


def test_a_folder_that_cannot_be_written_is_one_line(
    craig: Path, tmp_path: Path, settings: Any
) -> None:
    (tmp_path / "file").write_text("")
    settings.MEDIA_ROOT = str(tmp_path / "file")

    ended = queue("import", craig)

    assert ended.code == 1
    assert str(craig) in ended.fault


def test_the_unpacked_folder_is_read_in_place(craig: Path, tmp_path: Path, media: Path) -> None:
    folder = tmp_path / "unpacked"
    shutil.unpack_archive(craig, folder)

    (imported,) = queue("import", folder, "--json").json

    detail = session_detail(SessionId(int(imported["session_id"])))
    assert all(Path(track.job.payload["uri"]).is_relative_to(folder) for track in detail.tracks)
    assert not media.exists()
