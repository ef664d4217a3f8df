"""What the page's forms may hold; a value that can never be right is refused here."""

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext_lazy

from guildqueue.domain.errors import InvalidInput
from guildqueue.domain.ids import BIGINT_MAX, EventId, SessionId
from guildqueue.domain.moves import Place, check_move, parse_neighbour


class SignInForm(AuthenticationForm):
    """Django's own, with the attributes that password managers and screen readers use."""

    def __init__(self, request: HttpRequest | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, *args, label_suffix="", **kwargs)
        self.fields["username"].widget.attrs["maxlength"] = 150


class LaneForm(forms.Form):
    """Why something runs next, or no longer; people may leave it out."""

    reason = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("Everybody who sees this queue reads it, here and in the history."),
    )


class HoldForm(forms.Form):
    """Why something is held; people may leave it out."""

    reason = forms.CharField(
        max_length=500,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("Everybody who sees this queue reads it beside the hold."),
    )


def parse_to(sent: QueryDict, moved: SessionId) -> tuple[Place, SessionId | None]:
    """Where a page's form wants a session: ``to`` is ``first``, ``last`` or ``after 77``.

    Raises InvalidInput as check_move does.
    """
    place, _, neighbour = sent.get("to", "").partition(" ")
    return check_move(place, moved=moved, neighbour=neighbour)


def parse_after(sent: QueryDict) -> SessionId | None:
    """The session that a page of the queue starts behind; raises InvalidInput for no id."""
    value = sent.get("after")
    return None if value is None else parse_neighbour(value)


def parse_before(sent: QueryDict) -> EventId | None:
    """The record that a page of the history starts behind; raises InvalidInput for no id."""
    value = sent.get("before")
    try:
        return None if value is None else EventId(parse_neighbour(value))
    except InvalidInput as error:
        raise InvalidInput("before", value, error.allowed) from error


def parse_place_number(sent: QueryDict) -> int | None:
    """The ``number`` in line that a session should follow, None if none was sent.

    Raises InvalidInput for anything but a whole number from 1.
    """
    value = sent.get("number", "").strip()
    if not value:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 20 and int(value) > 0):
        raise InvalidInput("number", value, f"a place in line, from 1 to {BIGINT_MAX}")
    return int(value)
