"""Settings and addresses of a console whose views can be caught in mid-request."""

from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path

from console.serving import *  # noqa: F403

ROOT_URLCONF = __name__
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
handler500 = "console.away.server_error"


def slow(request: HttpRequest) -> HttpResponse:
    """Says on standard output that it runs, then waits in the database."""
    with connection.cursor() as cursor:
        print("in the database", flush=True)  # noqa: T201
        cursor.execute("SELECT pg_sleep(%s)", [float(request.GET.get("s", "30"))])
    return HttpResponse("never")


def broken_after_the_view(request: HttpRequest) -> HttpResponse:
    """Its session is saved by a middleware, over a connection that is gone by then."""
    request.session["seen"] = True
    connection.ensure_connection()
    connection.connection.close()
    return HttpResponse("never")


def backend(request: HttpRequest) -> HttpResponse:
    """The database's process that answered."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return HttpResponse(str(cursor.fetchone()[0]))


urlpatterns = [
    path("slow", slow),
    path("api/slow", slow),
    path("after", broken_after_the_view),
    path("backend", backend),
]
