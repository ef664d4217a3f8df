"""Every route of the project, found from its URL configuration, and addresses that reach it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, resolve

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)")


@dataclass(frozen=True)
class Route:
    """One leaf of the URL configuration: its name, its whole pattern and what it calls."""

    name: str
    pattern: str
    view: Any

    @property
    def parameters(self) -> frozenset[str]:
        return frozenset(a or b for a, b in PARAMETER.findall(self.pattern))

    @property
    def template(self) -> str:
        """The address with ``{parameter}`` in it, as OpenAPI spells it."""
        bare = self.pattern.replace("^", "").replace("$", "").replace("\\Z", "")
        return "/" + PARAMETER.sub(lambda found: f"{{{found[1] or found[2]}}}", bare)

    def path(self, values: Mapping[str, object]) -> str:
        """An address of the route. Raises if that address leads to another one."""
        path = self.template.format(**values)
        reached = resolve(path).func
        if reached is not self.view:
            raise LookupError(f"{path} leads to {reached}, not to the route {self.name}")
        return path


def every_route(
    resolver: URLResolver | None = None, before: str = "", namespace: str = ""
) -> Iterator[Route]:
    """All routes below ``resolver`` (default: the project's), however deep they are included."""
    for entry in (resolver or get_resolver()).url_patterns:
        pattern = before + str(entry.pattern)
        if isinstance(entry, URLResolver):
            inner = f"{namespace}{entry.namespace}:" if entry.namespace else namespace
            yield from every_route(entry, pattern, inner)
        elif isinstance(entry, URLPattern):
            yield Route(f"{namespace}{entry.name}", pattern, entry.callback)
