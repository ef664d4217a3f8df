"""A claim in turns prepared once, as a worker's connection has it, and what it touches."""

import json
from statistics import median
from typing import Any

import psycopg
from psycopg.errors import Diagnostic

from tests.db.stored import prepared_text
from tests.db.test_explain import CLAIM, Plan, literal

TURN: dict[str, Any] = CLAIM | {"filter_hash": "h"}
LOG_PLANS = """
LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on; SET auto_explain.log_format = json;
SET auto_explain.log_analyze = on; SET auto_explain.log_buffers = on; SET client_min_messages = log
"""


class PreparedTurn:
    """A claim in turns as a worker's connection has it: prepared once, its plans kept."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        text, self.names = prepared_text("claim_in_turns")
        connection.execute(f"PREPARE claim AS {text}")

    def buffers(self, **given: Any) -> int:
        """What one claim touches, the median of nine: a few of them raise a mark. None stays."""
        self._run(given, seed=0.1)
        return int(median(self._run(given, seed=n / 10).buffers for n in range(-8, 1)))

    def _run(self, given: dict[str, Any], *, seed: float) -> Plan:
        """``seed`` decides whether the claim raises a mark, the same in each test run."""
        with self.connection.transaction(force_rollback=True):
            self.connection.execute("SELECT setseed(%s)", [seed])
            found = self.connection.execute(
                f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {self._call(given)}"
            ).fetchone()
        assert found is not None
        return Plan(found[0])

    def plans(self, **given: Any) -> list[Plan]:
        """The plan of every statement inside the claim."""
        found: list[Plan] = []

        def note(notice: Diagnostic) -> None:
            _, _, plan = (notice.message_primary or "").partition("plan:\n")
            if plan:
                found.append(Plan([json.loads(plan)]))

        self.connection.execute(LOG_PLANS)
        self.connection.add_notice_handler(note)
        with self.connection.transaction(force_rollback=True):
            self.connection.execute(self._call(given))
        self.connection.remove_notice_handler(note)
        self.connection.execute("SET auto_explain.log_min_duration = -1")
        return found

    def claim(self, **given: Any) -> list[int]:
        """Claim for good; the jobs' ids."""
        return [row[0] for row in self.connection.execute(self._call(given)).fetchall()]

    def _call(self, given: dict[str, Any]) -> str:
        return f"EXECUTE claim({', '.join(literal((TURN | given)[name]) for name in self.names)})"
