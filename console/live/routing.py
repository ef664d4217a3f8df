"""Which requests become streams; all others are Django's."""

from typing import Any

from channels.routing import URLRouter
from django.urls import path, re_path

from console import converters  # noqa: F401 - importing registers bigid
from console.live.kinds import KINDS
from console.live.streams import Stream


def with_streams(django: Any) -> Any:
    """An HTTP application that answers the streams' addresses itself."""
    streams = [path(kind.route, Stream.as_asgi(kind=kind)) for kind in KINDS]
    return URLRouter([*streams, re_path("", django)])
