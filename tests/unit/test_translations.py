"""German is complete, and what is compiled is what was written."""

import gettext
import re
from io import BytesIO
from pathlib import Path

import pytest
from django.utils import translation

from console import words
from console.views import outcomes
from guildqueue.services.move import MoveOutcome
from tests.catalogue import LOCALE, Message, compiled, read_po, said

CATALOGUES = sorted(LOCALE.rglob("*.po"))
PLACES = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w+>")


def test_much_is_said_and_from_every_part_of_the_pages() -> None:
    found = said()

    assert len(found) > 200
    assert Message("%(n)s track", "%(n)s tracks") in found
    assert Message("First", context="button") in found
    assert Message("running", context="state") in found


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parent.parent.name)
def test_every_message_is_translated_and_nothing_else(path: Path) -> None:
    catalogue = read_po(path)
    catalogue.pop(Message(""))

    assert set(catalogue) == set(said())
    assert [message for message, forms in catalogue.items() if not all(forms)] == []
    assert {len(forms) for message, forms in catalogue.items() if message.plural} == {2}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parent.parent.name)
def test_translations_keep_the_places_and_the_markup_of_their_messages(path: Path) -> None:
    catalogue = read_po(path)
    catalogue.pop(Message(""))

    for message, forms in catalogue.items():
        for form in forms:
            assert sorted(PLACES.findall(form)) == sorted(PLACES.findall(message.text)), form
            assert '"' not in form, form


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parent.parent.name)
def test_what_is_compiled_is_what_was_written(path: Path) -> None:
    written = compiled(read_po(path))

    assert path.with_suffix(".mo").read_bytes() == written
    assert gettext.GNUTranslations(BytesIO(written)).gettext("just now") == "gerade eben"


def test_the_words_of_the_pages_are_german_for_germans() -> None:
    with translation.override("de"):
        outcome = MoveOutcome(changed=(), order=())

        assert words.duration_words(4320.0) == "1 Std. 12 Min."
        assert words.people_words(1) == "1 Person"
        assert words.number_words(1234) == "1.234"
        assert words.session_state_words("recording") == "nimmt auf"
        assert outcomes.moved("Sitzung", outcome) == "Nichts zu tun: Sitzung steht schon dort."
