"""What a supervisor and a monitoring system ask."""

from django.http import HttpRequest, HttpResponse, JsonResponse


def healthz(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"ok": True})


def metrics(request: HttpRequest) -> HttpResponse:
    return HttpResponse("", content_type="text/plain")
