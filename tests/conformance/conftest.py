"""Every test here runs on every store of the lane."""

from pathlib import Path

import pytest

from tests.conformance.file_lane import FileLane
from tests.conformance.planned_lane import PlannedLane
from tests.conformance.postgres_lane import PostgresLane
from tests.conformance.protocol import DECLARED, LaneUnderTest

DECLARATION = f'[priority]\nsources = ["{DECLARED}"]\n'.encode()


@pytest.fixture(params=["planned", "file", "postgres"])
def lane(request: pytest.FixtureRequest, tmp_path: Path) -> LaneUnderTest:
    """An empty queue whose operator declared one source."""
    made = made_lane(request, tmp_path)
    made.declare(DECLARATION)
    return made


def made_lane(request: pytest.FixtureRequest, folder: Path) -> LaneUnderTest:
    match request.param:
        case "planned":
            return PlannedLane()
        case "file":
            return FileLane(folder)
    # A transaction that is taken back: no test here needs more than one connection.
    request.getfixturevalue("db")
    return PostgresLane(folder)
