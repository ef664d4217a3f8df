"""What holds for every text that is redacted and every record that is sealed."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from guildqueue.domain.ids import BIGINT_MAX, BIGINT_MIN, EventId, GuildId
from guildqueue.domain.ledger import EventType, LedgerRecord, digest_input
from guildqueue.domain.redaction import redact, redact_value

thorough = settings(deadline=None, max_examples=200)

# Words around which secrets are found, joined in every way, with the rest of Unicode between.
PIECES = st.sampled_from(
    ["password", "Authorization", "Cookie", "bearer ", "secret", "gq_abcdefghij", "postgres://",
     "https://", "@", ":", "=", "'", '"', "\\", "?token=", "&sig=", " ", "\n", "/", "[redacted]",
     "***", "x", "token"]
) | st.text(max_size=3)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=12).map("".join)
SECRETS = st.text("abcXYZ019_-", min_size=8, max_size=40)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(BIGINT_MIN, BIGINT_MAX)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


def sealed(changed: Any) -> bytes:
    record = LedgerRecord(
        event_id=EventId(1),
        guild_id=GuildId(2),
        at=datetime(2026, 1, 2, tzinfo=UTC),
        type=EventType.SESSION_MOVED,
        by="user:ada",
        on_behalf_of=None,
        reason="",
        changed=changed,
        correlation_id="",
        untrusted=False,
        prev_digest="",
    )
    return rfc8785.dumps(digest_input(record))


def through_jsonb(value: Any) -> Any:
    """``value`` as jsonb gives it back: numbers as plain decimals, no negative zero."""

    def number(text: str) -> Any:
        plain = f"{Decimal(text):f}"
        return float(plain) + 0.0 if "." in plain else int(plain)

    return json.loads(json.dumps(value), parse_float=number)


@thorough
@given(text=TEXTS)
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)

    assert redact(once) == once


@thorough
@given(text=TEXTS)
def test_what_was_redacted_can_be_stored(text: str) -> None:
    kept = redact(text)

    assert "\x00" not in kept
    assert kept.encode().decode() == kept


@thorough
@given(before=TEXTS, secret=SECRETS, after=TEXTS)
def test_a_token_of_ours_is_found_wherever_it_stands(before: str, secret: str, after: str) -> None:
    assert f"gq_{secret}" not in redact(f"{before}gq_{secret}{after}")


@thorough
@given(before=st.text(max_size=20), secret=SECRETS, after=st.text(max_size=20))
def test_the_credentials_of_a_database_url_are_found_wherever_it_stands(
    before: str, secret: str, after: str
) -> None:
    text = redact(f"{before} postgres://ada:{secret}!@db.example/q {after}")

    assert f"{secret}!" not in text


@thorough
@given(value=OBJECTS)
def test_a_value_keeps_its_shape_and_is_redacted_once(value: dict[str, Any]) -> None:
    once = redact_value(value)

    assert redact_value(once) == once
    assert len(once) <= len(value)


@thorough
@given(changed=OBJECTS)
def test_a_record_read_back_has_the_digest_it_was_written_with(changed: dict[str, Any]) -> None:
    kept = redact_value(changed)

    assert sealed(through_jsonb(kept)) == sealed(kept)
