"""What is true of the markup of every page, and of the styles they wear."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from tests import builders
from tests.web.pages import HOSTILE, Markup, page_paths, stored_meetings

CSS = sorted((Path(settings.BASE_DIR) / "static" / "css").glob("*.css"))


@pytest.fixture
def pages(committed_db: None) -> dict[str, str]:
    """Every page by name, with hostile text wherever people's text may stand."""
    guild = builders.stored_guild(name=f"Guild {HOSTILE}")
    client = builders.signed_in(builders.stored_user("onlooker", guilds=[guild]))
    found = {"sign-in": Client().get("/accounts/login/").content.decode()}
    for name, path in page_paths(guild, stored_meetings(guild)).items():
        response = client.get(path)
        assert response.status_code == (404 if name == "nowhere" else 200), path
        found[name] = response.content.decode()
    return found


def test_every_page_is_sound(pages: dict[str, str]) -> None:
    for name, html in pages.items():
        markup = Markup(html)

        assert [i for i, n in markup.ids.items() if n > 1] == [], name
        assert markup.references - set(markup.ids) == set(), name
        assert markup.blocked == [], name
        assert (markup.tags["h1"], markup.tags["main"]) == (1, 1), name


def test_every_control_of_the_queue_has_an_id(pages: dict[str, str]) -> None:
    queue = pages["queue"]
    live = queue[queue.index('<div id="queue"') : queue.index("</main>")]

    controls = Markup(live).buttons

    assert len(controls) > 10
    assert [c for c in controls if not c.get("id")] == []


def test_the_live_region_carries_nobodys_token(pages: dict[str, str]) -> None:
    queue = pages["queue"]
    live = queue[queue.index('<div id="queue"') :]

    assert "csrfmiddlewaretoken" in queue
    assert "csrfmiddlewaretoken" not in live
    assert "onlooker" in queue
    assert "onlooker" not in live


def test_the_form_of_the_rows_has_no_default_button(pages: dict[str, str]) -> None:
    form = re.search(r'<form id="act".*?</form>', pages["queue"], re.DOTALL)

    assert form is not None
    assert "<button disabled hidden></button>" in form.group()


def test_the_styles_stay_small_and_take_colours_from_the_tokens() -> None:
    assert sum(path.stat().st_size for path in CSS) < 40 * 1024
    for path in CSS:
        text = path.read_text(encoding="utf-8")
        assert "!important" not in text, path.name
        assert len(text.splitlines()) <= 250, path.name
        if path.name != "tokens.css":
            assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[^{]*[;}])", text) == [], path.name


@pytest.mark.parametrize("name", ["width", "height", "margin-left", "padding-right", "left"])
def test_the_styles_know_no_physical_directions(name: str) -> None:
    for path in CSS:
        text = path.read_text(encoding="utf-8")
        assert re.findall(rf"[\s{{;](?:min-|max-)?{name}\s*:", text) == [], path.name


def test_every_style_sheet_is_on_the_page(pages: dict[str, str]) -> None:
    for path in CSS:
        assert f'href="/static/css/{path.name}"' in pages["queue"]
