"""The scaler asks what claims would take: the file in deploy/ is held to the statement of depth."""

import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from guildqueue.domain.filters import JobFilter, parse_filter
from guildqueue.services.claim import claim_jobs
from guildqueue.services.depth import depth_query, queue_depth
from guildqueue.store.statements import load_statements
from tests.builders import STARLING, stored_guild, stored_session
from tests.db.command import queue
from tests.db.races import query
from tests.db.states import SCOPES, fill_at_random
from tests.db.stored import write

pytestmark = pytest.mark.usefixtures("committed_db")

FILE = Path(__file__).resolve().parents[2] / "deploy" / "keda" / "scaledobject.yaml"
EVERYTHING = JobFilter()


def trigger() -> dict[str, Any]:
    scaled = yaml.safe_load(FILE.read_text("utf-8"))
    assert scaled["kind"] == "ScaledObject"
    (found,) = scaled["spec"]["triggers"]
    assert found["type"] == "postgresql"
    metadata: dict[str, Any] = found["metadata"]
    return metadata


def normal(statement: str) -> str:
    """Without comments, and every blank alike."""
    return " ".join(re.sub(r"--[^\n]*", "", statement).split())


def asked(statement: str) -> int:
    """What a scaler hears: one number, by a statement that has no parameters."""
    ((number,),) = query(statement, None)
    assert type(number) is int
    return number


def test_the_scalers_query_is_the_statement_of_depth() -> None:
    counting = normal(load_statements()["count_claimable"]).rstrip("; ")
    pattern = re.sub(r"%\\\((\w+)\\\)s", r"(?:NULL|true|'[^']*')", re.escape(counting))
    filled = normal(trigger()["query"])

    assert filled == normal(depth_query(EVERYTHING)), "put there what queue depth --sql prints"
    summed, _, rest = filled.partition(" FROM ( ")
    assert summed == "SELECT coalesce(sum(n), 0)::bigint AS depth"
    assert re.fullmatch(pattern + r" \) AS by_kind", rest)


@pytest.mark.parametrize("seed", range(12))
def test_the_scaler_hears_what_depth_says_and_claims_take(seed: int) -> None:
    fill_at_random(random.Random(seed))
    depth = sum(queue_depth(EVERYTHING).values())

    assert asked(trigger()["query"]) == depth
    assert len(claim_jobs("w", count=1000, ttl_s=60)) == depth
    assert asked(trigger()["query"]) == 0


@pytest.mark.parametrize("scope", SCOPES)
def test_the_query_of_any_filter_counts_by_it(scope: dict[str, Any], settings: Any) -> None:
    settings.QUEUE_RUNNING_CAP = 3
    fill_at_random(random.Random(5))
    chosen = parse_filter(scope)

    assert asked(depth_query(chosen)) == sum(queue_depth(chosen).values())


@pytest.mark.parametrize("label", ["it's", 'say "so"', "a,b", "{x}", "back\\slash", "100%s", "--"])
def test_a_label_stays_what_it_is_in_the_query(label: str) -> None:
    stored_session(stored_guild(STARLING), n_tracks=2)
    write("UPDATE guildqueue_job SET labels = ARRAY[%s] WHERE kind = 'transcribe'", label)

    found = queue("depth", f"--labels={label}", "--sql").out

    assert asked(found) == 2
    assert asked(depth_query(parse_filter({"labels": [label + "x"]}))) == 0
    assert asked(queue("depth", f"--labels={label}", "--sql", "--json").json["query"]) == 2
