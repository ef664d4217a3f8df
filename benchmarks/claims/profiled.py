"""Where the rest goes: server time by statement, and Python time by function."""

import cProfile
import io
import pstats
import signal
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.claims import own
from benchmarks.claims.counters import PATH_NAME, Counters
from benchmarks.claims.meter import end, scratch, wait_until
from benchmarks.claims.report import Run
from benchmarks.claims.server import python
from benchmarks.claims.subjects import Subject

MOST_STATEMENTS, MOST_FUNCTIONS = 20, 30
DATABASE = "bench_profile"
STATEMENTS = """
SELECT calls, total_exec_time, total_plan_time, rows,
       shared_blks_hit + shared_blks_read AS buffers, wal_bytes,
       left(regexp_replace(regexp_replace(query, '--[^\n]*', '', 'g'), '\\s+', ' ', 'g'), 110)
  FROM pg_stat_statements JOIN pg_database ON oid = dbid
 WHERE datname = %s AND calls > 1
 ORDER BY total_exec_time + total_plan_time DESC LIMIT %s
"""


def run(run: Run) -> None:
    """The bare loop, then our worker, each for ``n_claims`` jobs or more."""
    run.server.restart(
        shared_preload_libraries="pg_stat_statements",
        **{"pg_stat_statements.track_planning": "on"},
    )
    own.OWN.create(run.server, DATABASE)
    own.fill(run.server, DATABASE, own.Shape(waiting=run.size.deep, done=run.size.done))
    with run.server.connect(DATABASE) as connection:
        connection.execute("CREATE EXTENSION pg_stat_statements")
    for subject in [own.loop(1), own.turnover(10), *map(own.worker, own.WORKERS)]:
        if run.only_subjects in subject.name:
            _profile(run, subject.on(DATABASE))
    run.server.drop(DATABASE)


def _profile(run: Run, subject: Subject) -> None:
    with scratch() as folder:
        path = folder / "profile"
        counters = Counters.create(folder / "counters")
        env = subject.environment(run.server) | {PATH_NAME: str(folder / "counters")}
        words = ["-m", "benchmarks.claims.profiled", str(path), *subject.words]
        process = subprocess.Popen(
            python(*words), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            wait_until(lambda: counters.total > run.size.n_claims, "a warm-up")
            with run.server.connect(DATABASE) as connection:
                connection.execute("SELECT pg_stat_statements_reset()")
            process.send_signal(signal.SIGUSR1)
            begun, n_before = time.perf_counter(), counters.total
            wait_until(lambda: counters.total > n_before + 2 * run.size.n_claims, "the jobs")
            n_jobs, took_s = counters.total - n_before, time.perf_counter() - begun
            statements = _statements(run, n_jobs)
        finally:
            end([process])
        each_ms = 1000 * took_s / n_jobs
        print(f"\n{subject.name}: {n_jobs} jobs, {each_ms:.2f} ms each while profiled")
        print(statements)
        print(_functions(path, counters.total - n_before))


def _statements(run: Run, n_jobs: int) -> str:
    with run.server.connect(DATABASE) as connection:
        found = connection.execute(STATEMENTS, [DATABASE, MOST_STATEMENTS]).fetchall()
    lines = ["server time a job by statement:   exec ms   plan ms   calls  buffers  WAL bytes"]
    for calls, spent, planned, _, buffers, wal, text in found:
        a_job = f"{spent / n_jobs:10.3f}{planned / n_jobs:10.3f}{calls / n_jobs:8.2f}"
        lines.append(f"{'':32}{a_job}{buffers / n_jobs:9.1f}{float(wal) / n_jobs:11.0f}  {text}")
    spent = sum(float(row[1]) + float(row[2]) for row in found) / n_jobs
    return "\n".join([*lines, f"{'all of these':32}{spent:10.3f}"])


def _functions(path: Path, n_jobs: int) -> str:
    if not path.exists():
        return "no profile was written"
    text = io.StringIO()
    stats = pstats.Stats(str(path), stream=text)
    stats.sort_stats("tottime").print_stats(MOST_FUNCTIONS)
    return f"Python time by function, of {n_jobs} jobs:\n{text.getvalue()}"


def main(path: str, words: list[str]) -> None:
    """Run what the words say, as python would; SIGUSR1 starts a profile, written when it ends."""
    import runpy  # noqa: PLC0415  only here, in the process under measurement

    profile = cProfile.Profile()
    signal.signal(signal.SIGUSR1, lambda *_: profile.enable())
    try:
        if words[0] == "-m":
            sys.argv = words[1:]
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit:
        pass
    finally:
        profile.disable()
        profile.dump_stats(path)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
