"""The translations: what the code says, what a catalogue has, and its compiled form.

``python -m tests.catalogue`` compiles every ``.po`` without gettext's tools.
Source: GNU gettext manual, "The Format of GNU MO Files".
"""

import ast
import re
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from django.utils.translation.template import templatize

PROJECT = Path(__file__).resolve().parent.parent
LOCALE = PROJECT / "locale"
SINGLE = {"_", "gettext", "gettext_lazy", "gettext_noop"}
PLURAL = {"ngettext", "ngettext_lazy"}
IN_CONTEXT = {"pgettext", "pgettext_lazy"}


class Message(NamedTuple):
    """What a translator sees: ``plural`` and ``context`` are "" where there is none."""

    text: str
    plural: str = ""
    context: str = ""

    @property
    def key(self) -> str:
        """What the compiled catalogue knows it by."""
        text = f"{self.text}\0{self.plural}" if self.plural else self.text
        return f"{self.context}\x04{text}" if self.context else text


def said() -> dict[Message, str]:
    """Every message of the console, and a file that says it."""
    found: dict[Message, str] = {}
    for path in sorted((PROJECT / "console").rglob("*.py")):
        found |= dict.fromkeys(_in_python(path.read_text("utf-8")), _name(path))
    for path in sorted((PROJECT / "templates").rglob("*.html")):
        # The double of a template in Python: its messages are calls there.
        code = templatize(path.read_text("utf-8"), origin=str(path))
        calls = re.findall(r"\b(n?p?gettext|_)\((.*?)\)(?=\s|$)", code, re.DOTALL)
        text = "\n".join(f"{name}({arguments})" for name, arguments in calls)
        found |= dict.fromkeys(_in_python(text), _name(path))
    return found


def _name(path: Path) -> str:
    return str(path.relative_to(PROJECT))


def _in_python(code: str) -> Iterator[Message]:
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        texts = [a.value for a in node.args if isinstance(a, ast.Constant)]
        match node.func.id, [text for text in texts if isinstance(text, str)]:
            case name, [text, *_] if name in SINGLE:
                yield Message(text)
            case name, [text, plural, *_] if name in PLURAL:
                yield Message(text, plural)
            case name, [context, text, *_] if name in IN_CONTEXT:
                yield Message(text, context=context)


def read_po(path: Path) -> dict[Message, tuple[str, ...]]:
    """A catalogue's translations, one a plural form; the header is Message("")."""
    found: dict[Message, tuple[str, ...]] = {}
    for block in re.split(r"\n\s*\n", path.read_text("utf-8")):
        fields = _fields(block)
        if "msgid" in fields:
            message = Message(
                fields["msgid"], fields.get("msgid_plural", ""), fields.get("msgctxt", "")
            )
            forms = [fields[name] for name in sorted(fields) if name.startswith("msgstr")]
            found[message] = tuple(forms)
    return found


def _fields(block: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    name = ""
    for line in block.splitlines():
        started = re.match(r'(msg[\w\[\]]+) (".*")$', line)
        if started:
            name, quoted = started.groups()
            fields[name] = ast.literal_eval(quoted)
        elif line.startswith('"'):
            fields[name] += ast.literal_eval(line)
    return fields


def compiled(catalogue: Mapping[Message, tuple[str, ...]]) -> bytes:
    """The catalogue as gettext reads it; what is not translated is left out."""
    pairs = sorted(
        (message.key.encode(), "\0".join(forms).encode())
        for message, forms in catalogue.items()
        if all(forms)
    )
    n = len(pairs)
    offset = 28 + 16 * n
    tables: list[list[int]] = [[], []]
    body = b""
    for column, table in enumerate(tables):
        for pair in pairs:
            table += [len(pair[column]), offset + len(body)]
            body += pair[column] + b"\0"
    head = [0x950412DE, 0, n, 28, 28 + 8 * n, 0, offset]
    return struct.pack(f"<{7 + 4 * n}I", *head, *tables[0], *tables[1]) + body


def main() -> int:
    for path in LOCALE.rglob("*.po"):
        path.with_suffix(".mo").write_bytes(compiled(read_po(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
