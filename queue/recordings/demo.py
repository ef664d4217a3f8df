"""Fill an empty database with two guilds that people would believe, and real audio to work on."""

from collections.abc import Callable
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from guildqueue.services.empty_database import is_empty, lock_if_empty
from guildqueue.services.guild_root import declare_sources
from guildqueue.services.register_guild import register_guild
from recordings import demo_book
from recordings.demo_audio import Shelf, recorded_library
from recordings.demo_history import add_guild_sessions
from recordings.demo_people import add_people, add_worker, correct_address, write_sign_ins
from recordings.speech import SpeechMissing

NOT_EMPTY = "The database is not empty: no demo data."
# What may run next without being the operator: the page's buttons, and a script to try it with.
SOURCES = ("console", "nightly-import")


def fill(*, media_root: Path, sign_ins: Path, url: str, say: Callable[[str], None]) -> str:
    """What was done, in a sentence: two guilds, their people and meetings, or nothing.

    All of it is there afterwards or none of it: one transaction, and files are taken back if
    it fails. A database that is not empty is left alone. ``sign_ins`` is the file that says how
    to sign in; ``url`` is where. Where no speech can be made there are no meetings. The account
    that runs this is the operator of both guilds.
    """
    if not is_empty():
        correct_address(sign_ins, url)
        return NOT_EMPTY
    say("Recording the demo's meetings; this takes less than a minute …")
    media_root = media_root.resolve()
    try:
        with recorded_library(media_root, demo_book.recordings()) as library:
            return _fill(Shelf(media_root, library, []), sign_ins, url)
    except SpeechMissing as missing:
        say(f"No demo meetings: {missing}.")
        return _fill(None, sign_ins, url)


def _fill(shelf: Shelf | None, sign_ins: Path, url: str) -> str:
    declared: list[Path] = []
    try:
        with transaction.atomic():
            if not lock_if_empty():
                return NOT_EMPTY
            n_sessions = _add_guilds(shelf, declared)
            users = add_people(demo_book.guilds())
            token = add_worker(demo_book.guilds())
            # Before the commit: nobody could sign in to a demo whose passwords were lost.
            write_sign_ins(sign_ins, {"url": url, "users": users, "worker_token": token})
    except BaseException:
        for path in declared:
            path.unlink(missing_ok=True)
        if shelf is not None:
            shelf.take_back()
        raise
    return f"Two demo guilds with {n_sessions} meetings. How to sign in: {sign_ins}"


def _add_guilds(shelf: Shelf | None, declared: list[Path]) -> int:
    now = timezone.now()
    n_sessions = 0
    for guild in demo_book.guilds():
        made = declare_sources(register_guild(guild.id, name=guild.name), SOURCES)
        declared += [] if made is None else [made]
        if shelf is not None:
            n_sessions += add_guild_sessions(guild, shelf, now=now)
    return n_sessions
