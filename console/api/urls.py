"""The addresses of the API, each answering in problems whatever it does not do."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.urls import URLPattern, path, re_path
from django.views.decorators.csrf import csrf_exempt

from console import converters  # noqa: F401 - importing registers bigid
from console.api.application import api
from console.api.openapi import openapi_json
from console.api.problems import method_not_allowed, not_found

View = Callable[..., HttpResponseBase]


def in_problem_terms(view: View) -> View:
    """``view`` answering HEAD as GET, and a method that it does not have with a problem."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "HEAD":
            # The server leaves the body out.
            request.method = "GET"
        response = view(request, *args, **kwargs)
        if isinstance(response, HttpResponseNotAllowed):
            return method_not_allowed(", ".join(allowed(response["Allow"])))
        return response

    return wrapped


def allowed(methods: str) -> list[str]:
    """The methods of an Allow header, in one order and with the HEAD that goes with GET."""
    listed = {method.strip() for method in methods.split(",")}
    return sorted(listed | {"HEAD"} if "GET" in listed else listed)


@csrf_exempt
def nowhere(request: HttpRequest, rest: str = "") -> HttpResponse:
    """What no other address matches; behind all of them, also an id that is no bigint."""
    return not_found(request)


def calls() -> list[URLPattern]:
    """One pattern an address; ninja has one a method, of which only the first is ever reached."""
    found: dict[str, URLPattern] = {}
    for pattern in api.urls[0]:
        # Ninja's address of itself only helps to find the others.
        if isinstance(pattern, URLPattern) and pattern.name != "api-root":
            found.setdefault(str(pattern.pattern), pattern)
    for pattern in found.values():
        pattern.callback = in_problem_terms(cast(View, pattern.callback))
    return list(found.values())


urlpatterns: list[URLPattern] = [
    *calls(),
    path("openapi.json", in_problem_terms(openapi_json), name="api-openapi-show"),
    # Whatever characters are in it: a dot would leave out a line break.
    re_path(r"^(?P<rest>[\s\S]*)\Z", nowhere, name="api-not-found"),
]
