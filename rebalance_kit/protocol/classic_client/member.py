"""The Java consumer under the classic protocol (AbstractCoordinator, ConsumerCoordinator).

Two threads: the application's, which acts only inside poll(), and the heartbeat thread. EAGER gives
everything up before JoinGroup; COOPERATIVE keeps it, compares afterwards, and re-joins once more
when it had to revoke. Which of the two holds is fixed by the configured assignors, not by the vote.
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
from rebalance_kit.protocol.messages import (
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    Partitions,
    RejoinReason,
    Subscription,
)
from rebalance_kit.protocol.triggers import Trigger

HEARTBEAT = ("heartbeat",)
SESSION = ("session",)
RETRY = ("retry",)
COMMIT_LIMIT = ("commit-limit",)
CLOSE_LIMIT = ("close-limit",)
RETRY_MS = 100
POLL_TIMEOUT_REASON = "consumer poll timeout has expired."


class Phase(Enum):
    """AbstractCoordinator.MemberState."""

    __hash__ = object.__hash__  # by identity: these are looked up all the time

    UNJOINED = "UNJOINED"
    PREPARING = "PREPARING_REBALANCE"
    COMPLETING = "COMPLETING_REBALANCE"
    STABLE = "STABLE"


class Stage(Enum):
    """What the application thread is in the middle of."""

    __hash__ = object.__hash__  # by identity: these are looked up all the time

    IDLE = "idle"
    COMMITTING = "commits before it re-joins"
    GIVING_UP = "runs revoked or lost before it re-joins"
    JOINING = "waits for JoinGroup"
    SYNCING = "waits for SyncGroup"
    REVOKING = "runs revoked after SyncGroup"
    ASSIGNING = "runs assigned"
    CLOSE_COMMIT = "commits in close()"
    CLOSE_CALLBACK = "runs its last callback"
    CLOSED = "closed"


EDGES: Mapping[Phase, frozenset[Phase]] = MappingProxyType(
    {
        Phase.UNJOINED: frozenset(Phase),
        Phase.PREPARING: frozenset({Phase.UNJOINED, Phase.STABLE}),
        Phase.COMPLETING: frozenset({Phase.PREPARING}),
        Phase.STABLE: frozenset({Phase.COMPLETING}),
    }
)
"""Which phase may come before which."""


@dataclass(slots=True)
class ClassicMember:
    """One consumer's knowledge of its group membership."""

    settings: ClientSettings
    topics: tuple[str, ...]
    pattern: str | None = None
    phase: Phase = Phase.UNJOINED
    stage: Stage = Stage.IDLE
    member_id: str = ""
    generation: int = -1
    protocol: str | None = None
    owned: Partitions = ()
    leader: bool = False
    rejoin_needed: bool = True
    rejoin_reason: RejoinReason | None = None
    prepare_needed: bool = True
    coordinator_known: bool = True
    closing: bool = False
    never_leave: bool = False
    shown_generation: int = -1
    shown_member_id: str = ""
    joined_topics: tuple[str, ...] = ()
    metadata: Mapping[str, int] = field(default_factory=dict)
    assigned_metadata: Mapping[str, int] | None = None
    racks: fx.Racks = field(default_factory=dict)
    assigned_racks: fx.Racks = field(default_factory=dict)
    """The replicas that the last assignment was made for (of a leader with a rack)."""
    elected: JoinAnswer | None = None
    """The answer that made this client lead, while it waits for fresh metadata to assign by."""
    pending_assignment: Partitions = ()
    sticky_memory: tuple[Partitions, int | None] = ((), None)
    death: tuple[str, str] | None = None
    close_timeout_ms: int = 30_000
    retries: int = 0
    stuck: bool = False
    raised: str | None = None
    """What a callback of the phase under way raised first; it leaves poll() at the phase's end."""
    completes_again: bool = False
    out: list[fx.Effect] = field(default_factory=list)

    @property
    def native(self) -> bool:
        """A librdkafka client instead of the Java one."""
        return self.settings.client == "librdkafka"

    # --- small changes shared by the rules ------------------------------------------------
    def note(self, kind: str, **detail: object) -> None:
        """A trace row of this client."""
        generation = self.generation if self.generation >= 0 else None
        self.out.append(fx.Note(kind, generation, self.member_id or None, detail))

    def move(self, to: Phase) -> None:
        """Change the phase along an allowed edge."""
        if to is self.phase:
            return
        if self.phase not in EDGES[to] and to is not Phase.UNJOINED:
            raise ProtocolViolation(f"{self.settings.name}: {self.phase.value} may not become {to.value}")
        self.note("member_state", **{"from": self.phase.value, "to": to.value})
        self.phase = to

    def callback(self, kind: str, partitions: Partitions) -> None:
        """Ask for a listener callback, showing what groupMetadata() would say.

        librdkafka has no lost event: its revoke callback asks assignment_lost().
        """
        if self.native and kind == "lost":
            kind = "revoked"
        self.out.append(fx.Callback(kind, partitions, self.shown_generation, self.shown_member_id))

    def request_rejoin(self, reason: str, sent: str | None = None, trigger: Trigger = Trigger.REJOIN) -> None:
        """Remember that the group must be joined again, at the next poll()."""
        self.note("rejoin_requested", reason=reason, sent=reason if sent is None else sent)
        self.rejoin_needed = True
        self.rejoin_reason = RejoinReason(trigger, reason if sent is None else sent)

    def own(self, partitions: Partitions, fetch: Partitions) -> None:
        """Replace the local assignment."""
        self.owned = partitions
        self.out.append(fx.Own(partitions, fetch))

    def stop_heartbeats(self) -> None:
        """Disable the heartbeat thread."""
        self.out.append(fx.CancelTimer(HEARTBEAT))
        self.out.append(fx.CancelTimer(SESSION))

    def reset(self, reason: str, *, keep_id: bool) -> None:
        """Give up the generation, and the member id unless it is kept; the group is joined anew."""
        self.note("generation_reset", reason=reason, member_id_kept=keep_id)
        self.generation = -1
        if not keep_id:
            self.member_id = ""
        self.move(Phase.UNJOINED)
        self.stop_heartbeats()
        self.prepare_needed = True
        self.rejoin_needed = True

    def lose_coordinator(self, cause: str) -> None:
        """Mark the coordinator unknown and look for it; id and generation stay."""
        if self.coordinator_known:
            self.coordinator_known = False
            self.note("coordinator_lost", cause=cause)
            self.out.append(fx.FindCoordinator())

    @property
    def may_commit(self) -> bool:
        """Commits are only sent while the member is STABLE and the coordinator is known."""
        return self.phase is Phase.STABLE and self.coordinator_known and self.stage is not Stage.CLOSED

    # --- joining ---------------------------------------------------------------------------
    def begin_join(self) -> None:
        """First step of a re-join: commit, then callbacks, then JoinGroup (onJoinPrepare)."""
        if not self.prepare_needed:
            self.send_join()
            return
        valid = self.generation >= 0 and bool(self.member_id)
        eager = not self.settings.cooperative
        self.note("join_prepared", revokes=eager and valid)
        if valid and self.owned and eager:
            self.out.append(fx.StopFetching(self.owned, "revoke"))
        if valid and self.owned and self.settings.auto_commit:
            self.stage = Stage.COMMITTING
            self.retries = 0
            self.out.append(fx.SetTimer(COMMIT_LIMIT, self.settings.max_poll_interval_ms))
            self.out.append(fx.Commit("join"))
        else:
            self.give_up()

    def give_up(self) -> None:
        """Second step: lost after a reset, revoked(all) in EAGER, revoked(left topics) in COOPERATIVE."""
        self.stage = Stage.GIVING_UP
        self.out.append(fx.CancelTimer(COMMIT_LIMIT))
        if self.generation < 0 or not self.member_id:
            if self.owned:
                self.out.append(fx.StopFetching(self.owned, "lost"))
                self.callback("lost", self.owned)
                return
        elif not self.settings.cooperative:
            self.callback("revoked", self.owned)
            return
        else:
            dropped = tuple(tp for tp in self.owned if tp.topic not in self.topics)
            if dropped:
                self.out.append(fx.StopFetching(dropped, "revoke"))
                self.callback("revoked", dropped)
                return
        self.send_join()

    def throw(self) -> bool:
        """Let the first error of the listener leave poll(), which the application catches; False without one."""
        raised, self.raised = self.raised, None
        if raised is not None:
            self.note("poll_raised", error="KafkaException", message=f"{USER_ERROR} ({raised})")
        return raised is not None

    def gave_up(self) -> None:
        """The callback before JoinGroup has returned; an error leaves poll() first, and is not run again."""
        lost = self.generation < 0 or not self.member_id
        if lost or not self.settings.cooperative:
            self.own((), ())
        else:
            self.own(tuple(tp for tp in self.owned if tp.topic in self.topics), ())
        if self.death is not None:
            self.last_callback()
        elif self.throw():
            self.prepare_needed = False
            self.stage = Stage.IDLE
            self.out.append(fx.WantPoll("settled"))
        else:
            self.send_join()

    def send_join(self) -> None:
        """Third step: JoinGroup; the heartbeat thread rests until its answer."""
        self.prepare_needed = False
        if not self.coordinator_known:
            self.stage = Stage.IDLE
            return
        self.stage = Stage.JOINING
        self.move(Phase.PREPARING)
        self.stop_heartbeats()
        self.joined_topics = self.topics
        self.out.append(fx.Send(self.join_request()))

    def join_request(self) -> JoinGroup:
        """The request as this client would send it now."""
        kept = self.settings
        topics = tuple(sorted(self.topics))
        memory, memory_generation = self.sticky_memory
        generation = self.generation if self.generation >= 0 else None
        owned = (
            self.owned if self.native else tuple(sorted(self.owned))
        )  # ConsumerProtocol.serializeSubscription
        plain = Subscription(topics, owned, generation, kept.rack)
        protocols = tuple(
            (
                name,
                plain._replace(user_owned=memory, user_generation=memory_generation)
                if name == "sticky"
                else plain,
            )
            for name in kept.assignors
        )
        return JoinGroup(
            kept.name,
            self.member_id,
            kept.instance_id,
            kept.session_timeout_ms,
            kept.max_poll_interval_ms,
            protocols,
            None if self.native or not kept.tells_reasons else self.rejoin_reason,
            kept.group,
        )

    def take_over(self, assignment: Partitions) -> None:
        """onJoinComplete: the synced assignment becomes the member's own, with its callbacks."""
        self.prepare_needed = True
        self.shown_generation, self.shown_member_id = self.generation, self.member_id
        self.sticky_memory = (assignment, self.generation)
        self.out.append(fx.RestartAutoCommit())
        added = assignment if not self.settings.cooperative else minus(assignment, self.owned)
        revoked = minus(self.owned, assignment) if self.settings.cooperative else ()
        self.note(
            "synced",
            assigned=names(assignment),
            owned=names(self.owned),
            added=names(added),
            revoked=names(revoked),
            cooperative=self.settings.cooperative,
            listed=[str(tp) for tp in assignment],
        )
        self.pending_assignment = assignment
        if revoked:
            self.stage = Stage.REVOKING
            self.out.append(fx.StopFetching(revoked, "revoke"))
            self.callback("revoked", revoked)
        else:
            self.assign()

    def assign(self) -> None:
        """Apply the new assignment and run onPartitionsAssigned, always, even with nothing."""
        added = minus(self.pending_assignment, self.owned)
        self.stage = Stage.ASSIGNING
        self.own(self.pending_assignment, ())
        self.callback("assigned", added)

    # --- ending ----------------------------------------------------------------------------
    def begin_close(self) -> None:
        """close(): commit first, heartbeats go on meanwhile."""
        self.closing = True
        if self.settings.auto_commit and self.owned and self.may_commit:
            self.stage = Stage.CLOSE_COMMIT
            self.retries = 0
            self.out.append(fx.SetTimer(CLOSE_LIMIT, self.close_timeout_ms))
            self.out.append(fx.StopFetching(self.owned, "close"))  # close() polls no more
            self.out.append(fx.Commit("close"))
        else:
            self.last_callback()

    def last_callback(self) -> None:
        """close(), second step: no more heartbeats, then revoked or lost if something is owned."""
        self.stop_heartbeats()
        self.out.append(fx.CancelTimer(CLOSE_LIMIT))
        self.stage = Stage.CLOSE_CALLBACK
        if not self.owned:
            self.leave()
            return
        lost = (
            self.generation < 0 or self.phase in {Phase.PREPARING, Phase.COMPLETING} or self.death is not None
        )
        self.out.append(fx.StopFetching(self.owned, "lost" if lost else "close"))
        self.callback("lost" if lost else "revoked", self.owned)

    def leave(self, *, silently: bool = False) -> None:
        """close(), last step: LeaveGroup for dynamic members that are in the group."""
        self.own((), ())
        dynamic = self.settings.instance_id is None
        if (
            dynamic
            and not silently
            and self.coordinator_known
            and self.member_id
            and self.phase is not Phase.UNJOINED
            and not self.death
        ):
            self.send_leave("not provided" if self.native else "the consumer is being closed")
        self.move(Phase.UNJOINED)
        self.stage = Stage.CLOSED
        self.out.append(fx.Die(*self.death) if self.death else fx.Closed())

    def send_leave(self, reason: str) -> None:
        """LeaveGroup; nothing waits for its answer."""
        kept = self.settings
        told = reason if kept.tells_reasons else "not provided"
        self.out.append(fx.Send(LeaveGroup(kept.name, self.member_id, kept.instance_id, told, kept.group)))

    def die(self, error: str, message: str) -> None:
        """A fatal error: thrown from poll(), after which the application closes its consumer.

        The heartbeat thread may meet it while a callback runs; it is thrown when that has returned.
        """
        if self.stage in {Stage.CLOSE_CALLBACK, Stage.CLOSED}:
            return
        self.death = (error, message)
        if self.stage in {Stage.REVOKING, Stage.ASSIGNING, Stage.GIVING_UP} and not self.stuck:
            self.stop_heartbeats()
            return
        self.generation = -1
        self.move(Phase.UNJOINED)
        self.last_callback()


def unsubscribed(member: ClassicMember, partitions: Partitions) -> list[TopicPartition]:
    """Assigned partitions of topics that are not subscribed (an assignment to be refused)."""
    return [tp for tp in partitions if tp.topic not in member.topics]
