"""One meeting's page: its tracks, its texts, its downloads, and what may be done to it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from guildqueue.domain.ids import GuildId, SessionId
from guildqueue.domain.job import Lease
from guildqueue.services.browse import events_page, session_detail
from guildqueue.services.complete import complete_job
from tests import builders

pytestmark = pytest.mark.usefixtures("committed_db")

SAID = "Shall we look at what <b>went well</b> first?"


@pytest.fixture(autouse=True)
def media(tmp_path: Path, settings: Any) -> Path:
    """A media folder of the test's own."""
    settings.MEDIA_ROOT = str(tmp_path / "media")
    return tmp_path / "media"


@pytest.fixture
def guild() -> GuildId:
    return builders.stored_guild()


@pytest.fixture
def ada(guild: GuildId) -> Client:
    return builders.signed_in(builders.stored_user("ada", guilds=[guild]))


def finish(lease: Lease, path: str) -> None:
    complete_job(
        lease.job.id,
        token=lease.token,
        principal=builders.WORKER,
        result={"path": path},
        audio_seconds=60.0,
    )


def write(media: Path, name: str, content: Mapping[str, Any]) -> str:
    path = media / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return name


def transcribed(guild: GuildId, media: Path, *, title: str = "Raid planning") -> SessionId:
    """A meeting of one track by ``ada``, its text and its document on disk."""
    session_id = builders.stored_session(guild, title=title, participants=["ada"])
    (track,) = builders.running_jobs(session_id)
    segments = [{"start_s": 1.5, "end_s": 4.0, "text": SAID}]
    text = {"name": "ada", "language": "en", "duration_s": 60.0, "segments": segments}
    finish(track, write(media, f"transcripts/{guild}/{session_id}/1.json", text))
    (document,) = builders.running_jobs(session_id)
    turns = [{"speaker": "ada", "start_s": 1.5, "end_s": 4.0, "text": SAID}]
    made = {"version": 1, "title": title, "speakers": ["ada"], "turns": turns, "started_at": None}
    finish(document, write(media, f"documents/{guild}/{session_id}/2.json", made))
    return session_id


def page(client: Client, session_id: SessionId) -> str:
    response = client.get(f"/sessions/{session_id}/")
    assert response.status_code == 200
    return response.content.decode()


def test_a_finished_meeting_is_read_on_its_page(ada: Client, guild: GuildId, media: Path) -> None:
    session_id = transcribed(guild, media)

    html = page(ada, session_id)

    said = "Shall we look at what &lt;b&gt;went well&lt;/b&gt; first?"
    assert html.count(said) == 2
    assert "<b><bdi>ada</bdi></b> 0:01</p>" in html


def test_a_long_document_has_a_way_to_its_tracks_above_it(
    ada: Client, guild: GuildId, media: Path
) -> None:
    html = page(ada, transcribed(guild, media))

    link, document = html.index('<a id="to-tracks" href="#tracks">1 track</a>'), '<ol class="panel'
    assert link < html.index(document) < html.index('<section id="tracks"')
    assert 'id="to-tracks"' not in page(ada, builders.stored_session(guild))


def test_a_recording_without_tracks_says_so_and_not_that_nobody_measured_it(
    ada: Client, guild: GuildId
) -> None:
    recording = builders.stored_session(guild, recording=True, n_tracks=0, participants=2)
    unmeasured = builders.stored_session(guild, audio_seconds=None)

    html = page(ada, recording)
    assert "<span>no tracks yet</span>" in html
    assert "not measured" not in html
    assert 'id="requeue"' not in html
    assert "<span>not measured</span>" in page(ada, unmeasured)


def test_the_bar_of_a_meeting_is_of_the_tone_of_its_state(ada: Client, guild: GuildId) -> None:
    running = builders.stored_session(guild, n_tracks=2)
    builders.running_jobs(running, n=1)
    dead = builders.dead_session(guild, n_tracks=2)

    assert '<progress id="progress" data-state="running"' in page(ada, running)
    assert '<progress id="progress" data-state="dead"' in page(ada, dead)


@pytest.mark.parametrize(
    ("ending", "content_type", "begins"),
    [
        ("md", "text/markdown; charset=utf-8", "# Raid planning"),
        ("vtt", "text/vtt; charset=utf-8", "WEBVTT"),
        ("json", "application/json", "{"),
    ],
)
def test_document_and_tracks_are_downloaded_in_three_forms(
    ada: Client, guild: GuildId, media: Path, ending: str, content_type: str, begins: str
) -> None:
    session_id = transcribed(guild, media)
    (track,) = builders.track_ids(session_id)

    document = ada.get(f"/sessions/{session_id}/document.{ending}")
    text = ada.get(f"/sessions/{session_id}/tracks/{track}.{ending}")

    assert document.status_code == text.status_code == 200
    assert document["Content-Type"] == text["Content-Type"] == content_type
    assert document.content.decode().startswith(begins)
    assert "went well" in text.content.decode()
    assert document["Content-Disposition"] == f'attachment; filename="raid-planning.{ending}"'
    assert "no-store" in text["Cache-Control"]


