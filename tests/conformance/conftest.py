"""Every test here runs on every store of the lane."""

from pathlib import Path

import pytest

from tests.conformance.file_lane import FileLane
from tests.conformance.planned_lane import PlannedLane
from tests.conformance.protocol import DECLARED, LaneUnderTest

DECLARATION = f'[priority]\nsources = ["{DECLARED}"]\n'.encode()


@pytest.fixture(params=["planned", "file"])
def lane(request: pytest.FixtureRequest, tmp_path: Path) -> LaneUnderTest:
    """An empty queue whose operator declared one source."""
    made: LaneUnderTest = PlannedLane() if request.param == "planned" else FileLane(tmp_path)
    made.declare(DECLARATION)
    return made
