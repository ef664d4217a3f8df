"""Every page of the console by name, and what its markup must be like."""

from collections import Counter
from collections.abc import Collection, Mapping
from html.parser import HTMLParser

from guildqueue.domain.ids import GuildId, SessionId
from tests import builders

HOSTILE = '<script>alert("x")</script>\u202eمجلس 🐦'
REFERENCES = ("aria-labelledby", "aria-describedby", "for", "form")


class Markup(HTMLParser):
    """The tags of a page: ids, references to ids, and what the CSP would block."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: Counter[str] = Counter()
        self.references: set[str] = set()
        self.blocked: list[str] = []
        self.buttons: list[dict[str, str | None]] = []
        self.tags: Counter[str] = Counter()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags[tag] += 1
        if given.get("id"):
            self.ids[str(given["id"])] += 1
        for name in REFERENCES:
            self.references.update((given.get(name) or "").split())
        self.blocked += [f"{tag} {name}" for name in given if name == "style" or name[:2] == "on"]
        if tag in ("style", "script") and "src" not in given:
            self.blocked.append(tag)
        if tag in ("button", "select", "input", "summary"):
            self.buttons.append({"tag": tag, **given})


def stored_meetings(guild_id: GuildId) -> dict[str, SessionId]:
    """One meeting in every state, with a title that nobody should type."""
    running = builders.stored_session(guild_id, title=f"running {HOSTILE}", n_tracks=2)
    builders.running_jobs(running, n=1)
    return {
        "running": running,
        "waiting": builders.stored_session(guild_id, title=HOSTILE, participants=[HOSTILE]),
        "recording": builders.stored_session(guild_id, title="recording", recording=True),
        "done": builders.done_session(guild_id, title=f"done {HOSTILE}"),
        "dead": builders.dead_session(guild_id, title="dead", n_tracks=2, error=HOSTILE),
        "cancelled": builders.cancelled_session(guild_id, title="cancelled"),
    }


def page_paths(
    guild_id: GuildId, meetings: Mapping[str, SessionId], *, asked_of: Collection[str] | None = None
) -> dict[str, str]:
    """The address of every page that somebody who is signed in can open.

    ``asked_of`` names the meetings whose confirmations are wanted (default: all).
    """
    paths = {
        "guilds": "/guilds/",
        "queue": f"/guilds/{guild_id}/",
        "history": f"/guilds/{guild_id}/history",
        "guild-hold": f"/guilds/{guild_id}/hold",
        "rule-people": f"/guilds/{guild_id}/rules/many-participants-first",
        "rule-length": f"/guilds/{guild_id}/rules/short-recordings-first",
        "nowhere": "/nowhere/",
    }
    for state, session_id in meetings.items():
        paths[state] = f"/sessions/{session_id}/"
        for verb in ("move", "bump", "unbump", "hold", "cancel", "requeue"):
            if asked_of is not None and state not in asked_of:
                continue
            paths[f"{state}-{verb}"] = f"/sessions/{session_id}/{verb}"
    dead = meetings["dead"]
    track = builders.track_ids(dead)[0]
    paths["track-requeue"] = f"/sessions/{dead}/tracks/{track}/requeue"
    paths["track-drop"] = f"/sessions/{dead}/tracks/{track}/drop"
    return paths
