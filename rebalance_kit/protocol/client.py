"""What the two clients share: a poll loop whose steps are named, and a table that is read by event and step.

Theory of operation
===================

What it is: an application calls poll() again and again; whatever its membership asks of it (commits, callbacks, joining)
happens inside. ``PollStep`` names what is under way, so the machine never blocks: an event that finishes a step starts
the next. ::

      IDLE --> a step of the protocol --> ... --> IDLE          any --> CLOSE_COMMITTING --> CLOSE_CALLBACK --> CLOSED

Invariants: one step at a time; a consumer that is CLOSED hears nothing; an event whose kind the table lacks
is refused. Why so: Java's client blocks in poll() and librdkafka's serves a queue, yet both can be told as steps
and events, so one table language serves both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar, cast

from rebalance_kit.model.errors import COORDINATOR_MOVED, ProtocolViolation
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol import effects
from rebalance_kit.protocol.messages import JoinMember, OffsetCommit, Partitions, Request, Response

# A consumer's configuration, as far as its group membership needs it, and the driver's services.


Assigned = Mapping[str, Sequence[TopicPartition]]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientSettings:
    """A consumer's configuration, as far as its group membership needs it."""

    name: str
    group: str
    assignors: tuple[str, ...] = ("range", "cooperative-sticky")
    cooperative: bool = False
    instance_id: str | None = None
    rack: str | None = None
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    auto_commit: bool = True
    remote_assignor: str | None = None
    client: str = "java"
    callback: str = "default"
    """What a librdkafka application's rebalance callback calls: default and right follow the active
    protocol, wrong always calls assign() and unassign()."""
    new_id: Callable[[], str] = lambda: ""
    """A fresh KIP-848 member id: those clients make their own."""
    assign: Callable[[str, Mapping[str, int], Sequence[JoinMember], effects.Racks], Assigned] = (
        lambda _name, _cluster, _members, _racks: {}
    )
    """Runs a client assignor for a leader: name, partition counts, members in the answer's order, replicas."""
    commits_topic_ids: bool = True
    """Whether OffsetCommit names topics by id where the metadata has it (KIP-848 clients since 4.2)."""
    hash_order: Callable[[Sequence[str]], list[str]] = sorted
    """Names in the order in which a Java client prints a set of them."""
    tells_reasons: bool = True
    """Whether JoinGroup and LeaveGroup carry a reason (KIP-800)."""
    tolerates_offline: bool = False
    """Whether a replica that goes offline leaves a leader's racks as they are (KAFKA-20778)."""

    @property
    def librdkafka(self) -> bool:
        """A librdkafka client instead of the Java one."""
        return self.client == "librdkafka"

    def calls_wrong_family(self, *, incremental: bool) -> bool:
        """Its librdkafka callback calls assign() where incremental_assign() is asked for (error _STATE)."""
        return self.librdkafka and self.callback == "wrong" and incremental


# Sets of partitions and topics as clients compare and print them.


def matching(pattern: str, topics: Mapping[str, int]) -> tuple[str, ...]:
    """Existing topics whose whole name matches, sorted."""
    compiled = re.compile(pattern)
    return tuple(sorted(topic for topic in topics if compiled.fullmatch(topic)))


def minus(left: Partitions, right: Partitions) -> Partitions:
    """Partitions of ``left`` that are not in ``right``, in the order of ``left``."""
    gone = frozenset(right)
    return tuple(tp for tp in left if tp not in gone)


def both(left: Partitions, right: Partitions) -> Partitions:
    """Partitions of ``left`` that are in ``right`` too, in the order of ``left``."""
    there = frozenset(right)
    return tuple(tp for tp in left if tp in there)


def in_order(assignment: Mapping[str, Partitions]) -> dict[str, list[str]]:
    """An assignment the way Kafka prints it, members and partitions in the order they have."""
    return {member_id: [str(tp) for tp in partitions] for member_id, partitions in assignment.items()}


def names(partitions: Partitions) -> list[str]:
    """The way Kafka prints partitions, sorted by topic and number."""
    return list(_names(partitions))


@lru_cache(maxsize=4_096)
def _names(partitions: Partitions) -> tuple[str, ...]:
    return tuple([str(tp) for tp in sorted(partitions)])


# What a client's application thread is in the middle of: it acts only inside poll(), one step after another.


