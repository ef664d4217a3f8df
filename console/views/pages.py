"""What every page about a guild shares: who may ask, what caches may keep, how it refuses."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers, patch_vary_headers
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django_htmx.middleware import HtmxDetails

from guildqueue.domain.errors import GuildNotFound, InvalidInput, JobNotFound, SessionNotFound

View = Callable[..., HttpResponseBase]


def guild_page(view: View) -> View:
    """A view of guild data: for somebody signed in, never stored, refusing bad input as 400."""

    @_signed_in
    @wraps(view)
    def wrapped(request: HttpRequest, **ids: Any) -> HttpResponseBase:
        try:
            response = view(request, **ids)
        except InvalidInput as error:
            response = bad_request(request, str(error))
        except (GuildNotFound, SessionNotFound, JobNotFound) as error:
            # Removed between the look at whose it is and the look at what it is.
            raise Http404("gone meanwhile") from error
        add_never_cache_headers(response)
        patch_vary_headers(response, ["HX-Request"])
        return response

    return wrapped


def _signed_in(view: View) -> View:
    """As login_required; a script is sent to the sign-in, which never lands inside a list."""
    asks = login_required(view)

    @wraps(view)
    def wrapped(request: HttpRequest, **ids: Any) -> HttpResponseBase:
        htmx: HtmxDetails = request.htmx  # type: ignore[attr-defined]
        if not htmx or request.user.is_authenticated:
            return asks(request, **ids)
        back = htmx.current_url_abs_path or settings.LOGIN_REDIRECT_URL
        query = urlencode({REDIRECT_FIELD_NAME: back})
        headers = {"HX-Redirect": f"{settings.LOGIN_URL}?{query}"}
        return HttpResponse(status=401, headers=headers)

    return wrapped


def bad_request(request: HttpRequest, reason: str) -> HttpResponse:
    """The 400 page with what was wrong with the request."""
    return render(
        request,
        "400.html",
        {"reason": _("%(reason)s. Nothing was changed.") % {"reason": reason}},
        status=400,
    )
