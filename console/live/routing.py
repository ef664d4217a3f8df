"""Which requests become streams or may wait; all others are Django's alone."""

from typing import Any

from channels.routing import URLRouter
from django.urls import path, re_path

from console import converters  # noqa: F401 - importing registers bigid
from console.api.waiting import Waiting
from console.live.kinds import KINDS
from console.live.streams import Stream


def with_streams(django: Any) -> Any:
    """An HTTP application that answers the streams' addresses itself, and lets claims wait."""
    streams = [path(kind.route, Stream.as_asgi(kind=kind)) for kind in KINDS]
    waiting: Any = Waiting(django)
    claims = re_path(r"^api/claims\Z", waiting)
    return URLRouter([*streams, claims, re_path("", django)])
