"""Answers to what went wrong before or behind a view."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form with a missing or old token: says so, and leads back to the page it was on."""
    context = {"reload_url": request.path if request.method == "GET" else _asked_from(request)}
    return render(request, "403_csrf.html", context, status=403)


def _asked_from(request: HttpRequest) -> str:
    """The page that the form stood on, if it is one of ours."""
    origin = request.build_absolute_uri("/")
    came_from = request.headers.get("Referer", "")
    return came_from if came_from.startswith(origin) else "/guilds/"
