"""The streams' addresses by name, for templates and for a server that is not ASGI."""

from django.urls import URLPattern, path

from console import converters  # noqa: F401 - importing registers bigid
from console.live.kinds import KINDS
from console.live.once import show_once

urlpatterns: list[URLPattern] = [
    path(kind.route, show_once, {"kind": kind}, name=kind.name) for kind in KINDS
]
