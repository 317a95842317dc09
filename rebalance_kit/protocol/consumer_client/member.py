"""The Java consumer under KIP-848 (ConsumerMembershipManager, ConsumerHeartbeatRequestManager).

A background thread heartbeats; the answer brings the whole assignment when it changed. The
difference to what is owned is reconciled inside poll(): commit, revoked, assigned, then an immediate
heartbeat acknowledges. Member id and clock stay through fencing; a new process has a new id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.client import USER_ERROR, ClientSettings, minus, names
from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, Partitions

HEARTBEAT = ("heartbeat",)
RETRY = ("retry",)
COMMIT_LIMIT = ("commit-limit",)
CLOSE_LIMIT = ("close-limit",)
RETRY_MS = 100


class MemberPhase(Enum):
    """The client's MemberState."""

    __hash__ = object.__hash__  # by identity: these are looked up all the time

    UNSUBSCRIBED = "UNSUBSCRIBED"
    JOINING = "JOINING"
    RECONCILING = "RECONCILING"
    ACKNOWLEDGING = "ACKNOWLEDGING"
    STABLE = "STABLE"
    FENCED = "FENCED"
    PREPARE_LEAVING = "PREPARE_LEAVING"
    LEAVING = "LEAVING"
    STALE = "STALE"
    FATAL = "FATAL"


TAKING_PART = frozenset(
    {MemberPhase.JOINING, MemberPhase.STABLE, MemberPhase.RECONCILING, MemberPhase.ACKNOWLEDGING}
)
"""Phases in which a member heartbeats as one of its group."""


_P = MemberPhase
EDGES: Mapping[MemberPhase, frozenset[MemberPhase]] = MappingProxyType(
    {
        _P.STABLE: frozenset({_P.JOINING, _P.ACKNOWLEDGING, _P.RECONCILING}),
        _P.RECONCILING: frozenset({_P.STABLE, _P.JOINING, _P.ACKNOWLEDGING, _P.RECONCILING}),
        _P.ACKNOWLEDGING: frozenset({_P.RECONCILING}),
        _P.FATAL: frozenset(
            {
                _P.JOINING,
                _P.STABLE,
                _P.RECONCILING,
                _P.ACKNOWLEDGING,
                _P.PREPARE_LEAVING,
                _P.LEAVING,
                _P.UNSUBSCRIBED,
                _P.FENCED,
            }
        ),
        _P.FENCED: frozenset(
            {_P.JOINING, _P.STABLE, _P.RECONCILING, _P.ACKNOWLEDGING, _P.PREPARE_LEAVING, _P.LEAVING}
        ),
        _P.JOINING: frozenset({_P.FENCED, _P.UNSUBSCRIBED, _P.STALE}),
        _P.PREPARE_LEAVING: frozenset(
            {_P.JOINING, _P.STABLE, _P.RECONCILING, _P.ACKNOWLEDGING, _P.UNSUBSCRIBED}
        ),
        _P.LEAVING: frozenset({_P.PREPARE_LEAVING}),
        _P.STALE: frozenset({_P.LEAVING}),
        _P.UNSUBSCRIBED: frozenset({_P.PREPARE_LEAVING, _P.LEAVING, _P.FENCED}),
    }
)
"""Which phase may come before which."""


class Work(Enum):
    """What the application thread is in the middle of."""

    __hash__ = object.__hash__  # by identity: these are looked up all the time

    NONE = "nothing"
    WAIT = "a new assignment waits for poll()"
    COMMIT = "commits before it revokes"
    REVOKE_WAIT = "waits for poll() to run revoked"
    REVOKING = "runs revoked"
    ASSIGN_WAIT = "waits for poll() to run assigned"
    ASSIGNING = "runs assigned"
    LOSING = "runs lost"
    CLOSE_COMMIT = "commits in close()"
    CLOSE_CALLBACK = "runs its last callback"


