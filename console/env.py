"""The only reader of the environment: typed, bounded, and refusing a bad value by its name."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from environs import Env, EnvError, ValidationError, validate

_variables = Env()


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable that was read: what it may be and what it is when unset, as docs say it."""

    name: str
    allowed: str
    default: str


READ: dict[str, Setting] = {}
"""Every setting read so far, by name; the table in docs/operations.md is held to it."""


def text(name: str, *, default: str, allowed: str = "text") -> str:
    return str(_read(name, _variables.str, default=default, allowed=allowed))


def speech_model(name: str, *, default: str, allowed: str) -> str:
    """A model's name, or the path of a folder that holds one."""
    value = text(name, default=default, allowed=allowed)
    # A name may hold a slash too, so only what cannot be one is taken for a path.
    is_path = value.startswith(("/", "./", "../", "~"))
    if is_path and not (Path(value).expanduser() / "model.bin").is_file():
        raise ImproperlyConfigured(f"{name}={value!r}: that folder holds no model.bin")
    return value


def secret(name: str, *, allowed: str, parse: Callable[[str], Any] = str) -> Any:
    """``parse`` of the value, or None when unset. A refusal never repeats the value."""
    READ[name] = Setting(name, allowed, "")
    value = _variables.str(name, "")
    if not value:
        return None
    try:
        return parse(value)
    except (ValueError, LookupError):
        raise ImproperlyConfigured(f"{name} (value not shown): must be {allowed}") from None


def switch(name: str, *, default: bool) -> bool:
    shown = "true" if default else "false"
    return bool(_read(name, _variables.bool, default=default, allowed="true or false", shown=shown))


def choice(name: str, *, default: str, among: tuple[str, ...]) -> str:
    rule = validate.OneOf(among)
    return str(
        _read(name, _variables.str, default=default, allowed=" or ".join(among), validate=rule)
    )


def whole_number(name: str, *, default: int, low: int, high: int, unit: str) -> int:
    allowed = f"a whole number from {low} to {high} ({unit})"
    rule = validate.Range(low, high)
    return int(_read(name, _variables.int, default=default, allowed=allowed, validate=rule))


def count_or_none(name: str, *, low: int, high: int, unit: str) -> int | None:
    """A whole number, or None when unset."""
    allowed = f"a whole number from {low} to {high} ({unit})"
    rule = validate.Range(low, high)
    found = _read(name, _variables.int, default=None, allowed=allowed, shown="", validate=rule)
    return None if found is None else int(found)


def identifier(name: str, *, allowed: str) -> int | None:
    """An id as the database holds them, or None when unset."""
    rule = validate.Range(1, 2**63 - 1)
    found = _read(name, _variables.int, default=None, allowed=allowed, shown="", validate=rule)
    return None if found is None else int(found)


def seconds(name: str, *, default: float, low: float, high: float) -> float:
    allowed = f"a number of seconds from {low:g} to {high:g}"
    rule = [_finite, validate.Range(low, high)]
    return float(_read(name, _variables.float, default=default, allowed=allowed, validate=rule))


def words(
    name: str,
    *,
    default: tuple[str, ...],
    allowed: str,
    each: Callable[[str], bool] = bool,
) -> list[str]:
    """The comma-separated parts, blanks dropped; ``each`` says whether a part will do."""
    value = str(_read(name, _variables.str, default=",".join(default), allowed=allowed))
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if not all(map(each, parts)):
        raise ImproperlyConfigured(f"{name}={value!r}: must be {allowed}")
    return parts


def folder(name: str, *, default: Path, shown: str) -> Path:
    """An absolute path; a relative value counts from the working directory."""
    value = str(_read(name, _variables.str, default=str(default), allowed="a path", shown=shown))
    if "\0" in value or not value.strip():
        raise ImproperlyConfigured(f"{name}={value!r}: must be a path")
    return Path(value).expanduser().absolute()


def ordered(low_name: str, low: float, high_name: str, high: float) -> None:
    """Refuse two settings that are sane one by one and not together."""
    if low > high:
        raise ImproperlyConfigured(f"{low_name}={low:g}: must be at most {high_name}={high:g}")


def is_origin(value: str) -> bool:
    return re.fullmatch(r"https?://(\*\.)?[^\s/*?#@]+", value) is not None


def long_secret(value: str) -> str:
    if len(value) < 50:
        raise ValueError("too short to be a secret")
    return value


def _finite(value: float) -> None:
    if not math.isfinite(value):
        raise ValidationError("not finite")


def _read(
    name: str,
    reader: Callable[..., Any],
    *,
    default: Any,
    allowed: str,
    shown: str | None = None,
    **rules: Any,
) -> Any:
    READ[name] = Setting(name, allowed, str(default) if shown is None else shown)
    # `NAME= make run` means "unset" to people, and an empty value is no value of any kind here.
    if not _variables.str(name, "").strip():
        return default
    try:
        return reader(name, **rules)
    except (EnvError, ValueError):
        value = _variables.str(name)
        raise ImproperlyConfigured(f"{name}={value!r}: must be {allowed}") from None
