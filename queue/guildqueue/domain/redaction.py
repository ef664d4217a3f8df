"""What takes secrets out of text before anything of it is kept."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

REDACTED = "[redacted]"

# The names under which secrets travel. Not "token": a fencing token is a plain number that
# errors name.
SENSITIVE_NAME = (
    r"(?:password|passwd|passphrase|pwd|secret(?![a-z])|api[_-]?key|private[_-]?key"
    r"|(?:access|refresh|auth|api|csrf|csrfmiddleware|security|(?<![a-z])id)[_-]?token|sessionid)"
    r"[a-z0-9_-]{0,16}"
)
HEADER_NAME = r"(?:proxy-)?authorization|(?:set-)?cookie|x-api-key"
# An unclosed quote hides everything after it, a bare value everything up to a blank.
QUOTED = r""""(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?"""

# Every pattern takes time linear in the text (or bounds its look ahead), as refused callers
# choose what they send.
HEADER = re.compile(
    rf"""({HEADER_NAME})(\\?["']?\s*[:=]\s*)({QUOTED}|[^\r\n]+)""", re.IGNORECASE | re.DOTALL
)
NAMED_SECRET = re.compile(
    rf"""({SENSITIVE_NAME})(\\?["']?\s*[:=]\s*)({QUOTED}|\S+)""", re.IGNORECASE | re.DOTALL
)
QUERY_SECRET = re.compile(
    r"""([?&][a-z0-9_-]{0,32}(?:token|signature|sig|credential|key)=)[^\s&#"'<>]+""", re.IGNORECASE
)
BEARER = re.compile(r"\b(bearer)\s+[a-z0-9._~+/=-]{8,}", re.IGNORECASE)
OWN_TOKEN = re.compile(r"gq_[A-Za-z0-9_-]{8,}")
# The whole address: host and name of the database are nobody's business either.
DATABASE_URL = re.compile(
    r"""((?:postgres|postgresql|psql|pgsql|postgis)(?:\+[a-z0-9]+)?://)[^\s<>]+""",
    re.IGNORECASE,
)
ANY_URL = re.compile(r"(://)[^\s/?#<>]*@")
# PostgreSQL's text holds no NUL, UTF-8 no half of a surrogate pair.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

SECRET_KEY = re.compile(rf".*(?:{SENSITIVE_NAME}|{HEADER_NAME})", re.IGNORECASE | re.DOTALL)


def redact(text: str) -> str:
    """``text`` without its secrets, and without what a text column cannot hold.

    Own and bearer tokens, authorisation headers and cookies, passwords and other named
    secrets, credentials in URLs. Rather too much is taken out than too little; doing it
    again changes nothing.
    """
    if text.isdecimal():
        return text  # an id, of which a record may hold thousands: no pattern fits one
    text = UNSTORABLE.sub("\ufffd", text)
    text = DATABASE_URL.sub(rf"\1{REDACTED}", text)
    text = ANY_URL.sub(r"\1***@", text)
    text = HEADER.sub(keep_name, text)
    text = NAMED_SECRET.sub(keep_name, text)
    text = QUERY_SECRET.sub(rf"\1{REDACTED}", text)
    text = BEARER.sub(rf"\1 {REDACTED}", text)
    return OWN_TOKEN.sub(REDACTED, text)


def keep_name(found: re.Match[str]) -> str:
    """The name and its separator, with the value taken out and its quotes kept."""
    name, separator, value = found.groups()
    quote = value[0] if value[0] in "\"'" else ""
    return f"{name}{separator}{quote}{REDACTED}{quote}"


def redact_value(value: Any) -> Any:
    """A JSON value with every text in it redacted, object keys included.

    What stands under the name of a secret is taken out whole, whatever it looks like.
    """
    match value:
        case str():
            return redact(value)
        case Mapping():
            return {
                redact(str(key)): REDACTED
                if item is not None and SECRET_KEY.fullmatch(str(key))
                else redact_value(item)
                for key, item in value.items()
            }
        case Sequence() if not isinstance(value, bytes | bytearray):
            return [redact_value(item) for item in value]
        case _:
            return value


def storable(value: Any) -> Any:
    """A JSON value that jsonb takes: without NUL and half a character, without NaN or infinity."""
    match value:
        case str():
            return UNSTORABLE.sub("\ufffd", value)
        case Mapping():
            return {storable(str(key)): storable(item) for key, item in value.items()}
        case Sequence():
            return [storable(item) for item in value]
        case float() if not isfinite(value):
            return None
        case _:
            return value