@dataclass(slots=True)
class ConsumerMember:
    """One consumer's knowledge of its group membership."""

    settings: ClientSettings
    topics: tuple[str, ...]
    pattern: str | None = None
    regex: str | None = None
    phase: MemberPhase = MemberPhase.UNSUBSCRIBED
    work: Work = Work.NONE
    member_id: str = ""
    generation: int = 0
    shown_epoch: int = 0
    owned: Partitions = ()
    target: Partitions | None = None
    taking: Partitions = ()
    interval_ms: int = 0
    local_epoch: int = 0
    sent_local_epoch: int = -1
    in_flight: bool = False
    first_assignment: bool = True
    full_request: bool = True
    topics_changed: bool = False
    poll_expired: bool = False
    coordinator_known: bool = True
    fenced_meanwhile: bool = False
    closing: bool = False
    closed: bool = False
    death: tuple[str, str] | None = None
    close_timeout_ms: int = 30_000
    retries: int = 0
    stuck: bool = False
    adding: Partitions = ()
    unfetchable: frozenset[TopicPartition] = frozenset()
    """Added in an onPartitionsAssigned that raised: owned, but not read (PartitionsAwaitingCallback)."""
    metadata: Mapping[str, int] = field(default_factory=dict)
    out: list[fx.Effect] = field(default_factory=list)

    @property
    def may_commit(self) -> bool:
        """Commits carry the member epoch, so the member must have one."""
        return self.generation > 0 and self.coordinator_known

    @property
    def idle(self) -> bool:
        """No step of a reconciliation is under way."""
        return self.work is Work.NONE and not self.closing

    @property
    def native(self) -> bool:
        """A librdkafka client instead of the Java one."""
        return self.settings.client == "librdkafka"

    # --- small changes -----------------------------------------------------------------------
    def note(self, kind: str, **detail: object) -> None:
        """A trace row of this client."""
        self.out.append(fx.Note(kind, self.generation, self.member_id or None, detail))

    def move(self, to: MemberPhase) -> None:
        """Change the phase along an allowed edge."""
        if to is self.phase and to is not MemberPhase.RECONCILING:
            return
        if self.phase not in EDGES[to]:
            raise ProtocolViolation(f"{self.settings.name}: {self.phase.value} may not become {to.value}")
        self.note("member_state", **{"from": self.phase.value, "to": to.value})
        self.phase = to

    def callback(self, kind: str, partitions: Partitions, epoch: int | None = None) -> None:
        """Ask for a listener callback, showing the epoch that groupMetadata() would say.

        librdkafka has no lost event: its revoke callback asks assignment_lost().
        """
        if self.native and kind == "lost":
            kind = "revoked"
        self.out.append(
            fx.Callback(kind, partitions, self.generation if epoch is None else epoch, self.member_id)
        )

    def own(self, partitions: Partitions) -> None:
        """Replace the local assignment."""
        self.owned = partitions
        self.unfetchable = self.unfetchable.intersection(partitions)
        self.out.append(fx.Own(partitions, ()))

    # --- heartbeats --------------------------------------------------------------------------
    def send_heartbeat(self, epoch: int | None = None) -> None:
        """Send a heartbeat; ACKNOWLEDGING ends when its acknowledgement is *sent*."""
        kept = self.settings
        joining = self.phase is MemberPhase.JOINING
        full = joining or self.full_request
        changed = self.local_epoch != self.sent_local_epoch
        owned: Partitions | None = None
        if epoch is None and (joining or changed or full):
            owned = () if joining else self.owned
        topics = tuple(sorted(self.topics)) if full or self.topics_changed else None
        request = ConsumerGroupHeartbeat(
            kept.name,
            self.member_id,
            self.generation if epoch is None else epoch,
            kept.instance_id,
            kept.rack if joining else None,
            kept.max_poll_interval_ms if full else None,
            None if epoch is not None else topics,
            self.regex if full and epoch is None else None,
            kept.remote_assignor if full else None,
            owned,
            kept.group,
        )
        self.out.append(fx.Send(request))
        self.in_flight = True
        self.full_request = self.topics_changed = False
        self.sent_local_epoch = self.local_epoch
        if self.interval_ms and epoch is None:
            self.out.append(fx.SetTimer(HEARTBEAT, self.interval_ms))
        if self.phase is MemberPhase.ACKNOWLEDGING:
            self.move(MemberPhase.STABLE)
            if self.target is not None:
                self.take_target()

    def join(self) -> None:
        """(Re-)join with epoch 0 and nothing owned."""
        if not self.member_id:
            self.member_id = self.settings.new_id()
        self.generation = 0
        self.local_epoch, self.sent_local_epoch = 0, -1  # LocalAssignment.NONE
        self.first_assignment = True
        self.target = None
        self.work = Work.NONE
        self.move(MemberPhase.JOINING)
        if self.coordinator_known and not self.in_flight:
            self.send_heartbeat()

    def lose_coordinator(self, cause: str) -> None:
        """Mark the coordinator unknown and look for it; the next heartbeat says everything again."""
        self.in_flight = False
        self.full_request = True
        if self.coordinator_known:
            self.coordinator_known = False
            self.note("coordinator_lost", cause=cause)
            self.out.append(fx.CancelTimer(HEARTBEAT))
            self.out.append(fx.FindCoordinator())

    # --- reconciliation ------------------------------------------------------------------------
    def take_target(self) -> None:
        """A new assignment came: reconcile it at the next poll(), unless one is under way."""
        if (
            self.closing
            and self.target is not None
            and self.work is Work.CLOSE_CALLBACK
            and self.phase is MemberPhase.STABLE
        ):
            self.move(MemberPhase.RECONCILING)  # the application will poll no more
        if self.target is None or self.work is not Work.NONE or self.closing:
            return
        if self.phase not in TAKING_PART:
            return
        same = frozenset(self.target) == frozenset(self.owned)
        if same and self.native and self.phase is MemberPhase.JOINING:
            self.target = None
            self.first_assignment = False
            self.move(MemberPhase.RECONCILING)
            self.move(MemberPhase.STABLE)
            return
        if same and not self.first_assignment:
            self.target = None
            return
        joining = self.phase is MemberPhase.JOINING
        self.move(MemberPhase.RECONCILING)
        self.work = Work.WAIT
        self.out.append(fx.WantPoll("settled" if self.native else "joining" if joining else "beat"))

    def reconcile(self) -> None:
        """Inside poll(): mark what goes as unfetchable, commit, then the callbacks."""
        target = self.target if self.target is not None else self.owned
        self.target = None
        self.taking = tuple(tp for tp in target if self.regex is not None or tp.topic in self.topics)
        revoked, added = minus(self.owned, self.taking), minus(self.taking, self.owned)
        self.note(
            "reconciling",
            assigned=names(self.taking),
            owned=names(self.owned),
            added=names(added),
            revoked=names(revoked),
            local_epoch=self.local_epoch,
        )
        if revoked:
            self.out.append(fx.StopFetching(revoked, "revoke"))
        self.work = Work.COMMIT
        if self.settings.auto_commit and self.owned and self.may_commit:
            self.retries = 0
            self.out.append(fx.SetTimer(COMMIT_LIMIT, self.settings.max_poll_interval_ms))
            self.out.append(fx.Commit("reconcile"))
        else:
            self.after_commit()

    def after_commit(self) -> None:
        """The commit is done (or was not needed): the callbacks run at the next poll()."""
        if minus(self.owned, self.taking):
            self.work = Work.REVOKE_WAIT
            self.out.append(fx.WantPoll("settled" if self.native else "committed"))
        else:
            self.work = Work.ASSIGN_WAIT
            step = "first-assign" if self.first_assignment else "committed" if self.owned else "assign"
            self.out.append(fx.WantPoll("settled" if self.native else step))

    def raised(self, error: str) -> None:
        """A callback raised: it leaves poll(), which the application catches, and nothing is acknowledged.

        The member stays RECONCILING; each further poll() tries again, until it goes through or the broker
        removes the member (AbstractMembershipManager.revokeAndAssign, maybeReconcile).
        """
        self.note("poll_raised", error="KafkaException", message=f"{USER_ERROR} ({error})")
        if self.work not in {Work.REVOKING, Work.ASSIGNING} or self.phase is not MemberPhase.RECONCILING:
            return
        if self.work is Work.ASSIGNING:
            self.unfetchable = self.unfetchable.union(self.adding)
        if self.target is None:
            self.target = self.taking
        self.work = Work.WAIT
        self.out.append(fx.WantPoll("beat"))

    def acknowledge(self) -> None:
        """Both callbacks have returned: the periodic commit is due an interval from now, and the coordinator is told at once."""
        self.first_assignment = False
        if not self.native:
            self.out.append(
                fx.RestartAutoCommit()
            )  # ConsumerMembershipManager.signalReconciliationCompleting
        self.work = Work.NONE
        self.local_epoch += 1
        self.out.append(fx.StartFetching(tuple(tp for tp in self.owned if tp not in self.unfetchable)))
        self.move(MemberPhase.ACKNOWLEDGING)
        if self.coordinator_known and not self.in_flight:
            self.send_heartbeat()

    # --- fencing and ending --------------------------------------------------------------------
    def fence(self) -> None:
        """Give everything up as lost, then join again with the same id."""
        self.out.append(fx.CancelTimer(HEARTBEAT))
        self.shown_epoch = self.generation
        self.generation = 0
        self.target = None
        self.move(MemberPhase.FENCED)
        if self.work in {Work.REVOKING, Work.ASSIGNING}:
            self.fenced_meanwhile = True
            return
        if self.work in {Work.CLOSE_COMMIT, Work.CLOSE_CALLBACK}:
            return  # close() goes on, and has nobody to say goodbye to
        self.work = Work.NONE
        if self.closing:
            return
        self.out.append(fx.WantPoll("rejoin"))

    def lose_all(self) -> None:
        """Run onPartitionsLost for all that is owned, or join at once when nothing is."""
        if self.owned:
            self.work = Work.LOSING
            self.out.append(fx.StopFetching(self.owned, "lost"))
            self.callback("lost", self.owned, self.shown_epoch)
        else:
            self.join()

    def begin_close(self) -> None:
        """close(): commit, callback, leave heartbeat."""
        self.closing = True
        if self.settings.auto_commit and self.owned and self.may_commit:
            self.work = Work.CLOSE_COMMIT
            self.retries = 0
            self.out.append(fx.SetTimer(CLOSE_LIMIT, self.close_timeout_ms))
            self.out.append(fx.StopFetching(self.owned, "close"))  # close() polls no more
            self.out.append(fx.Commit("close"))
        else:
            self.last_callback()

    def last_callback(self) -> None:
        """close(), second step: revoked(all), or lost(all) after fencing."""
        self.work = Work.CLOSE_CALLBACK
        if self.owned:
            lost = self.generation <= 0
            self.out.append(fx.StopFetching(self.owned, "lost" if lost else "close"))
            self.callback("lost" if lost else "revoked", self.owned, self.shown_epoch if lost else None)
        else:
            self.leave()

    def leave(self) -> None:
        """close(), last step: one leave heartbeat that nobody waits for."""
        self.own(())
        if self.phase not in {
            MemberPhase.FATAL,
            MemberPhase.FENCED,
            MemberPhase.STALE,
            MemberPhase.UNSUBSCRIBED,
        }:
            self.move(MemberPhase.PREPARE_LEAVING)
        if self.phase is MemberPhase.PREPARE_LEAVING and self.coordinator_known and self.member_id:
            self.say_goodbye()
            self.move(MemberPhase.UNSUBSCRIBED)
        self.out.append(fx.CancelTimer(HEARTBEAT))
        self.closed = True
        self.out.append(fx.Die(*self.death) if self.death else fx.Closed())

    def say_goodbye(self) -> None:
        """Leave: epoch -1, or -2 for a static member that means to come back."""
        epoch = -1 if self.settings.instance_id is None else -2
        self.generation = epoch
        self.move(MemberPhase.LEAVING)
        self.send_heartbeat(epoch)

    def poll_overdue(self) -> None:
        """max.poll.interval.ms has passed: leave now; lost waits for the application's next poll()."""
        self.note("poll_timeout", limit_ms=self.settings.max_poll_interval_ms)
        self.poll_expired = False
        self.shown_epoch = self.generation
        self.target = None
        self.work = Work.NONE
        self.move(MemberPhase.PREPARE_LEAVING)
        self.say_goodbye()
        self.move(MemberPhase.STALE)
        self.out.append(fx.CancelTimer(HEARTBEAT))
        self.out.append(fx.WantPoll("settled"))

    def die(self, error: str, message: str) -> None:
        """A fatal error: thrown from poll(), after which the application closes its consumer."""
        self.death = (error, message)
        self.shown_epoch = self.generation
        self.generation = 0
        self.move(MemberPhase.FATAL)
        if self.work not in {Work.CLOSE_CALLBACK, Work.REVOKING, Work.ASSIGNING, Work.LOSING}:
            self.last_callback()