class PollStep(Enum):
    """One step of the application thread. Each client machine says which may come before which."""

    __hash__ = object.__hash__  # by identity: these are looked up all the time

    IDLE = "nothing is under way"
    # classic: from one generation to the next
    COMMITTING_BEFORE_JOIN = "commits before it re-joins"
    REVOKING_BEFORE_JOIN = "runs revoked or lost before it re-joins"
    JOINING = "waits for the answer to JoinGroup"
    SYNCING = "waits for the answer to SyncGroup"
    # KIP-848: from one assignment to the next
    RECONCILE_WAITS = "a new assignment waits for poll()"
    COMMITTING_BEFORE_REVOKE = "commits before it revokes"
    REVOKE_WAITS = "revoked waits for poll()"
    ASSIGN_WAITS = "assigned waits for poll()"
    # both
    LOSING = "runs lost"
    REVOKING = "runs revoked"
    ASSIGNING = "runs assigned"
    CLOSE_COMMITTING = "commits in close()"
    CLOSE_CALLBACK = "runs its last callback"
    CLOSED = "close() has returned"


IN_CALLBACK = frozenset(
    {PollStep.REVOKING_BEFORE_JOIN, PollStep.REVOKING, PollStep.ASSIGNING, PollStep.LOSING}
)
"""Steps in which the application's listener runs, apart from the last callback of close()."""


USER_ERROR = "User rebalance callback throws an error"
"""Message of the KafkaException that leaves poll() (ConsumerCoordinator, ConsumerRebalanceListenerInvoker)."""


@dataclass(slots=True)
class Member:
    """One consumer's knowledge of its group membership."""

    POLL_EDGES: ClassVar[Mapping[PollStep, frozenset[PollStep]]]
    """Which step of the application thread may come before which."""
    EDGES: ClassVar[Mapping[Any, frozenset[Any]]]
    """Which state of the member may come before which."""

    settings: ClientSettings
    topics: tuple[str, ...]
    pattern: str | None = None
    poll_step: PollStep = PollStep.IDLE
    member_id: str = ""
    generation: int = -1
    """Generation of a classic group, or member epoch."""
    owned: Partitions = ()
    coordinator_known: bool = True
    closing: bool = False
    death: tuple[str, str] | None = None
    """The fatal error, and its message, that leaves poll() when the callback under way has returned."""
    close_timeout_ms: int = 30_000
    commit_retries: int = 0
    stuck: bool = False
    """A librdkafka callback made the wrong call: nothing goes on."""
    metadata: Mapping[str, int] = field(default_factory=dict)
    state: Any = None
    """The member's state, in the words of its own protocol."""

    @property
    def librdkafka(self) -> bool:
        """A librdkafka client instead of the Java one."""
        return self.settings.librdkafka

    @property
    def unassigns_silently(self) -> bool:
        """After a fatal error librdkafka calls no callback (rd_kafka_rebalance_op, rd_kafka_rebalance_op_incr)."""
        return self.librdkafka and self.death is not None

    @property
    def idle(self) -> bool:
        """Nothing of a rebalance is under way on the application thread."""
        return self.poll_step is PollStep.IDLE

    @property
    def may_commit(self) -> bool:
        """Whether this client would send a commit at all."""
        raise NotImplementedError

    @property
    def traced_generation(self) -> int | None:
        """The generation of this client's trace rows."""
        return self.generation

    def enter(self, step: PollStep) -> None:
        """Let the application thread take its next step, along an allowed edge."""
        if step is not self.poll_step and self.poll_step not in self.POLL_EDGES[step]:
            raise ProtocolViolation(
                f"{self.settings.name}: a thread that {self.poll_step.value} may not enter {step.name}"
            )
        self.poll_step = step

    def move(self, to: Any) -> tuple[effects.Effect, ...]:
        """Change the state along an allowed edge."""
        if to is self.state:
            return ()
        if self.state not in self.EDGES[to]:
            raise ProtocolViolation(f"{self.settings.name}: {self.state.value} may not become {to.value}")
        row = self.note("member_state", **{"from": self.state.value, "to": to.value})
        self.state = to
        return (row,)

    def note(self, kind: str, **detail: object) -> effects.Note:
        """A trace row of this client."""
        return effects.Note(kind, self.traced_generation, self.member_id or None, detail)

    def group_metadata(self, kind: str) -> tuple[int, str]:
        """The generation or epoch and the member id that groupMetadata() says within a callback of that kind."""
        raise NotImplementedError

    def callback(self, kind: str, partitions: Partitions) -> effects.Callback:
        """Ask for a listener callback: ``revoked``, ``lost`` or ``assigned``.

        librdkafka has no lost event, only assignment_lost() within its revoke callback. Its bindings ask it: where
        it is true, the Python client calls on_lost, or on_revoke if the application gave no on_lost.
        """
        return effects.Callback(kind, partitions, *self.group_metadata(kind))

    def raised(self, error: str) -> effects.Note:
        """A callback raised: its error leaves poll(), and the application catches it."""
        return self.note("poll_raised", error="KafkaException", message=f"{USER_ERROR} ({error})")

    def own(self, partitions: Partitions) -> effects.Own:
        """Replace the local assignment."""
        self.owned = partitions
        return effects.Own(partitions, ())

    def lose_coordinator(self, cause: str) -> effects.Effects:
        """Mark the coordinator unknown and look for it; id and generation stay."""
        if self.coordinator_known:
            self.coordinator_known = False
            yield self.note("coordinator_lost", cause=cause)
            yield effects.FindCoordinator()


