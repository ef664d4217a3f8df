"""What every page that asks before it acts needs."""

from django.http import HttpRequest

from guildqueue.domain.session_detail import SessionDetail


def asking(request: HttpRequest, detail: SessionDetail, **more: object) -> dict[str, object]:
    """The session, the page to go back to, and ``more`` of the page's own."""
    back = "session" if request.GET.get("back", request.POST.get("back")) == "session" else ""
    return {"detail": detail, "entry": detail.entry, "back": back, **more}
