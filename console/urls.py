"""Every address of the console. Each part of it adds its own list here."""

from django.urls import URLPattern, URLResolver, include, path

from console.views import health

handler500 = "console.away.server_error"
urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="health-show"),
    path("metrics", health.metrics, name="metrics-show"),
    path("", include("console.live.urls")),
    path("api/", include("console.api.urls")),
    path("", include("console.views.urls")),
]