def test_every_download_that_the_page_offers_is_there(
    ada: Client, guild: GuildId, media: Path
) -> None:
    session_id = transcribed(guild, media)

    links = re.findall(r'href="((?:document|tracks/\d+)\.\w+)"', page(ada, session_id))

    assert len(links) == 6
    for link in links:
        assert ada.get(f"/sessions/{session_id}/{link}").status_code == 200


def test_a_title_of_markup_and_controls_makes_a_plain_file_name(
    ada: Client, guild: GuildId, media: Path
) -> None:
    session_id = transcribed(guild, media, title='../"x"\r\nSet-Cookie: a=b; مجلس')

    response = ada.get(f"/sessions/{session_id}/document.md")

    assert response["Content-Disposition"] == 'attachment; filename="x-set-cookie-a-b.md"'


@pytest.mark.parametrize(
    "path",
    [
        "../outside.json",
        "/etc/hostname",
        "documents/{guild}/../../secret.json",
        "documents/118000000000000002/1/1.json",
        "audio/{guild}/1.json",
        "documents/{guild}/1/gone.json",
        "documents/{guild}/1\0.json",
        "",
    ],
)
def test_a_result_outside_the_guilds_own_folder_is_never_read(
    ada: Client, guild: GuildId, media: Path, path: str
) -> None:
    content = {"version": 1, "title": "x", "speakers": [], "turns": [], "started_at": None}
    for name in ("../outside.json", "secret.json", "documents/118000000000000002/1/1.json"):
        write(media, name, content)
    session_id = builders.stored_session(guild)
    (track,) = builders.running_jobs(session_id)
    finish(track, path.format(guild=guild).replace("\0", "_"))

    download = ada.get(f"/sessions/{session_id}/tracks/{track.job.id}.json")

    assert download.status_code == 404
    assert '<p class="wide error">' in page(ada, session_id)


def test_a_link_out_of_the_media_folder_is_not_followed(
    ada: Client, guild: GuildId, media: Path, tmp_path: Path
) -> None:
    session_id = transcribed(guild, media)
    secret = tmp_path / "secret.json"
    secret.write_text('{"segments": [], "language": "en", "duration_s": 1}', encoding="utf-8")
    (found,) = media.glob(f"transcripts/{guild}/{session_id}/*.json")
    found.unlink()
    found.symlink_to(secret)
    (track,) = builders.track_ids(session_id)

    assert ada.get(f"/sessions/{session_id}/tracks/{track}.json").status_code == 404


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", "{", "nul\0", '{"segments": 1}', '{"turns": [{"start_s": NaN}]}', "\ud800"],
)
def test_a_broken_file_is_said_in_a_sentence(
    ada: Client, guild: GuildId, media: Path, content: str
) -> None:
    session_id = transcribed(guild, media)
    for found in media.rglob("*.json"):
        found.write_bytes(content.encode(errors="surrogatepass"))

    html = page(ada, session_id)

    assert html.count("cannot be read") == 2
    assert ada.get(f"/sessions/{session_id}/document.md").status_code == 404


@pytest.mark.parametrize("name", ["document.exe", "tracks/{track}.exe", "tracks/99.md"])
def test_what_nobody_made_is_a_404(ada: Client, guild: GuildId, media: Path, name: str) -> None:
    session_id = transcribed(guild, media)
    (track,) = builders.track_ids(session_id)

    response = ada.get(f"/sessions/{session_id}/{name.format(track=track)}")

    assert response.status_code == 404


def test_a_track_of_another_meeting_is_a_404(ada: Client, guild: GuildId, media: Path) -> None:
    session_id = builders.stored_session(guild)
    (track,) = builders.track_ids(transcribed(guild, media))

    assert ada.get(f"/sessions/{session_id}/tracks/{track}.md").status_code == 404
    assert ada.get(f"/sessions/{session_id}/tracks/{track}/requeue").status_code == 404


def test_errors_of_a_track_are_shown_as_text(ada: Client, guild: GuildId) -> None:
    session_id = builders.dead_session(guild, error="<img src=x onerror=alert(1)>")

    html = page(ada, session_id)

    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    assert "<img src=x" not in html
    assert "attempt 1 of" in html


