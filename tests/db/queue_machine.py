"""Three guilds under any changes but those of workers: new jobs, and all that reorders them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar, NamedTuple, TypeVar

from django.conf import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from guildqueue.domain.errors import QueueError
from guildqueue.domain.ids import GuildId, JobId, SessionId
from guildqueue.domain.moves import Place
from guildqueue.domain.new_job import Need, NewJob
from guildqueue.domain.new_session import NewTrack
from guildqueue.services import cancel, hold, requeue
from guildqueue.services.add_tracks import add_tracks
from guildqueue.services.bump import bump_job, bump_session
from guildqueue.services.enqueue import enqueue_jobs
from guildqueue.services.move import move_session
from guildqueue.services.register_guild import register_guild
from guildqueue.services.unbump import unbump_job, unbump_session
from tests.builders import caller, session_jobs, stored_session
from tests.db import order_model
from tests.db.claim_checks import forget_everything
from tests.db.claim_model import ClaimModel, Guild, Job, Session
from tests.db.lane_requests import operator
from tests.db.stored import write

GUILDS = {"A": GuildId(7001), "B": GuildId(7002), "C": GuildId(7003)}
LATE = NewTrack(name="late")
EXTERNAL = ("x", "y", "z")
MAX_ATTEMPTS = 2
PLENTY = 25  # outstanding jobs, from which on no new ones come
WAITS = {"": None, "due": timedelta(minutes=-1), "later": timedelta(hours=1)}

guild_names = st.sampled_from(sorted(GUILDS))
usually = st.sampled_from([True, True, False])
label_lists = st.sampled_from([(), (), ("gpu",), ("long",), ("gpu", "long")])
Named = TypeVar("Named", Job, Session)


class Meeting(NamedTuple):
    """A meeting that is there from the start, with a job more than its tracks and its document.

    That job has the labels, and where the meeting ``follows`` needs a job of the one before.
    """

    guild: str
    n_tracks: int
    labels: tuple[str, ...]
    follows: bool


class Drawn(NamedTuple):
    """A job to enqueue, as a failing example shows it; needs are names or external ids."""

    session: str
    needs: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    assignee: str = "worker"
    waits: str = ""
    external_id: str | None = None


@st.composite
def drawn_jobs(draw: st.DrawFn, sessions: Sequence[str], needed: Sequence[str]) -> list[Drawn]:
    """One to four jobs, which may need jobs that are there and earlier ones among them."""
    drawn: list[Drawn] = []
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 4]))):
        known = [*needed, *(job.external_id for job in drawn if job.external_id)]
        external_id = draw(st.none() | st.none() | st.sampled_from(EXTERNAL))
        needs = st.lists(st.sampled_from(known), max_size=2, unique=True) if known else st.just([])
        drawn.append(
            Drawn(
                session=draw(st.sampled_from(sessions)),
                needs=tuple(need for need in draw(needs) if need != external_id),
                labels=draw(label_lists),
                assignee=draw(st.sampled_from(["worker", "worker", "worker", "agent"])),
                waits=draw(st.sampled_from(["", "", "", "due", "later"])),
                external_id=external_id,
            )
        )
    return drawn


class QueueMachine(RuleBasedStateMachine):
    """Meetings are named A1, A2, … by guild, their jobs A1.1, A1.2, … in the order of ids."""

    claim_order: ClassVar[str]
    root: ClassVar[Path]
    model: ClaimModel

    @initialize(
        default_cap=st.sampled_from([None, None, None, 2]),
        meetings=st.lists(
            st.builds(Meeting, guild_names, st.integers(1, 3), label_lists, usually),
            min_size=2,
            max_size=9,
        ),
    )
    def begin(self, default_cap: int | None, meetings: list[Meeting]) -> None:
        forget_everything()
        settings.QUEUE_RUNNING_CAP = default_cap
        self.model = ClaimModel(self.claim_order, default_cap, MAX_ATTEMPTS)
        for name, guild_id in GUILDS.items():
            register_guild(guild_id, name=name, root=str(self.root))
            self.model.guilds[guild_id] = Guild(guild_id, name)
        for meeting in meetings:
            others = [job.name for job in self.model.jobs.values() if job.kind == "transcribe"]
            others = [name for name in others if name[0] == meeting.guild]
            session = self.add_meeting(meeting.guild, meeting.n_tracks, recording=False)
            needs = tuple(others[-1:]) if meeting.follows else ()
            extra = Drawn(session.name, labels=meeting.labels, needs=needs)
            self.enqueue_drawn([extra], session.guild)

    def pick(self, data: st.DataObject, label: str, among: Sequence[Named]) -> Named:
        """One of them, drawn and shown by its name."""
        name = data.draw(st.sampled_from([each.name for each in among]), label)
        return next(each for each in among if each.name == name)

    def sessions_with_jobs(self) -> list[Session]:
        return [s for s in self.model.sessions.values() if self.model.of_session(s.id)]

    def outstanding(self) -> list[Job]:
        return [job for job in self.model.jobs.values() if job.is_outstanding]

    # New jobs

    @precondition(lambda self: len(self.outstanding()) < PLENTY)
    @rule(guild=guild_names, n_tracks=st.integers(0, 3), recording=st.booleans())
    def meet(self, guild: str, n_tracks: int, recording: bool) -> None:
        self.add_meeting(guild, n_tracks, recording=recording)

    def add_meeting(self, guild: str, n_tracks: int, *, recording: bool) -> Session:
        guild_id = GUILDS[guild]
        number = order_model.number_at_the_end(self.model, guild_id)
        session_id = stored_session(guild_id, n_tracks=n_tracks, recording=recording)
        n_before = sum(session.guild == guild_id for session in self.model.sessions.values())
        session = Session(session_id, f"{guild}{n_before + 1}", guild_id, recording)
        self.model.sessions[session_id] = session
        for job in session_jobs(session_id):
            self.add(session, job.id, kind=job.kind, needs=job.needs, priority=number)
        return session

    def add(
        self, session: Session, job_id: JobId, *, kind: str, needs: Sequence[JobId], priority: int
    ) -> Job:
        name = f"{session.name}.{len(self.model.of_session(session.id)) + 1}"
        assert job_id > max(self.model.jobs, default=0)
        self.model.jobs[job_id] = Job(
            id=job_id,
            name=name,
            guild=session.guild,
            session=session.id,
            kind=kind,
            priority=priority,
            needs=frozenset(needs),
        )
        return self.model.jobs[job_id]

    @precondition(lambda self: self.model.sessions and len(self.outstanding()) < PLENTY)
    @rule(data=st.data(), recording=st.sampled_from([None, None, False, True]))
    def track_comes_late(self, data: st.DataObject, recording: bool | None) -> None:
        session = self.pick(data, "meeting", list(self.model.sessions.values()))
        number = order_model.number_of(self.model, session.id)
        if recording is not None:
            session.is_recording = recording

        (track,) = add_tracks(
            session.id, guild_id=session.guild, tracks=[LATE], recording=recording
        )

        self.add(session, track, kind="transcribe", needs=(), priority=number)
        if order_model.await_track(self.model, session.id, track) or session.is_recording:
            return
        *_, document = session_jobs(session.id)
        tracks = [j.id for j in self.model.of_session(session.id) if j.state != "cancelled"]
        self.add(session, document.id, kind="document", needs=tracks, priority=number)

    @precondition(lambda self: len(self.outstanding()) < PLENTY)
    @rule(data=st.data(), guild=guild_names)
    def enqueue(self, data: st.DataObject, guild: str) -> None:
        sessions = [s.name for s in self.model.sessions.values() if s.guild == GUILDS[guild]]
        if sessions:
            known = sorted(self.known_ids(GUILDS[guild]))
            drawn = data.draw(drawn_jobs(sessions, known), "jobs")
            self.enqueue_drawn(drawn, GUILDS[guild])

    def known_ids(self, guild: GuildId) -> dict[str, JobId]:
        """The guild's jobs by their names and by their external ids."""
        jobs = [job for job in self.model.jobs.values() if job.guild == guild]
        external = {job.external_id: job.id for job in jobs if job.external_id}
        return {job.name: job.id for job in jobs} | external

    def enqueue_drawn(self, drawn: Sequence[Drawn], guild: GuildId) -> None:
        by_name = {s.name: s for s in self.model.sessions.values() if s.guild == guild}
        ids = self.known_ids(guild)
        numbers = {s.name: order_model.number_of(self.model, s.id) for s in by_name.values()}

        answers = enqueue_jobs(guild, jobs=[_new_job(job, by_name, ids) for job in drawn])

        for job, answer in zip(drawn, answers, strict=True):
            assert answer.created is (job.external_id is None or job.external_id not in ids)
            if answer.created:
                session = by_name[job.session]
                self.add_drawn(job, session, answer.job_id, ids, numbers[job.session])
            else:
                assert answer.job_id == ids[str(job.external_id)]

    def add_drawn(
        self, drawn: Drawn, session: Session, job_id: JobId, ids: dict[str, JobId], number: int
    ) -> None:
        needs = [ids[need] for need in drawn.needs]
        job = self.add(session, job_id, kind="transcribe", needs=needs, priority=number)
        job.labels, job.assignee_kind = frozenset(drawn.labels), drawn.assignee
        job.external_id, job.is_deferred = drawn.external_id, drawn.waits == "later"
        if drawn.external_id:
            ids[drawn.external_id] = job_id

    # The order

    @precondition(lambda self: self.sessions_with_jobs())
    @rule(data=st.data(), place=st.sampled_from(Place))
    def move(self, data: st.DataObject, place: Place) -> None:
        moved = self.pick(data, "meeting", self.sessions_with_jobs())
        neighbour: SessionId | None = None
        if place in {Place.BEFORE, Place.AFTER}:
            others = [s for s in self.sessions_with_jobs() if s != moved]
            if not others:
                return
            neighbour = self.pick(data, "neighbour", others).id

        refusal = refused(
            lambda: move_session(
                moved.id, guild_id=moved.guild, place=place, neighbour=neighbour, caller=caller()
            )
        )

        assert refusal == order_model.move(self.model, moved.id, place.value, neighbour)

    @precondition(lambda self: self.outstanding())
    @rule(data=st.data(), is_whole=st.booleans())
    def bump(self, data: st.DataObject, is_whole: bool) -> None:
        job = self.pick(data, "job", self.outstanding())
        targets = [job.id]
        if is_whole:
            targets = [j.id for j in order_model.outstanding_of(self.model, job.session)]
            outcome = bump_session(job.session, guild_id=job.guild, asker=operator())
        else:
            outcome = bump_job(job.id, guild_id=job.guild, asker=operator())

        assert outcome.accepted is order_model.bump(self.model, targets), outcome

    @precondition(lambda self: any(job.bump is not None for job in self.outstanding()))
    @rule(data=st.data(), is_whole=st.booleans())
    def unbump(self, data: st.DataObject, is_whole: bool) -> None:
        in_lane = [job for job in self.outstanding() if job.bump is not None]
        job = self.pick(data, "job", in_lane)
        targets = [job.id]
        if is_whole:
            targets = [j.id for j in order_model.outstanding_of(self.model, job.session)]
            outcome = unbump_session(job.session, guild_id=job.guild, asker=operator())
        else:
            outcome = unbump_job(job.id, guild_id=job.guild, asker=operator())

        assert outcome.accepted is order_model.unbump(self.model, targets), outcome

    # What keeps jobs back, ends them and begins them anew

    @precondition(lambda self: self.model.sessions and len(self.held_sessions()) < 2)
    @rule(data=st.data())
    def hold(self, data: st.DataObject) -> None:
        session = self.pick(data, "meeting", list(self.model.sessions.values()))

        refusal = refused(
            lambda: hold.hold_session(
                session.id, guild_id=session.guild, reason="", caller=caller()
            )
        )

        assert refusal == order_model.hold(self.model, session.id)

    @precondition(lambda self: self.held_sessions())
    @rule(data=st.data())
    def unhold(self, data: st.DataObject) -> None:
        session = self.pick(data, "meeting", self.held_sessions())
        assert hold.release_session(session.id, guild_id=session.guild, caller=caller())
        session.is_held = False

    @precondition(lambda self: not self.held_guilds())
    @rule(name=guild_names)
    def hold_guild(self, name: str) -> None:
        assert hold.hold_guild(GUILDS[name], reason="", caller=caller())
        self.model.guilds[GUILDS[name]].is_held = True

    @precondition(lambda self: self.held_guilds())
    @rule()
    def unhold_guild(self) -> None:
        for guild in self.held_guilds():
            assert hold.release_guild(guild.id, caller=caller())
            guild.is_held = False

    def held_sessions(self) -> list[Session]:
        return [session for session in self.model.sessions.values() if session.is_held]

    def held_guilds(self) -> list[Guild]:
        return [guild for guild in self.model.guilds.values() if guild.is_held]

    @rule(name=guild_names, cap=st.sampled_from([None, 1, 2, 3]))
    def set_cap(self, name: str, cap: int | None) -> None:
        guild = self.model.guilds[GUILDS[name]]
        guild.cap = cap
        if cap is not None:
            register_guild(guild.id, running_cap=cap)
            return
        # No service takes a cap away.
        write("UPDATE guildqueue_guild SET running_cap = NULL WHERE id = %s", guild.id)

    @precondition(lambda self: self.outstanding())
    @rule(data=st.data(), is_whole=st.booleans())
    def cancel(self, data: st.DataObject, is_whole: bool) -> None:
        job = self.pick(data, "job", self.outstanding())
        if is_whole:
            cancel.cancel_session(job.session, guild_id=job.guild, caller=caller())
            order_model.cancel(self.model, self.model.of_session(job.session))
        else:
            cancel.cancel_job(job.id, guild_id=job.guild, caller=caller())
            order_model.cancel(self.model, [job])

    @precondition(lambda self: self.ended())
    @rule(data=st.data(), is_whole=st.booleans(), is_built_on=st.booleans())
    def requeue(self, data: st.DataObject, is_whole: bool, is_built_on: bool) -> None:
        """A job, or all of its meeting; preferably what another meeting was built on."""
        job = self.pick(data, "job", (is_built_on and self.built_on()) or self.ended())
        if is_whole:
            refusal = refused(
                lambda: requeue.requeue_session(job.session, guild_id=job.guild, caller=caller())
            )
            assert refusal == order_model.requeue_session(self.model, job.session)
        else:
            refusal = refused(
                lambda: requeue.requeue_job(job.id, guild_id=job.guild, caller=caller())
            )
            assert refusal == order_model.requeue_job(self.model, job)

    def ended(self) -> list[Job]:
        return [job for job in self.model.jobs.values() if not job.is_outstanding]

    def built_on(self) -> list[Job]:
        """Ended jobs that a job of another meeting needed that ran or runs."""
        begun = [job for job in self.model.jobs.values() if job.state != "pending"]
        needed = {(need, job.session) for job in begun for need in job.needs}
        ended = self.ended()
        return [job for job in ended if any(n == job.id and s != job.session for n, s in needed)]


def refused(action: Callable[[], object]) -> type[QueueError] | None:
    """The refusal that the action ran into."""
    try:
        action()
    except QueueError as error:
        return type(error)
    return None


def _new_job(drawn: Drawn, sessions: dict[str, Session], ids: dict[str, JobId]) -> NewJob:
    # An external id stays one, for the service to look up.
    needs: list[Need] = [need if need in EXTERNAL else ids[need] for need in drawn.needs]
    delay = WAITS[drawn.waits]
    return NewJob(
        session_id=sessions[drawn.session].id,
        kind="transcribe",
        assignee_kind=drawn.assignee,
        needs=tuple(needs),
        labels=drawn.labels,
        run_after=None if delay is None else datetime.now(UTC) + delay,
        external_id=drawn.external_id,
    )
