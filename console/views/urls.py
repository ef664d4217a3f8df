"""The addresses of the pages: one a resource, its verbs behind it."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import URLPattern, URLResolver, path
from django.views.generic import RedirectView

from console import converters  # noqa: F401 - importing registers bigid
from console.forms import SignInForm
from console.views import downloads, guilds, lane, moves, rules, sessions, tracks

SIGN_IN = LoginView.as_view(authentication_form=SignInForm, redirect_authenticated_user=True)

urlpatterns: list[URLPattern | URLResolver] = [
    path("", RedirectView.as_view(pattern_name="guild-list"), name="home-show"),
    path("accounts/login/", SIGN_IN, name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("guilds/", guilds.index, name="guild-list"),
    path("guilds/<bigid:guild_id>/", guilds.queue, name="guild-queue-show"),
    path("guilds/<bigid:guild_id>/history", guilds.history, name="guild-history"),
    path("guilds/<bigid:guild_id>/hold", guilds.hold, name="guild-hold"),
    path("guilds/<bigid:guild_id>/release", guilds.release, name="guild-release"),
    path("guilds/<bigid:guild_id>/rules/<slug:rule>", rules.preview, name="guild-rule-preview"),
    path("sessions/<bigid:session_id>/", sessions.show, name="session-show"),
    path("sessions/<bigid:session_id>/move", moves.move, name="session-move"),
    path("sessions/<bigid:session_id>/bump", lane.bump, name="session-bump"),
    path("sessions/<bigid:session_id>/unbump", lane.unbump, name="session-unbump"),
    path("sessions/<bigid:session_id>/hold", sessions.hold, name="session-hold"),
    path("sessions/<bigid:session_id>/release", sessions.release, name="session-release"),
    path("sessions/<bigid:session_id>/cancel", sessions.cancel, name="session-cancel"),
    path("sessions/<bigid:session_id>/requeue", sessions.requeue, name="session-requeue"),
    path(
        "sessions/<bigid:session_id>/document.<slug:form>",
        downloads.document,
        name="document-download",
    ),
    path(
        "sessions/<bigid:session_id>/tracks/<bigid:job_id>.<slug:form>",
        downloads.track,
        name="track-download",
    ),
    path(
        "sessions/<bigid:session_id>/tracks/<bigid:job_id>/requeue",
        tracks.requeue,
        name="track-requeue",
    ),
    path("sessions/<bigid:session_id>/tracks/<bigid:job_id>/drop", tracks.drop, name="track-drop"),
]
