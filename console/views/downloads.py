"""A meeting's document and its tracks' texts as files: Markdown, WebVTT and JSON."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from console.access import administered_session
from console.results import ResultMissing, read_document, read_transcript
from console.views.pages import guild_page
from guildqueue.domain.ids import SessionId
from guildqueue.domain.job import Job, JobState, Kind
from guildqueue.services.browse import session_detail
from recordings import render

CONTENT_TYPES = {
    "md": "text/markdown; charset=utf-8",
    "vtt": "text/vtt; charset=utf-8",
    "json": "application/json",
}


def _to_json(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, indent=1)


Render = Mapping[str, Callable[[Any], str]]
DOCUMENT: Render = {"md": render.to_markdown, "vtt": render.to_webvtt, "json": _to_json}
TRACK: Render = {
    "md": render.transcript_to_markdown,
    "vtt": render.transcript_to_webvtt,
    "json": _to_json,
}


@guild_page
@require_safe
def document(request: HttpRequest, session_id: int, form: str) -> HttpResponse:
    administered_session(request, session_id)
    detail = session_detail(SessionId(session_id))
    job = detail.document.job if detail.document else None
    return _file(job, form, DOCUMENT, read_document, detail.entry.title)


@guild_page
@require_safe
def track(request: HttpRequest, session_id: int, job_id: int, form: str) -> HttpResponse:
    administered_session(request, session_id)
    detail = session_detail(SessionId(session_id))
    found = [d.job for d in detail.jobs if d.job.id == job_id and d.job.kind == Kind.TRANSCRIBE]
    job = found[0] if found else None
    name = f"{detail.entry.title} {job.name}" if job else ""
    return _file(job, form, TRACK, read_transcript, name)


def _file(
    job: Job | None, form: str, renders: Render, read: Callable[[Job], Any], name: str
) -> HttpResponse:
    """The job's text as a download; raises Http404 where there is none to send."""
    if job is None or job.state != JobState.DONE or form not in renders:
        raise Http404("no such file")
    try:
        text = renders[form](read(job))
    except ResultMissing as error:
        raise Http404("no such file") from error
    # Names are people's text: a lone surrogate in one must not end the answer.
    response = HttpResponse(text.encode(errors="replace"), content_type=CONTENT_TYPES[form])
    response.headers["Content-Disposition"] = f'attachment; filename="{_file_name(name)}.{form}"'
    return response


def _file_name(name: str) -> str:
    """Letters, digits and hyphens of ASCII, so that no system or header trips over it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:80] or "meeting"
