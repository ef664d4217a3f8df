"""The file-backed lane under any requests in any order."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

from tests.conformance.file_lane import FileLane
from tests.conformance.machine import LaneMachine
from tests.conformance.protocol import LaneUnderTest


class FileLaneMachine(LaneMachine):
    def new_lane(self) -> LaneUnderTest:
        self.folder = Path(tempfile.mkdtemp(prefix="guildqueue-lane-"))
        return FileLane(self.folder)

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder, ignore_errors=True)


FileLaneMachine.TestCase.settings = settings(
    deadline=None,
    max_examples=40,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow],
)
TestFileLane = FileLaneMachine.TestCase
