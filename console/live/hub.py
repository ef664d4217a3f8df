"""What a process shows to open pages: the topics somebody looks at, and who may go on looking."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection
from weakref import WeakKeyDictionary

import structlog
from django.conf import settings

from console.away import is_away
from console.live import measures
from console.live.authority import Asked, Refusal, Verdict, judge
from console.live.frames import HEARTBEAT
from console.live.listener import Listener
from console.live.stopping import on_stop_signal
from console.live.subjects import Subject
from console.live.topic import AT_ONCE, Topic
from console.live.viewer import Viewer
from console.live.work import TOGETHER_AT_MOST, Closed, Work
from guildqueue.domain.ids import GuildId

LINGER_S = 5.0
RETRY_CHECK_S = 1.0
_log = structlog.get_logger(__name__)


class Hub:
    """One a process and event loop. It does nothing, and holds nothing, while nobody looks."""

    def __init__(self, *, poll_s: float, heartbeat_s: float) -> None:
        self.work = Work()
        self._poll_s = poll_s
        self._heartbeat_s = heartbeat_s
        self._listener = Listener(self.work, self._wake, prove_every_s=heartbeat_s)
        self._topics: dict[Subject, Topic] = {}
        self._watching: dict[Subject, asyncio.Task[None]] = {}
        self._own: list[asyncio.Task[None]] = []
        self._rest_later: asyncio.TimerHandle | None = None
        self.is_stopping = False

    @property
    def n_viewers(self) -> int:
        return sum(len(topic.viewers()) for topic in self._topics.values())

    async def admit(self, asked: Asked) -> Verdict:
        """Whether they may watch; asked together with whoever comes at the same moment."""
        if self.is_stopping:
            raise Closed
        return await self.work.together(judge, asked)

    @contextlib.asynccontextmanager
    async def watching(self, subject: Subject, form: str) -> AsyncIterator[Topic]:
        """The topic, with a current frame of that form; raises what reading it raised."""
        if self.is_stopping:
            raise Closed
        topic = self._topics.get(subject) or self._begin(subject)
        try:
            async with topic.expecting(form):
                yield topic
        finally:
            self._drop_if_unwatched(topic)

    def leave(self, subject: Subject, viewer: Viewer) -> None:
        """Forget the viewer, and the topic with its last one."""
        viewer.close()
        topic = self._topics.get(subject)
        if topic is not None:
            topic.leave(viewer)
            self._drop_if_unwatched(topic)

    def stop(self) -> None:
        """End all streams without a reason, so that their pages come back to whoever is next."""
        self.is_stopping = True
        for topic in self._topics.values():
            topic.end("")
        for task in (*self._own, *self._watching.values()):
            task.cancel()
        self.work.close()

    def _begin(self, subject: Subject) -> Topic:
        self._wake_up()
        topic = self._topics[subject] = Topic(subject, self.work, poll_s=self._poll_s)
        self._watching[subject] = asyncio.create_task(topic.watch())
        measures.subjects_watched.labels(subject.kind).inc()
        return topic

    def _drop_if_unwatched(self, topic: Topic) -> None:
        if not topic.is_unwatched or self._topics.get(topic.subject) is not topic:
            return
        del self._topics[topic.subject]
        self._watching.pop(topic.subject).cancel()
        measures.subjects_watched.labels(topic.subject.kind).dec()
        if not self._topics and self._rest_later is None:
            # Whoever goes from page to page closes one stream and opens the next.
            loop = asyncio.get_running_loop()
            self._rest_later = loop.call_later(LINGER_S, self._fall_asleep)

    def _wake_up(self) -> None:
        if self._rest_later is not None:
            self._rest_later.cancel()
            self._rest_later = None
        if not self._own:
            on_stop_signal(self.stop)
            tasks = (self._listener.run(), self._beat())
            self._own = [asyncio.create_task(task) for task in tasks]

    def _fall_asleep(self) -> None:
        self._rest_later = None
        for task in self._own:
            task.cancel()
        self._own = []

    def _wake(self, guild_id: GuildId | None) -> None:
        for topic in self._topics.values():
            topic.wake(guild_id)

    async def _beat(self) -> None:
        """A sign of life to everybody every so often, once it is known that they may have it."""
        pause_s = self._heartbeat_s
        while True:
            await asyncio.sleep(pause_s)
            try:
                await self._check(list(self._topics.values()))
            except Exception as error:  # noqa: BLE001 - tried again soon
                # Nobody gets a sign of life from a console that cannot tell who they are.
                pause_s = min(RETRY_CHECK_S, self._heartbeat_s)
                if not is_away(error):
                    _log.exception("live: viewers cannot be checked")
            else:
                pause_s = self._heartbeat_s

    async def _check(self, topics: Collection[Topic]) -> None:
        viewers = [viewer for topic in topics for viewer in topic.viewers()]
        asked = list({viewer.asked for viewer in viewers})
        verdicts: dict[Asked, Verdict] = {}
        for start in range(0, len(asked), TOGETHER_AT_MOST):
            verdicts |= await self.work.run(judge, asked[start : start + TOGETHER_AT_MOST])
        for place, viewer in enumerate(viewers, 1):
            verdict = verdicts[viewer.asked]
            if isinstance(verdict, Refusal):
                viewer.end(verdict)
            else:
                viewer.note(HEARTBEAT)
            if place % AT_ONCE == 0:
                await asyncio.sleep(0)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def current_hub() -> Hub:
    """The hub of the running event loop, made at its first use."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(
            poll_s=settings.QUEUE_POLL_SECONDS, heartbeat_s=settings.LIVE_HEARTBEAT_SECONDS
        )
    return _hubs[loop]
