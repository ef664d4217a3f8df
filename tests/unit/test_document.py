"""A meeting's tracks become one text, and the text becomes pages that its words cannot break."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guildqueue.worker.handler import HandlerInput, HandlerWork, PermanentFailure
from recordings import document
from recordings.document import Document, Transcript, merge_tracks
from recordings.render import (
    clock,
    to_markdown,
    to_webvtt,
    transcript_to_markdown,
    transcript_to_webvtt,
)

Said = tuple[float, float, str]


def transcript(name: str, *said: Said) -> Transcript:
    return {
        "version": 1,
        "name": name,
        "language": "en",
        "duration_s": 60.0,
        "segments": [{"start_s": start, "end_s": end, "text": text} for start, end, text in said],
    }


def meeting(*tracks: Transcript, title: str = "retro", started_at: str | None = None) -> Document:
    return {
        "version": 1,
        "title": title,
        "started_at": started_at,
        "speakers": [track["name"] for track in tracks],
        "turns": merge_tracks(tracks),
    }


def lines(*tracks: Transcript) -> list[tuple[str, float, float, str]]:
    return [(t["speaker"], t["start_s"], t["end_s"], t["text"]) for t in merge_tracks(tracks)]


def test_turns_come_by_start_whichever_track_they_are_on() -> None:
    ada = transcript("ada", (0, 2, "Hello."), (5, 6, "Well."))
    ben = transcript("ben", (3, 4, "Hi."))

    assert lines(ada, ben) == [
        ("ada", 0, 2, "Hello."),
        ("ben", 3, 4, "Hi."),
        ("ada", 5, 6, "Well."),
    ]


def test_what_one_speaker_says_without_a_break_is_one_turn() -> None:
    ada = transcript("ada", (0, 2, " One. "), (2, 9, "Two."), (9, 9.5, "Three."))

    assert lines(ada) == [("ada", 0, 9.5, "One. Two. Three.")]


def test_a_speaker_who_came_back_on_a_second_track_stays_one_speaker() -> None:
    first, second = transcript("ada", (0, 2, "One.")), transcript("ada", (3, 4, "Two."))

    assert lines(first, second) == [("ada", 0, 4, "One. Two.")]


def test_two_who_begin_at_once_come_in_the_order_of_their_tracks() -> None:
    ada, ben = transcript("ada", (1, 2, "A.")), transcript("ben", (1, 2, "B."))

    assert [turn[0] for turn in lines(ben, ada)] == ["ben", "ada"]


def test_silence_gives_no_turns() -> None:
    assert lines(transcript("ada"), transcript("ben", (0, 1, "  "))) == []


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 50), st.integers(0, 9), st.text("ab ", max_size=3))),
        max_size=4,
    )
)
def test_every_word_is_kept_once_and_no_two_neighbours_are_one_speaker(
    said: list[list[tuple[int, int, str]]],
) -> None:
    tracks = [
        transcript(f"s{n}", *((start, start + length, text) for start, length, text in track))
        for n, track in enumerate(said)
    ]

    turns = merge_tracks(tracks)

    starts = [turn["start_s"] for turn in turns]
    speakers = [turn["speaker"] for turn in turns]
    assert starts == sorted(starts)
    assert all(a != b for a, b in pairwise(speakers))
    spoken = sorted(w for track in said for _, _, text in track for w in text.split())
    assert sorted(w for turn in turns for w in turn["text"].split()) == spoken


def test_markdown_has_title_date_people_and_timed_turns() -> None:
    found = meeting(
        transcript("ada", (0, 2, "Hello.")),
        transcript("ben", (3723, 3724, "Bye.")),
        started_at="2026-11-23T18:00:04+00:00",
    )

    assert to_markdown(found) == (
        "# retro\n\n23 November 2026, 18:00 UTC\n\nParticipants: ada, ben\n\n"
        "**ada** `0:00:00`\n\nHello.\n\n**ben** `1:02:03`\n\nBye.\n"
    )


def test_markdown_of_silence_says_so() -> None:
    assert "*Nothing was said.*" in to_markdown(meeting(transcript("ada")))
    assert "*Nothing was said.*" in transcript_to_markdown(transcript("ada"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>alert(1)</script>", r"\<script\>alert(1)\</script\>"),
        ("*bold* _it_ `x`", r"\*bold\* \_it\_ \`x\`"),
        ("[a](javascript:x)", r"\[a\](javascript:x)"),
        ("# not a heading", r"\# not a heading"),
        ("- no list", r"\- no list"),
        ("1. no list", r"1\. no list"),
        ("two\n\n# lines", r"two \# lines"),
        ("&amp; &lt;", r"\&amp; \&lt;"),
    ],
)
def test_words_that_look_like_markup_stay_words_in_markdown(text: str, shown: str) -> None:
    page = to_markdown(meeting(transcript("ada", (0, 1, text)), title=text))

    assert f"\n\n{shown}\n" in page


def test_a_name_that_looks_like_markup_stays_a_name() -> None:
    odd = transcript("<b>\n**ada** --> x", (0, 1, "Hi."))

    assert r"**\<b\> \*\*ada\*\* --\> x** `0:00:00`" in to_markdown(meeting(odd))
    assert "<v &lt;b&gt; **ada** --&gt; x>Hi." in to_webvtt(meeting(odd))


def test_webvtt_is_one_cue_a_turn_with_its_speaker() -> None:
    found = meeting(transcript("ada", (0, 2.5, "Hello.")), transcript("ben", (3600.25, 3601, "Hi")))

    assert to_webvtt(found) == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n<v ada>Hello.\n\n"
        "01:00:00.250 --> 01:00:01.000\n<v ben>Hi\n"
    )


def test_webvtt_of_a_track_is_one_cue_a_segment() -> None:
    track = transcript("ada", (0, 2, "One."), (2, 2, "Two."))

    assert transcript_to_webvtt(track) == (
        "WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n<v ada>One.\n\n"
        "00:00:02.000 --> 00:00:02.001\n<v ada>Two.\n"
    )


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_makes_a_cue_or_a_line_of_its_own(name: str, text: str) -> None:
    rendered = to_webvtt(meeting(transcript(name, (0, 1, text))))

    assert rendered.count("-->") == (1 if "<v " in rendered or "\n\n00" in rendered else 0)
    assert len(rendered.splitlines()) in (1, 4)


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0:00:00"), (59.9, "0:00:59"), (-1, "0:00:00")])
def test_a_clock_counts_whole_seconds(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def work(*inputs: HandlerInput, guild: int = 118) -> HandlerWork:
    payload = {"title": "retro", "started_at": None}
    return HandlerWork(
        job_id=9,
        guild_id=guild,
        session_id=5,
        kind="document",
        token=3,
        payload=payload,
        inputs=inputs,
    )


@pytest.fixture
def media(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GUILDQUEUE_MEDIA_ROOT", str(tmp_path))
    return tmp_path


def stored(media: Path, content: str, *, guild: int = 118, name: str = "1-1.json") -> str:
    path = media / "transcripts" / str(guild) / "5" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path.relative_to(media).as_posix()


def test_the_handler_writes_the_document_that_its_result_names(media: Path) -> None:
    ada = stored(media, json.dumps(transcript("old name", (0, 1, "Hi."))))
    ben = stored(media, json.dumps(transcript("ben", (1, 2, "Ho."))), name="2-1.json")
    inputs = (
        HandlerInput(job_id=1, name="ada", result={"path": ada}),
        HandlerInput(job_id=2, name="ben", result={"path": ben}),
    )
    reported: list[float] = []

    done = document.run(work(*inputs), reported.append)

    written = json.loads((media / done.result["path"]).read_text(encoding="utf-8"))
    assert done.result == {"path": "documents/118/5/9-3.json", "turns": 2, "speakers": 2}
    assert [(turn["speaker"], turn["text"]) for turn in written["turns"]] == [
        ("ada", "Hi."),
        ("ben", "Ho."),
    ]
    assert reported == [0.45, 0.9]
    assert [path.name for path in (media / "documents/118/5").iterdir()] == ["9-3.json"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"segments": 5}', "\x00"])
def test_a_text_that_cannot_be_read_ends_the_job_naming_the_track(
    media: Path, content: str
) -> None:
    broken = HandlerInput(job_id=1, name="ada", result={"path": stored(media, content)})

    with pytest.raises(PermanentFailure, match="ada cannot be read; requeue"):
        document.run(work(broken), lambda _: None)


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("transcripts/118/5/none.json", "ada is gone"),
        ("../secret.json", "out of the media folder"),
        ("transcripts/7/5/1-1.json", "another guild"),
        ("a\0b", "NUL"),
    ],
)
def test_a_text_that_is_not_the_guilds_ends_the_job(media: Path, path: str, fault: str) -> None:
    stored(media, json.dumps(transcript("spy", (0, 1, "Secret."))), guild=7)

    with pytest.raises(PermanentFailure, match=fault):
        document.run(work(HandlerInput(job_id=1, name="ada", result={"path": path})), print)
