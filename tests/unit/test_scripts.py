"""What the pages load: how much it is, and that what is not ours is what it says it is."""

import hashlib
import json
import re
from importlib import resources
from pathlib import Path

from django.conf import settings

STATIC = Path(settings.BASE_DIR) / "static"
VENDOR = STATIC / "vendor"
HTMX = resources.files("django_htmx") / "static" / "django_htmx"
MOST_BYTES = 150_000


def loaded() -> dict[str, bytes]:
    """Every script and style of a page by name."""
    ours = [p for pattern in ("js/*.js", "css/*.css", "vendor/*.js") for p in STATIC.glob(pattern)]
    found = {str(path.relative_to(STATIC)): path.read_bytes() for path in ours}
    for name in ("htmx-4.min.js", "ext/hx-sse-4.min.js"):
        found[f"django_htmx/{name}"] = (HTMX / name).read_bytes()
    return found


def test_a_page_loads_at_most_150_kilobytes_of_scripts_and_styles() -> None:
    sizes = {name: len(content) for name, content in loaded().items()}

    assert len(sizes) > 20
    assert sum(sizes.values()) <= MOST_BYTES, sorted(sizes.items(), key=lambda item: -item[1])


def test_the_page_loads_what_is_counted() -> None:
    template = (settings.BASE_DIR / "templates" / "_scripts.html").read_text("utf-8")
    scripts = set(re.findall(r'{% static "([^"]+\.js)" %}', template))

    assert scripts <= set(loaded())
    assert "defer" not in re.sub(r"{#.*?#}", "", template)


def test_every_vendored_file_is_recorded_as_it_is() -> None:
    records = json.loads((VENDOR / "vendored.json").read_text("utf-8"))

    assert {r["file"] for r in records} == {p.name for p in VENDOR.iterdir()} - {"vendored.json"}
    for record in records:
        content = (VENDOR / record["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == record["sha256"], record["file"]
        assert record["version"] in record["file"]
        assert record["version"].encode() in content[:200]


def test_our_scripts_use_nothing_that_the_policy_forbids() -> None:
    forbidden = re.compile(r"\beval\(|new Function|setAttribute\(.style|\.cssText|https?://")

    scripts = {path.name: path.read_text("utf-8") for path in STATIC.glob("js/*.js")}

    assert [name for name, text in scripts.items() if forbidden.search(text)] == []