# Commits that a client waits for: before it re-joins or revokes, and in close().


RETRY = (effects.Timer.RETRY,)
RETRY_MS = 100
COMMIT_LIMIT = (effects.Timer.COMMIT_LIMIT,)
CLOSE_LIMIT = (effects.Timer.CLOSE_LIMIT,)
RETRIED_COMMITS = COORDINATOR_MOVED | {
    "COORDINATOR_LOAD_IN_PROGRESS",
    "DISCONNECTED",
    "UNKNOWN_TOPIC_OR_PARTITION",
}
"""Answers after which a client that waits for its commit sends it again (RetriableException)."""
M = TypeVar("M", bound=Member)


def retry_ms(attempt: int) -> int:
    """retry.backoff.ms 100, doubling to retry.backoff.max.ms 1000."""
    return int(min(100 * 2 ** min(attempt, 4), 1_000))


def backoff_ms(member: Member) -> int:
    """The wait before the commit at hand is sent again."""
    return retry_ms(member.commit_retries)


@dataclass(frozen=True, slots=True)
class AwaitedCommit(Generic[M]):
    """A commit that the application thread waits for, and what follows."""

    how: str
    limit: effects.Key
    retries: Callable[[M, str], bool]
    """Whether this error makes the client send the commit again."""
    wait_ms: Callable[[M], int]
    then: Callable[[M], effects.Effects]

    def begin(self, member: M, limit_ms: int) -> effects.Effects:
        """Commit, and wait at most so long; the caller has entered the step."""
        member.commit_retries = 0
        yield effects.SetTimer(self.limit, limit_ms)
        if self.how == "close":
            yield effects.StopFetching(member.owned, "close")  # close() polls no more
        yield effects.Commit(self.how)

    def ended(self, member: M, how: str, error: str) -> effects.Effects:
        """The commit is answered, or will not be: send it again, or go on."""
        if how != self.how:
            return
        if self.retries(member, error):
            yield effects.SetTimer(RETRY, self.wait_ms(member))
            member.commit_retries += 1
        else:
            yield from self.then(member)

    def again(self, member: M) -> effects.Effects:
        """retry.backoff.ms has passed."""
        if member.coordinator_known:
            yield effects.Commit(self.how)
        else:
            yield effects.SetTimer(RETRY, RETRY_MS)


@dataclass(frozen=True, slots=True)
class AwaitedCommits(Generic[M]):
    """The steps of one client that wait for a commit; a commit that no step waits for ends unseen."""

    steps: Mapping[PollStep, AwaitedCommit[M]]

    def of(self, member: M) -> AwaitedCommit[M] | None:
        """What the member waits for now."""
        return self.steps.get(member.poll_step)

    def ended(self, member: M, how: str, error: str) -> effects.Effects:
        """A commit is answered, or will not be."""
        if (awaited := self.of(member)) is not None:
            yield from awaited.ended(member, how, error)

    def done(self, member: M, event: effects.CommitDone) -> effects.Effects:
        """There was nothing to commit."""
        yield from self.ended(member, event.how, event.error)

    def unanswered(self, member: M, request: OffsetCommit, cause: str) -> effects.Effects:
        """No answer will come."""
        yield from member.lose_coordinator(cause)
        yield from self.ended(member, request.how, "DISCONNECTED")

    def stop_waiting(self, member: M, _fired: effects.TimerFired) -> effects.Effects:
        """The commit took too long: go on without it."""
        yield from self.steps[member.poll_step].then(member)


