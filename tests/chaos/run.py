"""A whole run: fill, let everybody work while things go wrong, judge."""

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection, connections

from tests.chaos.administrator import Administrator
from tests.chaos.crew import Crew, crew_of
from tests.chaos.diary import Answer, Told, Write, read_diaries, read_worker_log
from tests.chaos.facts import NOTE_ENDINGS, read_facts
from tests.chaos.fill import fill
from tests.chaos.place import Place
from tests.chaos.plan import Harm, Plan
from tests.chaos.verdict import Seen, late_writes, violations
from tests.chaos.watch import Watch

TOO_MANY_DIED = 20


@dataclass
class Storm:
    """What happens to a crew while it works."""

    plan: Plan
    place: Place
    crew: Crew
    watch: Watch
    administrator: Administrator
    chance: random.Random
    happened: Counter[Harm] = field(default_factory=Counter)
    took_s: float = 0.0

    def rage(self) -> None:
        """Return when every job has ended and been heard of, or time is up."""
        coming, begun_at = self.plan.harms(), time.monotonic()
        while self.watch.n_outstanding and not self._is_hopeless(begun_at):
            self.crew.tend()
            while coming and coming[0][0] <= self.watch.ended_share and self._do(coming[0][1]):
                self.happened[coming.pop(0)[1]] += 1
            time.sleep(0.01)
        self.took_s = time.monotonic() - begun_at
        self.crew.end()

    def _is_hopeless(self, begun_at: float) -> bool:
        is_late = time.monotonic() > begun_at + self.plan.limit_s
        return is_late or len(self.crew.died) > TOO_MANY_DIED

    def _do(self, harm: Harm) -> bool:
        """False if it has to be done later."""
        match harm:
            case Harm.KILL:
                return self.crew.kill()
            case Harm.STOP:
                return self.crew.stop()
            case Harm.CANCEL:
                self.administrator.n_asked += 1
            case _:
                self.place.restart(harm, self.chance)
        return True


def run(plan: Plan, place: Place, folder: Path) -> dict[str, Any]:
    """What was seen: figures, and under ``violations`` what broke which promise.

    Needs Django's settings to lead to ``place``. Leaves diaries and logs in ``folder``.
    """
    for name in ("diaries", "logs"):
        (folder / name).mkdir()
    chance = random.Random(plan.seed)
    n_jobs = _fill(plan, chance)
    watch, administrator = Watch(place.url, n_jobs), Administrator()
    watch.start()
    administrator.start()
    with crew_of(plan, folder, chance) as crew:
        storm = Storm(plan, place, crew, watch, administrator, chance)
        storm.rage()
    administrator.stop()
    watch.stop()
    seen = Seen(n_jobs, _told(folder), read_facts(place.url), watch.caps, place.logs(), crew.died)
    return _storm_figures(storm) | _figures(seen)


def _fill(plan: Plan, chance: random.Random) -> int:
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute(NOTE_ENDINGS)
    n_jobs = fill(plan.n_jobs, chance)
    connections.close_all()
    return n_jobs


def _told(folder: Path) -> Told:
    told = read_diaries(folder / "diaries")
    for path in sorted((folder / "logs").glob("worker-*.jsonl")):
        told.writes.extend(read_worker_log(path))
    return told


def _storm_figures(storm: Storm) -> dict[str, Any]:
    return {
        "seed": storm.plan.seed,
        "processes": len(storm.crew.members),
        "took_s": round(storm.took_s, 1),
        "happened": {harm.value: storm.happened[harm] for harm in Harm},
        "looks_at_caps": storm.watch.n_looks,
    }


def _figures(seen: Seen) -> dict[str, Any]:
    jobs, writes = seen.facts.jobs.values(), seen.told.writes
    refused = [write for write in writes if write.answer is Answer.REFUSED]
    late = late_writes(seen.told)
    return {
        "jobs": seen.n_jobs,
        "claims": sum(job.token for job in jobs),
        "ended": dict(Counter(job.state for job in jobs)),
        "refused": dict(Counter(write.reason for write in refused)),
        "late": len(late),
        "late_refused": sum(write.answer is Answer.REFUSED for write in late),
        "retries": sum(w.write is Write.FAIL and w.answer is Answer.ACCEPTED for w in writes),
        "unanswered": sum(write.answer in (None, Answer.UNKNOWN) for write in writes),
        "caps": {guild: [kept.cap, kept.most_running] for guild, kept in seen.caps.items()},
        "violations": violations(seen),
    }