def test_a_cancel_is_asked_with_what_it_stops_and_then_done(ada: Client, guild: GuildId) -> None:
    session_id = builders.stored_session(guild, title="Raid planning", n_tracks=5)
    builders.running_jobs(session_id, n=2)

    asked = ada.get(f"/sessions/{session_id}/cancel").content.decode()
    done = ada.post(f"/sessions/{session_id}/cancel", {"back": "session"}, follow=True)

    assert "5 tracks will not be transcribed. 2 of its jobs are running and stop at once." in asked
    assert done.redirect_chain == [(f"/sessions/{session_id}/", 303)]
    assert "Raid planning is cancelled: 6 jobs stopped." in done.content.decode()
    assert session_detail(session_id).entry.state == "cancelled"


def test_a_requeue_is_asked_with_what_it_does_again_and_then_done(
    ada: Client, guild: GuildId
) -> None:
    session_id = builders.dead_session(guild, title="Raid planning", n_tracks=3)

    asked = ada.get(f"/sessions/{session_id}/requeue").content.decode()
    done = ada.post(f"/sessions/{session_id}/requeue", follow=True)

    assert "1 track will be transcribed again (1 dead)" in asked
    assert "Raid planning is back in the queue with 1 job." in done.content.decode()
    assert session_detail(session_id).entry.jobs.dead == 0


def test_a_hold_takes_its_reason_and_a_release_needs_no_question(
    ada: Client, guild: GuildId
) -> None:
    session_id = builders.stored_session(guild, title="Raid planning")

    asked = ada.get(f"/sessions/{session_id}/hold").content.decode()
    held = ada.post(f"/sessions/{session_id}/hold", {"reason": "wait for consent"}, follow=True)
    released = ada.post(f"/sessions/{session_id}/release", follow=True)

    assert '<label for="id_reason">' in asked
    assert held.redirect_chain == [(f"/guilds/{guild}/#s-{session_id}", 303)]
    assert "“<bdi>wait for consent</bdi>”" in held.content.decode()
    assert "Raid planning is released." in released.content.decode()


@pytest.mark.parametrize("reason", ["x" * 501, "nul\0"])
def test_a_reason_that_cannot_be_kept_is_a_422_and_holds_nothing(
    ada: Client, guild: GuildId, reason: str
) -> None:
    session_id = builders.stored_session(guild)

    response = ada.post(f"/sessions/{session_id}/hold", {"reason": reason})

    assert response.status_code == 422
    assert 'id="id_reason_error"' in response.content.decode()
    assert session_detail(session_id).entry.hold is None


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("hold", "Not held: nothing of Assembly is waiting or running any more."),
        ("cancel", "Not cancelled: nothing of Assembly is waiting or running any more."),
    ],
)
def test_what_a_finished_meeting_refuses_is_a_409(
    ada: Client, guild: GuildId, verb: str, said: str
) -> None:
    session_id = builders.done_session(guild, title="Assembly")

    response = ada.post(f"/sessions/{session_id}/{verb}")

    assert response.status_code == 409
    assert said in response.content.decode()


def test_a_requeue_of_a_meeting_that_still_waits_is_a_409(ada: Client, guild: GuildId) -> None:
    session_id = builders.stored_session(guild, title="Retrospective")

    response = ada.post(f"/sessions/{session_id}/requeue")

    assert response.status_code == 409
    assert "everything of Retrospective is still waiting" in response.content.decode()


def test_a_dead_track_is_done_again_or_left_out_of_the_document(
    ada: Client, guild: GuildId
) -> None:
    session_id = builders.dead_session(guild, n_tracks=2)
    dead = builders.track_ids(session_id)[0]
    root = f"/sessions/{session_id}/tracks/{dead}"

    dropped = ada.post(f"{root}/drop", follow=True)
    repeated = ada.post(f"{root}/drop", follow=True)
    again = ada.post(f"{root}/requeue", follow=True)

    assert "The document no longer waits for the track of" in dropped.content.decode()
    assert "Nothing to do" in repeated.content.decode()
    assert "is back in the queue with" in again.content.decode()


@pytest.mark.parametrize("verb", ["hold", "cancel", "requeue", "move", "bump", "unbump"])
def test_asking_changes_nothing(ada: Client, guild: GuildId, verb: str) -> None:
    session_id = builders.stored_session(guild)
    before = session_detail(session_id)

    assert ada.get(f"/sessions/{session_id}/{verb}").status_code == 200
    # The number is the database's, in which others work too.
    assert session_detail(session_id).version.partition(".")[2] == before.version.partition(".")[2]
    assert events_page(guild) == []
