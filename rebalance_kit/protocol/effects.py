"""What a machine asks of its driver, the events that a driver sends in, and the states and rules that tables are made of.

Machines own no clock, no dice and no network: they ask for time with ``SetTimer`` and receive
``TimerFired``; they answer with ``Reply`` and ask with ``Send``. A ``Note`` becomes a trace row.
A rule is a generator: it changes its machine's state and yields effects in the order in which a
driver carries them out. A state carries Kafka's own description: what is done in it, and what leads out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum, StrEnum
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, Self, TypeVar

from rebalance_kit.protocol.messages import Partitions, Request, Response

Key = tuple[str, ...]
"""A timer's kind, and the member it belongs to where it is one member's."""
Racks = Mapping[str, tuple[tuple[tuple[int, str | None], ...], ...]]
"""Topic -> per partition its replicas: (broker, its rack; None where it has none or is offline)."""
NO_RACKS: Racks = MappingProxyType({})


class Timer(StrEnum):
    """What a timer waits for: the first part of its key."""

    INITIAL = "initial"
    """group.initial.rebalance.delay.ms: an Empty group's first join phase."""
    JOIN = "join"
    """Until all members have re-joined; in a consumer group, until one classic member has."""
    SYNC = "sync"
    """Until those who have joined have sent SyncGroup too."""
    SESSION = "session"
    """session.timeout.ms: until the next heartbeat, or on a client until its answer."""
    PENDING = "pending"
    """Until a client joins with the member id that it was given."""
    REBALANCE = "rebalance"
    """Until a member of a consumer group has revoked what it must."""
    HEARTBEAT = "heartbeat"
    """Until a client's next heartbeat."""
    JOIN_AGAIN = "join-again"
    """Until librdkafka, which joins once a second at most, joins after a refused SyncGroup."""
    RETRY = "retry"
    """retry.backoff.ms: until a failed commit is sent again."""
    COMMIT_LIMIT = "commit-limit"
    """How long a rebalance waits for its commit."""
    CLOSE_LIMIT = "close-limit"
    """How long close() waits for its commit."""


# --- effects of both sides -------------------------------------------------------------------
class SetTimer(NamedTuple):
    """Fire ``key`` once after ``after_ms``; a live timer of the same key is replaced."""

    key: Key
    after_ms: int


class CancelTimer(NamedTuple):
    """Forget the timer of that key, if there is one."""

    key: Key


class Note(NamedTuple):
    """A trace row of the machine's own: ``kind`` is one of ``model.trace.KINDS``."""

    kind: str
    generation: int | None = None
    member_id: str | None = None
    detail: Mapping[str, Any] = {}


# --- effects of a coordinator ----------------------------------------------------------------
class Reply(NamedTuple):
    """Answer the request that came with ``token``."""

    token: int
    response: Response


class Append(NamedTuple):
    """Write to __consumer_offsets; ``Appended(key)`` comes back when it is stored."""

    key: Key


class Downgrade(NamedTuple):
    """Make a classic group of this consumer group, once the other effects of the step are carried out."""


# --- effects of a client ---------------------------------------------------------------------
class Send(NamedTuple):
    """Send a request to the group's coordinator."""

    request: Request


class Callback(NamedTuple):
    """Run a listener callback (assigned, revoked, lost) on the application thread, then ``CallbackDone``."""

    callback: str
    partitions: Partitions
    generation: int
    member_id: str


class Commit(NamedTuple):
    """Commit all consumed positions now; ``CommitDone`` comes back. ``how``: auto, join, close."""

    how: str


class Own(NamedTuple):
    """The client's assignment is now exactly ``partitions``; fetching starts for ``fetch`` alone."""

    partitions: Partitions
    fetch: Partitions


class StopFetching(NamedTuple):
    """No record of these partitions reaches the application any more."""

    partitions: Partitions
    reason: str


class StartFetching(NamedTuple):
    """Records of these partitions may reach the application (its callback has returned)."""

    partitions: Partitions


class NextPoll(Enum):
    """What a client waits to do in the application's next poll(). How soon that is, the driver knows."""

    GO_ON = "what was under way goes on"
    REJOIN = "the group is joined again: a heartbeat's answer said so"
    RECONCILE_FIRST = "the assignment that came with the join is reconciled"
    RECONCILE = "another assignment is reconciled"
    RECONCILE_AGAIN = "a reconciliation whose callback raised is tried again"
    CALL_AFTER_COMMIT = "the commit is done, and the first callback runs"
    ASSIGN_FIRST = "assigned runs for the first time since the join"
    ASSIGN_TO_NONE = "assigned runs in a client that owned nothing, so that nothing was to be committed"
    ASSIGN_AFTER_REVOKE = "revoked has returned, and assigned runs"


class WantPoll(NamedTuple):
    """Send ``Polled`` when the application is next inside poll()."""

    step: NextPoll


class FindCoordinator(NamedTuple):
    """Look the coordinator up until it is found; ``CoordinatorFound`` comes back."""


