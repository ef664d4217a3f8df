"""A track becomes text; one that cannot become text says why in a sentence."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest

from guildqueue.worker.handler import HandlerWork, PermanentFailure, WorkerUnfit
from recordings import fetch, transcribe, whisper
from recordings.fetch import FetchFailed, fetched
from tests.recording_builders import audio

pytest.importorskip("faster_whisper", reason="requirements-worker.txt is not installed")


def work(uri: object, *, guild: int = 118) -> HandlerWork:
    payload = {"name": "chen.wei", "uri": uri}
    return HandlerWork(
        job_id=4, guild_id=guild, session_id=5, kind="transcribe", token=2, payload=payload
    )


@pytest.fixture(autouse=True)
def media(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("WHISPER_MODEL", raising=False)
    monkeypatch.setenv("GUILDQUEUE_MEDIA_ROOT", str(tmp_path / "media"))
    (tmp_path / "media").mkdir()
    return tmp_path / "media"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_a_real_track_becomes_the_words_that_were_said(
    shared_data: Path, media: Path, no_network: None
) -> None:
    with ZipFile(shared_data / "craig" / "craig-c3Solo.flac.zip") as archive:
        archive.extract("1-chen.wei.flac", media / "audio" / "118" / "c3Solo")

    done = transcribe.run(work("audio/118/c3Solo/1-chen.wei.flac"), lambda _: None)

    written = json.loads((media / done.result["path"]).read_text(encoding="utf-8"))
    assert done.result == {"path": "transcripts/118/5/4-2.json", "segments": 1, "language": "en"}
    assert done.audio_seconds == pytest.approx(3.59, abs=0.01)
    assert written["name"] == "chen.wei"
    assert "opened 23" in written["segments"][0]["text"]
    assert 0 <= written["segments"][0]["start_s"] < written["segments"][0]["end_s"] <= 3.593


def test_silence_is_a_transcript_without_segments(media: Path) -> None:
    (media / "hum.flac").write_bytes(audio(seconds=2))

    done = transcribe.run(work("hum.flac"), lambda _: None)

    assert done.result["segments"] == 0
    assert done.audio_seconds == 2.0


def said(text: str, start: float, end: float) -> SimpleNamespace:
    return SimpleNamespace(word=text, start=start, end=end)


def test_a_segment_is_cut_where_its_speaker_paused_for_another() -> None:
    question, answer = said(" Why?", 1.0, 1.5), said(" I", 9.0, 9.2)
    segment = SimpleNamespace(words=[question, answer, said(" see.", 9.3, 9.8)])
    silent = SimpleNamespace(words=[said(" ", 20.0, 20.1)])
    wordless = SimpleNamespace(words=None)

    assert list(whisper._split_at_pauses([segment, silent, wordless])) == [
        whisper.Segment(1.0, 1.5, "Why?"),
        whisper.Segment(9.0, 9.8, "I see."),
    ]


def test_progress_is_the_part_that_was_heard_and_not_said_too_often(
    media: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (media / "hum.flac").write_bytes(audio(seconds=4))
    clock = iter([0.0, 0.1, 0.6, 0.6, 0.7, 1.2, 1.2])
    heard = [whisper.Segment(float(n), float(n + 1), "Word.") for n in range(4)]
    monkeypatch.setattr(whisper, "decode", lambda _: [0.0] * 4 * whisper.SAMPLE_RATE)
    monkeypatch.setattr("recordings.transcribe.time.monotonic", lambda: next(clock))
    monkeypatch.setattr(whisper, "listen", lambda _: whisper.Heard("en", iter(heard)))
    reported: list[float] = []

    transcribe.run(work("hum.flac"), reported.append)

    assert reported == [0.5, 1.0]


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        (None, "has no audio"),
        ("", "has no audio"),
        (5, "has no audio"),
        ("none.flac", "none.flac is not there"),
        ("/nowhere/none.flac", "/nowhere/none.flac is not there"),
        ("../secret.flac", "leads out of the media folder"),
        ("audio/7/x/1-eve.flac", "belongs to another guild"),
        ("audio/118/../7/x/1-eve.flac", "belongs to another guild"),
        ("file:///nowhere/a%20b.flac", "/nowhere/a b.flac is not there"),
        ("file://elsewhere/a.flac", "another computer"),
        ("ftp://example.org/a.flac", "cannot be read from ftp"),
        ("a\0b.flac", "NUL"),
        (".", "is not a file"),
        ("notes.txt", "not audio"),
        ("empty.flac", "holds no audio"),
    ],
)
def test_a_track_that_no_retry_can_find_ends_the_job_with_a_sentence(
    media: Path, uri: object, reason: str
) -> None:
    (media / "notes.txt").write_text("no audio at all")
    (media / "empty.flac").write_bytes(b"")
    (media.parent / "secret.flac").write_bytes(audio())
    other = media / "audio" / "7" / "x" / "1-eve.flac"
    other.parent.mkdir(parents=True)
    other.write_bytes(audio())

    with pytest.raises(PermanentFailure, match=reason):
        transcribe.run(work(uri), lambda _: None)

    assert not (media / "transcripts").exists()


def test_an_absolute_path_does_not_reach_another_guilds_audio(media: Path) -> None:
    other = media / "audio" / "7" / "1-eve.flac"
    other.parent.mkdir(parents=True)
    other.write_bytes(audio())
    (media.parent / "link.flac").symlink_to(other)

    for uri in (str(other), other.as_uri(), str(media.parent / "link.flac")):
        with pytest.raises(PermanentFailure, match="another guild"):
            transcribe.run(work(uri), lambda _: None)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("large-v3", "no such model on this machine"),
        ("no/such-model", "no such model on this machine"),
        ("gibberish", "no such model on this machine"),
        ("/tmp", "holds no model.bin"),
    ],
)
def test_a_model_that_is_not_here_is_never_downloaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_network: None, model: str, reason: str
) -> None:
    monkeypatch.setenv("WHISPER_MODEL", model)
    monkeypatch.setenv("HF_HOME", str(tmp_path))

    with pytest.raises(WorkerUnfit, match=reason):
        whisper.model_path()


def test_the_bundled_model_is_taken_when_none_is_named() -> None:
    assert (whisper.model_path() / "model.bin").is_file()
    assert whisper.model_path("bundled") == whisper.model_path()


@pytest.mark.parametrize("value", ["-1", "two", "99999"])
def test_a_bad_number_of_threads_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("WHISPER_THREADS", value)

    with pytest.raises(WorkerUnfit, match="WHISPER_THREADS"):
        whisper.threads()


class Audio(BaseHTTPRequestHandler):
    """Answers by the path: whole audio, a redirect, a fault."""

    def do_GET(self) -> None:
        found = {"/gone": 404, "/busy": 503, "/ftp": 302, "/file": 302}.get(self.path, 200)
        body = b"" if self.path == "/empty" else audio(seconds=2)
        self.send_response(found)
        if found == 302:
            target = "ftp://127.0.0.1/a.flac" if self.path == "/ftp" else "file:///etc/passwd"
            self.send_header("Location", target)
        said = len(body) + 1000 if self.path == "/short" else len(body)
        self.send_header("Content-Length", str(said))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Tests print nothing."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Audio) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_track_behind_an_address_is_fetched_and_removed_afterwards(address: str) -> None:
    with fetched(f"{address}/1-ada.flac") as path:
        assert path.read_bytes() == audio(seconds=2)
        assert path.suffix == ".flac"

    assert not path.parent.exists()


def test_a_fetched_track_is_transcribed(address: str) -> None:
    done = transcribe.run(work(f"{address}/1-ada.flac?secret=1"), lambda _: None)

    assert done.audio_seconds == 2.0


@pytest.mark.parametrize(
    ("path", "error", "reason"),
    [
        ("/gone", PermanentFailure, "answers 404"),
        ("/empty", PermanentFailure, "is empty"),
        ("/busy", FetchFailed, "answers 503"),
        ("/short", FetchFailed, "ended after"),
        ("/ftp", PermanentFailure, "nowhere over http"),
        ("/file", PermanentFailure, "nowhere over http"),
    ],
)
def test_an_address_that_gives_no_audio_says_why(
    address: str, path: str, error: type[Exception], reason: str
) -> None:
    with pytest.raises(error, match=reason), fetched(address + path):
        pytest.fail("nothing should have been fetched")


def test_an_address_that_nobody_answers_may_be_tried_again() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

        with pytest.raises(FetchFailed, match="refused"), fetched(f"http://127.0.0.1:{port}/a"):
            pytest.fail("nothing should have been fetched")


def test_a_fetch_keeps_to_its_limits(address: str) -> None:
    with pytest.raises(PermanentFailure, match="larger"), fetched(f"{address}/a", max_bytes=100):
        pytest.fail("nothing should have been fetched")
    with pytest.raises(FetchFailed, match="took longer"), fetched(f"{address}/a", max_seconds=-1):
        pytest.fail("nothing should have been fetched")


def test_an_error_shows_no_secret_of_an_address() -> None:
    url = "https://user:pass@example.org/a.flac?token=secret"

    assert fetch._shown(url) == "https://example.org/a.flac"
