"""The lane in the database under any requests in any order."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.conformance.machine import LaneMachine
from tests.conformance.postgres_lane import PostgresLane
from tests.conformance.protocol import LaneUnderTest


class PostgresLaneMachine(LaneMachine):
    """Every example has a guild of its own, so that none is in another one's way."""

    def new_lane(self) -> LaneUnderTest:
        self.folder = Path(tempfile.mkdtemp(prefix="guildqueue-lane-"))
        return PostgresLane(self.folder, skips_unknown=True)

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.mark.django_db
def test_any_requests_in_any_order_leave_the_lane_that_they_derive() -> None:
    run_state_machine_as_test(
        PostgresLaneMachine,
        settings=settings(
            deadline=None,
            max_examples=12,
            stateful_step_count=20,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
