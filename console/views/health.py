"""What a supervisor and a monitoring system ask."""

import functools
import ipaddress
import math

import structlog
from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from console import measures
from guildqueue.services.tokens import token_bearer
from guildqueue.services.upkeep import oldest_snapshot

_FORWARDING_HEADERS = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")
_log = structlog.get_logger(__name__)


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    reason = _fault()
    if reason is None:
        return JsonResponse({"ok": True})
    return JsonResponse({"ok": False, "reason": reason}, status=503, headers={"Retry-After": "5"})


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    if not (_is_local(request) or _has_token(request)):
        raise Http404
    measures.tell_snapshot_age(_snapshot_age_s())
    return HttpResponse(measures.exposition(), content_type=measures.CONTENT_TYPE_LATEST)


def _snapshot_age_s() -> float:
    """NaN where the database does not answer: the process's own figures are told all the same."""
    try:
        found = oldest_snapshot()
    except Error as error:
        _log.warning("metrics: database away", reason=str(error))
        return math.nan
    return found.age_s if found else 0.0


def _fault() -> str | None:
    """Why this process cannot serve, or None. One statement."""
    try:
        applied = MigrationRecorder(connections[DEFAULT_DB_ALIAS]).applied_migrations()
    except Error as error:
        _log.warning("health: database away", reason=str(error))
        return "the database does not answer"
    missing = sorted(_known_migrations() - applied.keys())
    if missing:
        return f"the schema is not current: {len(missing)} migrations from {'.'.join(missing[0])}"
    return None


@functools.cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Those of this release; a newer one may have applied more, which is its own affair."""
    return frozenset(MigrationLoader(None).disk_migrations)


def _is_local(request: HttpRequest) -> bool:
    """Whether the peer is on this host and speaks for itself, not for somebody behind it."""
    if any(header in request.headers for header in _FORWARDING_HEADERS):
        return False
    try:
        peer = ipaddress.ip_address(request.META.get("REMOTE_ADDR") or "")
    except ValueError:
        return False
    mapped = getattr(peer, "ipv4_mapped", None)
    return (mapped or peer).is_loopback


def _has_token(request: HttpRequest) -> bool:
    scheme, _, raw = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not raw.strip():
        return False
    return token_bearer(raw.strip()) is not None