class FreshMetadata(NamedTuple):
    """Read the metadata again, at once for topics that are ``new`` to the client; ``MetadataSeen`` comes back."""

    new: bool


class RestartAutoCommit(NamedTuple):
    """The interval of the periodic auto-commit starts anew."""


class Die(NamedTuple):
    """A fatal error leaves poll(): the application ends."""

    error: str
    message: str


class Closed(NamedTuple):
    """close() has returned."""


Effect = (
    SetTimer
    | CancelTimer
    | Note
    | Reply
    | Append
    | Downgrade
    | Send
    | Callback
    | Commit
    | Own
    | StopFetching
    | StartFetching
    | WantPoll
    | FindCoordinator
    | FreshMetadata
    | RestartAutoCommit
    | Die
    | Closed
)
Effects = Iterator[Effect]
"""What a rule yields."""


# --- events ----------------------------------------------------------------------------------
class TimerFired(NamedTuple):
    """A timer set by this machine ran out."""

    key: Key


R_co = TypeVar("R_co", bound=Request, covariant=True)


class Arrived(NamedTuple, Generic[R_co]):
    """A request reached the coordinator; ``token`` stands for where its answer goes."""

    request: R_co
    token: int


class Appended(NamedTuple):
    """What ``Append`` asked for is stored."""

    key: Key


class Answered(NamedTuple):
    """The answer to a request of this client."""

    request: Request
    response: Response


class Disconnected(NamedTuple):
    """The connection broke, or the request timed out, before an answer came."""

    request: Request
    cause: str


class CoordinatorFound(NamedTuple):
    """The look-up succeeded."""


class Polled(NamedTuple):
    """The application is inside poll() at this moment."""


class CallbackDone(NamedTuple):
    """The callback that was asked for has returned; ``error`` says what it raised."""

    error: str | None = None


class CommitDone(NamedTuple):
    """The commit that was asked for ended; ``error`` NONE or Kafka's name."""

    error: str
    how: str


class PollTimeout(NamedTuple):
    """max.poll.interval.ms passed since the last poll(), by ``over_ms`` when the client noticed."""

    over_ms: int = 0


class PolledAgain(NamedTuple):
    """The application polls again after ``PollTimeout``; ``seen_first`` where the background thread looked just before."""

    seen_first: bool = False


class Subscribed(NamedTuple):
    """The application called subscribe() with these topics."""

    topics: tuple[str, ...]


class MetadataSeen(NamedTuple):
    """The client refreshed its metadata: partition counts of the topics that exist, and where their replicas are."""

    partitions: Mapping[str, int]
    racks: Racks = NO_RACKS


class RejoinEnforced(NamedTuple):
    """The application called enforceRebalance()."""

    reason: str = "rebalance enforced by user"


class CloseCalled(NamedTuple):
    """The application called close(); it waits at most ``timeout_ms`` for its commit."""

    timeout_ms: int = 30_000


class Unload(NamedTuple):
    """The broker gave the partition of __consumer_offsets up, or stopped."""


class Load(NamedTuple):
    """The coordinator reads the group back from what was stored."""


GroupEvent = Arrived[Request] | TimerFired | Appended | Load | Unload
"""What a coordinator's machine is sent."""
ClientEvent = (
    Polled
    | Answered
    | Disconnected
    | TimerFired
    | CallbackDone
    | CommitDone
    | CoordinatorFound
    | PollTimeout
    | PolledAgain
    | Subscribed
    | MetadataSeen
    | RejoinEnforced
    | CloseCalled
)
"""What a client's machine is sent."""


class DocumentedState(Enum):
    """A state under the name that Kafka prints, with its action and its transitions in words."""

    __hash__ = object.__hash__  # by identity: states are looked up all the time

    def __new__(cls, name: str, action: str, transition: str) -> Self:
        """A state is its name; the texts stand beside it."""
        state = object.__new__(cls)
        state._value_ = name
        state.action, state.transition = action, transition
        return state

    action: str
    """What is done in this state."""
    transition: str
    """What leads out of it, as ``cause => state``."""


# What the machines' tables are made of: rules that yield effects, and the states they may lead to.


M_contra = TypeVar("M_contra", contravariant=True)
StateT = TypeVar("StateT")
EventKind = type | str
"""What an event is, as a table asks: a request's type or meaning, a timer's kind, the type of anything else."""


class Rule(NamedTuple, Generic[M_contra, StateT]):
    """What a cell of a table does, and the states it may lead to (none named: it stays)."""

    run: Callable[[M_contra, GroupEvent], Effects]
    targets: frozenset[StateT]


def kind_of(event: GroupEvent) -> EventKind:
    """What a coordinator's table asks about an event."""
    if isinstance(event, Arrived):
        return type(event.request)
    return event.key[0] if isinstance(event, TimerFired) else type(event)


def name_of(kind: EventKind) -> str:
    """The kind as it is printed."""
    if isinstance(kind, type):
        return kind.__name__
    return f"timer {kind}" if kind in Timer.__members__.values() else kind
