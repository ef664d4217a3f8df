"""One thing that somebody looks at: read once a tick whoever looks, sent only when it changed."""

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator

import structlog

from console.away import is_away
from console.live import measures
from console.live.frames import AWAY, BACK, Frame, Message
from console.live.subjects import Reading, Subject
from console.live.viewer import Viewer
from console.live.work import Work
from guildqueue.domain.errors import GuildNotFound, SessionNotFound
from guildqueue.domain.ids import GuildId

AT_ONCE = 250
GONE = "gone"
_log = structlog.get_logger(__name__)


class Topic:
    """A subject, its viewers by form, and the newest reading with its frames."""

    def __init__(self, subject: Subject, work: Work, *, poll_s: float) -> None:
        self.subject = subject
        self._work = work
        self._poll_s = poll_s
        self._viewers: defaultdict[str, set[Viewer]] = defaultdict(set)
        self._expected: Counter[str] = Counter()
        self._lock = asyncio.Lock()
        self._woken = asyncio.Event()
        self._first: asyncio.Task[None] | None = None
        self._reading: Reading | None = None
        self._frames: dict[str, Frame] = {}
        self._fault: Exception | None = None
        self._rests_until = 0.0

    @property
    def is_unwatched(self) -> bool:
        return not any(self._viewers.values()) and not self._expected.total()

    def viewers(self) -> list[Viewer]:
        """Everyone who looks now; they may come and go meanwhile."""
        return [viewer for viewers in self._viewers.values() for viewer in viewers]

    @contextlib.asynccontextmanager
    async def expecting(self, form: str) -> AsyncIterator[None]:
        """Within it there is a current frame of that form; raises what its reading raised."""
        self._expected[form] += 1
        try:
            await self._be_ready(form)
            yield
        finally:
            self._expected[form] -= 1

    def admit(self, viewer: Viewer) -> None:
        """Show what is there, and from now on whatever changes; within ``expecting`` only."""
        self._viewers[viewer.form].add(viewer)
        viewer.show(self._frames[viewer.form])
        measures.streams_open.labels(self.subject.kind).inc()

    def leave(self, viewer: Viewer) -> None:
        """Nothing more to that viewer."""
        if viewer in self._viewers[viewer.form]:
            self._viewers[viewer.form].remove(viewer)
            measures.streams_open.labels(self.subject.kind).dec()

    def wake(self, guild_id: GuildId | None) -> None:
        """Look at once if a change of that guild may show here; None is any guild."""
        found = self._reading
        if guild_id is None or found is None or guild_id in found.guild_ids:
            self._woken.set()

    async def watch(self) -> None:
        """Look whenever it is time or somebody says so, until cancelled."""
        while True:
            await self._rest()
            async with self._lock:
                await self._look_again()

    async def note(self, note: Message) -> None:
        """A small event to everybody."""
        for place, viewer in enumerate(self.viewers(), 1):
            viewer.note(note)
            await _breathe(place)

    def end(self, reason: str) -> None:
        """End every stream."""
        for viewer in self.viewers():
            viewer.end(reason)

    async def _be_ready(self, form: str) -> None:
        if self._fault is not None:
            raise self._fault
        if form in self._frames:
            return
        if self._first is None:
            # One for all who come before it is done: each would wait for the database again.
            self._first = asyncio.create_task(self._look_first())
            self._first.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._first)
        async with self._lock:
            if self._reading is not None and form not in self._frames:
                self._frames[form] = await self._make(self._reading, form)

    async def _look_first(self) -> None:
        async with self._lock:
            await self._look()

    async def _rest(self) -> None:
        # All topics tick together, so that what can be read together is.
        loop = asyncio.get_running_loop()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._poll_s - loop.time() % self._poll_s):
                await self._woken.wait()
        # However often it is woken, at most half of the time it reads.
        await asyncio.sleep(max(0.0, self._rests_until - loop.time()))
        self._woken.clear()

    async def _look_again(self) -> None:
        try:
            await self._look()
        except (GuildNotFound, SessionNotFound):
            self.end(GONE)
        except Exception as error:  # noqa: BLE001 - whatever it is, the pages stay and it is tried again
            await self._lose(error)
        else:
            await self._regain()

    async def _look(self) -> None:
        """Read, and send the frames of what is new; an older moment never replaces a newer."""
        loop = asyncio.get_running_loop()
        began_at = loop.time()
        try:
            found = await self._read()
            before = self._reading
            if before is not None and found.number < before.number:
                return
            if before is not None and found.digest == before.digest:
                self._reading = found
                return
            frames: dict[str, Frame] = {}
            # Somebody may come for an older frame meanwhile, and must be shown this one too.
            while missing := self._forms() - frames.keys():
                for form in missing:
                    frames[form] = await self._make(found, form)
            self._reading, self._frames = found, frames
        finally:
            self._rests_until = 2 * loop.time() - began_at
        await self._show()

    def _forms(self) -> set[str]:
        """The forms that somebody looks at or is about to."""
        watched = {form for form, viewers in self._viewers.items() if viewers}
        return watched | {form for form, n in self._expected.items() if n}

    async def _read(self) -> Reading:
        measures.reads.labels(self.subject.kind).inc()
        return await self.subject.read_by(self._work)

    async def _make(self, found: Reading, form: str) -> Frame:
        measures.frames_made.inc()
        return await self._work.run(self.subject.frame, found, form)

    async def _show(self) -> None:
        for place, viewer in enumerate(self.viewers(), 1):
            viewer.show(self._frames[viewer.form])
            await _breathe(place)

    async def _lose(self, error: Exception) -> None:
        if self._fault is not None:
            return
        self._fault = error
        if is_away(error):
            _log.warning("live: database away", kind=self.subject.kind)
        else:
            _log.exception("live: cannot be read", kind=self.subject.kind, exc_info=error)
        await self.note(AWAY)

    async def _regain(self) -> None:
        if self._fault is not None:
            self._fault = None
            await self.note(BACK)


async def _breathe(place: int) -> None:
    """Let others run now and then while thousands are served."""
    if place % AT_ONCE == 0:
        await asyncio.sleep(0)
