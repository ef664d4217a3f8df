"""The file-backed lane, asked through its services."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from guildqueue.domain.grant import Asker
from guildqueue.domain.lane import LaneJob, Standing
from guildqueue.domain.lane_text import spell_item
from guildqueue.domain.principal import Principal, PrincipalKind
from guildqueue.services.list_items import list_items
from guildqueue.services.push_item import push_bumped, push_item
from guildqueue.services.request_item import bump_item, unbump_item
from guildqueue.services.settle_item import settle_item
from guildqueue.store.lane_file import LaneFolder, read_state
from tests.conformance.planned_lane import answer_of
from tests.conformance.protocol import Answer, Recorded, Who

ACCOUNT = Principal(PrincipalKind.ACCOUNT, "tester")


class FileLane:
    """A queue in a folder; a stranger is whoever has another uid than this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = LaneFolder(folder)
        self.files.queue.touch()
        # So that a stranger's refusal finds something to be added to.
        self.files.log.touch()

    def declare(self, content: bytes | None) -> None:
        path = self.folder / "queue.toml"
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_bytes(content)

    def push(
        self,
        name: str,
        *,
        needs: Iterable[str] = (),
        bump: bool = False,
        who: Who = Who.OPERATOR,
        reason: str = "",
    ) -> Answer:
        if not bump:
            push_item(self.folder, slug=name, needs=tuple(needs))
            return Answer(accepted=True)
        outcome = push_bumped(
            self.folder, slug=name, needs=tuple(needs), asker=_asker(who), reason=reason
        )
        return answer_of(outcome)

    def bump(self, name: str, *, who: Who = Who.OPERATOR, reason: str = "") -> Answer:
        return answer_of(bump_item(self.folder, slug=name, asker=_asker(who), reason=reason))

    def unbump(self, name: str, *, who: Who = Who.OPERATOR, reason: str = "") -> Answer:
        return answer_of(unbump_item(self.folder, slug=name, asker=_asker(who), reason=reason))

    def settle(self, name: str, state: str) -> None:
        settle_item(self.folder, slug=name, outcome=Standing(state), by=ACCOUNT)

    def start(self, name: str) -> None:
        """Nothing: what a worker is at is nowhere in the files, so a bump cannot touch it."""

    def lease(self, name: str) -> object:
        return [line for line in _lines(self.files.settled) if line["job_id"] == name]

    def write_as_newer(self, name: str) -> None:
        with self.files.settled.open("a") as file:
            file.write(json.dumps({"job_id": name, "state": "archived", "why": [1]}) + "\n")

    def entangle(self, name: str, needs: Iterable[str]) -> None:
        lines = [
            spell_item(name, needs) if line.partition(":")[0] == name else line
            for line in self.files.queue.read_text().splitlines()
        ]
        self.files.queue.write_text("".join(f"{line}\n" for line in lines))

    def jobs(self) -> Mapping[str, LaneJob[str]]:
        return read_state(self.files).jobs

    def order(self) -> list[str]:
        return [item.job.id for item in list_items(self.folder).items if item.job.is_unfinished]

    def records(self) -> list[Recorded]:
        return [
            Recorded(
                type=line["type"],
                by=line["by"].partition(":")[0],
                job=line["changed"]["job_id"],
                reason=line["reason"],
                refusal=line["changed"].get("refusal"),
                moved=tuple(line["changed"].get("moved", ())),
                removed=tuple(line["changed"].get("removed", ())),
                note=line["changed"]["note"],
                untrusted=line["untrusted"],
            )
            for line in _lines(self.files.log)
        ]


def _asker(who: Who) -> Asker:
    uid = os.getuid() if who.is_operators_account else os.getuid() + 4321
    return Asker(uid=uid, principal=ACCOUNT, source=who.source)


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