def retriable(member: Member, error: str) -> bool:
    """A RetriableException; of a topic that is gone librdkafka gives up after two more tries, here at once."""
    if member.librdkafka and error == "UNKNOWN_TOPIC_OR_PARTITION":
        return False
    return error in RETRIED_COMMITS


def commit_and_close(member: M, commit: AwaitedCommit[M]) -> effects.Effects:
    """close(), first step: commit where that is configured, then what follows a commit."""
    member.closing = True
    if member.settings.auto_commit and member.owned and member.may_commit:
        member.enter(PollStep.CLOSE_COMMITTING)
        yield from commit.begin(member, member.close_timeout_ms)
    else:
        yield from commit.then(member)


E = TypeVar("E", bound=effects.ClientEvent)
R = TypeVar("R", bound=Request)
A = TypeVar("A", bound=Response)
ClientKind = type | str | tuple[type, type]
"""What an event is: its type, the kind of its timer, or (Answered or Disconnected, the request's type)."""
ClientRule = Callable[[M, effects.ClientEvent], effects.Effects]
ClientRow = tuple[ClientKind, tuple[PollStep | None, ...], ClientRule[M]]


def on(event: type[E], run: Callable[[M, E], effects.Effects], *steps: PollStep) -> ClientRow[M]:
    """The row of an event; without ``steps``, of every step that has no row of its own."""
    return event, steps or (None,), cast("ClientRule[M]", run)


def after(
    timer: effects.Timer, run: Callable[[M, effects.TimerFired], effects.Effects], *steps: PollStep
) -> ClientRow[M]:
    """The row of a timer that ran out."""
    return timer, steps or (None,), cast("ClientRule[M]", run)


def answered(
    request: type[R], answer: type[A], run: Callable[[M, R, A], effects.Effects], *steps: PollStep
) -> ClientRow[M]:
    """The row of the answer to a request."""

    def rule(member: M, event: Any) -> effects.Effects:
        return run(member, event.request, event.response)

    return (effects.Answered, request), steps or (None,), rule


def unanswered(
    request: type[R], run: Callable[[M, R, str], effects.Effects], *steps: PollStep
) -> ClientRow[M]:
    """The row of a request that gets no answer: the connection broke, for the cause that is given."""

    def rule(member: M, event: Any) -> effects.Effects:
        return run(member, event.request, event.cause)

    return (effects.Disconnected, request), steps or (None,), rule


def ignore(member: Member, event: effects.ClientEvent) -> effects.Effects:
    """The event comes too late to matter, or means nothing here."""
    return iter(())


def ignore_answer(member: Member, request: Request, answer: Response) -> effects.Effects:
    """Nothing waits for this answer."""
    return iter(())


def kind_of(event: effects.ClientEvent) -> ClientKind:
    """What a client's table asks about an event."""
    if isinstance(event, effects.Answered | effects.Disconnected):
        return type(event), type(event.request)
    return event.key[0] if isinstance(event, effects.TimerFired) else type(event)


class ClientTable(Generic[M]):
    """Rules by event and step. A consumer that is closed hears nothing."""

    def __init__(self, machine: str, *rows: ClientRow[M]) -> None:
        self._machine = machine
        self._rules: dict[ClientKind, dict[PollStep, ClientRule[M]]] = {}
        for kind, steps, rule in sorted(rows, key=lambda row: None not in row[1]):  # rows of a step last
            each = [step for step in steps if step is not None] or list(PollStep)
            self._rules.setdefault(kind, {}).update(dict.fromkeys(each, rule))
        for by_step in self._rules.values():
            by_step.pop(PollStep.CLOSED, None)

    def step(self, member: M, event: effects.ClientEvent) -> list[effects.Effect]:
        """Apply one event to the client and return the effects it asks for, in order."""
        rules = self._rules.get(kind_of(event))
        if rules is None:
            raise ProtocolViolation(f"{self._machine} is never sent {_name(kind_of(event))}")
        rule = rules.get(member.poll_step)
        return [] if rule is None else list(rule(member, event))


def _name(kind: ClientKind) -> str:
    if isinstance(kind, tuple):
        return f"{kind[0].__name__} of {kind[1].__name__}"
    return kind.__name__ if isinstance(kind, type) else f"timer {kind}"
