"""Settings from the environment: good values in, bad ones refused by name."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from console import databases, env
from console.secret_key import installation_secret

PROJECT = Path(__file__).resolve().parent.parent.parent
SECRET = "correct horse"


@pytest.fixture(autouse=True)
def own_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read here is no setting of the console."""
    monkeypatch.setattr(env, "READ", {})


@pytest.mark.parametrize(
    ("value", "meant"), [("8001", 8001), (" 8001 ", 8001), ("", 8000), ("  ", 8000), (None, 8000)]
)
def test_a_whole_number_is_read_and_empty_means_unset(
    monkeypatch: pytest.MonkeyPatch, value: str | None, meant: int
) -> None:
    if value is not None:
        monkeypatch.setenv("PORT", value)

    assert env.whole_number("PORT", default=8000, low=1, high=65535, unit="TCP port") == meant


@pytest.mark.parametrize("value", ["x", "0", "65536", "1.5", "-1", "1e3", "٣x"])
def test_a_number_out_of_range_is_refused_by_name_value_and_range(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("PORT", value)

    with pytest.raises(ImproperlyConfigured) as refusal:
        env.whole_number("PORT", default=8000, low=1, high=65535, unit="TCP port")

    assert str(refusal.value) == (
        f"PORT={value!r}: must be a whole number from 1 to 65535 (TCP port)"
    )


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "0", "-1", "61", "soon", "1,5"])
def test_seconds_are_finite_and_in_range(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("QUEUE_POLL_SECONDS", value)

    with pytest.raises(ImproperlyConfigured, match=r"QUEUE_POLL_SECONDS=.*from 0\.05 to 60"):
        env.seconds("QUEUE_POLL_SECONDS", default=1, low=0.05, high=60)


def test_a_switch_knows_the_usual_words_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for word, meant in [("true", True), ("1", True), ("off", False), ("False", False)]:
        monkeypatch.setenv("GUILDQUEUE_DEBUG", word)
        assert env.switch("GUILDQUEUE_DEBUG", default=False) is meant

    monkeypatch.setenv("GUILDQUEUE_DEBUG", "maybe")
    with pytest.raises(ImproperlyConfigured, match="GUILDQUEUE_DEBUG='maybe': must be true or"):
        env.switch("GUILDQUEUE_DEBUG", default=False)


def test_a_choice_names_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUEUE_CLAIM_ORDER", "random")

    with pytest.raises(ImproperlyConfigured, match="'random': must be turns or global"):
        env.choice("QUEUE_CLAIM_ORDER", default="turns", among=("turns", "global"))


def test_a_count_may_be_unset_and_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert env.count_or_none("A_CAP", low=1, high=9, unit="jobs") is None
    monkeypatch.setenv("A_CAP", "3")
    assert env.count_or_none("A_CAP", low=1, high=9, unit="jobs") == 3

    monkeypatch.setenv("A_CAP", "0")
    with pytest.raises(ImproperlyConfigured, match=r"'0': must be a whole number from 1 to 9"):
        env.count_or_none("A_CAP", low=1, high=9, unit="jobs")


def test_a_list_drops_blanks_and_refuses_a_part_that_will_not_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ORIGINS", " https://a.example , ,http://b.example:8000,")
    read = env.words("ORIGINS", default=(), allowed="origins", each=env.is_origin)
    assert read == ["https://a.example", "http://b.example:8000"]

    monkeypatch.setenv("ORIGINS", "https://a.example,b.example")
    with pytest.raises(ImproperlyConfigured, match="ORIGINS="):
        env.words("ORIGINS", default=(), allowed="origins", each=env.is_origin)


@pytest.mark.parametrize(
    "value",
    [
        f"mysql://u:{SECRET}@h/n",
        f"postgresql://u:{SECRET}@h",
        f"postgresql://u:{SECRET}@h:port/n",
        f"u:{SECRET}@h/n",
    ],
)
def test_a_bad_database_address_is_refused_without_repeating_its_password(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", value)

    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL") as refusal:
        databases.from_environment(embedded_data_dir=Path("/nowhere"), program="test")

    assert SECRET not in str(refusal.value)


def test_options_in_the_database_address_win_over_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://u:p@h/n?connect_timeout=9&sslmode=require")

    options = databases.from_environment(embedded_data_dir=Path("/nowhere"), program="test")[
        "OPTIONS"
    ]

    assert (str(options["connect_timeout"]), options["sslmode"]) == ("9", "require")
    assert options["server_side_binding"] is True


@pytest.mark.parametrize(("value", "threshold"), [("true", 5), ("false", None)])
def test_prepared_statements_can_be_turned_off(
    monkeypatch: pytest.MonkeyPatch, value: str, threshold: int | None
) -> None:
    monkeypatch.setenv("QUEUE_PREPARED_STATEMENTS", value)

    database = databases.from_environment(embedded_data_dir=Path("/nowhere"), program="test")

    assert database["OPTIONS"]["prepare_threshold"] == threshold


def test_the_installation_secret_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"

    first, second = installation_secret(data_dir), installation_secret(data_dir)

    assert first == second
    assert len(first) >= 50
    assert (data_dir / "secret-key").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in data_dir.iterdir()] == ["secret-key"]


def test_a_damaged_secret_is_refused_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "secret-key").write_text("short")

    with pytest.raises(ImproperlyConfigured, match="secret-key is damaged"):
        installation_secret(tmp_path)


def test_an_impossible_data_directory_is_refused_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ImproperlyConfigured, match="GUILDQUEUE_DATA_DIR"):
        installation_secret(tmp_path / "file" / "data")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "http"),
        ("QUEUE_LEASE_SECONDS", "nan"),
        ("GUILDQUEUE_SECRET_KEY", "short"),
        ("QUEUE_RETRY_BASE_SECONDS", "700"),
    ],
)
def test_a_command_with_a_bad_setting_ends_with_one_line_and_exit_1(
    tmp_path: Path, name: str, value: str
) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=PROJECT,
        env={"PATH": "/usr/bin:/bin", "GUILDQUEUE_DATA_DIR": str(tmp_path), name: value},
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(name)


def test_the_path_of_a_speech_model_must_hold_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("A_MODEL", str(tmp_path))

    with pytest.raises(ImproperlyConfigured, match=r"A_MODEL=.*holds no model\.bin"):
        env.speech_model("A_MODEL", default="bundled", allowed="a model")

    (tmp_path / "model.bin").touch()
    assert env.speech_model("A_MODEL", default="bundled", allowed="a model") == str(tmp_path)


def test_the_name_of_a_speech_model_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_MODEL", "Systran/faster-whisper-small")

    named = env.speech_model("A_MODEL", default="bundled", allowed="a model")

    assert named == "Systran/faster-whisper-small"
