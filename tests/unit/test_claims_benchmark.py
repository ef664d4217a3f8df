"""The arithmetic and the plumbing of the claims benchmark; nothing here is timed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.claims.counters import Counters
from benchmarks.claims.figures import Figure, Round, Row, add_round, quartiles, table
from benchmarks.claims.server import environment, parse_tps

PGBENCH = """latency average = 0.229 ms
initial connection time = 1.932 ms
tps = 4362.251234 (without initial connection time)
"""
COUNT_TWICE = "from benchmarks.claims.counters import count; count(); count()"
LOADED = "import benchmarks.__main__, sys; print(*sys.modules)"


def test_the_limit_is_what_pgbench_says() -> None:
    assert parse_tps(PGBENCH) == pytest.approx(4362.251234)


def test_a_limit_that_pgbench_did_not_give_is_no_figure() -> None:
    with pytest.raises(ValueError, match="connection refused"):
        parse_tps("connection refused")


def test_each_rate_is_set_beside_the_limits_before_and_after_it() -> None:
    ours, theirs = Figure(), Figure()
    add_round([ours, theirs], [50, 30], [100, 100, 200])
    assert (ours.ratios, theirs.ratios) == ([0.5], [0.2])


def test_rounds_between_unlike_limits_are_left_out_where_there_are_enough_others() -> None:
    steady, broken = Round(50, 100, 100), Round(50, 100, 1000)
    few = Figure([steady, broken])
    assert (few.counted, few.is_steady) == ([steady, broken], False)
    many = Figure([broken, *[steady] * 5])
    assert (many.counted, many.is_steady) == ([steady] * 5, True)


def test_a_round_without_its_last_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="2 rates need 3 limits, not 2"):
        add_round([Figure(), Figure()], [1, 2], [1, 2])


def test_a_spread_is_the_middle_half() -> None:
    assert quartiles([5, 1, 2, 3, 4]) == "3 (2 to 4)"


def test_the_table_has_a_line_for_each_row() -> None:
    shown = table([Row("peers", "one", "12 /s", "0.5", ">= 0.25"), Row("caps", "other", "3 /s")])
    assert [line.split()[0] for line in shown.splitlines()[2:]] == ["peers", "caps"]
    assert ">= 0.25" in shown


def test_counts_of_all_processes_come_together(tmp_path: Path) -> None:
    path = tmp_path / "counters"
    counters = Counters.create(path)
    env = environment("postgresql:///none", {"BENCH_COUNTERS": str(path)})
    for _ in range(2):
        subprocess.run([sys.executable, "-c", COUNT_TWICE], check=True, env=env)
    assert (counters.total, counters.n_busy) == (4, 2)


def test_a_worker_under_measurement_finds_nothing_of_the_callers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QUEUE_CLAIM_ORDER", "global")
    found = environment("postgresql:///bench", {"QUEUE_WAKE_UPS": "false"})
    assert "QUEUE_CLAIM_ORDER" not in found
    assert found["QUEUE_WAKE_UPS"] == "false"
    assert found["DATABASE_URL"] == "postgresql:///bench"
    assert found["PATH"] == os.environ["PATH"]


def test_no_peer_is_needed_until_it_is_measured() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", LOADED], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "benchmarks.claims.command" in loaded
    assert not {"procrastinate", "pgqueuer", "django_tasks_db", "asyncpg"}.intersection(loaded)
