"""`make run`'s parent: it owns what it starts, says what happens, and leaves nothing behind."""

import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from tests.db.embedded_users import is_running, wait_until

PROJECT = Path(__file__).resolve().parent.parent.parent


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


END = "the output ended"
RUN = (sys.executable, "-m", "console.running")


class Running:
    """``python -m console.running`` on a free port, with its words line by line."""

    def __init__(self, data_dir: Path, words: Sequence[str] = RUN, **environment: str) -> None:
        self.port = free_port()
        inherited = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
        ours = {"GUILDQUEUE_DATA_DIR": str(data_dir), "PORT": str(self.port), "WORKERS": "1"}
        self.log = (data_dir.parent / f"running-{self.port}.log").open("w+")
        self.process = subprocess.Popen(
            words,
            cwd=PROJECT,
            env=inherited | ours | environment,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            start_new_session=True,
        )
        self.words: queue.Queue[str] = queue.Queue()
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.words.put(line)
        self.process.stdout.close()
        self.words.put(END)
        self.log.close()

    def wait_for(self, words: str) -> str:
        """The next line that holds ``words``."""
        while words not in (line := self.words.get(timeout=90)):
            assert line != END, f"ended before it said {words!r}: {self.errors()}"
        return line

    def errors(self) -> str:
        return Path(self.log.name).read_text()[-3000:]

    def answers(self, path: str = "healthz") -> bool:
        try:
            url = f"http://127.0.0.1:{self.port}/{path}"
            with urllib.request.urlopen(url, timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def family(self, data_dir: Path) -> set[int]:
        """Every process of this run: the parent's, and the database's."""
        found = {child.pid for child in psutil.Process(self.process.pid).children(recursive=True)}
        for process in psutil.process_iter(["cmdline"]):
            if str(data_dir) in " ".join(process.info["cmdline"] or []):
                found.add(process.pid)
        return found | {self.process.pid}

    def child(self, word: str) -> psutil.Process:
        children = psutil.Process(self.process.pid).children()
        return next(child for child in children if word in child.cmdline())

    def end(self, number: int) -> int:
        self.process.send_signal(number)
        code = self.process.wait(timeout=30)
        self.reader.join(timeout=30)
        return code


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests here: each of them ends what it starts."""
    return tmp_path_factory.mktemp("running") / "data"


@pytest.fixture
def running(data_dir: Path) -> Iterator[Running]:
    run = Running(data_dir)
    run.wait_for("Guild Queue is ready")
    family = run.family(data_dir)
    yield run
    if run.process.poll() is None:
        run.end(signal.SIGTERM)
    run.reader.join(timeout=30)
    assert wait_until(lambda: not any(map(is_running, family)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything_and_the_exit_is_0(
    running: Running, data_dir: Path, number: int
) -> None:
    family = running.family(data_dir)
    assert len(family) > 4
    assert running.answers("accounts/login/")

    code = running.end(number)

    assert code == 0
    assert wait_until(lambda: not any(map(is_running, family)))


def test_ctrl_c_reaches_everybody_once(running: Running, data_dir: Path) -> None:
    family = running.family(data_dir)

    os.killpg(running.process.pid, signal.SIGINT)

    assert running.process.wait(timeout=30) == 0
    assert wait_until(lambda: not any(map(is_running, family)))


def test_a_killed_parent_takes_everything_with_it(running: Running, data_dir: Path) -> None:
    family = running.family(data_dir)

    running.end(signal.SIGKILL)

    assert wait_until(lambda: not any(map(is_running, family)), timeout_s=20)


def test_a_dead_child_is_started_again_and_the_parent_says_so(running: Running) -> None:
    running.child("daphne").kill()

    line = running.wait_for("ended")

    assert line == "The console ended (signal SIGKILL); starting it again in 1 s.\n"
    assert wait_until(running.answers, timeout_s=30)


def test_a_killed_database_comes_back_under_the_console(running: Running, data_dir: Path) -> None:
    pid = int((data_dir / "postgres" / "postmaster.pid").read_text().splitlines()[0])

    os.kill(pid, signal.SIGKILL)

    assert wait_until(running.answers, timeout_s=30)


def test_a_second_start_makes_what_folders_lack_changes_no_data_and_tells_the_same_sign_ins(
    data_dir: Path,
) -> None:
    before = json.loads((data_dir / "demo.json").read_text())
    folder = data_dir / "guilds" / before["users"][0]["guilds"][0]
    (folder / "queue.toml").unlink()
    folder.rmdir()
    run = Running(data_dir, WORKERS="0")
    said = [run.wait_for("Sign in as") for _ in before["users"]]
    run.wait_for("Ctrl+C")
    n_children = len(psutil.Process(run.process.pid).children())
    run.end(signal.SIGTERM)

    after = json.loads((data_dir / "demo.json").read_text())
    assert n_children == 1
    assert (data_dir / "demo.json").stat().st_mode & 0o777 == 0o600
    assert after == before | {"url": f"http://127.0.0.1:{run.port}"}
    for line, user in zip(said, before["users"], strict=True):
        assert line.split()[3::2] == [user["username"], user["password"]]
    assert list(folder.iterdir()) == []


def test_a_port_that_is_taken_is_one_line_and_exit_1_and_nothing_starts(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run_once(tmp_path, PORT=port)

    assert done.returncode == 1
    assert done.stderr.startswith(f"Port {port} on 127.0.0.1 is taken")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "postgres").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [("PORT", "http"), ("WORKERS", "-1"), ("DATABASE_URL", "postgresql://u:p@127.0.0.1:1/n")],
)
def test_a_bad_setting_is_one_line_and_exit_1(tmp_path: Path, name: str, value: str) -> None:
    done = run_once(tmp_path, **{name: value})

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def run_once(data_dir: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
    return subprocess.run(
        RUN,
        cwd=PROJECT,
        env=inherited | {"GUILDQUEUE_DATA_DIR": str(data_dir)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_end_of_make_alone_is_the_end_of_all(
    tmp_path: Path, data_dir: Path, number: int
) -> None:
    recipe = f"run:\n\t@exec '{sys.executable}' -m console.running\n"
    (tmp_path / "Makefile").write_text(recipe)
    words = ["make", "-s", "-f", str(tmp_path / "Makefile"), "run"]
    run = Running(data_dir, words=words)
    run.wait_for("Guild Queue is ready")
    family = run.family(data_dir)

    run.end(number)

    assert wait_until(lambda: not any(map(is_running, family)))
