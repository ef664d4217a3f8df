"""The process's own figures for Prometheus."""

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)

__all__ = ["CONTENT_TYPE_LATEST", "count_request", "exposition", "tell_snapshot_age"]

# A caller can invent methods; each would be a series of its own for good.
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))

_requests = Counter(
    "guildqueue_http_requests", "Answered HTTP requests", ["method", "route", "status"]
)
_durations = Histogram(
    "guildqueue_http_request_duration_seconds",
    "Time from a request's arrival to the start of its answer",
    ["route"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)

_snapshot_age = Gauge(
    "guildqueue_oldest_snapshot_seconds",
    "How long the oldest open transaction has held back vacuum; 0 where none does, NaN if unknown",
)


def count_request(method: str | None, route: str, status: int, *, duration_s: float) -> None:
    """``route`` is the URL's name, never its text: ids would make a series each."""
    known = method if method in _METHODS else "other"
    _requests.labels(known, route or "none", str(status)).inc()
    _durations.labels(route or "none").observe(duration_s)


def tell_snapshot_age(age_s: float) -> None:
    _snapshot_age.set(age_s)


def exposition() -> bytes:
    return generate_latest(REGISTRY)
