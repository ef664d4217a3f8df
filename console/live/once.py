"""The streams' addresses where no ASGI server is: what is there now, and when to ask again."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from console.live import door, frames
from console.live.authority import Refusal, judge
from console.live.kinds import Kind, asked_by, subject_of


@require_GET
def show_once(request: HttpRequest, kind: Kind, **ids: int) -> HttpResponse:
    """A stream of one event: its reader comes back, which makes a poll of it."""
    asked = asked_by(door.credential_of(request, kind), ids)
    verdict = judge([asked])[asked]
    if isinstance(verdict, Refusal):
        return door.refusal(request, kind, verdict)
    subject = subject_of(kind, verdict, ids)
    frame = subject.frame(subject.read(), door.form_of(request, kind))
    messages = (frames.opening(int(settings.QUEUE_POLL_SECONDS * 1000)), *frame.messages)
    response = HttpResponse(b"".join(message["body"] for message in messages))
    for name, value in frames.HEADERS:
        response[name.decode()] = value.decode()
    return response
